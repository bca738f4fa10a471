"""Keeping an arm from folding against its own links: it slides along the border and comes back at once; the guard never bites."""

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common import limits
from teleop_common.enums import Reason
from teleop_common.spatial import quat_from_axis_angle
from teleop_description import folds, hulls
from teleop_description.folds import Fold
from teleop_description.pinocchio_compat import coal, convex_hull
from teleop_ik import fold
from teleop_ik.fold import Fence, Over
from teleop_ik.retargeter import from_json, to_json
from teleop_ik.solver import Bounds

ROOT = Path(__file__).resolve().parents[4]
HAND = (0.3, -0.2, 1.0)
HZ = 90.0
MARGIN = 0.015  # [m], the guard's
TOLERANCE = 1e-6  # [m], of its rule
SOLVERS = ["analytic", "differential"]
FOLDED = (0.0, -1.5, 1.3, 0.3, 0.05, 0.0)  # 0.1 rad from the border; down from here the elbow folds on
# a border that comes nearer as the inner joint grows, from 1.0 to 0.5 over two radians
SLOPE = Fold(("a", "b"), 1, (-1.5, 1.5), -1.0, 0.5, (-2.0,) * 5, (1.0, 0.875, 0.75, 0.625, 0.5), 0.01)
BOUNDS = Bounds((-2.0,) * 3, (2.0,) * 3, (2.0,) * 3, (20.0,) * 3)


@pytest.fixture(scope="module")
def distances():
    """Distances [m] of the pairs of links that fold, by the hulls that the guard judges."""
    robot = limits.load(ROOT / "config/limits/so101.yaml")
    found = hulls.clouds(robot)
    model = found.model
    data = model.createData()
    joints = [(f.inner, f.inner + 2) for f in folds.load(robot, MARGIN)]
    shapes = {k: convex_hull(hulls.hull(found.points[k]), faces=True) for pair in joints for k in pair}

    def measure(commanded):
        pin.forwardKinematics(model, data, np.array(commanded))
        request = coal.DistanceRequest()
        return [coal.distance(shapes[a], data.oMi[a], shapes[b], data.oMi[b], request, coal.DistanceResult()) for a, b in joints]

    return measure


# ---- the border itself
def test_between_knots_the_border_is_straight_and_beyond_them_it_stays():
    assert fold.interval(SLOPE, -0.25) == (-2.0, 0.8125)
    assert fold.interval(SLOPE, 5.0) == (-2.0, 0.5)
    assert fold.interval(SLOPE, -5.0) == (-2.0, 1.0)


def test_the_box_is_that_of_the_place_asked_for_and_in_the_solvers_joints():
    fence = Fence((SLOPE,), (), (0.0, 0.1, 0.2))
    tight = fence.tightened(BOUNDS, (0.0, -0.1, 0.0))
    assert tight.upper == pytest.approx((2.0, 1.4, 0.55))
    assert tight.lower == pytest.approx((-2.0, -1.6, -2.0))
    assert fence.room((0.0, -0.1, 0.0)) == pytest.approx(0.55)


def test_a_start_outside_may_stay_or_come_in_but_not_go_farther():
    start = (0.0, 0.0, 0.9)
    over = fold.overs((SLOPE,), start)
    assert over == (Over(high=pytest.approx(0.15)),)
    assert Fence((SLOPE,), over, (0.0,) * 3).room(start) == pytest.approx(0.0)
    nearer = fold.settled(over, (SLOPE,), (0.0, 0.0, 0.8))
    assert nearer[0].high == pytest.approx(0.05)
    assert fold.settled(nearer, (SLOPE,), start) == nearer
    assert fold.settled(nearer, (SLOPE,), (0.0, 0.0, 0.0)) == (Over(),)


@given(st.floats(-2.0, 2.0), st.tuples(*[st.floats(-2.5, 2.5)] * 3), st.tuples(*[st.floats(-2.5, 2.5)] * 3))
def test_a_box_is_never_empty_and_never_wider(lead, start, at):
    fence = Fence((SLOPE,), fold.overs((SLOPE,), start), (0.0, lead, -lead))
    tight = fence.tightened(BOUNDS, at)
    for low, high, least, most in zip(tight.lower, tight.upper, BOUNDS.lower, BOUNDS.upper):
        assert least <= low <= high <= most


def test_far_from_the_border_is_farther_than_the_joints_can_stop():
    # both joints in 0.03 s and braking from 2 rad/s, the inner one by the slope of 0.25
    (room,) = fold.looks((SLOPE,), BOUNDS, 0.03)
    assert room == pytest.approx(1.25 * (0.06 + 0.1))
    fence = Fence((SLOPE,), (), (0.0,) * 3)
    assert fence.near((0.0, 0.0, 0.75 - room + 1e-6), (room,))
    assert not fence.near((0.0, 0.0, 0.75 - room - 1e-6), (room,))


