"""The hand's corners, held to the whole hulls and to Pinocchio."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import limits
from teleop_description import hand, hulls
from teleop_description.models import tool_frame_id

ROBOT = limits.load(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")


def directions(count=500):
    rng = np.random.default_rng(3)
    found = rng.normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1)[:, None]


@pytest.fixture(scope="module")
def clouds():
    return hulls.clouds(ROBOT)


@pytest.mark.parametrize("opening", [-0.17, 0.0, 0.4, 1.0, 1.74])
def test_lowest_point_of_hand_and_jaw_is_that_of_the_meshes_within_the_loss(clouds, opening):
    found = hand.load(ROBOT)
    model = clouds.model
    data, q = model.createData(), pin.neutral(model)
    q[-1] = opening
    pin.framesForwardKinematics(model, data, q)
    tool = data.oMf[tool_frame_id(model, ROBOT)]
    meshes = []
    for joint in (5, 6):
        place = tool.inverse() * data.oMi[joint]
        meshes.append(clouds.points[joint] @ place.rotation.T + place.translation)
    points = np.vstack(meshes)
    for up in directions():
        exact = min(0.0, float((points @ up).min()))
        assert exact - 1e-6 <= found.lowest(tuple(up), (opening,)) <= exact + hand.LOSS


def test_two_openings_give_the_lower_of_both():
    found = hand.load(ROBOT)
    for up in map(tuple, directions(50)):
        assert found.lowest(up, (0.1, 1.5)) == min(found.lowest(up, (0.1,)), found.lowest(up, (1.5,)))


def test_segments_before_the_hand_place_their_corners_as_pinocchio_does(clouds):
    found = hand.load(ROBOT)
    model = clouds.model
    data, q = model.createData(), np.array([0.3, -0.4, 0.5, 0.6, 0.7, 0.0])
    pin.forwardKinematics(model, data, q)
    assert [segment.joint for segment in found.segments] == [2, 3]
    for joint, by_axis, part in found.segments:
        here, after = data.oMi[joint + 1], data.oMi[joint + 2]
        a = here.rotation[:, 2]
        b = after.rotation[:, 2] if by_axis else after.translation - here.translation
        points = here.translation + np.array(part.corners) @ np.array([a, b, np.cross(a, b)])
        mesh = clouds.points[joint + 1] @ here.rotation.T + here.translation
        lost = (mesh @ directions().T).max(axis=0) - (points @ directions().T).max(axis=0)
        assert lost.min() >= -1e-6
        assert lost.max() <= hand.LOSS
        centre = np.array(part.centre) @ np.array([a, b, np.cross(a, b)]) + here.translation
        assert np.linalg.norm(points - centre, axis=1).max() <= part.radius


def test_few_corners_remain():
    found = hand.load(ROBOT)
    assert len(found.rigid.corners) + len(found.jaw.corners) < 80
    assert all(len(segment.part.corners) < 60 for segment in found.segments)


def test_second_load_comes_from_the_cache_and_a_damaged_one_is_made_again(tmp_path):
    robot = two_joints(tmp_path, URDF)
    first = hand.load(robot, tmp_path / "cache")
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 1
    written = files[0].read_bytes()
    assert hand.load(robot, tmp_path / "cache") == first
    files[0].write_bytes(b"damaged")
    assert hand.load(robot, tmp_path / "cache") == first
    assert files[0].read_bytes() == written


def test_a_hand_of_primitives_with_a_sliding_jaw(tmp_path):
    found = hand.load(two_joints(tmp_path, URDF), tmp_path / "cache")
    # a box of 4 cm around the tool's wrist, 10 cm behind the tool point; a jaw of 2 cm that slides 5 cm along y
    assert found.slides
    assert found.lowest((0.0, 0.0, 1.0), (0.0,)) == pytest.approx(-0.02)
    assert found.lowest((0.0, 1.0, 0.0), (0.0,)) == pytest.approx(-0.02)
    assert found.lowest((0.0, -1.0, 0.0), (0.05,)) == pytest.approx(-0.06)
    assert found.lowest((1.0, 0.0, 0.0), (0.05,)) == pytest.approx(-0.12)


def test_a_robot_without_collision_geometry_has_an_empty_hand(tmp_path):
    found = hand.load(two_joints(tmp_path, URDF.replace("collision", "visual")), tmp_path / "cache")
    assert found == hand.Hand()
    assert found.lowest((0.0, 0.0, 1.0), (0.1,)) == 0.0


URDF = """<robot name="two"><link name="foot"/><link name="tool"/>
<link name="bar"><collision><geometry><box size="0.04 0.04 0.04"/></geometry></collision></link>
<link name="jaw"><collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="foot"/><child link="bar"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="tip" type="fixed"><parent link="bar"/><child link="tool"/><origin xyz="0.1 0 0"/></joint>
<joint name="grip" type="prismatic"><parent link="bar"/><child link="jaw"/><origin xyz="0.05 0 0"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.05" effort="1" velocity="1"/></joint></robot>"""


def two_joints(folder, text):
    (folder / "two.urdf").write_text(text)
    path = folder / "two.yaml"
    path.write_text(
        f"""robot: two
urdf: {folder / "two.urdf"}
base_link: foot
tip_link: tool
velocity_ceiling: 4.0
mechanical_margin: 0.0
joints:
  turn: {{lower: -1.0, upper: 1.0, velocity: 1.0, acceleration: 5.0, home: 0.0}}
gripper: {{joint: grip, lower: 0.0, upper: 0.05, velocity: 0.1, acceleration: 1.0, home: 0.0, closed: 0.0, open: 0.05}}
leash: {{simulation: 0.25, hardware: 0.45}}
floor_clearance: 0.005
"""
    )
    return limits.load(path)
