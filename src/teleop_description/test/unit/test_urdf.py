"""robot_description: names, mounts and meshes of one and of two arms."""

import dataclasses
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import cell as cell_module
from teleop_common import limits as limits_module
from teleop_common import spatial
from teleop_common.errors import ConfigError
from teleop_common.records import Pose
from teleop_description.models import arm_model, tool_frame_id
from teleop_description.urdf import arm_description, robot_description

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")
CELL = cell_module.load(REPOSITORY / "config/cell.yaml")
ARMS = ("left", "right")


def test_both_arms_have_prefixed_joints_in_order_and_one_root():
    model = pin.buildModelFromXML(robot_description(ARMS, CELL, LIMITS))
    assert tuple(model.names[1:]) == LIMITS.arm_names("left") + LIMITS.arm_names("right")
    assert model.existBodyName("right_gripper_frame_link")


@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_tool_in_world_is_the_mount_times_the_tool_in_the_base(yaw):
    mounts = {arm: Pose(CELL.mount(arm).position, spatial.quat_from_yaw(yaw)) for arm in ARMS}
    cell = dataclasses.replace(CELL, mounts=mounts)
    whole = pin.buildModelFromXML(robot_description(ARMS, cell, LIMITS))
    single = arm_model(LIMITS)
    q = np.random.default_rng(1).uniform(single.lowerPositionLimit, single.upperPositionLimit, (2, 6))
    data, one = whole.createData(), single.createData()
    pin.framesForwardKinematics(whole, data, q.ravel())
    for index, arm in enumerate(ARMS):
        pin.framesForwardKinematics(single, one, q[index])
        x, y, z, w = mounts[arm].orientation
        mount = pin.SE3(pin.Quaternion(w, x, y, z), np.array(mounts[arm].position))
        expected = mount * one.oMf[tool_frame_id(single, LIMITS)]
        assert data.oMf[whole.getFrameId(f"{arm}_gripper_frame_link")].isApprox(expected, 1e-6)


def test_every_mesh_is_a_file_uri_of_an_existing_file():
    root = ElementTree.fromstring(robot_description(ARMS, CELL, LIMITS))
    uris = [urlparse(mesh.get("filename")) for mesh in root.iter("mesh")]
    assert len(uris) > 20
    for uri in uris:
        assert uri.scheme == "file"
        assert Path(unquote(uri.path)).is_file()


def test_no_material_is_defined_twice():
    root = ElementTree.fromstring(robot_description(ARMS, CELL, LIMITS))
    names = [material.get("name") for material in root.findall("material")]
    assert len(names) == len(set(names))


def test_one_arm_alone_has_its_prefix_and_no_world():
    root = ElementTree.fromstring(arm_description("right", LIMITS))
    links = {link.get("name") for link in root.findall("link")}
    assert "right_base_link" in links
    assert all(name.startswith("right_") for name in links)


def test_arm_without_mount_is_refused_with_its_name():
    with pytest.raises(ConfigError, match="middle"):
        robot_description(("middle",), CELL, LIMITS)


def test_file_that_is_no_urdf_is_refused(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot>")
    with pytest.raises(ConfigError, match=r"broken\.urdf"):
        robot_description(ARMS, CELL, dataclasses.replace(LIMITS, urdf=str(path)))
