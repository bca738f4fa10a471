"""Parameters of the node ``ros2_control_driver``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common import driver
from teleop_common.driver_params import CommonDriverParams
from teleop_common.params import param


@dataclass(frozen=True)
class DriverParams(CommonDriverParams):
    """See each description. In topics and prefix, ``{arm}`` stands for the arm's name."""

    arms: tuple[str, ...] = param(("left", "right"), "arms to drive")
    limits_file: str = param("", "limits file of the robot; empty: limits/so101.yaml of teleop_bringup")
    command: str = param(
        "trajectory",
        "what the arm's controller takes: trajectory (trajectory_msgs/JointTrajectory, joint_trajectory_controller) or array "
        "(std_msgs/Float64MultiArray, forward_command_controller with its joints in the limits file's order)",
        choices=("trajectory", "array"),
    )
    command_topic: str = param("/{arm}_arm_controller/joint_trajectory", "topic of the arm's controller")
    gripper_command: str = param("array", "what the gripper's controller takes", choices=("trajectory", "array"))
    gripper_topic: str = param("", "topic of the gripper's controller; empty: the gripper's joint goes with the arm's")
    joint_states_topic: str = param("/joint_states", "where the joint states come from (joint_state_broadcaster)")
    joint_prefix: str = param("{arm}_", "what the controllers' joint names have before those of the limits file")
    horizon: float = param(
        0.03, "time in which a trajectory's one point is reached; a little above the period of commands", unit="s",
        minimum=0.001, maximum=0.5,
    )  # fmt: skip
    stop_service: str = param("", "std_srvs/Trigger of the robot that the e-stop calls as well; empty: none")
    torque_on: bool = param(True, "forward commands from the start; else after the service /<arm>/torque")
    feedback_timeout: float = param(0.2, "age from which a joint's feedback counts as gone", unit="s", minimum=0.02, maximum=2.0)
    command_stale: float = param(driver.STALE, "largest age of a command on arrival", unit="s", minimum=0.01, maximum=1.0)
