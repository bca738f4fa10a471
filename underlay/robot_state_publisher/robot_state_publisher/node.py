"""The robot_state_publisher node."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

import rclpy
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.experimental.events_executor import EventsExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

from robot_state_publisher.core import FramePose, StateToTransforms


class RobotStatePublisher(Node):
    """Publishes /tf of the moving joints, /tf_static of the fixed ones and the robot description."""

    def __init__(self) -> None:
        """Read the parameters, publish what never changes.

        Raises:
            ValueError, NotImplementedError: a parameter that can't be.
        """
        super().__init__("robot_state_publisher")
        description = self._parameter("robot_description", "", "URDF of the robot")
        frequency = self._parameter("publish_frequency", 20.0, "highest rate of the transforms [Hz], 0 to 1000")
        prefix = self._parameter("frame_prefix", "", "put before every frame name")
        if not description:
            raise ValueError("robot_description: got an empty text, allowed a URDF; set the parameter")
        self._core = StateToTransforms(description, frequency, prefix)
        self.add_on_set_parameters_callback(self._refuse)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.create_publisher(String, "robot_description", latched)
        self._description.publish(String(data=description))
        self._static = StaticTransformBroadcaster(self)
        self._static.sendTransform([_message(pose, self.get_clock().now().to_msg()) for pose in self._core.fixed()])
        self._moving = TransformBroadcaster(self)
        self.create_subscription(JointState, "joint_states", self._joints, qos_profile_sensor_data)

    def _parameter(self, name: str, default: Any, text: str) -> Any:
        return self.declare_parameter(name, default, ParameterDescriptor(description=text)).value

    @staticmethod
    def _refuse(parameters: list[Any]) -> SetParametersResult:
        own = {"robot_description", "publish_frequency", "frame_prefix"}
        named = [item.name for item in parameters if item.name in own]
        reason = f"{', '.join(named)}: can't change while running in this subset; install ros-jazzy-robot-state-publisher"
        return SetParametersResult(successful=not named, reason=reason if named else "")

    def _joints(self, msg: JointState) -> None:
        stamp = msg.header.stamp
        try:
            poses = self._core.moving(msg.name, msg.position, stamp.sec * 1_000_000_000 + stamp.nanosec)
        except ValueError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        if poses:
            self._moving.sendTransform([_message(pose, stamp) for pose in poses])


def _message(pose: FramePose, stamp: Any) -> TransformStamped:
    made = TransformStamped()
    made.header.stamp, made.header.frame_id, made.child_frame_id = stamp, pose.parent, pose.child
    t, q = made.transform.translation, made.transform.rotation
    t.x, t.y, t.z = pose.translation
    q.x, q.y, q.z, q.w = pose.rotation
    return made


def main() -> int:
    """Run the node until SIGINT or SIGTERM; status 1 and one line when the parameters can't be."""
    stopping = threading.Event()
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    node = None
    try:
        node = RobotStatePublisher()
        executor = EventsExecutor()
        executor.add_node(node)
        while rclpy.ok() and not stopping.is_set():
            executor.spin_once(timeout_sec=0.2)
    except (ValueError, NotImplementedError) as error:
        sys.stderr.write(f"robot_state_publisher: {error}\n")
        return 1
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
