"""Every topic of the graph, listened to without an executor: messages are taken raw, in batches, with their numbers."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from typing import Any

import rclpy
import rosbag2_py
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.subscription import Subscription

from teleop_common import qos
from teleop_recorder.samples import Sample

# pictures are taken by name only; parameter events are about nodes, not about arms
_LEFT_OUT = re.compile(r"/parameter_events|.*/(image|compressed|camera_info|image_raw|depth)(/.*)?")


class Taps:
    """Subscriptions to all topics but pictures, and to the named pictures.

    They belong to a node that no executor spins: an executor would hand out one message a callback, for ten times the time, and
    without the number that its publisher gave it.

    Args:
        node: the recorder; the listener stands beside it under its name and ``_taps``.
        pictures: topics of pictures to take all the same.
    """

    def __init__(self, node: Node, pictures: Collection[str]) -> None:
        """Listen to nothing yet."""
        self._node = rclpy.create_node(
            f"{node.get_name()}_taps",
            context=node.context,
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._pictures = frozenset(pictures)
        self._taps: dict[str, Subscription] = {}
        self.unknown: dict[str, str] = {}

    def discover(self) -> None:
        """Listen to the topics that came up since the last time."""
        for topic, types in self._node.get_topic_names_and_types():
            if topic in self._taps or topic in self.unknown:
                continue
            if _LEFT_OUT.fullmatch(topic) and topic not in self._pictures:
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            if not publishers:
                continue
            message = _message(types[0])
            if message is None:
                self.unknown[topic] = types[0]
                continue
            latched = all(p.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in publishers)
            profile = qos.RECORD_LATCHED if latched else qos.RECORD
            self._taps[topic] = self._node.create_subscription(message, topic, _never, profile, raw=True)

    def take(self) -> list[Sample]:
        """Return what arrived since the last time, in order of receipt."""
        found: list[Sample] = []
        for topic, tap in self._taps.items():
            handle, kind = tap.handle, tap.msg_type
            with handle:
                while (message := handle.take_message(kind, True)) is not None:
                    data, info = message
                    found.append(Sample(topic, data, info["received_timestamp"], info["publication_sequence_number"]))
        found.sort(key=lambda sample: sample.received)
        return found

    def describe(self, topic: str) -> rosbag2_py.TopicMetadata:
        """Return a topic as a bag describes it, with what its publishers offer."""
        infos = self._node.get_publishers_info_by_topic(topic)
        offered = [rosbag2_py.convert_rclpy_qos_to_rclcpp_qos(info.qos_profile) for info in infos]
        kind = infos[0].topic_type if infos else _type_name(self._taps[topic].msg_type)
        return rosbag2_py.TopicMetadata(
            id=0, name=topic, type=kind, serialization_format="cdr", offered_qos_profiles=_different(offered)
        )

    def clear(self) -> None:
        """Stop listening."""
        for tap in self._taps.values():
            self._node.destroy_subscription(tap)
        self._taps.clear()
        self.unknown.clear()

    def close(self) -> None:
        """Leave the graph."""
        self.clear()
        self._node.destroy_node()


def _never(_message: Any) -> None:
    """Stand in for a callback: nobody spins the listener."""


def _different(profiles: list[Any]) -> list[Any]:
    """Return each profile once."""
    made: list[Any] = []
    for profile in profiles:
        if profile not in made:
            made.append(profile)
    return made


def _message(name: str) -> Any:
    """Return the message class of ``package/msg/Name``, or None when it is not installed."""
    package, _, kind = name.replace("/msg/", "/").partition("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), kind)
    except (ImportError, AttributeError):
        return None


def _type_name(message: Any) -> str:
    return f"{message.__module__.split('.')[0]}/msg/{message.__name__}"
