"""What every solver of the package keeps to, one by one."""

import importlib.util
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_ik.kinematics import Chain, forward, mat_from_quat, mat_multiply
from teleop_ik.setup_arms import make_solver
from teleop_ik.solver import SOLVERS, Bounds, SolveStatus, Target, rotation_between, sane, without_yaw

NO_PINK = pytest.mark.skipif(importlib.util.find_spec("pink") is None, reason="qp needs pin-pink")
NAMES = [pytest.param(name, marks=NO_PINK) if name == "qp" else name for name in SOLVERS]
# whose wrist is set by attitude alone, whatever that costs the others in reach
DIRECT = "point_dls"
every = pytest.mark.parametrize("name", NAMES)
ANY = st.floats(allow_nan=True, allow_infinity=True)
NEAR = st.floats(-1.5, 1.5)
ANGLE = st.floats(-4.0, 4.0)
SPEED = st.floats(-3.0, 3.0)
STEP = 1.0 / 90.0

# one of each for the whole module: pure, so nothing that one example did may show in the next
MADE = {}


def get(name, so101):
    return MADE.setdefault(name, make_solver(name, so101.chain))


def quats():
    return (
        st.tuples(NEAR, NEAR, NEAR, NEAR)
        .filter(lambda q: math.hypot(*q) > 1e-3)
        .map(lambda q: tuple(x / math.hypot(*q) for x in q))
    )


def joints(values=ANGLE):
    return st.tuples(values, values, values, values, values)


def follow(solver, bounds, start, targets):
    """Return joints and solution for each target, every solve seeded from the one before."""
    now, rate, path = start, (0.0,) * len(start), []
    for target in targets:
        solved = solver.solve(target, now, now, bounds, STEP, rate)
        rate = tuple((a - b) / STEP for a, b in zip(solved.joints, now))
        now = solved.joints
        path.append((now, solved))
    return path


def off(chain, solved, target):
    return math.dist(forward(chain, solved).position, target.position)


@every
@given(
    position=st.tuples(NEAR, NEAR, NEAR),
    attitude=quats(),
    seed=joints(),
    previous=joints(),
    dt=st.one_of(st.floats(0.0, 0.1), st.just(math.inf)),
    rate=st.one_of(st.just(()), joints(SPEED)),
)
def test_steps_stay_inside_the_interval_and_the_speed_and_are_pure(so101, name, position, attitude, seed, previous, dt, rate):
    solver, bounds = get(name, so101), so101.bounds
    target = Target(position, mat_from_quat(attitude))
    solved = solver.solve(target, seed, previous, bounds, dt, rate)
    for q, p, low, high, speed in zip(solved.joints, previous, bounds.lower, bounds.upper, bounds.velocity):
        assert min(low, p) - 1e-12 <= q <= max(high, p) + 1e-12
        assert abs(q - p) <= speed * dt + 1e-12
    assert math.isfinite(sum(solved.excess) + solved.residual_rotation)
    assert solved.status != SolveStatus.BAD_INPUT
    assert (solved.status == SolveStatus.UNREACHABLE) == (solved.residual_position > 1e-3)
    # another call in between leaves no trace; a fresh solver agrees to the bit
    solver.solve(Target((0.1, 0.2, 0.3), target.rotation), previous, seed, bounds, 0.02, rate[::-1])
    assert solver.solve(target, seed, previous, bounds, dt, rate) == solved
    assert make_solver(name, so101.chain).solve(target, seed, previous, bounds, dt, rate) == solved


@every
@given(
    position=st.tuples(ANY, ANY, ANY),
    matrix=st.tuples(*[ANY] * 9),
    seed=joints(ANY),
    previous=joints(ANY),
    dt=ANY,
    rate=st.one_of(st.just(()), joints(ANY)),
)
def test_no_input_raises(so101, name, position, matrix, seed, previous, dt, rate):
    solved = get(name, so101).solve(Target(position, matrix), seed, previous, so101.bounds, dt, rate)
    assert len(solved.joints) == 5
    if sane(previous):
        assert all(map(math.isfinite, solved.joints))
        for q, p, low, high, speed in zip(solved.joints, previous, so101.bounds.lower, so101.bounds.upper, so101.bounds.velocity):
            assert min(low, p) - 1e-12 <= q <= max(high, p) + 1e-12
            assert abs(q - p) <= speed * max(0.0, dt) + 1e-12 or math.isnan(dt)
    if not (sane(position) and sane(matrix) and sane(seed)):
        assert solved.status == SolveStatus.BAD_INPUT
        assert solved.joints is previous


