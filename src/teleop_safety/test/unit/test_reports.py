"""What the guard says: reasons of a hold, authority, latch, filter."""

import pytest
from guard_world import FRAME, HOME, World, hand

from teleop_common.enums import Authority as A
from teleop_common.enums import Counter, Reason


def reason(world, arm="right"):
    found = set(world.last(arm).reason)
    assert len(found) == 1
    return Reason(found.pop())


def test_open_grip_holds_with_dead_man():
    world = World()
    world.run(0.1)
    assert reason(world) is Reason.DEAD_MAN


def test_countdown_holds_with_countdown():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    world.run(0.1)
    assert reason(world) is Reason.COUNTDOWN
    assert reason(world, "left") is Reason.DEAD_MAN


def test_driving_without_a_target_yet_holds_with_no_target():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    while world.state() is not A.DRIVING:
        world.run(0.011)
    world.tick()
    assert reason(world) is Reason.NO_TARGET


def test_squeezed_but_untracked_hand_holds_with_untracked():
    world = World()
    world.run(0.1)
    world.hands["right"] = hand(1.0, tracked=False)
    world.run(0.1)
    assert world.state() is A.IDLE
    assert reason(world) is Reason.UNTRACKED


@pytest.mark.parametrize("silent", ["frames", "joints", "drivers"])
def test_idle_arm_holds_with_stale_when_something_fell_silent(silent):
    world = World()
    world.run(0.1)
    world.alive[silent] = False
    world.run(0.4)
    assert reason(world) is Reason.STALE


def test_idle_reason_tells_what_a_squeeze_would_be_refused_for():
    world = World()
    assert world.guard.arms["right"].reason == "no frame yet"
    world.run(0.1)
    assert world.authorities[-1].arms[1].reason == "ready"
    world.alive["joints"] = False
    world.run(0.3)
    assert world.authorities[-1].arms[1].reason == "joint states stale"
    world.alive["joints"] = True
    world.hands["right"] = hand(connected=False)
    world.run(0.1)
    assert world.authorities[-1].arms[1].reason == "controller gone"
    world.hands["right"] = hand(1.0)
    world.run(0.1)
    assert world.authorities[-1].arms[1].reason == "open the grip first"
    world.session(arm=("left",), hand=("left",))
    world.tick()
    assert world.authorities[-1].arms[1].reason == "no hand paired"


def test_authority_carries_hand_owner_names_reference_and_all_counters():
    world = World().drive("right")
    left, right = world.authorities[-1].arms
    assert (left.arm, left.hand, left.owner) == ("left", "left", "")
    assert (right.arm, right.hand, right.owner) == ("right", "right", "operator")
    assert right.name == world.names["right"]
    assert right.reference == HOME
    assert len(right.counters) == len(Counter)
    assert right.countdown_remaining == 0.0


def test_latched_guard_says_by_whom():
    world = World()
    world.run(0.1)
    before = world.guard.estop_state(world.now)
    assert (before.latched, before.source, before.latched_drivers) == (False, "", ())
    world.take(world.guard.stop(world.now, "service"))
    after = world.guard.estop_state(world.now)
    assert (after.latched, after.source) == (True, "service")
    assert reason(world) is Reason.ESTOP


def test_repeats_carry_no_motion_time_and_no_frame_when_held():
    world = World()
    world.run(0.2)
    command = world.last()
    assert (command.dt, command.origin_stamp, command.connection, command.frame_sequence) == (0.0, 0, 0, 0)


def test_ticks_keep_their_period_whatever_arrives():
    world = World()
    world.run(0.1)
    count = len(world.commands["right"])
    for _ in range(50):
        world.feed()
        world.joints("right", position=(float("nan"),) * 6)
        world.frame(sequence=1)
        world.advance(FRAME)
        world.tick()
    assert len(world.commands["right"]) == count + 50


def test_stamp_and_monotonic_time_of_a_command_are_now():
    world = World()
    world.run(0.1)
    world.tick()
    assert world.last().header.stamp == world.now.ros
    assert world.last().commit_time_ns == world.now.mono
    assert world.authorities[-1].header.stamp == world.now.ros
