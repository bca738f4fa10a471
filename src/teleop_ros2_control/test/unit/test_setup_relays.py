"""From parameters to topics and joint names; what is refused at the start."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from teleop_common import limits  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_ros2_control.driver_params import DriverParams  # noqa: E402
from teleop_ros2_control.setup_relays import wire  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
PANDA = limits.load(ROOT / "config/limits/panda.yaml")
UR5 = limits.load(ROOT / "config/limits/ur5.yaml")


def wired(robot=PANDA, **changes):
    params = DriverParams(**changes)
    return wire(params, robot, range(len(params.arms)))


def test_two_arms_have_controllers_and_prefixes_of_their_own():
    left, right = wired().values()
    assert left.outputs[0].topic == "/left_arm_controller/joint_trajectory"
    assert right.outputs[0].names[0] == "right_panda_joint1"
    assert len(right.outputs[0].names) == 8


def test_gripper_with_a_topic_of_its_own_leaves_the_arms_message():
    (arm,) = wired(arms=("left",), joint_prefix="", gripper_topic="/hand_controller/commands").values()
    whole = tuple(range(8))
    assert [output.names for output in arm.outputs] == [PANDA.names[:7], ("panda_finger_joint1",)]
    assert [whole[output.joints] for output in arm.outputs] == [whole[:7], whole[7:]]


def test_controller_names_without_prefix_still_give_prefixed_names_to_the_graph():
    (arm,) = wired(UR5, arms=("right",), joint_prefix="").values()
    assert arm.relay.config.hardware == UR5.names
    assert arm.relay.config.driver.names == UR5.arm_names("right")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": ()}, "at least one arm"),
        ({"arms": ("left", "left")}, "each once"),
        ({"command_topic": "/same"}, r"'/same'.*one output only.*put \{arm\}"),
        ({"joint_prefix": ""}, "panda_joint1.*one arm only"),
        ({"command_topic": "/{side}/x"}, r"\{arm\} stands for"),
        ({"command_topic": "/{"}, r"\{arm\} stands for"),
        ({"arms": ("left",), "gripper_topic": "/left_arm_controller/joint_trajectory"}, "a topic of its own"),
        ({"joint_states_topic": "/{arm}/joint_states"}, "any topic but the driver's own"),
    ],
)
def test_wiring_that_would_mix_arms_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        wired(**changes)


def test_gripper_topic_for_a_robot_without_gripper_is_refused():
    with pytest.raises(ConfigError, match="empty for a robot without gripper"):
        wired(UR5, gripper_topic="/hand/commands")
