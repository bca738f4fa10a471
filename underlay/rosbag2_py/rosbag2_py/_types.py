"""The plain records of rosbag2_py, with the real names, order and defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from rclpy.duration import Duration
from rclpy.time import Time

from rosbag2_py._qos import QoS


@dataclass
class StorageOptions:
    """Where and how a bag is stored. Sizes [bytes], durations [s]; only ``uri``, ``storage_id`` and ``custom_data`` are used."""

    uri: str
    storage_id: str = ""
    max_bagfile_size: int = 0
    max_bagfile_duration: int = 0
    max_cache_size: int = 0
    storage_preset_profile: str = ""
    storage_config_uri: str = ""
    snapshot_mode: bool = False
    start_time_ns: int = -1
    end_time_ns: int = -1
    custom_data: dict[str, str] = field(default_factory=dict)


@dataclass
class ConverterOptions:
    """Serialisation formats; only ``cdr`` (or empty) is known."""

    input_serialization_format: str = ""
    output_serialization_format: str = ""


@dataclass
class TopicMetadata:
    """A topic of a bag: ``type`` as ``package/msg/Name``, offered QoS of each publisher, RIHS01 hash (found if empty)."""

    id: int
    name: str
    type: str
    serialization_format: str
    offered_qos_profiles: list[QoS] = field(default_factory=list)
    type_description_hash: str = ""

    def equals(self, other: TopicMetadata) -> bool:
        """Whether the two describe the same topic."""
        return self == other


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
    storage_identifier: str = ""
    relative_file_paths: list[str] = field(default_factory=list)
    files: list[FileInformation] = field(default_factory=list)
    duration: Duration = field(default_factory=Duration)
    starting_time: Time = field(default_factory=Time)
    message_count: int = 0
    topics_with_message_count: list[TopicInformation] = field(default_factory=list)
    compression_format: str = ""
    compression_mode: str = ""
    custom_data: dict[str, str] = field(default_factory=dict)
    ros_distro: str = ""


@dataclass
class StorageFilter:
    """Which topics to read; empty means all. Regular expressions match the whole name."""

    topics: list[str] = field(default_factory=list)
    services_events: list[str] = field(default_factory=list)
    regex: str = ""
    exclude_topics: list[str] = field(default_factory=list)
    exclude_service_events: list[str] = field(default_factory=list)
    regex_to_exclude: str = ""


class ReadOrderSortBy(IntEnum):
    """By what messages are ordered."""

    ReceivedTimestamp = 0
    PublishedTimestamp = 1
    File = 2


@dataclass
class ReadOrder:
    """Order of reading."""

    sort_by: ReadOrderSortBy = ReadOrderSortBy.ReceivedTimestamp
    reverse: bool = False
