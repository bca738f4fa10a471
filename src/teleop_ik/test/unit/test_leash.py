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
