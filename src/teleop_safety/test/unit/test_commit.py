"""What a commit keeps of a step when the envelope cuts it."""

import math

import pytest
from guard_world import HOME, ROBOT

from teleop_common.enums import Counter, Reason
from teleop_safety import commit
from teleop_safety.commit import Motion
from teleop_safety.envelope import Clearance, Verdict
from teleop_safety.motion import motion_limits
from teleop_safety.settings import Settings
from teleop_safety.state import ArmState, Target

LIMITS = motion_limits(ROBOT)
STAMP = 500
AWAY = tuple(q + 0.002 for q in HOME)


class Fixed:
    """An envelope whose verdict is given."""

    enabled, geometry = True, "fixed"

    def __init__(self, verdict):
        self.verdict, self.asked = verdict, []

    def judge(self, start, goal, measured):
        self.asked.append((start, goal, measured))
        return self.verdict

    def clearance(self, committed, measured):
        return Clearance()


def arm(**changes):
    state = ArmState(1, reference=HOME, filtered=HOME, velocity=(0.0,) * 6, measured=HOME)
    for name, value in changes.items():
        setattr(state, name, value)
    return state


def advance(verdict, dt=0.02, target=AWAY, reason=(0,) * 6, arms=("left", "right")):
    states = {"left": arm(), "right": arm()}
    moves = {name: Motion(Target(target, reason, 7, STAMP, origin=STAMP), dt) for name in arms}
    envelope = Fixed(verdict)
    commit.advance(states, moves, envelope, LIMITS, Settings(), 1000)
    return states, envelope


def whole():
    return advance(Verdict())[0]["left"].reference


def test_uncut_step_is_taken_whole_and_its_speed_remembered():
    states, _ = advance(Verdict())
    assert HOME[0] < states["left"].reference[0] < AWAY[0]
    assert states["left"].velocity[0] == pytest.approx((states["left"].reference[0] - HOME[0]) / 0.02)
    assert states["left"].requested == AWAY
    assert (states["left"].origin, states["left"].sequence, states["left"].dt) == (STAMP, 7, 0.02)


def test_envelope_sees_the_proposed_step_of_the_moving_arms_and_where_all_stand():
    _, envelope = advance(Verdict(), arms=("right",))
    start, goal, measured = envelope.asked[0]
    assert set(start) == {"left", "right"}
    assert set(goal) == {"right"}
    assert measured == {"left": HOME, "right": HOME}


def test_scale_cuts_both_arms_alike_and_stops_them_but_not_the_grippers():
    states, _ = advance(Verdict(scale=0.5, pair=("a", "b")))
    full = whole()
    for state in states.values():
        for i in range(5):
            assert state.reference[i] - HOME[i] == pytest.approx(0.5 * (full[i] - HOME[i]))
            assert state.filtered[i] == state.reference[i]
        assert state.velocity[:5] == (0.0,) * 5
        assert state.reference[5] == full[5]
        assert state.velocity[5] != 0.0


def test_held_step_keeps_the_reference_to_the_bit_and_says_collision():
    states, _ = advance(Verdict(scale=0.0, pair=("a", "b")))
    assert states["left"].reference[:5] == HOME[:5]
    assert states["left"].reasons[:5] == (Reason.COLLISION,) * 5
    assert states["left"].counters[Counter.LIMITED] == 1


def test_floor_cuts_its_own_arm_alone():
    states, _ = advance(Verdict(floor={"left": 0.0}))
    assert states["left"].reference[:5] == HOME[:5]
    assert states["left"].reasons[0] == Reason.FLOOR
    assert states["right"].reference == whole()


def test_floor_and_scale_multiply():
    states, _ = advance(Verdict(floor={"left": 0.5}, scale=0.5))
    full = whole()
    assert states["left"].reference[0] - HOME[0] == pytest.approx(0.25 * (full[0] - HOME[0]))
    assert states["right"].reference[0] - HOME[0] == pytest.approx(0.5 * (full[0] - HOME[0]))


def test_given_reason_stands_where_nothing_was_cut():
    states, _ = advance(Verdict(), target=HOME, reason=(0, 0, int(Reason.FLOOR), 0, 0, int(Reason.TAKE_OVER)))
    assert states["left"].reasons == (0, 0, Reason.FLOOR, 0, 0, Reason.TAKE_OVER)


def test_commit_without_time_moves_nothing_and_keeps_the_speed():
    states, _ = advance(Verdict(), dt=0.0)
    assert states["left"].reference == HOME
    assert states["left"].velocity == (0.0,) * 6
    assert states["left"].cut


def test_hold_forgets_target_speed_and_filter_and_credits_from_now_on():
    state = arm(velocity=(1.0,) * 6, filtered=AWAY, cut=True, target=Target(AWAY, (0,) * 6, 1, 2), dt=0.01, origin=5, sequence=9)
    commit.hold(state, 77, 88)
    assert state.velocity == (0.0,) * 6
    assert state.filtered == state.reference == state.requested == HOME
    assert (state.target, state.cut, state.dt, state.origin, state.sequence) == (None, False, 0.0, 0, 0)
    assert (state.moved_at, state.credit_at, state.credit_stamp) == (77, 77, 88)


def test_hold_of_an_arm_without_reference_is_empty():
    state = ArmState(1)
    commit.hold(state, 1, 2)
    assert state.velocity == state.filtered == ()


def test_kept_share_of_an_outside_reference_stays_within_the_hull():
    outside = (LIMITS.upper[0] + 0.1, *HOME[1:])
    states = {"left": arm(reference=outside, filtered=outside, measured=outside)}
    target = (LIMITS.upper[0], *HOME[1:])
    moves = {"left": Motion(Target(target, (0,) * 6, 1, STAMP), 0.02)}
    commit.advance(states, moves, Fixed(Verdict(scale=1.0 / 3.0)), LIMITS, Settings(), 1)
    assert LIMITS.upper[0] <= states["left"].reference[0] <= outside[0]
    assert all(map(math.isfinite, states["left"].reference))
