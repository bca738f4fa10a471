import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.limits import Gripper, JointLimits
from teleop_ik import gripper

FINGERS = Gripper(JointLimits("gripper", -0.17, 1.75, 2.0, 20.0, 0.0), closed=-0.17, open=1.75)


def test_trigger_sweeps_the_whole_range_and_both_ends_are_reached():
    swept = [gripper.asked(FINGERS, k / 100, 0.03) for k in range(101)]
    assert swept[0] == swept[3] == FINGERS.open
    assert swept[97] == swept[100] == FINGERS.closed
    assert all(a >= b for a, b in zip(swept, swept[1:]))
    assert swept[50] == pytest.approx(0.5 * (FINGERS.open + FINGERS.closed))


@given(trigger=st.floats(), dead=st.floats(0.0, 0.4))
def test_any_trigger_stays_within_the_range(trigger, dead):
    assert FINGERS.closed <= gripper.asked(FINGERS, trigger, dead) <= FINGERS.open


def test_a_trigger_that_is_not_a_number_reads_released():
    assert gripper.asked(FINGERS, math.nan, 0.03) == FINGERS.open


@pytest.mark.parametrize(
    ("held", "now", "before", "taken"),
    [
        (0.5, 0.5 + 0.049 * 1.92, 1.7, True),  # within five per cent
        (0.5, 0.5 + 0.051 * 1.92, 1.7, False),
        (0.5, 0.2, 0.8, True),  # passed between two frames
        (0.5, 0.8, 0.9, False),
    ],
)
def test_the_trigger_takes_over_where_it_meets_the_held_position(held, now, before, taken):
    assert gripper.takes_over(FINGERS, held, now, before) is taken
