"""Publishers and subscriptions that speak records: bytes on the wire, the compiled codec in between."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from teleop_common import records
from teleop_common.cdr import Codec, WireError
from teleop_common.runner import TeleopNode

_RECORDS: dict[str, type] = {name: value for name, value in vars(records).items() if isinstance(value, type)}
_PACKAGES = {
    "JointState": "sensor_msgs",
    "String": "std_msgs",
    "TFMessage": "tf2_msgs",
    "TransformStamped": "geometry_msgs",
}


def _message(kind: str) -> type:
    """Return the message class of ``package/Name`` or ``package/msg/Name``."""
    package, *_, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)  # type: ignore[no-any-return]


def type_name(record: type) -> str:
    """Return the message type that ``record`` mirrors, as a bag or ``ros2 topic list -t`` calls it."""
    return f"{_PACKAGES.get(record.__name__, 'teleop_interfaces')}/msg/{record.__name__}"


def message_class(record: type) -> type:
    """Return the message class that ``record`` mirrors."""
    return _message(type_name(record))


@functools.cache
def codec(record: type) -> Codec:
    """Return the codec of a record class, compiled on first use."""
    return Codec(message_class(record), record, _RECORDS, _message)


class RecordPublisher:
    """Publishes records of one class."""

    def __init__(self, node: Node, record: type, topic: str, qos: QoSProfile) -> None:
        """Create the publisher of ``record``'s message on ``topic``."""
        wire = codec(record)
        self._encode = wire.encode
        self.publisher: Publisher = node.create_publisher(wire.msg_class, topic, qos)

    def publish(self, record: Any) -> None:
        """Publish one record."""
        self.publisher.publish(self._encode(record))


def subscribe(node: Node, record: type, topic: str, callback: Callable[[Any], None], qos: QoSProfile) -> Subscription:
    """Subscribe to ``topic`` and hand each sample to ``callback`` as a record.

    The callback runs with the node's lock held, if it is a TeleopNode.
    Bytes that do not decode are refused and logged, never raised into the executor.
    """
    wire = codec(record)
    decode = wire.decode

    lock = node.lock if isinstance(node, TeleopNode) else threading.Lock()

    def received(data: bytes) -> None:
        try:
            sample = decode(data)
        except (WireError, ValueError) as error:
            node.get_logger().warning(
                f"topic '{topic}': refused a sample that does not decode: {error}", throttle_duration_sec=5.0
            )
            return
        with lock:
            callback(sample)

    return node.create_subscription(wire.msg_class, topic, received, qos, raw=True)