# ---- the arm
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=20)
@given(
    legs=st.lists(st.tuples(*[st.floats(-0.35, 0.15)] * 3, st.floats(-1.2, 1.2), st.floats(0.1, 1.0)), min_size=2, max_size=5),
    droop=st.sampled_from([0.0, 0.03]),
    wrist=st.sampled_from(["ik", "direct"]),
)
def test_random_motion_of_a_folded_arm_keeps_every_step_to_the_guards_rule(so101, distances, solver, legs, droop, wrist):
    rig = so101.rig(solver, start=FOLDED, wrist=wrist, droop=(0.0, droop, -droop, droop, 0.0, 0.0), lag=0.04, delay=1)
    rig.step(HAND)
    place, angle, before = [0.0] * 3, 0.0, distances(rig.reference)
    path = [rig.reference[:5]] * 2
    for x, y, z, turn, pace in legs:
        for _ in range(50):
            place = [p + 0.2 * pace * (g - p) for p, g in zip(place, (x, y + 0.1, z + 0.1))]
            angle += 0.2 * pace * (turn - angle)
            rig.step([a + b for a, b in zip(HAND, place)], quat_from_axis_angle((0.3, 1.0, -0.2), angle))
            now = distances(rig.reference)
            for d, then in zip(now, before):
                assert d >= min(MARGIN, then) - TOLERANCE
            before = now
            path.append(rig.reference[:5])
    speed = [[HZ * (b - a) for a, b in zip(p, q)] for p, q in zip(path, path[1:])]
    for then, now in zip(speed, speed[1:]):
        for joint, v, w in zip(so101.robot.joints, then, now):
            assert abs(w) <= joint.velocity * (1.0 + 1e-6)
            assert abs(w - v) * HZ <= joint.acceleration * (1.0 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_hand_that_folds_the_arm_up_slides_it_along_the_border_and_takes_it_back_at_once(so101, distances, solver):
    rig = so101.rig(solver, start=FOLDED)
    rig.step(HAND)
    tool = rig.tool
    for k in range(150):
        target = rig.step((*HAND[:2], HAND[2] - 0.08 * min(1.0, k / 60)))
        assert min(distances(rig.reference)) >= MARGIN
    assert target.reason[2] == Reason.POSITION_LIMIT
    # the other joints take over from the elbow: the tool is with the hand, only its elevation is given up
    assert [a - b for a, b in zip(rig.tool, tool)] == pytest.approx((0.0, 0.0, -0.08), abs=1e-3)
    assert target.residual_rotation > 0.1
    low = rig.tool[2]
    for k in range(1, 16):
        rig.step((*HAND[:2], HAND[2] - 0.08 + 0.002 * k))
    assert rig.tool[2] - low > 0.018  # of 3 cm, in 0.17 s that begin at rest


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=60)
@given(data=st.data())
def test_engaging_inside_the_fold_changes_nothing(so101, solver, data):
    bent = data.draw(st.floats(1.3, 1.69 + 0.17))
    start = (data.draw(st.floats(-1.0, 1.0)), data.draw(st.floats(-1.7, 1.7)), bent, data.draw(st.floats(-1.6, 1.8)), 0.05, 0.0)
    rig = so101.rig(solver, start=start, scale=data.draw(st.floats(0.1, 5.0)))
    attitude = quat_from_axis_angle((0.1, 1.0, 0.4), data.draw(st.floats(-3.0, 3.0)))
    assert rig.step(HAND, attitude, trigger=1.0).position == start
    for _ in range(5):
        target = rig.step(HAND, attitude, trigger=1.0, commit=False)
        assert max(abs(a - b) for a, b in zip(target.position[:5], start)) < 1e-3


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=30)
@given(way=st.tuples(*[st.floats(-0.1, 0.1)] * 3), bent=st.floats(1.45, 1.69))
def test_a_start_inside_the_fold_only_comes_out(so101, solver, way, bent):
    rig = so101.rig(solver, start=(0.0, -0.5, bent, 0.3, 0.05, 0.0))
    rig.step(HAND)
    borders = rig.core.arms[0].config.folds
    over = sum(map(sum, fold.overs(borders, rig.reference)))
    assert over > 0.0
    for k in range(90):
        rig.step([a + min(1.0, k / 45) * b for a, b in zip(HAND, way)])
        now = sum(map(sum, fold.overs(borders, rig.reference)))
        assert now <= over + max(f.slack for f in borders)
        over = min(over, now)


def test_what_is_left_of_a_start_inside_survives_json(so101):
    rig = so101.rig(start=(0.0, -0.5, 1.6, 0.3, 0.05, 0.0))
    rig.step(HAND)
    state = rig.core.state
    assert state.arms[0].overs[0].high > 0.1
    assert from_json(json.loads(json.dumps(to_json(state)))) == state


def folded_up(rig):
    """Return the elbow after 8 cm down."""
    rig.step(HAND)
    for k in range(120):
        rig.step((*HAND[:2], HAND[2] - 0.08 * min(1.0, k / 60)))
    return rig.reference[2]


def test_a_greater_margin_keeps_more_away(so101):
    near, usual, far = (folded_up(so101.rig(start=FOLDED, margin=margin)) for margin in (0.0, 0.015, 0.02))
    assert near > usual + 0.05
    assert usual > far + 0.01


def test_without_borders_the_arm_folds_to_its_limit(so101):
    assert folded_up(so101.rig(start=FOLDED, borders=())) == pytest.approx(so101.robot.joints[2].upper, abs=1e-3)
