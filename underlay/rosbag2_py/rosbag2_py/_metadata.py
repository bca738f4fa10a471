"""``metadata.yaml``, version 9, as the Jazzy rosbag2 writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from rclpy.clock import ClockType
from rclpy.duration import Duration
from rclpy.time import Time

from rosbag2_py._qos import profiles_from
from rosbag2_py._types import BagMetadata, FileInformation, TopicInformation, TopicMetadata

NAME = "metadata.yaml"
_ROOT = "rosbag2_bagfile_information"


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
                    "offered_qos_profiles": [profile.to_document() for profile in item.topic_metadata.offered_qos_profiles],
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
        "custom_data": dict(metadata.custom_data) or None,
        "ros_distro": metadata.ros_distro,
    }


def to_text(document: dict[str, Any]) -> str:
    """Return a mapping as YAML, keys in their order."""
    return str(yaml.safe_dump(document, sort_keys=False, width=10_000))


def write(directory: Path, metadata: BagMetadata) -> None:
    """Write the bag's ``metadata.yaml``."""
    (directory / NAME).write_text(to_text({_ROOT: to_document(metadata)}))


def read(directory: Path) -> BagMetadata:
    """Read the bag's ``metadata.yaml`` (versions 4 to 9).

    Raises:
        RuntimeError: the file isn't the metadata of a bag.
    """
    path = directory / NAME
    try:
        document = yaml.safe_load(path.read_text())[_ROOT]
        files = [
            FileInformation(
                item["path"],
                time(item["starting_time"]["nanoseconds_since_epoch"]),
                Duration(nanoseconds=item["duration"]["nanoseconds"]),
                item["message_count"],
            )
            for item in document.get("files") or []
        ]
        topics = [
            TopicInformation(
                TopicMetadata(
                    number,
                    item["topic_metadata"]["name"],
                    item["topic_metadata"]["type"],
                    item["topic_metadata"]["serialization_format"],
                    profiles_from(item["topic_metadata"].get("offered_qos_profiles")),
                    item["topic_metadata"].get("type_description_hash") or "",
                ),
                item["message_count"],
            )
            for number, item in enumerate(document["topics_with_message_count"])
        ]
        paths = list(document["relative_file_paths"])
        return BagMetadata(
            version=document["version"],
            bag_size=sum((directory / name).stat().st_size for name in paths if (directory / name).exists()),
            storage_identifier=document["storage_identifier"],
            relative_file_paths=paths,
            files=files,
            duration=Duration(nanoseconds=document["duration"]["nanoseconds"]),
            starting_time=time(document["starting_time"]["nanoseconds_since_epoch"]),
            message_count=document["message_count"],
            topics_with_message_count=topics,
            compression_format=document.get("compression_format") or "",
            compression_mode=document.get("compression_mode") or "",
            custom_data=document.get("custom_data") or {},
            ros_distro=document.get("ros_distro") or "",
        )
    except (KeyError, TypeError, yaml.YAMLError) as error:
        raise RuntimeError(f"bag '{directory}': {NAME} can't be read ({error!r}); rebuild it with `ros2 bag reindex`") from error
