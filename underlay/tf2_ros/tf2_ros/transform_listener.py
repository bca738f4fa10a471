"""Fills a buffer from ``/tf`` and ``/tf_static``."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer
from tf2_ros.exceptions import InvalidArgumentException


class TransformListener:
    """Listens as long as it lives."""

    def __init__(
        self,
        buffer: Buffer,
        node: Any,
        *,
        spin_thread: bool = False,
    ) -> None:
        """Subscribe.

        Args:
            buffer: what to fill.
            node: the node that subscribes.
            spin_thread: spin the node in a thread here, so that a lookup may wait.
        """
        self.buffer, self.node = buffer, node
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.group = ReentrantCallbackGroup()
        self.tf_sub = node.create_subscription(TFMessage, "/tf", self.callback, QoSProfile(depth=100), callback_group=self.group)
        self.tf_static_sub = node.create_subscription(
            TFMessage, "/tf_static", self.static_callback, latched, callback_group=self.group
        )
        self._spinning = spin_thread
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=node.context)
            self.executor.add_node(node)
            self.dedicated_listener_thread = threading.Thread(target=self._spin, daemon=True)
            self.dedicated_listener_thread.start()

    def _spin(self) -> None:
        while self._spinning and self.node.context.ok():
            self.executor.spin_once(timeout_sec=0.1)

    def unregister(self) -> None:
        """Stop listening."""
        if self._spinning:
            self._spinning = False
            self.dedicated_listener_thread.join(2.0)
        self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: TFMessage) -> None:
        """Take moving transforms in."""
        self._take(data, self.buffer.set_transform)

    def static_callback(self, data: TFMessage) -> None:
        """Take static transforms in."""
        self._take(data, self.buffer.set_transform_static)

    def _take(self, data: TFMessage, setter: Any) -> None:
        for transform in data.transforms:
            try:
                setter(transform, "default_authority")
            except InvalidArgumentException as error:
                self.node.get_logger().error(f"transform ignored: {error}", throttle_duration_sec=5.0)
