"""The pace of joints: whatever is asked, speed and acceleration keep their limits, and joints stop where their way ends."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_ik import pace
from teleop_ik.solver import Bounds

DT = 1.0 / 90.0
BOUNDS = Bounds((-1.5, -1.0), (1.5, 1.0), (2.0, 1.0), (20.0, 10.0))
GOALS = st.lists(st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)), min_size=1, max_size=40)


def inside(goal):
    return tuple(min(max(g, low), high) for g, low, high in zip(goal, BOUNDS.lower, BOUNDS.upper))


def drive(goals, joints=(0.0, 0.0), dt=DT):
    """Step towards each goal in turn; return joints and speeds."""
    path, rate = [(joints, (0.0, 0.0))], (0.0, 0.0)
    for goal in goals:
        joints, rate = pace.step(joints, rate, inside(goal), goal, BOUNDS, dt)
        path.append((joints, rate))
    return path


@given(GOALS, st.floats(0.002, 0.03))
def test_any_goals_at_any_rate_keep_limits_speed_and_acceleration(goals, dt):
    path = drive(goals, dt=dt)
    for (before, was), (after, now) in zip(path, path[1:]):
        for i in range(2):
            assert BOUNDS.lower[i] <= after[i] <= BOUNDS.upper[i]
            assert after[i] - before[i] == pytest.approx(now[i] * dt, abs=1e-12)
            assert abs(now[i]) <= BOUNDS.velocity[i] * (1.0 + 1e-9)
            assert abs(now[i] - was[i]) <= BOUNDS.acceleration[i] * dt * (1.0 + 1e-9)


@given(st.tuples(st.floats(-1.5, 1.5), st.floats(-1.0, 1.0)))
def test_a_goal_that_stands_is_reached_without_overshoot_as_soon_as_the_limits_allow(goal):
    path = drive([goal] * 200)
    assert path[-1] == (goal, (0.0, 0.0))
    for i in range(2):
        far = abs(goal[i])
        assert all(abs(joints[i]) <= far + 1e-12 for joints, _ in path)
    # the slowest joint's trapezium of speed, and the frames that it is cut into
    needed = max(
        far / top + top / a if far > top * top / a else 2.0 * math.sqrt(far / a)
        for far, top, a in zip(map(abs, goal), BOUNDS.velocity, BOUNDS.acceleration)
    )
    arrived = next(k for k, (joints, _) in enumerate(path) if joints == goal)
    assert arrived * DT <= needed + 3.5 * DT


def test_from_rest_joints_keep_the_direction_to_the_goal():
    for joints, _ in drive([(0.9, 0.3)] * 60)[1:]:
        assert joints[1] == pytest.approx(joints[0] / 3.0, abs=1e-9)


def test_a_goal_that_turns_back_stops_a_joint_before_it_returns():
    path = drive([(1.0, 0.0)] * 20 + [(-1.0, 0.0)] * 100)
    speeds = [rate[0] for _, rate in path]
    assert speeds[20] > 1.5
    furthest = max(joints[0] for joints, _ in path)
    assert furthest - path[20][0][0] < 2.0**2 / (2.0 * 20.0) + 1e-9
    assert path[-1][0][0] == pytest.approx(-1.0)


def test_the_way_ahead_and_not_the_step_says_when_to_brake():
    _, rate = pace.step((0.0, 0.0), (1.9, 0.0), (0.02, 0.0), (1.0, 0.0), BOUNDS, DT)
    assert rate[0] == pytest.approx(0.02 / DT)
    _, rate = pace.step((0.0, 0.0), (1.9, 0.0), (0.02, 0.0), (0.03, 0.0), BOUNDS, DT)
    assert rate[0] == pytest.approx(1.9 - 20.0 * DT)


@pytest.mark.parametrize("dt", [0.0, -1.0, math.nan])
def test_no_time_no_step(dt):
    assert pace.step((0.1, 0.2), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0), BOUNDS, dt) == ((0.1, 0.2), (0.0, 0.0))


def test_a_joint_outside_its_limits_goes_no_farther():
    wide = BOUNDS._replace(upper=(1.6, 1.0))
    joints, rate = pace.step((1.6, 0.0), (2.0, 0.0), (1.6, 0.0), (1.6, 0.0), wide, DT)
    assert joints[0] == 1.6
    assert rate[0] == 0.0


@given(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0))
def test_stopped_says_where_full_braking_ends(v, w):
    stride = pace.Stride((0.0, 0.0), (v, w))
    ends = pace.stopped(stride, Bounds((-9.0, -9.0), (9.0, 9.0), BOUNDS.velocity, BOUNDS.acceleration), DT)
    for i, (speed, a) in enumerate(zip((v, w), BOUNDS.acceleration)):
        place = 0.0
        while abs(speed) > 1e-12:
            speed -= math.copysign(min(abs(speed), a * DT), speed)
            place += speed * DT
        assert ends[i] == pytest.approx(place, abs=a * DT * DT / 4)


def test_a_step_that_leaves_no_way_to_stop_in_time_is_cut_to_one_that_does():
    joints, rate = (0.0, 0.0), (0.0, 0.0)
    room = []
    for _ in range(120):
        stride = pace.step(joints, rate, (1.5, 0.2), (1.5, 0.2), BOUNDS, DT)
        before = rate
        joints, rate = pace.clear(stride, joints, rate, BOUNDS, DT, lambda q: 0.5 - q[0], 0.0)
        assert abs(rate[0] - before[0]) <= 20.0 * DT * (1.0 + 1e-9)
        room.append(0.5 - joints[0])
    assert min(room) >= -1e-9
    assert room[-1] < 5e-3
