import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_ik.kinematics import mat_from_quat, mat_multiply
from teleop_ik.solver import Bounds, limit_step, rotation_between, without_yaw


def test_limited_steps_keep_their_direction():
    bounds = Bounds((-9.0,) * 3, (9.0,) * 3, (1.0, 2.0, 4.0))
    assert limit_step((0.0, 0.0, 0.0), (0.4, 0.4, -0.1), bounds, 0.1) == pytest.approx((0.1, 0.1, -0.025))
    assert limit_step((0.0, 0.0, 0.0), (0.1, 0.1, 0.1), bounds, 1.0) == (0.1, 0.1, 0.1)
    assert limit_step((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), bounds, math.nan) == (1.0, 2.0, 3.0)


def yawed(yaw, pitch):
    """An attitude whose approach has the given yaw and elevation."""
    # tool +z along world +x, then pitched up, then yawed
    m = (0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0)
    c, s = math.cos(pitch), math.sin(pitch)
    up = (c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c)
    c, s = math.cos(yaw), math.sin(yaw)
    turn = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
    return mat_multiply(turn, mat_multiply(up, m))


def test_yaw_is_given_up_and_elevation_kept():
    kept, swing = without_yaw(yawed(0.9, 0.5), 1.0, 0.0)
    assert swing == pytest.approx(-0.9)
    assert kept == pytest.approx(yawed(0.0, 0.5), abs=1e-12)


def test_near_the_vertical_the_attitude_is_left_alone():
    steep = yawed(0.9, math.radians(-85))
    assert without_yaw(steep, 1.0, 0.0) == (steep, 0.0)


def test_an_approach_pointing_back_stays_in_the_plane_behind():
    back = yawed(math.pi - 0.1, 0.3)
    assert without_yaw(back, 1.0, 0.0)[0] == pytest.approx(yawed(math.pi, 0.3), abs=1e-12)


@given(yaw=st.floats(-2.0, 2.0), pitch=st.floats(-1.5, 1.5))
def test_giving_up_yaw_is_continuous_in_elevation(yaw, pitch):
    (a, _), (b, _) = without_yaw(yawed(yaw, pitch), 1.0, 0.0), without_yaw(yawed(yaw, pitch + 1e-4), 1.0, 0.0)
    assert math.hypot(*rotation_between(a, b)) < 2e-3


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_a_half_turn_is_seen_as_one(axis):
    half = mat_from_quat((*axis, 0.0))
    turn = rotation_between(half, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    assert math.hypot(*turn) == pytest.approx(math.pi)
    assert abs(sum(a * b for a, b in zip(axis, turn))) == pytest.approx(math.pi)
