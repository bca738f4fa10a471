"""The Pinocchio model of one arm: any URDF and limits file, and what is refused."""

import dataclasses
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import limits as limits_module
from teleop_common.errors import ConfigError
from teleop_description import assets
from teleop_description.models import arm_model, tool_frame_id

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")

ROBOT_ON_A_STAND = """<robot name="other">
  <link name="world"/><link name="base_link"/><link name="arm"/><link name="tip"/><link name="flap"/>
  <joint name="stand" type="fixed"><parent link="world"/><child link="base_link"/>
    <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="turn" type="revolute"><parent link="base_link"/><child link="arm"/><origin xyz="0 0 0.5"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="flap_joint" type="revolute"><parent link="arm"/><child link="flap"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="reach" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.25 0 0"/></joint>
</robot>"""


def other(tmp_path, **changes):
    path = tmp_path / "other.urdf"
    path.write_text(ROBOT_ON_A_STAND)
    joint = limits_module.JointLimits("turn", -0.5, 0.5, 1.0, 10.0, 0.0)
    base = dataclasses.replace(LIMITS, robot="other", urdf=str(path), tip_link="tip", joints=(joint,), gripper=None)
    return dataclasses.replace(base, **changes)


def test_so101_has_its_joints_in_the_limits_order_and_their_ranges():
    model = arm_model(LIMITS)
    assert tuple(model.names[1:]) == LIMITS.names
    assert model.lowerPositionLimit == pytest.approx([j.lower for j in LIMITS.all_joints])
    assert model.upperPositionLimit == pytest.approx([j.upper for j in LIMITS.all_joints])
    assert model.velocityLimit == pytest.approx([j.velocity for j in LIMITS.all_joints])


def test_so101_at_zero_has_its_tool_where_the_data_sheet_says():
    model = arm_model(LIMITS)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.zeros(6))
    assert data.oMf[tool_frame_id(model, LIMITS)].translation == pytest.approx([0.391362, 0.0, 0.226469], abs=2e-5)


def test_base_on_a_stand_gives_poses_in_the_base_frame_and_locks_other_joints(tmp_path):
    limits = other(tmp_path)
    model = arm_model(limits)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.zeros(1))
    assert model.nq == 1
    assert data.oMf[tool_frame_id(model, limits)].translation == pytest.approx([0.25, 0.0, 0.5])
    assert data.oMf[model.getFrameId("base_link")].translation == pytest.approx([0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"tip_link": "nose"}, "nose"), ({"base_link": "arm"}, "turn"), ({"urdf": "/nowhere.urdf"}, "/nowhere.urdf")],
)
def test_wrong_link_or_file_is_refused_with_its_name(tmp_path, changes, named):
    with pytest.raises(ConfigError, match=named):
        arm_model(other(tmp_path, **changes))


def test_unknown_joint_and_wrong_order_are_refused():
    reversed_joints = dataclasses.replace(LIMITS, joints=LIMITS.joints[::-1])
    with pytest.raises(ConfigError, match="order shoulder_pan"):
        arm_model(reversed_joints)
    stranger = dataclasses.replace(LIMITS.joints[0], name="tail")
    with pytest.raises(ConfigError, match="tail"):
        arm_model(dataclasses.replace(LIMITS, joints=(stranger,)))


def test_model_without_mjcf_is_refused():
    with pytest.raises(ConfigError, match="so101"):
        assets.mjcf_path("/some/robot.urdf")
