"""The absorbing reach limit: however long a hand was out of reach, coming back moves the arm at once; so does every engage."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common.enums import TargetStatus
from teleop_common.spatial import quat_from_axis_angle

HAND = (0.3, -0.2, 1.0)
HZ = 90
PAST = 0.15  # [m]
WAYS = {"forward": (1.0, 0.0, 0.0), "up": (0.0, 0.0, 1.0), "aside": (0.3, 0.95, 0.0), "up and ahead": (0.7, 0.0, 0.7)}


def at(way, far):
    return tuple(a + far * b for a, b in zip(HAND, way))


@pytest.mark.parametrize("solver", ["analytic", "differential", "levenberg_marquardt"])
@pytest.mark.parametrize("way", WAYS)
def test_15_cm_past_reach_for_two_seconds_and_coming_back_moves_the_arm_with_the_hand(so101, solver, way):
    way = WAYS[way]
    length = math.hypot(*way)
    way = tuple(v / length for v in way)
    rig = so101.rig(solver)
    rig.step(HAND)
    far = 0.0
    while rig.step(at(way, far)).status != TargetStatus.UNREACHABLE:
        far += 0.2 / HZ
        assert far < 0.6
    edge = far
    while far < edge + PAST:
        far += 0.2 / HZ
        rig.step(at(way, far))
    for _ in range(2 * HZ):
        rig.step(at(way, far))
    rest = rig.tool
    came = []
    for k in range(60):
        rig.step(at(way, far - 0.1 * (k + 1) / HZ))
        came.append(sum((a - b) * c for a, b, c in zip(rest, rig.tool, way)))
    # leaving full stretch takes the root of the distance of joint travel, from rest: some frames for a start
    assert came[9] > 0.5e-3
    assert came[-1] == pytest.approx(0.1 * 60 / HZ, abs=8e-3)


@pytest.mark.parametrize("wrist", ["ik", "direct"])
@pytest.mark.parametrize("solver", ["analytic", "differential"])
@settings(max_examples=20)
@given(data=st.data())
def test_engaging_anew_anywhere_changes_nothing(so101, solver, wrist, data):
    """Drive somewhere, out of reach or onto the bench; open, move the hand to anywhere, and close again, at any scale."""
    vector = st.tuples(*[st.floats(-0.5, 0.5)] * 3)
    rig = so101.rig(solver, lag=0.03, wrist=wrist)
    rig.step(HAND)
    goal, turn = data.draw(vector), data.draw(st.floats(-1.0, 1.0))
    for k in range(60):
        rig.step([a + min(1.0, k / 40) * b for a, b in zip(HAND, goal)], quat_from_axis_angle((0.2, 1.0, 0.3), turn * k / 60))
    rig.engage += 1
    rig.scale = data.draw(st.floats(0.1, 3.0))
    rig.droop = data.draw(st.tuples(*[st.floats(-0.05, 0.05)] * 6))
    rig.measured = tuple(q - d for q, d in zip(rig.reference, rig.droop))  # it stands as it droops
    held, jaw = rig.reference[:5], rig.reference[5]
    place = tuple(a + b for a, b in zip(HAND, data.draw(vector)))
    attitude = quat_from_axis_angle((0.5, 0.2, 1.0), data.draw(st.floats(-3.0, 3.0)))
    assert rig.step(place, attitude).position == (*held, jaw)
    for _ in range(5):
        target = rig.step(place, attitude, commit=False)
        assert max(abs(a - b) for a, b in zip(target.position[:5], held)) < 1e-3
