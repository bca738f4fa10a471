"""Subset of tf2_ros (Python) for machines without a ROS install."""

from typing import Any

from tf2_ros.buffer import Buffer
from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener


def __getattr__(name: str) -> Any:
    # only names of classes: test tools and the import system probe modules for others
    if not name[:1].isupper():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    raise NotImplementedError(f"tf2_ros '{name}': not in the subset of this workspace; install the real ros-jazzy-tf2-ros-py")


__all__ = [
    "Buffer",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "StaticTransformBroadcaster",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
]
