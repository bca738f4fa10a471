import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_ik import leash

TRIPLE = st.tuples(*[st.floats(-3.0, 3.0)] * 3)


def test_a_target_farther_than_the_leash_is_drawn_in():
    assert leash.clamped((1.0, 0.1, -1.0), (0.0, 0.0, 0.0), (0.25,) * 3) == (0.25, 0.1, -0.25)


def test_a_distance_that_is_already_there_is_kept():
    lengths = leash.lengths((0.5, 0.1, 0.0), (0.0, 0.0, 0.0), 0.25)
    assert lengths == (0.5, 0.25, 0.25)
    assert leash.clamped((0.5, 0.1, 0.0), (0.0, 0.0, 0.0), lengths) == (0.5, 0.1, 0.0)


@given(before=TRIPLE, target=TRIPLE, measured=TRIPLE)
def test_leashes_only_shrink_and_never_below_their_length(before, target, measured):
    first = tuple(max(0.25, abs(b)) for b in before)
    later = leash.shortened(first, target, measured, 0.25)
    assert all(0.25 <= b <= a for a, b in zip(first, later))
    assert all(abs(t - m) <= s + 1e-12 for t, m, s in zip(leash.clamped(target, measured, later), measured, later))


def test_a_leash_that_shrank_does_not_grow_back():
    lengths = leash.shortened((0.6,), (0.4,), (0.0,), 0.25)
    assert lengths == (0.4,)
    assert leash.shortened(lengths, (2.0,), (0.0,), 0.25) == pytest.approx((0.4,))


class Joint:
    """One joint and the hand that drives it, frame by frame: ``asked`` is where the hand leads it, less what was forgiven."""

    def __init__(self):
        self.off, self.held, self.target = 0.0, (0.0,), 0.0

    def frame(self, hand, measured):
        asked = (hand - self.off,)
        drawn = leash.clamped(asked, (measured,), (0.25,))
        cut = (drawn != asked,)
        self.held = leash.come_to(self.held, drawn, (measured,), cut)
        self.off += asked[0] - leash.forgiven(asked, drawn, (measured,), self.held, cut)[0]
        self.target = drawn[0]


STEPS = st.lists(st.floats(-0.05, 0.05), min_size=1, max_size=100)


@given(steps=STEPS)
def test_a_blocked_joint_follows_a_hand_that_turns_back_at_once(steps):
    joint, hand = Joint(), 0.0
    for step in steps:
        hand += step
        joint.frame(hand, 0.0)
        assert abs(joint.target) <= 0.25
        assert hand - joint.off == pytest.approx(joint.target)


@given(steps=STEPS)
def test_a_joint_pushed_away_from_a_still_hand_is_asked_back_all_the_way(steps):
    joint, measured = Joint(), 0.0
    for step in steps:
        measured = min(measured + step, 0.0)
        joint.frame(0.0, measured)
        assert abs(joint.target - measured) <= 0.25 + 1e-12
    # it lets go: the joint comes to its target by and by
    for _ in range(200):
        measured += 0.2 * (joint.target - measured)
        joint.frame(0.0, measured)
    assert measured == pytest.approx(0.0, abs=1e-9)


@given(steps=STEPS, hands=STEPS)
def test_whatever_hand_and_push_do_the_target_stays_on_the_leash(steps, hands):
    joint, measured, hand = Joint(), 0.0, 0.0
    for step, move in zip(steps, hands):
        measured, hand = measured + step, hand + move
        joint.frame(hand, measured)
        assert abs(joint.target - measured) <= 0.25 + 1e-12
