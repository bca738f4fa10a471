import numpy as np
import pinocchio as pin
import pytest
from guard_space import links
from guard_world import ROBOT

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_description.assets import urdf_path
from teleop_description.models import arm_model
from teleop_safety import shapes, space
from teleop_safety.capsules import distance_to_axis
from teleop_safety.collision import CollisionFilter


def mesh_points():
    model, urdf = arm_model(ROBOT), urdf_path(ROBOT.urdf)
    geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(urdf.parent)])
    for part in geometry.geometryObjects:
        yield part.parentJoint, np.asarray(part.geometry.vertices()) @ part.placement.rotation.T + part.placement.translation


def test_every_mesh_vertex_lies_inside_hull_and_capsule_of_its_link():
    by_joint = {shape.joint: shape for shape in links()}
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    parts = 0
    for joint, points in mesh_points():
        shape = by_joint[joint]
        assert distance_to_axis(points, shape.capsule).max() <= shape.capsule.radius
        assert ((points @ directions.T).max(axis=0) <= (shape.hull @ directions.T).max(axis=0) + 1e-9).all()
        parts += 1
    assert parts == 17


def test_one_shape_a_joint_and_the_base():
    assert [shape.joint for shape in links()] == list(range(7))
    assert [shape.name for shape in links()][0] == "base_link"


def test_second_load_comes_from_the_cache_and_equals_the_first(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    first = shapes.load(robot, tmp_path / "cache")
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 1
    second = shapes.load(robot, tmp_path / "cache")
    for a, b in zip(first, second):
        assert a.name == b.name
        assert a.joint == b.joint
        assert np.array_equal(a.hull, b.hull)
    for damaged in (b"damaged", b"", files[0].read_bytes()[:300]):
        files[0].write_bytes(damaged)
        third = shapes.load(robot, tmp_path / "cache")
        assert np.array_equal(third[1].hull, first[1].hull)


def test_changed_urdf_is_not_served_from_the_cache(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    first = shapes.load(robot, tmp_path / "cache")
    small.write_text(URDF.replace('size="0.2 0.04 0.04"', 'size="0.3 0.04 0.04"'))
    second = shapes.load(robot, tmp_path / "cache")
    assert second[1].hull[:, 0].max() > first[1].hull[:, 0].max() + 0.04


def test_urdf_without_collision_geometry_is_refused(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF.replace("collision", "visual"))
    with pytest.raises(ConfigError, match="collision"):
        shapes.load(one_joint(tmp_path, small), tmp_path / "cache")


def test_any_robot_with_primitives_is_kept_from_its_twin_and_from_a_box(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    (tmp_path / "cell.yaml").write_text(CELL_FILE)
    room = cell.load(tmp_path / "cell.yaml")
    scene = space.build(("a", "b"), robot, room, shapes.load(robot, tmp_path / "cache"))
    guard = CollisionFilter(("a", "b"), scene, 0.015, 0.001, 1)
    pose = {"a": (0.0,), "b": (0.0,)}
    for _ in range(100):
        goal = {"a": (pose["a"][0] + 0.02,), "b": (pose["b"][0] - 0.02,)}
        scale = guard.judge(pose, goal, pose).least
        pose = {arm: (pose[arm][0] + scale * (goal[arm][0] - pose[arm][0]),) for arm in pose}
    clearance = guard.clearance(pose, pose)
    assert clearance.committed == pytest.approx(0.015, abs=1e-3)
    assert {name[:2] for name in clearance.pairs[0].links} == {"a_", "b_"}
    pose = {"a": (-0.9,), "b": (0.9,)}
    for _ in range(100):
        goal = {"a": (pose["a"][0] - 0.02,)}
        scale = guard.judge(pose, goal, pose).least
        pose["a"] = (pose["a"][0] + scale * (goal["a"][0] - pose["a"][0]),)
    assert scale < 0.01
    assert "wall" in guard.clearance(pose, pose).pairs[0].links


CELL_FILE = """mounts:
  a: {position: [0.0, -0.15, 0.0], yaw: 0.0}
  b: {position: [0.0, 0.15, 0.0], yaw: 0.0}
bench: {height: -0.1, centre: [0.0, 0.0], size: [1.0, 1.0]}
place_zone: {centre: [0.2, 0.0], radius: 0.05}
boxes:
  - {name: wall, position: [0.1, -0.38, 0.2], size: [0.4, 0.1, 0.4], yaw: 0.1}
"""

URDF = """<robot name="one"><link name="foot"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<link name="bar"><collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.04 0.04"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="foot"/><child link="bar"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def one_joint(folder, urdf):
    path = folder / "one.yaml"
    path.write_text(
        f"""robot: one
urdf: {urdf}
base_link: foot
tip_link: bar
velocity_ceiling: 4.0
mechanical_margin: 0.1
joints:
  turn: {{lower: -1.0, upper: 1.0, velocity: 1.0, acceleration: 10.0, home: 0.0}}
leash: {{simulation: 0.25, hardware: 0.45}}
floor_clearance: 0.005
"""
    )
    return limits.load(path)
