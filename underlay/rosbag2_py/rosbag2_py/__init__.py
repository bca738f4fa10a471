"""Subset of rosbag2_py for machines without a ROS install: sequential reading and writing of MCAP bags."""

from typing import Any

from rosbag2_py._info import Info
from rosbag2_py._qos import QoS, convert_rclpy_qos_to_rclcpp_qos
from rosbag2_py._reader import SequentialReader
from rosbag2_py._types import (
    BagMetadata,
    ConverterOptions,
    FileInformation,
    StorageFilter,
    StorageOptions,
    TopicInformation,
    TopicMetadata,
)
from rosbag2_py._writer import SequentialWriter


def __getattr__(name: str) -> Any:
    # only names of classes: test tools and the import system probe modules for others
    if not name[:1].isupper():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    raise NotImplementedError(f"rosbag2_py '{name}': not in the subset of this workspace; install the real ros-jazzy-rosbag2-py")


__all__ = [
    "BagMetadata", "ConverterOptions", "FileInformation", "Info", "QoS", "SequentialReader", "SequentialWriter", "StorageFilter",
    "StorageOptions", "TopicInformation", "TopicMetadata", "convert_rclpy_qos_to_rclcpp_qos",
]  # fmt: skip
