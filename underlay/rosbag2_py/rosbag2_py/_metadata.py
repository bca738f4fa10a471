"""``metadata.yaml``, version 9, as the Jazzy rosbag2 writes it."""

from __future__ import annotations

from typing import Any

import yaml
from rclpy.clock import ClockType
from rclpy.time import Time

from rosbag2_py._types import BagMetadata

NEVER = 2**63 - 1  # [ns]; an empty bag starts at the end of time, as the real one does


def time(nanoseconds: int) -> Time:
    """Return a time of the ROS clock."""
    return Time(nanoseconds=nanoseconds, clock_type=ClockType.ROS_TIME)


def to_document(metadata: BagMetadata) -> dict[str, Any]:
    """Return the mapping below the root key."""
    return {
        "version": metadata.version,
        "storage_identifier": metadata.storage_identifier,
        "duration": {"nanoseconds": metadata.duration.nanoseconds},
        "starting_time": {"nanoseconds_since_epoch": metadata.starting_time.nanoseconds},
        "message_count": metadata.message_count,
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": item.topic_metadata.name,
                    "type": item.topic_metadata.type,
                    "serialization_format": item.topic_metadata.serialization_format,
                    "offered_qos_profiles": [profile.document for profile in item.topic_metadata.offered_qos_profiles],
                    "type_description_hash": item.topic_metadata.type_description_hash,
                },
                "message_count": item.message_count,
            }
            for item in metadata.topics_with_message_count
        ],
        "compression_format": metadata.compression_format,
        "compression_mode": metadata.compression_mode,
        "relative_file_paths": list(metadata.relative_file_paths),
        "files": [
            {
                "path": item.path,
                "starting_time": {"nanoseconds_since_epoch": item.starting_time.nanoseconds},
                "duration": {"nanoseconds": item.duration.nanoseconds},
                "message_count": item.message_count,
            }
            for item in metadata.files
        ],
        "custom_data": None,
        "ros_distro": metadata.ros_distro,
    }


def to_text(document: dict[str, Any]) -> str:
    """Return a mapping as YAML, keys in their order."""
    return str(yaml.safe_dump(document, sort_keys=False, width=10_000))
