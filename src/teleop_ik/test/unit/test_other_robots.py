"""Any URDF arm: the Panda and the UR5, in full attitude, through the same core as the SO-101."""

import dataclasses
import math

import pytest
from other_robots import DT, HAND, HZ, Rig, angle, needed, smooth

from teleop_common.enums import Reason, TargetStatus
from teleop_common.errors import ConfigError
from teleop_common.spatial import quat_from_axis_angle
from teleop_description.testing import ROBOTS
from teleop_ik.kinematics import chain_from_urdf, mat_from_quat, mat_multiply
from teleop_ik.setup_arms import make_solver

pytestmark = needed
SOLVERS = ("differential", "levenberg_marquardt", "qp")


@pytest.fixture(params=SOLVERS)
def solver(request):
    if request.param == "qp":
        pytest.importorskip("pink")
    return request.param


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def play(rig, seconds, path):
    """Play the hand along ``path`` (share of the way → offset, rotation vector) and return the errors [m], [rad], and targets."""
    start, away, turned, targets = rig.tool, [], [], []
    for k in range(int(seconds * HZ) + 1):
        offset, axis, by = path(smooth(k * DT / seconds))
        attitude = quat_from_axis_angle(axis, by)
        targets.append(rig.step(add(HAND, offset), attitude))
        away.append(math.dist(add(start.position, offset), rig.tool.position))
        turned.append(angle(mat_multiply(mat_from_quat(attitude), start.rotation), rig.tool.rotation))
    return away, turned, targets


@pytest.mark.parametrize("robot", ROBOTS)
def test_hand_is_followed_in_position_and_in_its_whole_attitude(robot, solver):
    rig = Rig(robot, solver)
    way = (0.06, 0.08, 0.05)
    away, turned, targets = play(rig, 5.0, lambda s: (tuple(s * w for w in way), (0.3, 1.0, 0.5), 0.3 * s))
    assert max(away) < 1e-3
    assert max(turned) < math.radians(0.5)
    assert rig.worst_speed() <= 1.0 + 1e-9
    assert {target.status for target in targets} == {TargetStatus.OK}
    assert all(reason in (Reason.NONE, Reason.TAKE_OVER) for target in targets for reason in target.reason)


@pytest.mark.parametrize("robot", ROBOTS)
def test_engaging_moves_nothing_and_ten_squeezes_creep_nowhere(robot, solver):
    rig = Rig(robot, solver)
    home = rig.joints
    for _ in range(10):
        rig.engage += 1
        assert rig.step(add(HAND, (0.3, -0.1, 0.2)), quat_from_axis_angle((1.0, 0.2, 0.0), 1.0)).position == rig.path[-2]
        for _ in range(10):
            rig.step(add(HAND, (0.3, -0.1, 0.2)), quat_from_axis_angle((1.0, 0.2, 0.0), 1.0))
    assert rig.joints == pytest.approx(home, abs=1e-4)


@pytest.mark.parametrize("robot", ROBOTS)
def test_joint_outside_its_limit_stays_at_engage_and_only_comes_back(robot, solver):
    over = Rig(robot, solver).limits.joints[1].lower - 0.05
    rig = Rig(robot, solver)
    start = (rig.joints[0], over, *rig.joints[2:])
    rig = Rig(robot, solver, start)
    for k in range(60):
        rig.step(add(HAND, (0.001 * k, 0.0, 0.0)))
    assert rig.path[1] == start
    assert min(joints[1] for joints in rig.path) >= over - 1e-12


# At full stretch a seven-joint arm has many postures equally near. What is left of motion after a second there [rad a step], and
# how exactly the tool then comes back with the hand [m]: the iterating solvers end their budget now here, now there.
AT_STRETCH = {"differential": (1e-5, 1e-3), "levenberg_marquardt": (0.02, 0.02), "qp": (0.02, 0.02)}


