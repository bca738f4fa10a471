import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from diagnostic_updater import Updater
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


def test_tasks_are_published_with_the_node_name(domain):
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    node = Node("driver", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    heard = []
    node.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    try:
        updater = Updater(node, period=0.05)
        updater.setHardwareID("serial 7")

        def temperature(stat):
            stat.summary(DiagnosticStatus.WARN, "hot")
            stat.add("temperature", 70)
            return stat

        updater.add("temperature", temperature)
        end = time.monotonic() + 10.0
        found = None
        while found is None and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
            found = next((item for array in heard for item in array.status if item.message == "hot"), None)
        assert found is not None
        assert (found.name, found.hardware_id, found.level) == ("driver: temperature", "serial 7", DiagnosticStatus.WARN)
        assert found.values[0].value == "70"
    finally:
        node.destroy_node()
        rclpy.try_shutdown(context=context)