@every
@given(
    entries=st.tuples(*[st.floats(-900.0, 900.0)] * 3),
    turns=st.tuples(*[st.floats(-300.0, 300.0)] * 9),
    seed=joints(st.floats(-400.0, 400.0)),
)
def test_sane_numbers_that_are_no_pose_of_this_world_do_not_raise(so101, name, entries, turns, seed):
    solved = get(name, so101).solve(Target(entries, turns), seed, seed, so101.bounds, STEP)
    assert all(map(math.isfinite, (*solved.joints, *solved.excess, solved.residual_rotation)))


def mirrored_mat(m):
    return tuple(-x if k in (1, 3, 5, 7) else x for k, x in enumerate(m))


def mirrored_chain(chain):
    """The mirror image of a chain in its x-z plane: with every joint turned the other way its tool is the mirror image."""
    x, y, z = chain.base_translation
    links = [
        link._replace(rotation=mirrored_mat(link.rotation), translation=(t[0], -t[1], t[2]))
        for link in chain.links
        for t in [link.translation]
    ]
    return Chain(mirrored_mat(chain.base_rotation), (x, -y, z), tuple(links))


@pytest.mark.parametrize(
    "name", [p for p in NAMES if p != "analytic"]
)  # whose mirror image has a geometry of its own: test_analytic
@given(position=st.tuples(NEAR, NEAR, NEAR), attitude=quats(), seed=joints(NEAR))
def test_mirrored_input_gives_mirrored_steps(so101, name, position, attitude, seed):
    other = mirrored_chain(so101.chain)
    wide = Bounds((-3.0,) * 5, (3.0,) * 5, (2.0,) * 5)
    rotation = mat_from_quat(attitude)
    one = get(name, so101).solve(Target(position, rotation), seed, seed, wide, STEP)
    back = tuple(-q for q in seed)
    x, y, z = position
    two = make_solver(name, other).solve(Target((x, -y, z), mirrored_mat(rotation)), back, back, wide, STEP)
    assert forward(other, back).position == pytest.approx(
        [c * s for c, s in zip(forward(so101.chain, seed).position, (1, -1, 1))]
    )
    assert two.joints == pytest.approx([-q for q in one.joints], abs=1e-6)


@every
def test_the_pose_of_the_seed_gives_the_seed(so101, rng, name):
    solver = get(name, so101)
    for _ in range(200):
        seed = so101.random(rng)
        if math.hypot(*forward(so101.chain, seed).position[:2]) < 0.06:
            continue  # by the pan axis a micrometre of the URDF's rounding is a degree of pan
        posture = forward(so101.chain, seed)
        solved = solver.solve(Target(posture.position, posture.rotation), seed, seed, so101.bounds, math.inf)
        assert off(so101.chain, solved.joints, posture) < 5e-6
        assert solved.joints == pytest.approx(seed, abs=1e-3)
        assert solved.status == SolveStatus.OK


@pytest.mark.parametrize("name", [name for name in NAMES if name != DIRECT])
def test_position_is_never_traded_for_attitude(so101, rng, name):
    """Attitudes that five joints cannot have at the place, three seconds each: the tool is where it is asked all the same."""
    solver = get(name, so101)
    home = so101.home[:5]
    place = forward(so101.chain, home)
    for _ in range(12):
        q = [rng.gauss(0.0, 1.0) for _ in range(4)]
        turned = mat_from_quat(tuple(x / math.hypot(*q) for x in q))
        target = Target(place.position, turned)
        path = follow(solver, so101.bounds, home, [target] * 270)
        assert off(so101.chain, path[-1][0], target) < 1e-4


@every
def test_elevation_and_roll_are_kept_and_yaw_is_given_up(so101, name):
    solver = get(name, so101)
    wanted = (0.2, -0.6, 0.7, 0.7, -0.5)
    goal = forward(so101.chain, wanted)
    yaw = math.radians(40.0)
    turned = mat_multiply(mat_from_quat((0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))), goal.rotation)
    now, solved = follow(solver, so101.bounds, so101.home[:5], [Target(goal.position, turned)] * 270)[-1]
    end = forward(so101.chain, now)
    assert math.dist(end.position, goal.position) < 1e-4
    x, y = end.rotation[2], end.rotation[5]
    kept, swing = without_yaw(turned, x / math.hypot(x, y), y / math.hypot(x, y))
    assert abs(swing) == pytest.approx(yaw, abs=0.02)
    assert math.hypot(*rotation_between(kept, end.rotation)) < 0.01
    if name != "point_dls":  # which does not tell what is given up from what is left to do
        assert solved.residual_rotation == pytest.approx(yaw, abs=0.02)


