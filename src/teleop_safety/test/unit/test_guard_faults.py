"""Drivers that restart, lose torque, stall or fail; feedback that lies; clocks that jump."""

import math

import pytest
from guard_world import FRAME, HOME, START, World

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason
from teleop_safety.settings import Instant

AWAY = (HOME[0] + 0.2, *HOME[1:])


def test_restarted_driver_seeds_the_reference_from_its_goal_and_the_grip_must_open():
    world = World().drive("right")
    world.run(0.3, lambda _w: {"right": AWAY})
    world.instance["right"] += 1
    world.goal["right"] = HOME
    world.driver("right")
    assert world.state() is A.IDLE
    assert world.arm().must_open
    assert world.last().position == HOME
    assert set(world.last().reason) == {int(Reason.FIRST_COMMAND)}


def test_with_torque_off_the_reference_follows_the_measurement_and_nothing_is_commanded():
    world = World(torque=False)
    world.run(0.1)
    pushed = tuple(q + 0.3 for q in HOME)
    world.measured["right"] = pushed
    world.run(0.05)
    assert world.arm().reference == pushed
    assert world.commands["right"] == []


def test_torque_on_seeds_from_the_goal_not_from_the_sagged_measurement():
    world = World(torque=False)
    world.run(0.1)
    world.torque["right"] = True
    world.goal["right"] = AWAY
    world.measured["right"] = HOME
    world.driver("right")
    assert world.last().position == AWAY
    assert world.arm().must_open


def test_torque_off_while_driving_ends_it():
    world = World().drive("right")
    world.torque["right"] = False
    world.driver("right")
    assert world.state() is A.IDLE


def test_goal_that_changes_without_restart_or_torque_change_is_not_followed():
    world = World()
    world.run(0.1)
    world.driver("right", goal=AWAY)
    world.tick()
    assert world.last().position == HOME


def stall(world, seconds, offset=1.0):
    """Push the right arm against something that lets no joint move."""
    end = world.now.mono + round(seconds * 1e9)
    while world.now.mono < end and world.state() is A.DRIVING:
        world.measured["right"] = HOME
        world.feed()
        world.measured["right"] = HOME
        world.frame()
        world.target({"right": (HOME[0] + offset, *HOME[1:]), "left": HOME})
        world.measured["right"] = HOME
        world.advance(FRAME)
        world.tick()


def test_blocked_arm_faults_after_half_a_second_and_both_arms_hold():
    world = World().drive("left", "right")
    stall(world, 2.0)
    assert world.state("right") is world.state("left") is A.FAULT
    assert any("stall of right_shoulder_pan" in event.text for event in world.events)
    assert set(world.last().reason) == {int(Reason.FAULT)}


def test_brief_block_is_no_stall():
    world = World().drive("right")
    stall(world, 0.55)  # a quarter of a second to build up the error, less than half a second of it
    assert world.state() is A.DRIVING
    world.run(0.5, World.hold_targets)
    assert world.state() is A.DRIVING


def test_standing_droop_is_no_stall():
    world = World().drive("right")
    for _ in range(150):
        world.measured["right"] = tuple(q - 0.05 for q in HOME)
        world.feed()
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.state() is A.DRIVING


def test_blocked_gripper_is_no_stall():
    world = World().drive("right")
    for _ in range(150):
        world.measured["right"] = HOME
        world.feed()
        world.measured["right"] = HOME
        world.frame()
        world.target({"right": (*HOME[:5], 1.7)})
        world.advance(FRAME)
        world.tick()
    assert world.state() is A.DRIVING


def test_stall_ends_when_each_grip_has_opened():
    world = World().drive("left", "right")
    stall(world, 2.0)
    world.release("right")
    world.run(0.05)
    assert world.state("right") is A.IDLE
    assert world.state("left") is A.FAULT
    world.release("left")
    world.run(0.05)
    assert world.state("left") is A.IDLE


def test_driver_error_stops_its_arm_alone_until_it_is_gone_and_the_grip_open():
    world = World().drive("left", "right")
    world.error["right"] = "overload of servo 3"
    world.driver("right")
    assert world.state("right") is A.FAULT
    assert world.state("left") is A.DRIVING
    world.error["right"] = ""
    world.run(0.3, World.hold_targets)
    assert world.state("right") is A.FAULT
    assert world.state("left") is A.DRIVING
    world.release("right")
    world.run(0.05, World.hold_targets)
    assert world.state("right") is A.IDLE


def test_driver_error_that_stays_keeps_the_fault_though_the_grip_opens():
    world = World().drive("right")
    world.error["right"] = "bus lost"
    world.run(0.1)
    world.release("right")
    world.run(0.5)
    assert world.state() is A.FAULT


def test_driver_error_behind_an_estop_comes_up_after_the_reset():
    world = World()
    world.run(0.1)
    world.error["right"] = "bus lost"
    world.run(0.1)
    world.take(world.guard.stop(world.now, "service"))
    world.guard.reset(world.now, 1.0)
    world.run(0.3)
    assert world.state("right") is A.FAULT
    assert world.state("left") is A.IDLE


