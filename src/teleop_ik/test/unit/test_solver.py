import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_ik.kinematics import Chain, Link, forward, mat_from_quat
from teleop_ik.setup_arms import make_solver
from teleop_ik.solver import Bounds, Target, limit_step, rotation_between, sane, without_yaw

ANY = st.floats(allow_nan=True, allow_infinity=True)
NEAR = st.floats(-1.5, 1.5)
ANGLE = st.floats(-4.0, 4.0)


def quats():
    return (
        st.tuples(NEAR, NEAR, NEAR, NEAR)
        .filter(lambda q: math.hypot(*q) > 1e-3)
        .map(lambda q: tuple(x / math.hypot(*q) for x in q))
    )


def joints(values=ANGLE):
    return st.tuples(values, values, values, values, values)


# one of each for the whole module: pure, so nothing that one example did may show in the next
SOLVERS = {}


def get(name, so101):
    return SOLVERS.setdefault(name, make_solver(name, so101.chain))


@pytest.mark.parametrize("name", ["analytic", "differential"])
@given(position=st.tuples(NEAR, NEAR, NEAR), attitude=quats(), seed=joints(), previous=joints(), dt=st.floats(0.0, 0.1))
def test_steps_stay_inside_the_interval_and_the_speed_and_are_pure(so101, name, position, attitude, seed, previous, dt):
    solver, bounds = get(name, so101), so101.bounds
    target = Target(position, mat_from_quat(attitude))
    solved = solver.solve(target, seed, previous, bounds, dt)
    for q, p, low, high, speed in zip(solved.joints, previous, bounds.lower, bounds.upper, bounds.velocity):
        assert min(low, p) - 1e-12 <= q <= max(high, p) + 1e-12
        assert abs(q - p) <= speed * dt + 1e-12
    assert math.isfinite(sum(solved.excess) + solved.residual_rotation)
    # another call in between leaves no trace; a fresh solver agrees to the bit
    solver.solve(Target((0.1, 0.2, 0.3), target.rotation), previous, seed, bounds, 0.02)
    assert solver.solve(target, seed, previous, bounds, dt) == solved
    assert make_solver(name, so101.chain).solve(target, seed, previous, bounds, dt) == solved


@pytest.mark.parametrize("name", ["analytic", "differential"])
@given(position=st.tuples(ANY, ANY, ANY), matrix=st.tuples(*[ANY] * 9), seed=joints(ANY), previous=joints(ANY), dt=ANY)
def test_no_input_raises(so101, name, position, matrix, seed, previous, dt):
    solved = get(name, so101).solve(Target(position, matrix), seed, previous, so101.bounds, dt)
    assert len(solved.joints) == 5
    if sane(previous):
        assert all(map(math.isfinite, solved.joints))


@given(position=st.tuples(NEAR, NEAR, NEAR), attitude=quats(), seed=joints(NEAR))
def test_mirrored_input_gives_mirrored_steps(so101, position, attitude, seed):
    def mirrored(m):
        return tuple(-x if k in (1, 3, 5, 7) else x for k, x in enumerate(m))

    chain = so101.chain
    links = tuple(Link(n, mirrored(r), (p[0], -p[1], p[2])) for n, r, p in chain.links)
    p = chain.base_translation
    other = Chain(mirrored(chain.base_rotation), (p[0], -p[1], p[2]), links)
    wide = Bounds((-3.0,) * 5, (3.0,) * 5, (2.0,) * 5)
    rotation = mat_from_quat(attitude)
    one = make_solver("differential", chain).solve(Target(position, rotation), seed, seed, wide, 0.011)
    back = tuple(-q for q in seed)
    x, y, z = position
    two = make_solver("differential", other).solve(Target((x, -y, z), mirrored(rotation)), back, back, wide, 0.011)
    assert forward(other, back).position == pytest.approx([c * s for c, s in zip(forward(chain, seed).position, (1, -1, 1))])
    assert two.joints == pytest.approx([-q for q in one.joints], abs=1e-6)


@pytest.mark.parametrize("name", ["analytic", "differential"])
def test_the_pose_of_the_seed_gives_the_seed(so101, rng, name):
    solver = get(name, so101)
    for _ in range(200):
        seed = so101.random(rng)
        if math.hypot(*forward(so101.chain, seed).position[:2]) < 0.06:
            continue  # by the pan axis a micrometre of the URDF's rounding is a degree of pan
        posture = forward(so101.chain, seed)
        solved = solver.solve(Target(posture.position, posture.rotation), seed, seed, so101.bounds, math.inf)
        assert math.dist(forward(so101.chain, solved.joints).position, posture.position) < 5e-6
        assert solved.joints == pytest.approx(seed, abs=1e-3)


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
    from teleop_ik.kinematics import mat_multiply

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


def test_an_unknown_solver_is_refused(so101):
    with pytest.raises(ConfigError, match="one of analytic, differential"):
        make_solver("magic", so101.chain)
