"""Other robots by configuration: the Panda and the UR5 of PyPI's example-robot-data, and files of a person's own."""

import dataclasses
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_description import assets, hand, hulls
from teleop_description.models import arm_model
from teleop_description.testing import ROBOTS, installed
from teleop_description.urdf import robot_description

ROOT = Path(__file__).resolve().parents[4]
CELL = cell.load(ROOT / "config/cell.yaml")


pytestmark = pytest.mark.skipif(not installed(), reason="example-robot-data is not installed")


def load(robot):
    return limits.load(ROOT / f"config/limits/{robot}.yaml")


@pytest.mark.parametrize("robot", ROBOTS)
def test_limits_lie_within_those_of_the_urdf(robot):
    limits_of = load(robot)
    joints = {j.get("name"): j for j in ElementTree.parse(assets.urdf_path(limits_of.urdf)).getroot().findall("joint")}
    for joint in limits_of.all_joints:
        vendor = joints[joint.name].find("limit")
        assert float(vendor.get("lower")) <= joint.lower < joint.upper <= float(vendor.get("upper"))
        assert joint.velocity <= float(vendor.get("velocity"))


@pytest.mark.parametrize("robot", ROBOTS)
def test_model_has_the_joints_of_the_limits_file(robot):
    assert tuple(arm_model(load(robot)).names[1:]) == load(robot).names


@pytest.mark.parametrize("robot", ROBOTS)
def test_hulls_are_read_through_package_uris(robot):
    found = hulls.clouds(load(robot))
    # every joint carries something, and so does the base
    assert set(found.points) == set(range(found.model.njoints))


@pytest.mark.parametrize("robot", ROBOTS)
def test_description_of_two_arms_has_prefixed_joints_and_meshes_that_exist(robot):
    description = robot_description(("left", "right"), CELL, load(robot))
    model = pin.buildModelFromXML(description)
    for arm in ("left", "right"):
        assert set(load(robot).arm_names(arm)) <= set(model.names)
    meshes = [urlparse(mesh.get("filename")) for mesh in ElementTree.fromstring(description).iter("mesh")]
    assert len(meshes) > 20
    assert all(uri.scheme == "file" and Path(unquote(uri.path)).is_file() for uri in meshes)


def test_finger_that_mimics_the_gripper_is_kept_clear_at_every_opening():
    """The Panda's second finger is locked for kinematics; its hull must hold it open, closed and between."""
    panda = load("panda")
    points = hulls.clouds(panda).points[7]
    lows, highs = points.min(axis=0), points.max(axis=0)
    for opening in (0.0, 0.02, 0.04):
        model = arm_model(panda, opening)
        urdf = assets.urdf_path(panda.urdf)
        folders = [str(folder) for folder in assets.package_dirs(urdf)]
        geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION, package_dirs=folders)
        fingers = [part for part in geometry.geometryObjects if part.name.startswith("panda_rightfinger")]
        assert fingers
        for part in fingers:
            assert (part.placement.translation >= lows).all()
            assert (part.placement.translation <= highs).all()


def test_another_range_of_the_gripper_is_another_geometry():
    panda = load("panda")
    fingers = dataclasses.replace(panda.gripper, limits=dataclasses.replace(panda.gripper.limits, upper=0.03))
    assert assets.digest(panda, "") != assets.digest(dataclasses.replace(panda, gripper=fingers), "")


def test_panda_jaw_slides_and_the_ur5_has_none(tmp_path):
    assert hand.load(load("panda"), tmp_path).slides
    assert not hand.load(load("ur5"), tmp_path).jaw.corners


# ---- files of a person's own
def copied(tmp_path, robot="ur5", change=lambda text: text):
    """Copy the robot's folder elsewhere, as a person would keep it, and return its limits file with a relative path."""
    urdf = assets.urdf_path(load(robot).urdf)
    home = tmp_path / "example-robot-data/robots/ur_description"
    (home / "urdf").mkdir(parents=True)
    shutil.copytree(urdf.parents[1] / "meshes/ur5", home / "meshes/ur5")
    (home / "urdf/mine.urdf").write_text(change(urdf.read_text()))
    text = (ROOT / f"config/limits/{robot}.yaml").read_text()
    path = home / "limits.yaml"
    path.write_text(text.replace("urdf: ur5 ", "urdf: urdf/mine.urdf "))
    return path


def test_urdf_relative_to_the_limits_file_is_found_with_its_meshes(tmp_path, monkeypatch):
    path = copied(tmp_path)
    monkeypatch.chdir("/")
    mine = limits.load(path)
    assert assets.urdf_path(mine.urdf) == path.parent / "urdf/mine.urdf"
    ours, theirs = hulls.clouds(mine).points, hulls.clouds(load("ur5")).points
    assert all(np.array_equal(ours[joint], theirs[joint]) for joint in theirs)


def test_urdf_in_a_sourced_ros_package_is_found(tmp_path, monkeypatch):
    path = copied(tmp_path).parent / "urdf/mine.urdf"
    share = tmp_path / "prefix/share/my_robot"
    share.mkdir(parents=True)
    shutil.copy(path, share / "mine.urdf")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert assets.urdf_path("package://my_robot/mine.urdf") == share / "mine.urdf"


def test_continuous_joint_takes_its_limits_from_the_file(tmp_path):
    mine = limits.load(
        copied(tmp_path, change=lambda text: text.replace('wrist_3_joint" type="revolute"', 'wrist_3_joint" type="continuous"'))
    )
    model = arm_model(mine)
    assert model.nq == 6
    assert model.upperPositionLimit[5] == mine.joints[5].upper


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tip_link": "nowhere"}, "tip_link.*nowhere.*ee_link"),
        ({"base_link": "nowhere"}, "base_link.*nowhere"),
        ({"base_link": "forearm_link"}, "a link that no joint moves"),
        ({"urdf": "package://no_such_package/x.urdf"}, "no_such_package.*sourced ROS package"),
        ({"urdf": "/nowhere/x.urdf"}, "existing URDF file"),
    ],
)
def test_wrong_file_is_refused_with_what_is_allowed(changes, message):
    with pytest.raises(ConfigError, match=message):
        arm_model(dataclasses.replace(load("ur5"), **changes))


def test_joint_that_the_urdf_lacks_is_refused_with_those_it_has():
    ur5 = load("ur5")
    wrong = (dataclasses.replace(ur5.joints[0], name="waist"), *ur5.joints[1:])
    with pytest.raises(ConfigError, match="waist.*shoulder_pan_joint"):
        arm_model(dataclasses.replace(ur5, joints=wrong))


def test_mesh_that_is_missing_is_refused_with_its_name(tmp_path):
    path = copied(tmp_path)
    (path.parent / "meshes/ur5/collision/forearm.stl").unlink()
    with pytest.raises(ConfigError, match=r"forearm\.stl"):
        hulls.clouds(limits.load(path))


def test_robot_without_a_simulation_model_says_which_have_one():
    with pytest.raises(ConfigError, match="so101.*only these can be simulated"):
        assets.mjcf_path("panda")
