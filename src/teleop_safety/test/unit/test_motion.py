import math

import pytest
from guard_world import HOME, ROBOT
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import Reason
from teleop_safety.motion import allowed, clamp, motion_limits, step

LIMITS = motion_limits(ROBOT)
N = len(LIMITS.lower)
ZERO = (0.0,) * N
joints = st.lists(st.floats(-4.0, 4.0), min_size=N, max_size=N).map(tuple)
finite = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=N, max_size=N).map(tuple)
speeds = st.lists(st.floats(-2.0, 2.0), min_size=N, max_size=N).map(tuple)


def go(target, reference=HOME, velocity=ZERO, filtered=None, measured=None, dt=0.011, leash=0.25, low_pass=0.01, speed=()):
    return step(target, reference, velocity, filtered or reference, measured or reference, dt, LIMITS, leash, low_pass, speed)


@given(finite, joints, speeds, joints, st.just(0.0) | st.floats(1e-5, 0.025), st.floats(0.0, 0.1))
def test_any_step_keeps_interval_speed_and_growth_of_speed(target, reference, velocity, measured, dt, low_pass):
    result = go(target, reference, velocity, reference, measured, dt, 0.25, low_pass)
    low, high = allowed(LIMITS, reference)
    for i, (before, after) in enumerate(zip(reference, result.position)):
        assert low[i] <= after <= high[i]
        assert abs(after - before) <= LIMITS.velocity[i] * dt + 1e-12
        if dt > 0.0 and after != before:
            new = (after - before) / dt
            along = velocity[i] * math.copysign(1.0, new)
            assert abs(new) <= max(along, 0.0) + LIMITS.acceleration[i] * dt + 1e-9


@given(joints, speeds, joints, st.floats(0.0, 0.025))
def test_target_equal_to_reference_moves_nothing_by_a_single_bit(reference, velocity, measured, dt):
    assert go(reference, reference, velocity, reference, measured, dt).position == reference


@given(finite, joints, joints)
def test_leash_never_lets_the_target_farther_from_measured_than_leash_or_reference(target, reference, measured):
    goal, _reasons, _cuts = clamp(target, reference, measured, LIMITS, 0.25)
    for i in range(LIMITS.arm):
        assert abs(goal[i] - measured[i]) <= max(0.25, abs(reference[i] - measured[i])) + 1e-12


@given(joints, st.floats(0.001, 0.025))
def test_step_keeps_its_direction_whatever_binds(target, dt):
    result = go(target, dt=dt, leash=10.0, low_pass=0.0)
    low, high = allowed(LIMITS, HOME)
    wanted = [min(max(t, low[i]), high[i]) - HOME[i] for i, t in enumerate(target)][: LIMITS.arm]
    made = [p - h for p, h in zip(result.position, HOME)][: LIMITS.arm]
    ratios = [m / w for m, w in zip(made, wanted) if abs(w) > 1e-6]
    assert all(r == pytest.approx(ratios[0], rel=1e-6) for r in ratios)


def test_pulled_trigger_does_not_slow_the_arm():
    arm_only = (HOME[0] + 0.002, *HOME[1:])
    with_grip = (*arm_only[:5], 1.7)
    assert go(with_grip).position[0] == go(arm_only).position[0]
    assert go(with_grip).position[5] > HOME[5]


def test_reference_outside_its_limit_may_stay_or_come_in_but_not_go_on_or_back_out():
    outside = (LIMITS.upper[0] + 0.05, *HOME[1:])
    assert go(outside, outside).position == outside
    farther = (outside[0] + 0.1, *HOME[1:])
    result = go(farther, outside)
    assert result.position[0] == outside[0]
    assert result.reason[0] == Reason.POSITION_LIMIT
    inside = go((outside[0] - 0.5, *HOME[1:]), outside).position
    assert inside[0] < outside[0]
    assert go(outside, inside).position[0] <= inside[0]


def test_distant_target_is_reached_within_limits_and_without_overshoot():
    target = (HOME[0] + 0.5, HOME[1] - 0.3, *HOME[2:])
    reference, velocity, filtered, highest = HOME, ZERO, HOME, 0.0
    for _ in range(200):
        result = go(target, reference, velocity, filtered, measured=reference, leash=10.0)
        velocity = tuple((a - b) / 0.011 for a, b in zip(result.position, reference))
        reference, filtered = result.position, result.filtered
        highest = max(highest, abs(velocity[0]))
        assert HOME[0] - 1e-12 <= reference[0] <= target[0] + 1e-12
        assert target[1] - 1e-12 <= reference[1] <= HOME[1] + 1e-12
    assert reference == pytest.approx(target, abs=1e-4)
    assert 1.0 < highest <= 2.0 + 1e-9


