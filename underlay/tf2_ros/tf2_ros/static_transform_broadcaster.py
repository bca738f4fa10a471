"""Publisher of static transforms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage


class StaticTransformBroadcaster:
    """Publishes on ``/tf_static``, latched, every transform it was ever given."""

    def __init__(self, node: Any) -> None:
        """Make the publisher (reliable, transient local, depth 1)."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.net_message = TFMessage()
        self.pub_tf = node.create_publisher(TFMessage, "/tf_static", latched)

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:  # noqa: N802 - the real name
        """Publish one transform or several, together with those sent before; a child frame's newest one counts."""
        new = [transform] if isinstance(transform, TransformStamped) else list(transform)
        by_child = {item.child_frame_id: item for item in (*self.net_message.transforms, *new)}
        self.net_message = TFMessage(transforms=list(by_child.values()))
        self.pub_tf.publish(self.net_message)
