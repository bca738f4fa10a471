"""The plain records of rosbag2_py, with the real names, order and defaults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rclpy.duration import Duration
from rclpy.time import Time

from rosbag2_py._qos import QoS
from rosbag2_py._subset import refuse_arguments, refuse_format, refuse_storage


class StorageOptions:
    """Where a bag is stored, and how: only mcap."""

    def __init__(self, uri: str, storage_id: str = "", **unsupported: Any) -> None:
        """Keep the path; refuse what the subset does not have (splitting, snapshots, presets, custom data)."""
        refuse_storage(storage_id)
        refuse_arguments("StorageOptions", unsupported)
        self.uri, self.storage_id = uri, storage_id


class ConverterOptions:
    """Serialisation formats; only ``cdr`` (or empty) is known."""

    def __init__(self, input_serialization_format: str = "", output_serialization_format: str = "") -> None:
        """Refuse another format."""
        refuse_format(input_serialization_format)
        refuse_format(output_serialization_format)


@dataclass
class TopicMetadata:
    """A topic of a bag: ``type`` as ``package/msg/Name``, offered QoS of each publisher, RIHS01 hash (found if empty)."""

    id: int
    name: str
    type: str
    serialization_format: str
    offered_qos_profiles: list[QoS] = field(default_factory=list)
    type_description_hash: str = ""


@dataclass
class TopicInformation:
    """A topic and how many messages it has."""

    topic_metadata: TopicMetadata
    message_count: int


@dataclass
class FileInformation:
    """One file of a bag."""

    path: str
    starting_time: Time
    duration: Duration
    message_count: int


@dataclass
class BagMetadata:
    """What ``metadata.yaml`` says of a bag."""

    version: int = 9
    bag_size: int = 0
    storage_identifier: str = "mcap"
    relative_file_paths: list[str] = field(default_factory=list)
    files: list[FileInformation] = field(default_factory=list)
    duration: Duration = field(default_factory=Duration)
    starting_time: Time = field(default_factory=Time)
    message_count: int = 0
    topics_with_message_count: list[TopicInformation] = field(default_factory=list)
    compression_format: str = ""
    compression_mode: str = ""
    ros_distro: str = ""


class StorageFilter:
    """Which topics to read; empty means all."""

    def __init__(self, topics: Iterable[str] = (), **unsupported: Any) -> None:
        """Keep the names; refuse regular expressions, exclusions and service events."""
        refuse_arguments("StorageFilter", unsupported)
        self.topics = list(topics)