def test_speed_falls_along_the_braking_distance():
    target = (HOME[0] + 0.5, *HOME[1:])
    reference, velocity, filtered = HOME, ZERO, HOME
    for _ in range(200):
        ahead = abs(target[0] - reference[0])
        result = go(target, reference, velocity, filtered, measured=reference, leash=10.0)
        velocity = tuple((a - b) / 0.011 for a, b in zip(result.position, reference))
        assert velocity[0] <= math.sqrt(2.0 * LIMITS.acceleration[0] * ahead) + 1e-9
        reference, filtered = result.position, result.filtered


@given(
    st.lists(st.floats(0.0, 0.3), min_size=N, max_size=N),
    st.lists(st.booleans(), min_size=N, max_size=N),
    st.floats(0.0, 2.0),
    st.floats(0.0, 2.0),
    st.floats(1e-3, 0.025),
)
def test_any_step_leaves_room_to_brake_before_a_limit_however_its_target_moves(lefts, ups, velocity, speed, dt):
    signs = [1.0 if up else -1.0 for up in ups]
    ends = [LIMITS.upper[i] if up else LIMITS.lower[i] for i, up in enumerate(ups)]
    reference = tuple([end - sign * left for end, sign, left in zip(ends, signs, lefts)])
    lead, before = tuple([sign * speed for sign in signs]), tuple([sign * velocity for sign in signs])
    after = step(tuple(ends), reference, before, reference, reference, dt, LIMITS, 10.0, 0.0, lead).position
    for i, sign in enumerate(signs):
        left, now, fall = (ends[i] - after[i]) * sign, (after[i] - reference[i]) * sign / dt, LIMITS.acceleration[i] * dt
        while now > fall:  # the steps to come, each slower by what the acceleration allows
            now -= fall
            left -= now * dt
        assert left >= -1e-9


@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("joint", range(N))
def test_target_that_runs_through_a_limit_is_braked_before_it_within_the_acceleration_limit(joint, direction):
    dt, pace = 1.0 / 90.0, 1.95 * direction
    end = LIMITS.upper[joint] if direction > 0.0 else LIMITS.lower[joint]
    at = [*HOME]
    at[joint] = end - direction * 1.0
    reference = filtered = tuple(at)
    velocity, fastest = ZERO, 0.0
    for frame in range(80):
        at[joint] = end - direction * 1.0 + pace * frame * dt
        speed = tuple(pace if i == joint else 0.0 for i in range(N))
        result = go(tuple(at), reference, velocity, filtered, measured=reference, dt=dt, speed=speed)
        moved = tuple((a - b) / dt for a, b in zip(result.position, reference))
        fastest = max(fastest, moved[joint] * direction)
        # the low-pass adds its own fraction to the last steps
        assert (velocity[joint] - moved[joint]) * direction <= 1.05 * LIMITS.acceleration[joint] * dt
        reference, velocity, filtered = result.position, moved, result.filtered
    assert fastest > 1.9
    assert reference[joint] == pytest.approx(end, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (0.0, Reason.NONE),
        (0.0005, Reason.NONE),
        (0.03, Reason.ACCELERATION_LIMIT),
        (0.24, Reason.ACCELERATION_LIMIT),
        (0.9, Reason.LEASH),
    ],
)
def test_reason_names_what_cut_most(change, reason):
    assert go((HOME[0] + change, *HOME[1:])).reason[0] == reason


def test_full_speed_is_named_as_what_cuts():
    result = go((HOME[0] + 0.24, *HOME[1:]), velocity=(2.0, *ZERO[1:]))
    assert result.reason[0] == Reason.SPEED_LIMIT
    assert result.short


def test_no_time_moves_nothing_but_is_remembered_as_cut():
    result = go((HOME[0] + 0.1, *HOME[1:]), dt=0.0)
    assert result.position == HOME
    assert result.short


def test_turned_back_joint_starts_again_from_rest():
    result = go((HOME[0] - 0.2, *HOME[1:]), velocity=(1.5, *ZERO[1:]))
    assert result.position[0] == pytest.approx(HOME[0] - 20.0 * 0.011 * 0.011)
