import math
import os

import pytest

from teleop_common.errors import ConfigError
from teleop_ik.analytic import SO101, Analytic, tool_attitude, tool_point
from teleop_ik.kinematics import Chain, Link, forward
from teleop_ik.solver import Bounds, SolveStatus, Target, rotation_between

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
COUNT = 20_000


def target_at(so101, joints):
    posture = forward(so101.chain, joints)
    return Target(posture.position, posture.rotation)


def test_reachable_targets_are_met_to_five_micrometres(so101, rng):
    solver = Analytic(so101.chain)
    for _ in range(COUNT):
        joints = so101.random(rng)
        seed = tuple(q + rng.uniform(-0.05, 0.05) for q in joints)
        target = target_at(so101, joints)
        solved = solver.solve(target, seed, seed, so101.bounds, math.inf)
        assert math.dist(forward(so101.chain, solved.joints).position, target.position) < 5e-6
        assert solved.residual_position < 5e-6


def test_a_seed_on_another_branch_does_not_cost_position(so101, rng):
    solver = Analytic(so101.chain)
    for _ in range(COUNT // (1 if NIGHTLY else 10)):
        target = target_at(so101, so101.random(rng))
        seed = so101.random(rng)
        solved = solver.solve(target, seed, seed, so101.bounds, math.inf)
        # where the wrist is at its bound only another roll may reach, by its 8 mm lever: it is taken but for the last 0.05 mm
        assert math.dist(forward(so101.chain, solved.joints).position, target.position) < 6e-5


@pytest.mark.parametrize("wrist", [-1.658, None, 1.658])
def test_a_place_that_some_attitude_reaches_is_reached_whatever_the_attitude_asked(so101, rng, wrist):
    """The asked roll gives way where only another brings the tool there: the wrist at its limit, or the arm at full stretch."""
    solver = Analytic(so101.chain)
    for _ in range(COUNT // (1 if NIGHTLY else 20)):
        place, other, seed = (list(so101.random(rng)) for _ in range(3))
        if wrist is not None:
            place[3] = min(max(wrist, so101.bounds.lower[3]), so101.bounds.upper[3])
        target = Target(forward(so101.chain, place).position, forward(so101.chain, other).rotation)
        seed = tuple(rng.choice((seed, place)))
        solved = solver.solve(target, seed, seed, so101.bounds, math.inf)
        assert math.dist(forward(so101.chain, solved.joints).position, target.position) < 1e-4
        assert solved.status == SolveStatus.OK


def test_a_roll_that_costs_no_position_is_kept(so101):
    """Just within what the asked roll reaches, at the wrist's limit, and 5 mm beyond, by the roll's lever."""
    solver, up = Analytic(so101.chain), so101.bounds.upper[3]
    edge = (0.2, -0.6, 0.9, up, 0.6)
    place = forward(so101.chain, edge)
    solved = solver.solve(Target(place.position, place.rotation), edge, edge, so101.bounds, math.inf)
    assert solved.joints == pytest.approx(edge, abs=1e-3)
    rolls = []
    for roll in (0.6, 0.9, 1.2):
        beyond = forward(so101.chain, (*edge[:4], roll))
        solved = solver.solve(Target(beyond.position, place.rotation), edge, edge, so101.bounds, math.inf)
        assert math.dist(forward(so101.chain, solved.joints).position, beyond.position) < 1e-4
        rolls.append(solved.joints[4])
    assert all(0.6 - 1e-3 <= r <= e + 1e-3 for r, e in zip(rolls, (0.6, 0.9, 1.2)))


def test_joints_are_recovered_from_a_near_seed(so101, rng):
    solver = Analytic(so101.chain)
    for _ in range(300):
        joints = so101.random(rng, margin=0.1)
        x, y, _ = forward(so101.chain, joints).position
        bend = joints[2] + SO101.elbow_zero
        approach = joints[1] + joints[2] + joints[3]
        if math.hypot(x - SO101.x, y) < 0.08 or abs(bend) < 0.1 or abs(approach) > 1.5:
            continue  # near the pan axis, the straight elbow and past the vertical several answers are one small step apart
        solved = solver.solve(target_at(so101, joints), joints, joints, so101.bounds, math.inf)
        assert solved.joints == pytest.approx(joints, abs=1e-4)


def test_unreachable_targets_get_the_closest_point(so101, rng):
    """Closest found by a dense search that knows nothing of the formulas: coordinate descent from many starts."""
    solver = Analytic(so101.chain)
    low, high = so101.bounds.lower, so101.bounds.upper

    def distance(joints, point):
        return math.dist(forward(so101.chain, joints).position, point)

    for _ in range(40 if NIGHTLY else 6):
        point = tuple(rng.uniform(-0.7, 0.7) for _ in range(3))
        solved = solver.solve(
            Target(point, forward(so101.chain, so101.home[:5]).rotation), so101.home[:5], so101.home[:5], so101.bounds, math.inf
        )
        best = math.inf
        for _ in range(6):
            joints = list(so101.random(rng))
            here, step = distance(joints, point), 0.5
            while step > 1e-4:
                moved = False
                for i in range(5):
                    for sign in (1, -1):
                        other = list(joints)
                        other[i] = min(max(other[i] + sign * step, low[i]), high[i])
                        there = distance(other, point)
                        if there < here - 1e-12:
                            joints, here, moved = other, there, True
                if not moved:
                    step /= 2
            best = min(best, here)
        # the search also turns the roll, for any gain; the solver not for the last half of a millimetre
        assert solved.residual_position <= best + 1e-3
        assert distance(solved.joints, point) == pytest.approx(solved.residual_position, abs=5e-6)


def test_an_attitude_out_of_reach_does_not_cost_position(so101, rng):
    solver = Analytic(so101.chain)
    for _ in range(300):
        place, other = so101.random(rng), so101.random(rng)
        target = Target(forward(so101.chain, place).position, forward(so101.chain, other).rotation)
        solved = solver.solve(target, place, place, so101.bounds, math.inf)
        assert math.dist(forward(so101.chain, solved.joints).position, target.position) < 5e-6


def test_mirrored_geometry_gives_mirrored_joints(so101, rng):
    # a chain is checked against the geometry, so the mirrored one is mirrored too: y flips, and every angle with it
    def mirrored(m):
        return tuple(-x if k in (1, 3, 5, 7) else x for k, x in enumerate(m))

    links = tuple(Link(n, mirrored(r), (t[0], -t[1], t[2])) for n, r, t in so101.chain.links)
    t = so101.chain.base_translation
    chain = Chain(mirrored(so101.chain.base_rotation), (t[0], -t[1], t[2]), links)
    geometry = SO101._replace(y=-SO101.y, lateral=-SO101.lateral, tool_y=-SO101.tool_y, roll_zero=-SO101.roll_zero)
    here, there = Analytic(so101.chain), _Mirrored(chain, geometry)
    flip = (-1.0, 1.0, 1.0, 1.0, -1.0)
    bounds = so101.bounds
    ends = [sorted((f * a, f * b)) for f, a, b in zip(flip, bounds.lower, bounds.upper)]
    other = Bounds(tuple(a for a, _ in ends), tuple(b for _, b in ends), bounds.velocity)
    for _ in range(200):
        seed = so101.random(rng)
        place, turned = forward(so101.chain, so101.random(rng)), forward(so101.chain, so101.random(rng))
        x, y, z = place.position
        far = rng.uniform(0.5, 1.5)
        one = here.solve(Target((far * x, y, far * z), turned.rotation), seed, seed, bounds, 0.011)
        seed2 = tuple(f * q for f, q in zip(flip, seed))
        two = there.solve(Target((far * x, -y, far * z), mirrored(turned.rotation)), seed2, seed2, other, 0.011)
        assert two.joints == pytest.approx([f * q for f, q in zip(flip, one.joints)], abs=1e-9)


class _Mirrored(Analytic):
    def __init__(self, chain, geometry):
        self.chain, self.geometry = chain, geometry


def test_closed_forward_kinematics_is_the_chains(so101, rng):
    for _ in range(200):
        joints = so101.random(rng)
        posture = forward(so101.chain, joints)
        assert tool_point(SO101, joints) == pytest.approx(posture.position, abs=5e-6)
        assert tool_attitude(SO101, joints) == pytest.approx(posture.rotation, abs=5e-5)


def test_another_robot_is_refused_at_start(so101):
    first = so101.chain.links[0]
    longer = so101.chain._replace(links=(first._replace(translation=(0.05, 0.0, 0.1)), *so101.chain.links[1:]))
    with pytest.raises(ConfigError, match="solver:=differential"):
        Analytic(longer)
    with pytest.raises(ConfigError, match="4 joints"):
        Analytic(so101.chain._replace(links=so101.chain.links[1:]))


def test_of_all_exact_poses_the_one_nearest_to_the_seed_is_taken(so101, rng):
    """Other branches found by seeding on them: elbow bent the other way, the pan on the other side."""
    solver = Analytic(so101.chain)
    found = 0
    for _ in range(COUNT // (1 if NIGHTLY else 10)):
        joints = so101.random(rng, margin=0.1)
        if abs(joints[2] + SO101.elbow_zero) < 0.4 or math.hypot(*forward(so101.chain, joints).position[:2]) < 0.1:
            continue  # two branches meet there
        target = target_at(so101, joints)
        seed = tuple(q + rng.uniform(-0.1, 0.1) for q in joints)
        taken = solver.solve(target, seed, seed, so101.bounds, math.inf).joints
        bent = joints[2] + 2.0 * SO101.elbow_zero
        for lift, elbow, turn in ((0.8, -bent, 0.0), (-0.8, -bent, 0.0), (0.0, joints[2], math.pi), (0.0, -bent, math.pi)):
            there = (joints[0] + turn, joints[1] + lift, elbow, joints[3], joints[4])
            other = solver.solve(target, there, there, so101.bounds, math.inf)
            turned = math.hypot(*rotation_between(target.rotation, forward(so101.chain, other.joints).rotation))
            if math.dist(other.joints, taken) > 0.1 and turned < 1e-3 and other.residual_position < 1e-6:
                found += 1
                assert _farthest(taken, seed) <= _farthest(other.joints, seed) + 1e-3
    assert found > 50


def _farthest(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def test_joints_are_continuous_over_the_straight_elbow_and_the_edge_of_reach(so101):
    """No speed limit hides a jump here: a tenth of a millimetre of the hand moves joints by the square root of it at most."""
    solver = Analytic(so101.chain)
    joints = so101.home[:5]
    start = forward(so101.chain, joints)
    last = None
    for k in range(8000):
        way = 0.4 * math.sin(math.pi * k / 8000)  # out past reach, and back
        target = Target((start.position[0] + way, 0.02, start.position[2]), start.rotation)
        solved = solver.solve(target, joints, joints, so101.bounds, math.inf)
        if last is not None:
            assert _farthest(solved.joints, last) < 0.15
        joints = last = solved.joints
    assert joints[2] == pytest.approx(so101.home[2], abs=0.05)  # the elbow never changed its side


def test_an_approach_at_the_border_of_pointing_back_does_not_hunt(so101):
    """Yaw of the hand crosses 120° off the arm's plane, steeply down: rolling the hand moves the plane, and that the choice."""
    solver = Analytic(so101.chain)
    joints = (0.08, 0.905, -1.0, 0.256, 1.17)
    place = forward(so101.chain, joints).position
    turns = []
    for k in range(400):
        yaw = math.radians(100.0 + 0.1 * k)
        steep = math.radians(-74.0)
        approach = (math.cos(steep) * math.cos(yaw), math.cos(steep) * math.sin(yaw), math.sin(steep))
        y = (-math.sin(yaw), math.cos(yaw), 0.0)
        x = (
            y[1] * approach[2] - y[2] * approach[1],
            y[2] * approach[0] - y[0] * approach[2],
            y[0] * approach[1] - y[1] * approach[0],
        )
        rotation = tuple(v for row in zip(x, y, approach) for v in row)
        solved = solver.solve(Target(place, rotation), joints, joints, so101.bounds, math.inf)
        turns.append(solved.joints[4] - joints[4])
        joints = solved.joints
    assert not any(a * b < 0.0 and min(abs(a), abs(b)) > 0.05 for a, b in zip(turns, turns[1:]))


def test_a_path_over_the_straight_elbow_is_continuous(so101):
    """Tool drawn in and out past full stretch: no joint steps farther than its speed allows, none jumps a branch."""
    solver = Analytic(so101.chain)
    joints = so101.home[:5]
    start = forward(so101.chain, joints)
    for k in range(600):
        x = start.position[0] + 0.35 * math.sin(math.pi * k / 600)
        solved = solver.solve(Target((x, 0.02, start.position[2]), start.rotation), joints, joints, so101.bounds, 1 / 90)
        assert max(abs(a - b) for a, b in zip(solved.joints, joints)) <= 2.0 / 90 + 1e-12
        joints = solved.joints
    assert joints[0] < 0.0  # the pan axis turns to the right by positive angles
    assert solved.residual_position < 1e-5
