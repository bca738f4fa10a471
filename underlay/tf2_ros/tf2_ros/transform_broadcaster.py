"""Publisher of moving transforms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage


class TransformBroadcaster:
    """Publishes on ``/tf``."""

    def __init__(self, node: Any) -> None:
        """Make the publisher (reliable, volatile, depth 100)."""
        self.pub_tf = node.create_publisher(TFMessage, "/tf", QoSProfile(depth=100))

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:  # noqa: N802 - the real name
        """Publish one transform, or several in one message."""
        transforms = [transform] if isinstance(transform, TransformStamped) else list(transform)
        self.pub_tf.publish(TFMessage(transforms=transforms))
