import os
import signal
import subprocess
import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from ament_index_python.packages import get_package_prefix
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

URDF = (
    '<robot name="r"><link name="base"/><link name="arm"/><link name="tip"/>'
    '<joint name="pan" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>'
    '<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.2 0 0"/></joint></robot>'
)


def start(domain, description, **params):
    prefix = get_package_prefix("robot_state_publisher")
    command = [
        f"{prefix}/lib/robot_state_publisher/robot_state_publisher",
        "--ros-args",
        "-p",
        f"robot_description:='{description}'",
    ]
    for name, value in params.items():
        command += ["-p", f"{name}:={value}"]
    return subprocess.Popen(command, env=os.environ | {"ROS_DOMAIN_ID": str(domain)}, stderr=subprocess.PIPE, text=True)


def test_publishes_transforms_and_ends_quietly(domain):
    child = start(domain, URDF, publish_frequency=50.0)
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    node = Node("probe", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    heard = {"tf": [], "static": [], "description": []}
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(TFMessage, "/tf", heard["tf"].append, 100)
    node.create_subscription(TFMessage, "/tf_static", heard["static"].append, latched)
    node.create_subscription(String, "/robot_description", heard["description"].append, latched)
    publisher = node.create_publisher(JointState, "/joint_states", 1)
    try:
        end = time.monotonic() + 15.0
        while not all(heard.values()) and time.monotonic() < end:
            state = JointState(name=["pan"], position=[1.0])
            state.header.stamp = node.get_clock().now().to_msg()
            publisher.publish(state)
            executor.spin_once(timeout_sec=0.05)
        assert all(heard.values())
        assert heard["description"][0].data == URDF
        assert heard["static"][0].transforms[0].child_frame_id == "tip"
        moving = heard["tf"][0].transforms[0]
        assert (moving.header.frame_id, moving.child_frame_id) == ("base", "arm")
        assert moving.header.stamp.sec > 0
    finally:
        node.destroy_node()
        rclpy.try_shutdown(context=context)
        child.send_signal(signal.SIGINT)
        assert child.wait(10.0) == 0
        assert child.stderr.read() == ""


def test_bad_description_ends_with_one_line(domain):
    child = start(domain, "<sdf/>")
    assert child.wait(20.0) == 1
    assert child.stderr.read().count("\n") == 1