@pytest.mark.parametrize("degrees", [-20.0, 20.0])
@every
def test_a_tool_rolled_a_quarter_turn_still_pitches(so101, name, degrees):
    solver, half = get(name, so101), 0.5 * math.radians(degrees)
    rolled = (*so101.home[:4], 0.5 * math.pi)
    start = forward(so101.chain, rolled)
    pitched = mat_multiply(mat_from_quat((0.0, math.sin(half), 0.0, math.cos(half))), start.rotation)
    now, _ = follow(solver, so101.bounds, rolled, [Target(start.position, pitched)] * 270)[-1]
    end = forward(so101.chain, now)
    assert math.dist(end.position, start.position) < 1e-4
    assert math.hypot(*rotation_between(pitched, end.rotation)) < 0.02


@pytest.mark.parametrize("name", [name for name in NAMES if name != DIRECT])
def test_a_target_out_of_reach_is_unreachable_at_the_closest_point(so101, name):
    """Three metres ahead: the closest point is on the line from the lift axis, at full stretch; closed form of the geometry."""
    solver = get(name, so101)
    home = forward(so101.chain, so101.home[:5])
    target = Target((3.0, 0.0, 0.1166), home.rotation)
    now, solved = follow(solver, so101.bounds, so101.home[:5], [target] * 360)[-1]
    reach = 0.1160000 + 0.1350002 + math.hypot(0.1592274, 0.0079)
    closest = 3.0 - (0.0388353 + 0.0303992) - reach
    assert off(so101.chain, now, target) < closest + 1e-3
    assert solved.status == SolveStatus.UNREACHABLE
    assert solved.residual_position == pytest.approx(closest, abs=2e-3)


@every
def test_an_arm_at_full_stretch_comes_back_with_the_hand_at_once(so101, name):
    solver = get(name, so101)
    home = forward(so101.chain, so101.home[:5])
    stretched, _ = follow(solver, so101.bounds, so101.home[:5], [Target((0.7, 0.0, 0.1166), home.rotation)] * 360)[-1]
    x, y, z = forward(so101.chain, stretched).position
    targets = [Target((x - 0.003 * k, y, z), home.rotation) for k in range(1, 41)]
    path = [stretched] + [now for now, _ in follow(solver, so101.bounds, stretched, targets + targets[-1:] * 90)]
    for before, after in zip(path[:41], path[1:]):
        assert max(abs(a - b) for a, b in zip(before, after)) > 1e-6, "frozen"
    assert off(so101.chain, path[-1], targets[-1]) < 1e-3


@every
def test_a_step_that_speed_ends_is_limited(so101, name):
    home = so101.home[:5]
    place = forward(so101.chain, home)
    x, y, z = place.position
    target = Target((x, y + 0.08, z), place.rotation)
    assert get(name, so101).solve(target, home, home, so101.bounds, STEP, (0.0,) * 5).status == SolveStatus.LIMITED
    assert get(name, so101).solve(target, home, home, so101.bounds, math.inf).status in (SolveStatus.OK, SolveStatus.LIMITED)


@every
@pytest.mark.parametrize("outside", [0.05, 0.26])
def test_a_joint_outside_its_limit_stays_and_only_comes_back(so101, rng, name, outside):
    solver = get(name, so101)
    for i in range(5):
        now = list(so101.home[:5])
        now[i] = so101.bounds.upper[i] + outside
        now = tuple(now)
        place = forward(so101.chain, now)
        still = solver.solve(Target(place.position, place.rotation), now, now, so101.bounds, STEP)
        assert still.joints == pytest.approx(now, abs=2e-4)  # analytic: the URDF's rounding of the geometry
        x, y, z = place.position
        for after, _ in follow(solver, so101.bounds, now, [Target((x + 0.01, y - 0.02, z + 0.03), place.rotation)] * 60):
            assert after[i] <= max(now[i], so101.bounds.upper[i]) + 1e-12
            now = after


def test_point_dls_keeps_position_where_the_attitude_leaves_it_reach(so101):
    solver = get(DIRECT, so101)
    place = forward(so101.chain, (0.2, -0.6, 0.7, 0.7, -0.5))
    target = Target(place.position, place.rotation)
    now, solved = follow(solver, so101.bounds, so101.home[:5], [target] * 180)[-1]
    assert off(so101.chain, now, target) < 1e-5
    assert math.hypot(*rotation_between(place.rotation, forward(so101.chain, now).rotation)) < 1e-2
    assert solved.status == SolveStatus.OK


