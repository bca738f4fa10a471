import math

import pytest

from teleop_ik import pace
from teleop_ik.differential import Differential
from teleop_ik.kinematics import chain_from_urdf, forward, mat_from_quat, mat_multiply
from teleop_ik.solver import Bounds, Target, rotation_between, within

STEP = 1.0 / 90.0


def follow(solver, bounds, start, targets, dt=STEP):
    """Return the joints after each target, every solve seeded from the one before."""
    joints, path = start, []
    for target in targets:
        solved = solver.solve(target, joints, joints, bounds, dt)
        assert max(abs(a - b) / v for a, b, v in zip(solved.joints, joints, bounds.velocity)) <= dt + 1e-12
        joints = solved.joints
        path.append((joints, solved))
    return path


def line(a, b, count):
    return [tuple(x + (y - x) * k / count for x, y in zip(a, b)) for k in range(count + 1)]


def test_a_slow_path_is_followed_within_a_twentieth_of_a_millimetre(so101):
    solver = Differential(so101.chain)
    home = forward(so101.chain, so101.home[:5])
    x, y, z = home.position
    targets = [
        Target((x + 0.04 * math.sin(0.02 * k), y + 0.06 * math.sin(0.013 * k), z + 0.03 * math.sin(0.017 * k)), home.rotation)
        for k in range(900)
    ]
    for (joints, solved), target in zip(follow(solver, so101.bounds, so101.home[:5], targets), targets):
        assert math.dist(forward(so101.chain, joints).position, target.position) < 5e-5
        assert solved.residual_position == 0.0


def test_a_half_turn_of_the_wrist_does_not_move_the_tool(so101):
    solver = Differential(so101.chain)
    home = forward(so101.chain, so101.home[:5])
    flipped = mat_multiply(mat_from_quat((math.sin(1.5), 0.0, 0.0, math.cos(1.5))), home.rotation)
    targets = [Target(home.position, flipped if k % 120 < 60 else home.rotation) for k in range(360)]
    for joints, _ in follow(solver, so101.bounds, so101.home[:5], targets):
        assert math.dist(forward(so101.chain, joints).position, home.position) < 1e-4


def test_roll_and_elevation_are_met(so101):
    solver = Differential(so101.chain)
    wanted = (0.2, -0.6, 0.7, 0.7, -0.5)
    goal = forward(so101.chain, wanted)
    joints, _ = follow(solver, so101.bounds, so101.home[:5], [Target(goal.position, goal.rotation)] * 200)[-1]
    assert joints == pytest.approx(wanted, abs=1e-3)


def test_pushed_past_reach_it_rests_at_the_closest_point_and_comes_back_at_once(so101):
    solver = Differential(so101.chain)
    home = forward(so101.chain, so101.home[:5])
    far = (0.6, home.position[1], home.position[2])
    out = line(home.position, far, 90) + [far] * 180
    path = follow(solver, so101.bounds, so101.home[:5], [Target(p, home.rotation) for p in out])
    stretched = path[-1][0]
    tip = forward(so101.chain, stretched).position
    # full stretch of the arm from the lift axis, the nearest it can come; closed form of the geometry
    centre = (0.0388353 + 0.0303992, 0.0, 0.1166)
    reach = 0.1160000 + 0.1350002 + math.hypot(0.1592274, 0.0079)
    closest = math.dist(centre, far) - reach
    assert math.dist(tip, far) < closest + 1e-3
    back = tuple(t + 0.02 * (h - f) / math.dist(far, home.position) for t, h, f in zip(tip, home.position, far))
    returned, _ = follow(solver, so101.bounds, stretched, [Target(back, home.rotation)] * 30)[-1]
    assert math.dist(forward(so101.chain, returned).position, back) < 1e-3


def test_an_elbow_made_straight_by_reach_does_not_swing_when_the_hand_comes_back(so101):
    """The hand points 45° down, as the stretched arm cannot; under acceleration limits what is thrown too far comes back late."""
    solver, bounds = Differential(so101.chain), so101.bounds
    home = forward(so101.chain, so101.home[:5])
    now, rate = so101.home[:5], (0.0,) * 5

    def step(target):
        nonlocal now, rate
        solved = solver.solve(target, now, now, bounds, STEP, rate)
        now, rate = pace.step(now, rate, solved.joints, solved.ahead, within(bounds, now), STEP)

    for _ in range(400):
        step(Target((0.8, 0.0, 0.1666), home.rotation))
    x, y, z = forward(so101.chain, now).position
    for k in range(100):
        step(Target((x - 0.0005 * (k + 1), y, z), home.rotation))
        assert abs(forward(so101.chain, now).position[2] - z) < 2e-3
    assert forward(so101.chain, now).position == pytest.approx((x - 0.05, y, z), abs=5e-4)


def test_lag_and_droop_of_the_seed_change_the_command_to_second_order_only(so101, rng):
    solver = Differential(so101.chain)
    for _ in range(100):
        previous = so101.random(rng, margin=0.4)
        target = forward(so101.chain, tuple(q + 0.005 for q in previous))
        droop = [rng.uniform(-0.05, 0.05) for _ in previous]
        seed = tuple(q - d for q, d in zip(previous, droop))
        exact = solver.solve(Target(target.position, target.rotation), previous, previous, so101.bounds, math.inf)
        lagged = solver.solve(Target(target.position, target.rotation), seed, previous, so101.bounds, math.inf)
        a, b = forward(so101.chain, exact.joints).position, forward(so101.chain, lagged.joints).position
        assert math.dist(a, b) < 5e-3  # 0.05 rad squared times the arm's length


def six_axis_arm():
    """A made-up six-joint arm with a spherical-like wrist."""
    rows = [
        ("0 0 1", "0 0 0.3"),
        ("0 1 0", "0.05 0 0.1"),
        ("0 1 0", "0 0 0.4"),
        ("1 0 0", "0.1 0 0.03"),
        ("0 1 0", "0.3 0 0"),
        ("1 0 0", "0.08 0 0"),
    ]
    text = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>'
        for i, (axis, xyz) in enumerate(rows)
    )
    links = "".join(f'<link name="l{i}"/>' for i in range(7))
    return chain_from_urdf(f"<robot name='six'>{links}{text}</robot>", "l0", "l6", tuple(f"j{i}" for i in range(6)))


def test_an_arm_of_six_joints_meets_the_full_attitude():
    chain = six_axis_arm()
    solver = Differential(chain)
    bounds = Bounds((-3.0,) * 6, (3.0,) * 6, (2.0,) * 6)
    goal = forward(chain, (0.4, 0.3, 0.5, 0.2, 0.6, -0.4))
    joints, _ = follow(solver, bounds, (0.2, 0.2, 0.7, 0.0, 0.5, 0.0), [Target(goal.position, goal.rotation)] * 200)[-1]
    end = forward(chain, joints)
    assert math.dist(end.position, goal.position) < 1e-6
    assert math.hypot(*rotation_between(goal.rotation, end.rotation)) < 1e-3
