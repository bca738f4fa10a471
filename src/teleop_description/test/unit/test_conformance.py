"""URDF, MJCF, composed scene and limits file describe the same arm."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from teleop_common import cell as cell_module
from teleop_common import limits as limits_module
from teleop_description import assets, scene
from teleop_description.models import arm_model
from teleop_description.pinocchio_compat import joint_of

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")
CELL = cell_module.load(REPOSITORY / "config/cell.yaml")
ARMS = ("left", "right")
COUNT = 1000
MILLIMETRES, DEGREES = 0.01, 0.002
# the MJCF's tool site is turned by 90° about y against the URDF's frame
TOOL_SITE_TURN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def links():
    return [link for link in arm_model(LIMITS).frames if link.type == pin.FrameType.BODY and joint_of(link) > 0]


def configurations(seed):
    model = arm_model(LIMITS)
    return np.random.default_rng(seed).uniform(model.lowerPositionLimit, model.upperPositionLimit, (COUNT, model.nq))


def errors(a_position, a_rotation, b_position, b_rotation):
    cosine = (np.trace(a_rotation.T @ b_rotation) - 1.0) / 2.0
    sine = np.linalg.norm(a_rotation - b_rotation) / np.sqrt(8.0)
    angle = 2.0 * np.arcsin(min(sine, 1.0)) if cosine > 0.0 else np.pi
    return np.linalg.norm(a_position - b_position) * 1e3, np.degrees(angle)


def test_installed_mjcf_and_urdf_agree_in_1000_configurations():
    model = mujoco.MjModel.from_xml_path(str(assets.mjcf_path(LIMITS.urdf)))
    data, urdf = mujoco.MjData(model), arm_model(LIMITS)
    urdf_data = urdf.createData()
    worst = np.zeros(2)
    for q in configurations(1):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        pin.framesForwardKinematics(urdf, urdf_data, q)
        for link in links():
            pose = urdf_data.oMf[urdf.getFrameId(link.name)]
            if link.name == LIMITS.tip_link:
                site = data.site("gripperframe")
                position, rotation = site.xpos, site.xmat.reshape(3, 3) @ TOOL_SITE_TURN
            else:
                body = data.body(link.name.removesuffix("_link"))
                position, rotation = body.xpos, body.xmat.reshape(3, 3)
            worst = np.maximum(worst, errors(position, rotation, pose.translation, pose.rotation))
    assert worst[0] <= MILLIMETRES
    assert worst[1] <= DEGREES


def test_composed_scene_and_urdf_agree_for_each_arm_in_1000_configurations():
    model = scene.build(ARMS, CELL, LIMITS)
    data, urdf = mujoco.MjData(model), arm_model(LIMITS)
    urdf_data = urdf.createData()
    worst = np.zeros(2)
    for seed, arm in enumerate(ARMS):
        mount = CELL.mount(arm)
        x, y, z, w = mount.orientation
        base = pin.SE3(pin.Quaternion(w, x, y, z), np.array(mount.position))
        addresses = [model.joint(name).qposadr[0] for name in LIMITS.arm_names(arm)]
        for q in configurations(seed):
            data.qpos[addresses] = q
            mujoco.mj_kinematics(model, data)
            pin.framesForwardKinematics(urdf, urdf_data, q)
            for link in links():
                pose = base * urdf_data.oMf[urdf.getFrameId(link.name)]
                name = f"{arm}_{link.name}"
                view = data.site(name) if link.name == LIMITS.tip_link else data.body(name)
                worst = np.maximum(worst, errors(view.xpos, view.xmat.reshape(3, 3), pose.translation, pose.rotation))
    assert worst[0] <= MILLIMETRES
    assert worst[1] <= DEGREES


def test_joint_names_and_order_are_equal_everywhere():
    installed = mujoco.MjModel.from_xml_path(str(assets.mjcf_path(LIMITS.urdf)))
    assert tuple(installed.joint(i).name for i in range(installed.njnt)) == LIMITS.names
    assert tuple(installed.actuator(i).name for i in range(installed.nu)) == LIMITS.names
    composed = scene.build(ARMS, CELL, LIMITS)
    both = LIMITS.arm_names("left") + LIMITS.arm_names("right")
    assert tuple(composed.actuator(i).name for i in range(composed.nu)) == both
    assert tuple(arm_model(LIMITS).names[1:]) == LIMITS.names


def test_limits_file_equals_the_installed_urdf():
    root = ElementTree.parse(assets.urdf_path(LIMITS.urdf)).getroot()
    for joint in LIMITS.all_joints:
        limit = root.find(f"joint[@name='{joint.name}']/limit")
        assert (joint.lower, joint.upper) == (float(limit.get("lower")), float(limit.get("upper")))


def test_installed_mjcf_limits_equal_the_limits_file_and_the_composed_ranges_are_wider_by_the_margin():
    installed = mujoco.MjModel.from_xml_path(str(assets.mjcf_path(LIMITS.urdf)))
    composed = scene.build(ARMS, CELL, LIMITS)
    margin = np.array([-LIMITS.mechanical_margin, LIMITS.mechanical_margin])
    for joint in LIMITS.all_joints:
        ranges = np.array([joint.lower, joint.upper])
        assert installed.joint(joint.name).range == pytest.approx(ranges, abs=1e-5)
        for arm in ARMS:
            assert composed.joint(f"{arm}_{joint.name}").range == pytest.approx(ranges + margin)
            assert composed.actuator(f"{arm}_{joint.name}").ctrlrange == pytest.approx(ranges + margin)


def test_home_pose_is_above_the_bench_in_front_and_tilted_down():
    model = arm_model(LIMITS)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([j.home for j in LIMITS.all_joints]))
    tool = data.oMf[model.getFrameId(LIMITS.tip_link)]
    approach = tool.rotation[:, 2]
    assert 0.15 <= tool.translation[0] <= 0.30
    assert abs(tool.translation[1]) < 0.005
    assert tool.translation[2] > 0.10
    assert approach[2] < -0.5
    assert approach[0] > 0.5
