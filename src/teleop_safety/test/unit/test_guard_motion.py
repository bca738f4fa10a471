"""What moves an arm, how far, and with which reason: reference and commit, cases 3, 4, 13, 19, 25, 54, 69."""

import math

import numpy as np
import pytest
from guard_space import collision
from guard_world import FRAME, HOME, World, hand
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason, TargetStatus

AWAY = (HOME[0] + 0.2, *HOME[1:])


def away(_world):
    return {"right": AWAY}


def test_nothing_is_commanded_before_the_driver_was_heard():
    world = World()
    world.alive["drivers"] = False
    world.run(0.3)
    assert world.commands == {"left": [], "right": []}
    assert world.authorities[-1].arms[0].reference == ()


def test_first_command_is_the_drivers_goal_and_says_first():
    world = World()
    world.goal["right"] = AWAY
    world.run(0.05)
    first = world.commands["right"][0]
    assert first.position == AWAY
    assert set(first.reason) == {int(Reason.FIRST_COMMAND)}
    assert set(world.commands["right"][1].reason) == {int(Reason.DEAD_MAN)}


def test_drooping_measurement_does_not_sag_the_reference():
    world = World()
    world.measured["right"] = tuple(q - 0.035 for q in HOME)
    world.driver("right")
    world.joints("right")
    world.tick()
    assert world.last().position == HOME


def test_still_hand_keeps_the_held_command_to_the_bit_over_ten_squeezes():
    world = World()
    world.run(0.1)
    for _ in range(10):
        world.squeeze("right")
        world.run(1.2, World.hold_targets)
        assert world.state() is A.DRIVING
        world.release("right")
        world.run(0.1)
    assert {command.position for command in world.commands["right"]} == {HOME}


def test_target_moves_the_arm_and_the_commit_carries_its_frame():
    world = World().drive("right")
    world.run(0.5, away)
    moved = [c for c in world.commands["right"] if c.dt > 0.0]
    assert moved[-1].position == pytest.approx(AWAY, abs=1e-4)
    assert all(c.origin_stamp and c.connection == 5 and c.frame_sequence for c in moved)
    assert all(c.authority == A.DRIVING for c in moved)
    assert {c.position for c in world.commands["left"]} == {HOME}


