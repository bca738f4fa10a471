import math

import pytest

from teleop_common.errors import ConfigError
from teleop_description.assets import urdf_path
from teleop_ik import kinematics
from teleop_ik.kinematics import chain_from_urdf, forward, jacobian, mat_from_quat, quat_from_mat

JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="0.1 0 0" rpy="0.3 0 0"/><axis xyz="{axis}"/></joint>'
)


def urdf(*joints):
    links = "".join(f'<link name="l{i}"/>' for i in range(len(joints) + 1))
    body = "".join(
        JOINT.format(name=f"j{i}", kind=kind, a=f"l{i}", b=f"l{i + 1}", axis=axis) for i, (kind, axis) in enumerate(joints)
    )
    return f"<robot name='r'>{links}{body}</robot>"


def test_tool_pose_agrees_with_pinocchio(so101, rng):
    pin = pytest.importorskip("pinocchio")
    numpy = pytest.importorskip("numpy")
    model = pin.buildModelFromUrdf(str(urdf_path("so101")))
    data = model.createData()
    frame = model.getFrameId("gripper_frame_link")
    for _ in range(200):
        joints = so101.random(rng)
        pin.framesForwardKinematics(model, data, numpy.array([*joints, 0.0]))
        pose = forward(so101.chain, joints)
        assert numpy.allclose(pose.position, data.oMf[frame].translation, atol=1e-12)
        assert numpy.allclose(numpy.reshape(pose.rotation, (3, 3)), data.oMf[frame].rotation, atol=1e-12)


def test_jacobian_is_the_derivative_of_position(so101, rng):
    step = 1e-6
    for _ in range(20):
        joints = so101.random(rng)
        columns = jacobian(forward(so101.chain, joints))
        for i, column in enumerate(columns):
            ends = [forward(so101.chain, tuple(q + s * (k == i) for k, q in enumerate(joints))).position for s in (-step, step)]
            assert column == pytest.approx([(b - a) / (2 * step) for a, b in zip(*ends)], abs=1e-8)


def test_any_joint_axis_turns_about_itself():
    chain = chain_from_urdf(
        urdf(("revolute", "0 -2 0"), ("continuous", "1 0 0"), ("revolute", "0 0 -1")), "l0", "l3", ("j0", "j1", "j2")
    )
    posture = forward(chain, (0.4, -0.2, 0.9))
    for axis in posture.axes:
        assert math.hypot(*axis) == pytest.approx(1.0)
    assert posture.axes[0] == pytest.approx((0.0, -math.cos(0.3), -math.sin(0.3)))


def test_quaternion_of_a_matrix_gives_the_matrix_back(rng):
    for _ in range(200):
        q = [rng.gauss(0, 1) for _ in range(4)]
        n = math.hypot(*q)
        m = mat_from_quat(tuple(x / n for x in q))
        assert mat_from_quat(quat_from_mat(m)) == pytest.approx(m, abs=1e-12)


@pytest.mark.parametrize("q", [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
def test_half_turns_have_a_quaternion(q):
    assert quat_from_mat(mat_from_quat(q)) == pytest.approx(q)


@pytest.mark.parametrize(
    ("text", "tip", "names", "said"),
    [
        ("<robot", "l1", ("j0",), "well-formed XML"),
        (urdf(("revolute", "0 0 1")), "elsewhere", ("j0",), "l0, l1"),
        (urdf(("prismatic", "0 0 1")), "l1", ("j0",), "revolute or continuous"),
        (urdf(("revolute", "0 0 1"), ("revolute", "0 0 1")), "l2", ("j1", "j0"), "j0, j1"),
    ],
)
def test_a_chain_that_cannot_be_used_is_refused_with_what_is_allowed(text, tip, names, said):
    with pytest.raises(ConfigError, match=said):
        kinematics.chain_from_urdf(text, "l0", tip, names)
