"""The watchdog on measured load: an arm that pushes hard and gets nowhere is held, and says so (cases 13, 47)."""

import math

import pytest
from guard_world import FRAME, World

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason

NAME = "effort of right_elbow_flex"


def push(world, seconds, error=0.14, load=0.9, until=A.FAULT):
    """The right elbow is held ``error`` [rad] short of its command and pushes with ``load``; the other joints do well."""
    end = world.now.mono + round(seconds * 1e9)
    step = 0
    while world.now.mono < end and world.state() is not until:
        world.measured = {arm: state.reference for arm, state in world.guard.arms.items()}
        held = list(world.measured["right"])
        held[2] -= error
        world.measured["right"] = tuple(held)
        if step % 9 == 0:
            world.driver("left", load=(0.1,) * 6)
            world.driver("right", load=(0.0, 0.0, load, 0.0, 0.0, 0.0))
        for arm in world.arms:
            world.joints(arm)
        if step % 15 == 0:
            world.session()
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME // 2)
        world.tick()
        world.advance(FRAME - FRAME // 2)
        step += 1
    return (world.now.mono - end) * 1e-9 + seconds


def test_high_load_and_eight_degrees_off_hold_both_arms_after_a_third_of_a_second_and_say_which_joint():
    world = World().drive("left", "right")
    push(world, 0.2)  # what an arm begins with does not count
    world.release("left", "right")
    world.run(0.1)
    world.drive("left", "right")
    took = push(world, 2.0)
    assert world.state("left") is world.state("right") is A.FAULT
    assert 0.3 <= took < 0.55  # driver states come each 0.1 s
    assert any(NAME in event.text and "90%" in event.text for event in world.events)
    assert set(world.last().reason) == {int(Reason.FAULT)}


@pytest.mark.parametrize(("error", "load"), [(0.14, 0.5), (0.05, 1.0), (0.14, math.nan)])
def test_load_without_error_or_error_without_load_is_no_fault(error, load):
    world = World().drive("right")
    push(world, 1.0, error, load)
    assert world.state() is A.DRIVING


def test_brief_push_is_no_fault():
    world = World().drive("right")
    world.run(0.1, World.hold_targets)
    push(world, 0.25)
    world.run(0.5, World.hold_targets)
    push(world, 0.25)
    world.run(0.5, World.hold_targets)
    assert world.state() is A.DRIVING


def test_arm_that_is_carried_away_is_not_blocked():
    world = World().drive("right")
    world.run(0.2, World.hold_targets)
    for i in range(5):
        push(world, 0.1, error=0.12 + 0.06 * i)
    assert world.state() is A.DRIVING


def test_fault_ends_when_the_grip_opens_and_the_arm_can_be_pulled_out():
    world = World().drive("right")
    world.run(0.2, World.hold_targets)
    push(world, 2.0)
    assert world.state() is A.FAULT
    world.release("right")
    push(world, 0.1, until=A.IDLE)
    assert world.state() is A.IDLE
    world.squeeze("right")
    push(world, 3.0)
    assert world.state() is A.DRIVING  # it still pushes, no harder than when it was taken up
    push(world, 2.0, error=0.17)
    assert world.state() is A.FAULT


def test_arm_that_nobody_moves_is_not_watched():
    world = World()
    world.run(0.1)
    push(world, 2.0)
    assert world.state() is A.IDLE


def test_driver_that_tells_no_load_is_not_watched():
    world = World().drive("right")
    for _ in range(60):
        world.measured["right"] = tuple(q - 0.14 for q in world.arm().reference)
        world.driver("right", load=())
        world.joints("right")
        world.driver("left")
        world.joints("left")
        world.session()
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.state() is A.DRIVING


def test_strain_does_not_hide_a_drivers_own_fault():
    world = World().drive("left", "right")
    world.run(0.2, World.hold_targets)
    world.error["left"] = "bus lost"
    world.driver("left")
    push(world, 2.0)
    world.release("left", "right")
    world.run(0.3)
    assert world.state("right") is A.IDLE
    assert world.state("left") is A.FAULT
