"""The e-stop: obeyed at the next commit, latched, opened only through the drivers."""

import math

import pytest
from guard_world import FRAME, HOME, World

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason

AWAY = (HOME[0] + 0.2, *HOME[1:])


def test_stop_is_obeyed_at_the_next_commit_calls_every_driver_and_holds():
    world = World().drive("left", "right")
    world.run(0.05, lambda _w: {"right": AWAY})
    held = world.last().position
    out = world.take(world.guard.stop(world.now, "service"))
    assert out.estop
    assert out.latch
    assert {command.position for arm, command in out.commands if arm == "right"} == {held}
    assert {command.authority for _, command in out.commands} == {int(A.ESTOP)}
    assert world.last().reason == (Reason.ESTOP,) * 6
    world.run(0.5, lambda _w: {"right": AWAY, "left": AWAY})
    assert world.last().position == held
    assert world.state("left") is A.ESTOP


def test_any_driver_that_reports_its_estop_latches_both_arms():
    world = World().drive("left", "right")
    world.estop["left"] = True
    out = world.driver("left")
    assert out.estop
    assert world.state("left") is world.state("right") is A.ESTOP
    assert world.guard.estop_state(world.now).latched_drivers == ("left",)
    assert "left" in world.guard.estop_state(world.now).source


def test_driver_with_estop_and_a_goal_that_is_no_number_latches_all_the_same():
    world = World().drive("right")
    world.driver("right", estop=True, goal=(math.nan,) * 6)
    assert world.state() is A.ESTOP


def test_restarted_guard_latches_from_a_driver_that_is():
    world = World()
    world.estop["right"] = True
    world.run(0.1)
    assert world.state("left") is A.ESTOP


def test_reset_waits_for_every_driver_and_the_grip_must_open():
    world = World().drive("right")
    world.take(world.guard.stop(world.now, "service"))
    world.estop = {"left": True, "right": True}
    world.run(0.2)
    assert world.take(world.guard.reset(world.now, 1.0)).reset
    world.estop["left"] = False
    world.run(0.2)
    assert world.state() is A.ESTOP
    assert world.guard.reset_blockers(world.now) == ["driver of right is still latched"]
    world.estop["right"] = False
    world.run(0.15)
    assert world.state() is A.IDLE
    assert not world.guard.estop_state(world.now).latched
    world.run(1.5, World.hold_targets)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    world.release("right")
    world.run(0.05)
    world.squeeze("right")
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING


def test_reset_that_no_driver_confirms_in_time_leaves_the_latch_closed():
    world = World()
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.estop = {"left": True, "right": True}
    world.run(0.2)
    world.guard.reset(world.now, 0.5)
    world.run(0.7)
    world.estop = {"left": False, "right": False}
    world.run(0.3)
    assert world.state() is A.ESTOP
    assert world.guard.shared.resetting == 0


def test_silent_driver_blocks_the_reset_by_name():
    world = World()
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.alive["drivers"] = False
    world.guard.reset(world.now, 0.5)
    world.run(0.4)
    assert world.state() is A.ESTOP
    assert world.guard.reset_blockers(world.now) == ["driver of left is silent", "driver of right is silent"]


def test_stop_during_a_reset_cancels_it():
    world = World()
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.guard.reset(world.now, 1.0)
    world.take(world.guard.stop(world.now, "service"))
    world.run(0.3)
    assert world.state() is A.ESTOP


def test_state_of_a_driver_from_before_the_reset_does_not_open_the_latch():
    world = World()
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.guard.reset(world.now, 1.0)
    world.tick()
    assert world.state() is A.ESTOP


def test_squeeze_while_latched_is_refused():
    world = World()
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.squeeze("right")
    world.run(1.5)
    assert world.state() is A.ESTOP


def test_driver_that_comes_back_unlatched_is_to_be_stopped_again():
    world = World()
    world.run(0.1)
    assert not world.guard.unlatched_drivers(world.now)
    world.take(world.guard.stop(world.now, "service"))
    world.estop = {"left": True, "right": True}
    world.run(0.2)
    assert not world.guard.unlatched_drivers(world.now)
    world.estop["right"] = False
    world.run(0.2)
    assert world.guard.unlatched_drivers(world.now)
    world.guard.reset(world.now, 1.0)
    assert not world.guard.unlatched_drivers(world.now)


@pytest.mark.parametrize("count", [1, 5])
def test_more_stops_change_nothing_but_call_the_drivers_again(count):
    world = World().drive("right")
    for _ in range(count):
        world.take(world.guard.stop(world.now, "service"))
        world.advance(FRAME)
    assert world.estop_calls == count
    assert sum(event.text.startswith("latched") for event in world.events) == 1


def test_driver_that_latched_ahead_of_the_guard_is_not_moved_by_the_reset():
    world = World().drive("right")
    world.run(0.06, lambda _w: {"right": AWAY})
    world.estop["right"], world.alive["drivers"] = True, False
    # the guard does not know yet: what it commits from here on the driver drops
    world.run(0.045, lambda _w: {"right": AWAY})
    held = world.goal["right"]
    assert world.arm().reference != held
    world.alive["drivers"] = True
    world.estop["left"] = True
    world.release("right")
    world.run(0.2)
    assert world.state() is A.ESTOP
    assert world.arm().reference == held
    world.take(world.guard.reset(world.now, 1.0))
    world.estop = {"left": False, "right": False}
    world.run(0.3)
    assert world.state() is A.IDLE
    assert world.goal["right"] == held