@pytest.mark.parametrize("robot", ROBOTS)
def test_stretched_past_reach_it_comes_to_rest_within_its_speed_and_comes_back_with_the_hand(robot, solver):
    rig = Rig(robot, solver)
    rest, exact = AT_STRETCH[solver]
    away = (0.8, 0.0, 0.1)
    play(rig, 3.0, lambda s: (tuple(s * w for w in away), (0.0, 0.0, 1.0), 0.0))
    for _ in range(int(HZ)):
        rig.step(add(HAND, away))
    still = rig.path[-20:]
    assert max(abs(a - b) for one, two in zip(still, still[1:]) for a, b in zip(one, two)) < rest
    stretched = rig.tool.position
    for k in range(1, 2 * int(HZ)):
        rig.step(add(HAND, add(away, (-0.1 * smooth(k * DT), 0.0, 0.0))))
    assert math.dist(add(stretched, (-0.1, 0.0, 0.0)), rig.tool.position) < exact
    assert rig.worst_speed() <= 1.0 + 1e-9


@pytest.mark.parametrize("robot", ROBOTS)
def test_roll_about_the_tool_is_followed_even_at_full_stretch(robot):
    """The last joint's axis passes through the tool, so its turn pulls nothing in."""
    rig = Rig(robot, "differential")
    away = (0.8, 0.0, 0.1)
    play(rig, 3.0, lambda s: (tuple(s * w for w in away), (0.0, 0.0, 1.0), 0.0))
    before, axis = rig.tool, rig.tool.axes[-1]
    for k in range(int(HZ)):
        rig.step(add(HAND, away), quat_from_axis_angle(axis, 0.3 * smooth(k * DT)))
    for _ in range(60):
        rig.step(add(HAND, away), quat_from_axis_angle(axis, 0.3))
    assert abs(rig.joints[rig.count - 1] - rig.path[270][rig.count - 1]) > 0.2
    assert math.dist(before.position, rig.tool.position) < 1e-3


@pytest.mark.parametrize("robot", ROBOTS)
def test_through_the_outstretched_arm_no_joint_outruns_its_speed(robot, solver):
    """A hand that leaps to the far side and back: the worst that a singular Jacobian can be asked."""
    rig = Rig(robot, solver)
    rig.step(HAND)
    for k in range(180):
        rig.step(add(HAND, (1.0 if k % 60 < 30 else -0.6, 0.4, 0.0)), quat_from_axis_angle((0.0, 1.0, 0.0), 0.02 * k))
    assert rig.worst_speed() <= 1.0 + 1e-9


def test_panda_closes_its_gripper_in_metres():
    rig = Rig("panda", "differential")
    rig.step(HAND)
    for k in range(int(HZ)):
        rig.step(HAND, trigger=k * DT)
    assert rig.joints[7] == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("robot", ROBOTS)
def test_analytic_refuses_another_robot_by_name(robot):
    rig = Rig(robot, "differential")
    with pytest.raises(ConfigError, match="SO-101"):
        make_solver("analytic", rig.chain)


def test_chain_whose_joints_are_listed_in_another_order_is_refused():
    rig = Rig("ur5", "differential")
    from teleop_description.assets import urdf_path

    names = tuple(reversed(rig.chain.names))
    with pytest.raises(ConfigError, match="in order: shoulder_pan_joint, shoulder_lift_joint"):
        chain_from_urdf(urdf_path("ur5").read_text(), "base_link", "ee_link", names)


def test_tip_above_the_base_is_refused_with_the_links_there_are():
    rig = Rig("ur5", "differential")
    from teleop_description.assets import urdf_path
    from teleop_ik.setup_arms import read_chain

    wrong = dataclasses.replace(rig.limits, tip_link="base_link", base_link="ee_link")
    with pytest.raises(ConfigError, match="ee_link to base_link.*wrist_3_link"):
        read_chain(urdf_path("ur5"), wrong)
