import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_hw_so101.bounds import SpeedBound, within
from teleop_hw_so101.units import RADIANS_PER_TICK, JointScale

SCALES = tuple(JointScale(2047.5, 0.0, sign * RADIANS_PER_TICK, 1000, 3000) for sign in (1, -1))
ANGLES = st.lists(st.floats(-math.pi, math.pi), min_size=2, max_size=2)


@given(ANGLES, ANGLES)
def test_goal_is_within_range_or_no_farther_out_than_what_is_held(held, asked):
    for scale, old, new, got in zip(SCALES, held, asked, within(SCALES, held, asked)):
        ticks, was = scale.ticks(got), scale.ticks(old)
        assert min(scale.least, was) - 1e-6 <= ticks <= max(scale.most, was) + 1e-6
        if scale.least <= scale.ticks(new) <= scale.most:
            assert got == new


@given(st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(-3.0, 3.0)), min_size=1, max_size=20))
def test_goal_never_gains_on_the_speed_bound_by_more_than_its_credit(commands):
    bound, goal, now, way = SpeedBound(1, 2.0), (0.0,), 0.0, 0.0
    bound.begin(now)
    for pause, asked in commands:
        now += pause
        cut = bound.cut(goal, (asked,), now)
        way += abs(cut[0] - goal[0])
        goal = cut
    assert way <= 2.0 * (now + 0.1) + 1e-9


def test_cut_goals_are_counted():
    bound = SpeedBound(2, 1.0)
    bound.begin(0.0)
    assert bound.cut((0.0, 0.0), (1.0, 0.005), 0.01) == pytest.approx((0.01, 0.005))
    assert bound.clipped == 1