def test_point_dls_takes_at_most_twenty_degrees_in_an_iteration(so101, monkeypatch):
    monkeypatch.setattr("teleop_ik.point_dls.ITERATIONS", 1)
    home = so101.home[:5]
    place = forward(so101.chain, home)
    solved = get(DIRECT, so101).solve(Target((-0.2, 0.2, 0.3), place.rotation), home, home, so101.bounds, math.inf)
    assert max(abs(a - b) for a, b in zip(solved.joints[:3], home)) == pytest.approx(math.radians(20.0))
    assert solved.status == SolveStatus.NOT_CONVERGED
    assert solved.excess == (0.0, 0.0, 0.0)


def test_levenberg_marquardts_budget_of_time_is_a_number_of_iterations(so101):
    from teleop_ik.levenberg_marquardt import LevenbergMarquardt

    assert LevenbergMarquardt(so101.chain, budget=6.1e-4).iterations == 10
    short = LevenbergMarquardt(so101.chain, budget=1e-5)
    assert short.iterations == 1
    home = so101.home[:5]
    place = forward(so101.chain, (0.6, -0.3, 0.2, 0.5, 1.0))
    solved = short.solve(Target(place.position, place.rotation), home, home, so101.bounds, math.inf)
    assert solved.status == SolveStatus.NOT_CONVERGED
    assert solved.excess == (0.0, 0.0, 0.0)


def test_velocity_keeps_to_the_acceleration_and_brakes_in_time(so101):
    solver, bounds = get("velocity", so101), so101.bounds._replace(acceleration=(20.0,) * 5)
    home = so101.home[:5]
    x, y, z = forward(so101.chain, home).position
    target = Target((x, y + 0.15, z), forward(so101.chain, home).rotation)
    now, rate, most = home, (0.0,) * 5, 0.0
    for _ in range(180):
        solved = solver.solve(target, now, now, bounds, STEP, rate)
        speed = tuple((a - b) / STEP for a, b in zip(solved.joints, now))
        assert max(abs(a - b) for a, b in zip(speed, rate)) <= 20.0 * STEP + 1e-9
        now, rate = solved.joints, speed
        most = max(most, forward(so101.chain, now).position[1] - y)
    assert off(so101.chain, now, target) < 1e-4
    assert most < 0.15 + 1e-4, "overshot"


@NO_PINK
def test_the_quadratic_program_has_a_solution_for_a_joint_far_outside_its_limit_that_runs_away(so101):
    solver, bounds = get("qp", so101), so101.bounds._replace(acceleration=(20.0,) * 5)
    out = (so101.bounds.upper[0] + 0.5, *so101.home[1:5])
    place = forward(so101.chain, so101.home[:5])
    solved = solver.solve(Target(place.position, place.rotation), out, out, bounds, STEP, (2.0, 0.0, 0.0, 0.0, 0.0))
    assert solved.joints[0] <= out[0]
    assert solved.status == SolveStatus.LIMITED


def test_qp_without_its_packages_is_refused_with_the_remedy(so101, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "teleop_ik.qp", None)
    with pytest.raises(ConfigError, match="requirements/qp.txt"):
        make_solver("qp", so101.chain)


def test_an_unknown_solver_is_refused_with_the_list(so101):
    with pytest.raises(ConfigError, match="one of differential, analytic, velocity, levenberg_marquardt, qp, point_dls"):
        make_solver("magic", so101.chain)


@pytest.mark.parametrize("name", ["analytic", "differential", "point_dls"])
def test_a_still_hand_stays_still_while_encoders_tremble(name, so101, rng):
    solver, bounds = get(name, so101), so101.bounds
    here = forward(so101.chain, so101.home[:5])
    x, y, z = here.position
    target = Target((x - 0.03, y + 0.02, z + 0.02), here.rotation)
    now, told = so101.home[:5], []
    for k in range(200):
        measured = tuple(q + rng.uniform(-1.5e-3, 1.5e-3) for q in now)
        now = solver.solve(target, measured, now, bounds, STEP).joints
        told += [now] if k >= 100 else []
    assert off(so101.chain, now, target) < 1e-5
    assert max(max(joint) - min(joint) for joint in zip(*told)) < 5e-5
