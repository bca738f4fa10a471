import math

import pytest
from robot_state_publisher.core import StateToTransforms
from robot_state_publisher.urdf import parse

URDF = """
<robot name="r">
  <link name="base"/><link name="arm"/><link name="tip"/><link name="slide"/><link name="finger"/>
  <joint name="pan" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 2"/></joint>
  <joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.2 0 0"/></joint>
  <joint name="rail" type="prismatic"><parent link="arm"/><child link="slide"/>
    <origin rpy="0 0 1.5707963267948966"/><axis xyz="1 0 0"/></joint>
  <joint name="finger" type="revolute"><parent link="arm"/><child link="finger"/><axis xyz="0 0 1"/>
    <mimic joint="pan" multiplier="-2" offset="0.1"/></joint>
</robot>"""
MS = 1_000_000


def core(**kwargs):
    return StateToTransforms(URDF, **kwargs)


def test_revolute_turns_about_its_axis_after_the_origin():
    pose = core().moving(["pan"], [0.4], 10**9)[0]
    assert (pose.parent, pose.child, pose.translation) == ("base", "arm", (0.0, 0.0, 0.1))
    angle = math.pi / 2 + 0.4
    assert pose.rotation == pytest.approx((0, 0, math.sin(angle / 2), math.cos(angle / 2)))


def test_prismatic_slides_along_its_axis_in_the_parent():
    assert core().moving(["rail"], [0.3], 10**9)[0].translation == pytest.approx((0, 0.3, 0))


def test_mimic_joint_follows():
    poses = {pose.child: pose for pose in core().moving(["pan"], [0.4], 10**9)}
    assert poses["finger"].rotation == pytest.approx((0, 0, math.sin(-0.35), math.cos(-0.35)))


def test_fixed_joints_are_apart_and_prefixed():
    (pose,) = core(frame_prefix="left_").fixed()
    assert (pose.parent, pose.child, pose.translation) == ("left_arm", "left_tip", (0.2, 0.0, 0.0))


def test_rate_is_limited_by_the_stamps():
    limited = core(publish_frequency=20.0)
    count = sum(bool(limited.moving(["pan"], [0.0], number * 10 * MS)) for number in range(1, 101))
    assert count == 20


def test_every_state_is_published_without_a_limit():
    free = core(publish_frequency=0.0)
    assert all(free.moving(["pan"], [0.0], number * MS) for number in range(1, 50))


def test_joints_in_messages_of_their_own_are_limited_apart():
    limited = core(publish_frequency=20.0)
    assert limited.moving(["pan"], [0.0], 10 * MS)
    assert limited.moving(["rail"], [0.0], 11 * MS)
    assert not limited.moving(["pan"], [0.0], 12 * MS)


def test_time_going_back_starts_anew():
    limited = core(publish_frequency=20.0)
    assert limited.moving(["pan"], [0.0], 10**9)
    assert limited.moving(["pan"], [0.0], 10**6)


def test_unknown_joints_are_passed_over():
    assert core().moving(["nope"], [0.0], 10**9) == []


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="0 positions for 1 names"):
        core().moving(["pan"], [], 10**9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no xml", "not XML"),
        ("<sdf/>", "root element 'sdf'"),
        (URDF.replace('type="fixed"', 'type="magic"'), "'magic'"),
        (URDF.replace('<child link="tip"/>', '<child link="nope"/>'), "'nope'"),
        (URDF.replace("0.2 0 0", "0.2 0"), "three numbers"),
        (URDF.replace('<child link="tip"/>', '<child link="arm"/>'), "root links"),
        (URDF.replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>'), "axis"),
    ],
)
def test_descriptions_that_are_no_tree_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_floating_joint_names_the_real_package():
    with pytest.raises(NotImplementedError, match="ros-jazzy-robot-state-publisher"):
        parse(URDF.replace('type="fixed"', 'type="floating"'))


def test_frequency_out_of_range_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1000"):
        core(publish_frequency=-1.0)


def test_chain_agrees_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    import numpy as np

    text = URDF.replace('<mimic joint="pan" multiplier="-2" offset="0.1"/>', "")
    limits = '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
    model = pin.buildModelFromXML(text.replace("</joint>", limits))
    data = model.createData()
    q = pin.neutral(model)
    q[model.joints[model.getJointId("pan")].idx_q] = 0.7
    pin.framesForwardKinematics(model, data, q)
    expected = data.oMf[model.getFrameId("arm")]
    pose = core().moving(["pan"], [0.7], 10**9)[0]
    assert np.allclose(pin.Quaternion(np.array(pose.rotation)).matrix(), expected.rotation, atol=1e-12)
    assert np.allclose(pose.translation, expected.translation)