@pytest.mark.parametrize(
    "fields", [{"position": (math.nan,) * 6}, {"name": ("x",) * 6}, {"position": ()}, {"velocity": (math.inf,) * 6}]
)
def test_bad_feedback_is_refused_counted_and_soon_stale(fields):
    world = World().drive("right")
    world.alive["joints"] = False
    before = world.arm().counters[2]
    for _ in range(25):
        world.feed()
        world.joints("left")
        world.joints("right", **fields)
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.arm().counters[2] - before == 25
    assert world.arm().measured == HOME
    assert world.state() is A.IDLE


def test_frozen_and_backward_feedback_goes_stale():
    world = World().drive("right")
    world.alive["joints"] = False
    header = world.authorities[-1].header
    for _ in range(25):
        world.feed()
        world.joints("right", header=header)
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.state() is A.IDLE


@pytest.mark.parametrize("jump", [3_600_000_000_000, -3_600_000_000_000])
def test_clock_set_by_an_hour_moves_nothing_and_driving_can_be_taken_up_again(jump):
    world = World().drive("right")
    before = world.last().position
    world.now = Instant(world.now.mono, world.now.ros + jump)
    world.run(0.5, World.hold_targets)
    assert world.last().position == before
    world.release("right")
    world.run(0.3)
    world.squeeze("right")
    world.run(1.3, lambda _w: {"right": AWAY})
    assert world.state() is A.DRIVING
    world.run(0.5, lambda _w: {"right": AWAY})
    assert world.last().position == pytest.approx(AWAY, abs=1e-3)


def test_one_arms_driver_gone_leaves_the_other_driving():
    world = World().drive("left", "right")
    for i in range(60):
        world.joints("left")
        if i % 9 == 0:
            world.driver("left")
        if i % 15 == 0:
            world.session()
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.state("left") is A.DRIVING
    assert world.state("right") is A.IDLE


def test_flood_of_refused_messages_is_counted_whole_and_told_sparingly():
    world = World()
    world.run(0.1)
    for _ in range(1000):
        world.joints("right", position=(math.nan,) * 6)
        world.advance(1_000_000)
    assert world.arm().counters[2] == 1000
    assert sum(event.kind == "refused" for event in world.events) <= 4


def test_whole_old_recording_beside_a_live_driver_moves_nothing():
    world = World()
    world.run(0.1)
    old = Instant(world.now.mono, START.ros - 86_400_000_000_000)
    header = world.authorities[-1].header._replace(stamp=old.ros)
    world.squeeze("right")
    for _ in range(200):
        world.feed()
        world.session(header=header, epoch=99)
        world.frame(header=header)
        world.target({"right": AWAY}, header=header)
        world.advance(FRAME)
        world.tick()
    assert {command.position for command in world.commands["right"]} == {HOME}
    assert world.state() is A.IDLE


def test_robot_without_gripper_and_with_other_joints_is_guarded_too():
    from teleop_common.limits import JointLimits, RobotLimits

    joints = tuple(JointLimits(f"axis{i}", -1.0, 1.0, 1.0, 5.0, 0.0) for i in range(3))
    robot = RobotLimits("three", "x.urdf", "base", "tip", joints, None, 3.0, 0.1, 0.25, 0.45, 0.0, "x.yaml")
    world = World(("solo",), robot=robot, start=(0.0, 0.0, 0.0))
    world.run(0.05)
    world.session(arm=("solo",), hand=("right",))
    world.alive["session"] = False
    world.frame()
    world.squeeze("right")
    for _ in range(95):
        world.feed()
        world.session(arm=("solo",), hand=("right",))
        world.frame()
        world.target(world.hold_targets())
        world.advance(FRAME)
        world.tick()
    assert world.state("solo") is A.DRIVING
    for _ in range(60):
        world.feed()
        world.session(arm=("solo",), hand=("right",))
        world.frame()
        world.advance(FRAME)
        world.target({"solo": (0.1, 0.0, 0.0)})
    assert world.last("solo").position == pytest.approx((0.1, 0.0, 0.0), abs=1e-3)


def test_clock_that_stands_still_holds_within_the_stale_age_and_goes_on_with_the_clock():
    world = World().drive("right")
    standing, held, before = world.now.ros, world.last().position, world.now.mono
    for _ in range(90):
        world.now = Instant(world.now.mono, standing)
        world.feed()
        world.frame()
        world.target({"right": AWAY})
        world.advance(FRAME)
        world.now = Instant(world.now.mono, standing)
        world.tick()
        if world.state() is not A.DRIVING and before:
            assert world.now.mono - before <= 0.25e9
            before = 0
            held = world.last().position
    assert not before
    assert world.last().position == held
    world.release("right")
    world.run(0.3)
    world.drive("right")


def test_two_retargeters_move_an_arm_no_faster_than_one():
    world = World().drive("right")
    before = list(world.arm().counters)
    for _ in range(60):
        world.feed()
        world.frame()
        world.target({"right": AWAY})
        world.target({"right": (HOME[0] - 1.0, *HOME[1:])})
        world.advance(FRAME)
        world.tick()
    assert world.arm().counters[1] - before[1] >= 55
    positions = [c.position[0] for c in world.commands["right"]]
    assert max(abs(b - a) for a, b in zip(positions, positions[1:])) <= 2.0 * 0.025
    assert world.last().position == pytest.approx(AWAY, abs=1e-3)  # the first of a frame counts