def test_both_arms_of_one_frame_share_one_commit():
    world = World().drive("left", "right")
    world.feed()
    world.frame()
    world.advance(FRAME // 2)
    out = world.target({"left": AWAY, "right": AWAY})
    assert [arm for arm, _ in out.commands] == ["left", "right"]
    assert len({command.commit for _, command in out.commands}) == 1
    assert all(command.dt > 0.0 for _, command in out.commands)


def test_targets_in_countdown_grace_and_idle_move_nothing():
    world = World()
    world.run(0.1)
    world.run(0.2, away)
    world.squeeze("right")
    world.run(0.9, away)
    assert world.state() is A.COUNTDOWN
    world.run(0.15, World.hold_targets)
    world.hands["right"] = hand(1.0, tracked=False)
    world.run(0.3, away)
    assert world.state() is A.GRACE
    assert {command.position for command in world.commands["right"]} == {HOME}


def test_release_freezes_arm_and_gripper_at_once():
    world = World().drive("right")
    world.run(0.1, lambda _w: {"right": (*AWAY[:5], 1.5)})
    world.release("right")
    world.feed()
    world.frame()
    held = world.last().position
    world.run(0.3, lambda _w: {"right": (*AWAY[:5], 1.7)})
    assert world.last().position == held


@pytest.mark.parametrize("engage", [-1, 1, 7])
def test_target_of_another_engage_moves_nothing(engage):
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    out = world.target({"right": AWAY}, engage=(world.arm().engage + engage) % 2**32)
    assert out.commands == []


def test_target_of_a_frame_before_driving_moves_nothing():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    while world.state() is not A.DRIVING:
        world.run(0.011)
    assert world.target({"right": AWAY}, frame_sequence=world.arm().entry - 1).commands == []
    assert world.arm().counters[0] > 0


def test_target_of_a_frame_never_seen_moves_nothing():
    world = World().drive("right")
    world.sequence += 1  # lost on the way
    world.feed()
    world.frame()
    assert world.target({"right": AWAY}, frame_sequence=world.sequence - 1).commands == []


def test_target_ahead_of_its_frame_waits_for_it():
    world = World().drive("right")
    world.feed()
    world.advance(FRAME)
    assert world.target({"right": AWAY}, frame_sequence=world.sequence + 1).commands == []
    out = world.frame()
    assert [command.dt > 0.0 for arm, command in out.commands if arm == "right"] == [True]


def test_target_ahead_of_a_frame_that_releases_moves_nothing():
    world = World().drive("right")
    world.feed()
    world.advance(FRAME)
    world.target({"right": AWAY}, frame_sequence=world.sequence + 1)
    world.release("right")
    world.frame()
    assert world.last().position == HOME


def test_second_target_of_one_frame_is_counted_and_moves_nothing():
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    world.target({"right": AWAY})
    after = world.last().position
    world.advance(FRAME)
    assert world.target({"right": AWAY}).commands == []
    assert world.last().position == after
    assert world.arm().counters[1] == 1


def test_target_of_another_epoch_moves_nothing():
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    assert world.target({"right": AWAY}, session_epoch=99).commands == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_target_that_is_no_number_is_refused_and_counted(value):
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    before = world.arm().counters[2]
    assert world.target({"right": (value, *HOME[1:])}).commands == []
    assert world.arm().counters[2] == before + 1


@pytest.mark.parametrize("value", [1e300, HOME[0] + 2 * math.pi, 57.3])
def test_absurd_target_moves_no_faster_than_the_limits(value):
    world = World().drive("right")
    world.run(0.3, lambda _w: {"right": (value, *HOME[1:])})
    positions = np.array([c.position for c in world.commands["right"]])
    assert np.abs(np.diff(positions, axis=0)).max() <= 2.0 * 0.025
    assert positions.max() <= 2.9


@pytest.mark.parametrize("status", [TargetStatus.HELD, TargetStatus.NO_FEEDBACK, TargetStatus.BAD_INPUT])
def test_target_that_says_it_has_none_keeps_driving_alive_without_motion(status):
    world = World().drive("right")
    for _ in range(40):
        world.feed()
        world.frame()
        world.target({"right": AWAY}, arms={"status": int(status)})
        world.advance(FRAME)
        world.tick()
    assert world.state() is A.DRIVING
    assert world.last().position == HOME
    assert set(world.last().reason) == {int(Reason.NO_TARGET)}


def test_burst_of_frames_credits_no_more_motion_than_time_passed():
    world = World().drive("right")
    start = world.now.mono
    for _ in range(8):
        world.feed()
        world.advance(150_000_000)
        for _ in range(10):
            world.frame()
            world.target({"right": (HOME[0] + 3.0, *HOME[1:])})
            world.joints("right")
            world.advance(50_000)
    credited = sum(command.dt for command in world.commands["right"])
    assert credited <= (world.now.mono - start) * 1e-9
    assert max(command.dt for command in world.commands["right"]) <= 0.025


def reach(late):
    """Drive a joint at 1.9 rad/s, frame i coming ``late[i]`` [s] after its stamp; return the committed joint per frame."""
    world = World().drive("right")
    begun, places = world.now, []  # a period after the last frame
    for i, wait in enumerate(late):
        due = begun.mono + i * FRAME
        arrival = max(due + round(wait * 1e9), world.now.mono)
        while world.now.mono + 10_000_000 < arrival:
            world.advance(10_000_000)
            world.joints("right")
            world.tick()
        world.advance(arrival - world.now.mono)
        world.feed()
        world.frame(header=world.authorities[-1].header._replace(stamp=begun.ros + i * FRAME))
        world.target({"right": (HOME[0] + 1.9 * (i + 1) * FRAME * 1e-9, *HOME[1:])})
        places.append(world.last().position[0])
    return places


@settings(max_examples=40)
@given(st.lists(st.floats(0.0, 0.0105), min_size=5, max_size=40))
def test_frames_that_come_late_lose_the_arm_no_motion(late):
    assert np.allclose(reach(late), reach([0.0] * len(late)), atol=1e-6)


def test_frames_stamped_ahead_of_time_gain_nothing():
    world = World().drive("right")
    before = world.last().position
    for i in range(10):
        header = world.authorities[-1].header._replace(stamp=world.now.ros + 15_000_000 * i)
        world.frame(header=header)
        world.target({"right": AWAY})
        world.advance(100_000)
    assert abs(world.last().position[0] - before[0]) <= 2.0 * 0.003


def test_tick_goes_on_with_a_cut_motion_and_never_passes_the_target():
    world = World().drive("right")
    world.run(0.03, away)
    world.alive["frames"] = False
    before = world.last().position[0]
    for _ in range(15):
        world.joints("right")
        world.advance(10_000_000)
        world.tick()
    assert before < world.last().position[0] <= AWAY[0]


def test_what_the_retargeter_cut_is_copied_where_the_guard_cuts_nothing():
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    world.target({"right": HOME}, arms={"reason": (0, 0, int(Reason.LEASH), 0, 0, int(Reason.TAKE_OVER))})
    assert world.last().reason == (0, 0, Reason.LEASH, 0, 0, Reason.TAKE_OVER)


def test_requested_committed_and_measured_differ_when_clipped():
    world = World().drive("right")
    world.feed()
    world.frame()
    world.advance(FRAME)
    world.target({"right": (HOME[0] + 1.0, *HOME[1:])})
    command = world.last()
    assert command.requested[0] == HOME[0] + 1.0
    assert HOME[0] < command.position[0] < HOME[0] + 0.05
    assert command.measured == HOME
    assert command.reason[0] != Reason.NONE


def test_blocked_arm_stores_no_motion_beyond_the_leash():
    world = World().drive("right")
    for _ in range(60):
        world.measured["right"] = HOME
        world.feed()
        world.frame()
        world.target({"right": (HOME[0] + 1.0, *HOME[1:])})
        world.measured["right"] = HOME
        world.advance(FRAME)
    assert world.arm().reference[0] <= HOME[0] + 0.25 + 1e-9


def test_joint_started_outside_its_limit_stays_there_until_it_moves_inwards():
    outside = (2.0, *HOME[1:])  # limit 1.91986
    world = World(start=outside).drive("right")
    assert world.last().position == outside
    world.run(0.3, lambda _w: {"right": (2.3, *HOME[1:])})
    assert world.last().position[0] == 2.0
    world.run(0.3, lambda _w: {"right": (1.95, *HOME[1:])})
    world.run(0.3, lambda _w: {"right": (2.0, *HOME[1:])})
    assert world.last().position[0] == pytest.approx(1.95, abs=1e-3)


def test_stamp_of_targets_off_by_more_is_refused():
    world = World().drive("right")
    world.frame()
    world.advance(FRAME)
    header = world.authorities[-1].header._replace(stamp=world.now.ros - 300_000_000)
    assert world.target({"right": AWAY}, header=header).commands == []


def test_commands_come_before_authority_and_every_commit_has_a_new_number():
    world = World().drive("right")
    world.run(0.3, away)
    numbers = [command.commit for command in world.commands["left"]]
    assert numbers == sorted(set(numbers))
    sequences = [authority.sequence for authority in world.authorities]
    assert sequences == list(range(1, len(sequences) + 1))
    assert world.authorities[-1].arms[1].reference == world.last().position


def test_arms_driven_into_each_other_are_held_felt_and_freed():
    world = World(envelope=collision(), start=(0.0, 0.4, -0.2, 0.3, 0.0486795, 0.0)).drive("left", "right")

    def together(w):
        left, right = w.arm("left").reference, w.arm("right").reference
        return {"left": (left[0] + 0.004, *left[1:]), "right": (right[0] - 0.004, *right[1:])}

    world.run(4.0, together)
    state = world.guard.guard_state(world.now)
    assert state.holding
    assert state.scale < 1.0
    assert state.clearance_committed == pytest.approx(0.015, abs=2e-3)
    assert any(pair.blocking for pair in state.pairs)
    assert any(Reason.COLLISION in command.reason for command in world.commands["right"][-10:])
    assert any(event.kind == "collision" for event in world.events)
    assert len(world.haptics) > 4
    held = world.arm("left").reference[0]
    world.run(0.2, lambda w: {"left": (w.arm("left").reference[0] - 0.1, *w.arm("left").reference[1:])})
    assert world.arm("left").reference[0] < held - 0.05
    assert not world.guard.guard_state(world.now).holding


def test_filter_switched_off_is_shown():
    state = World().guard.guard_state(World().now)
    assert not state.enabled
    assert state.geometry == "none"
    assert math.isnan(state.clearance_committed)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0.0, 0.06), st.floats(-2.0, 2.0)), min_size=1, max_size=30))
def test_any_timing_of_frames_keeps_speed_per_elapsed_time(steps):
    world = World().drive("right")
    last, bucket = world.arm().reference, 0.0
    begun = world.now.mono - world.arm().credit_at
    for wait, offset in steps:
        world.feed()
        world.advance(round(wait * 1e9))
        world.frame()
        world.target({"right": (HOME[0] + offset, *HOME[1:])})
        now = world.arm().reference
        # what a frame leaves of 25 ms the next may have, so that one that comes late loses nothing
        bucket = min(bucket + wait + begun * 1e-9, 0.025)
        assert abs(now[0] - last[0]) <= 2.0 * bucket + 2e-9
        last, bucket, begun = now, bucket - world.last().dt, 0
