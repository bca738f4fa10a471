import math

import pytest

from teleop_ik.floor import NOWHERE, Floor, height, lowest, settled, solve_above
from teleop_ik.kinematics import forward
from teleop_ik.setup_arms import make_solver
from teleop_ik.solver import Target

FLAT = Floor((0.0, 0.0, 1.0), 0.005)


def solving(name, so101, seed, dt=math.inf):
    solver = make_solver(name, so101.chain)
    return lambda target: solver.solve(target, seed, seed, so101.bounds, dt)


@pytest.mark.parametrize("name", ["analytic", "differential"])
@pytest.mark.parametrize("x", [0.2, 0.25, 0.3])
def test_a_target_below_the_bench_slides_along_it(so101, name, x):
    joints = so101.home[:5]
    rotation = forward(so101.chain, joints).rotation
    # small steps down and below, as a hand does it
    for k in range(200):
        z = 0.07 - 0.002 * k
        target, solved, rest = solve_above(
            FLAT, so101.chain, forward(so101.chain, joints), Target((x, 0.0, z), rotation), solving(name, so101, joints, 1 / 90)
        )
        joints = solved.joints
    assert rest > NOWHERE
    assert rest == pytest.approx(height(FLAT, target.position))
    posture = forward(so101.chain, joints)
    assert lowest(FLAT, posture) > FLAT.height - 5e-4
    assert posture.position[0] == pytest.approx(x, abs=1e-3)
    assert height(FLAT, target.position) >= FLAT.height - 1e-9


def test_the_wrist_is_kept_above_as_well(so101):
    # a tool that points up has the wrist below itself
    seed = (0.0, 1.5, -0.65, -1.65, 0.05)
    posture = forward(so101.chain, seed)
    wrist = lowest(FLAT, posture)
    assert wrist < height(FLAT, posture.position) - 0.03
    above = FLAT._replace(height=wrist + 0.02)
    ask = Target(posture.position, posture.rotation)
    target, solved, rest = solve_above(above, so101.chain, posture, ask, solving("analytic", so101, seed))
    assert rest > NOWHERE
    assert height(above, target.position) > height(above, posture.position)
    assert lowest(above, forward(so101.chain, solved.joints)) > above.height - 1e-3


def test_a_target_above_the_bench_is_left_alone(so101):
    seed = so101.home[:5]
    posture = forward(so101.chain, seed)
    ask = Target(posture.position, posture.rotation)
    target, _, rest = solve_above(FLAT, so101.chain, posture, ask, solving("analytic", so101, seed))
    assert target == ask
    assert rest == NOWHERE


def test_a_floor_that_starts_lower_rises_with_the_arm_and_stays(so101):
    low, high = (0.0, 0.9, 0.5, 0.4, 0.05), so101.home[:5]
    under = lowest(FLAT, forward(so101.chain, low))
    assert under < FLAT.height
    assert settled(FLAT, -math.inf, low, so101.chain) == pytest.approx(under, abs=2e-4)
    assert settled(FLAT, under, high, so101.chain) == FLAT.height
    assert settled(FLAT, FLAT.height, low, so101.chain) == FLAT.height
