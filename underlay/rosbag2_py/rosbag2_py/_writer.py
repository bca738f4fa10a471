"""Sequential writing of an MCAP bag."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import IO

from mcap.writer import CompressionType, Writer
from rclpy.duration import Duration

from rosbag2_py import _definitions, _metadata
from rosbag2_py._qos import profiles_to_text
from rosbag2_py._subset import refuse_format
from rosbag2_py._types import BagMetadata, ConverterOptions, FileInformation, StorageOptions, TopicInformation, TopicMetadata

# A chunk is written when it is this large or this old: a killed process loses no more than that.
_CHUNK_BYTES = 256 * 1024
_CHUNK_SECONDS = 0.2


class SequentialWriter:
    """Writes one bag: ``open``, ``create_topic``, ``write``, ``close`` (or let it go)."""

    def __init__(self) -> None:
        """Write nothing yet."""
        self._writer: Writer | None = None
        self._file: IO[bytes] | None = None

    def open(self, storage_options: StorageOptions, converter_options: ConverterOptions | None = None) -> None:
        """Make the directory of the bag.

        Raises:
            RuntimeError: the directory exists.
        """
        self._directory = Path(storage_options.uri)
        if self._directory.exists():
            raise RuntimeError(f"Bag directory already exists ({self._directory}), can't overwrite existing bag")
        self._directory.mkdir(parents=True)
        self._name = f"{self._directory.resolve().name}_0.mcap"
        self._file = (self._directory / self._name).open("wb")
        self._writer = Writer(self._file, chunk_size=_CHUNK_BYTES, compression=CompressionType.NONE, enable_crcs=True)
        self._writer.start(profile="ros2", library="rosbag2_py subset")
        self._file.flush()
        self._channels: dict[str, int] = {}
        self._topics: dict[str, TopicInformation] = {}
        self._schemas: dict[str, int] = {}
        self._first: int | None = None
        self._last = 0
        self._flushed = time.monotonic()
        self._pending = False

    def create_topic(self, topic_with_type: TopicMetadata) -> None:
        """Add a topic; a topic that is there already stays as it is."""
        writer = self._opened()
        topic = topic_with_type
        if topic.name in self._channels:
            return
        refuse_format(topic.serialization_format)
        known_hash = topic.type_description_hash or _definitions.type_hash(topic.type)
        topic = replace(topic, id=len(self._topics) + 1, serialization_format="cdr", type_description_hash=known_hash)
        if topic.type not in self._schemas:
            encoding, text = _definitions.definition(topic.type)
            self._schemas[topic.type] = writer.register_schema(topic.type, encoding, text.encode())
        described = {"offered_qos_profiles": profiles_to_text(topic.offered_qos_profiles), "topic_type_hash": known_hash}
        self._channels[topic.name] = writer.register_channel(topic.name, "cdr", self._schemas[topic.type], described)
        self._topics[topic.name] = TopicInformation(topic, 0)
        self._pending = True

    def write(self, topic_name: str, message: bytes, time_stamp: int) -> None:
        """Write one serialised message with its time of receipt [ns since the epoch].

        Raises:
            RuntimeError: the topic was not created.
        """
        writer = self._opened()
        channel = self._channels.get(topic_name)
        if channel is None:
            raise RuntimeError(f"Topic '{topic_name}' has not been created yet! Call 'create_topic' first.")
        writer.add_message(channel, time_stamp, message, time_stamp, 0)
        self._topics[topic_name].message_count += 1
        self._first = time_stamp if self._first is None else min(self._first, time_stamp)
        self._last = max(self._last, time_stamp)
        self._pending = True
        if time.monotonic() - self._flushed > _CHUNK_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Hand what was written to the operating system; not in the real package, for a recorder whose topics fall silent."""
        if self._pending:
            # mcap has no public way to end a chunk before it is full
            self._opened()._Writer__finalize_chunk()  # type: ignore[attr-defined]  # noqa: SLF001
            assert self._file is not None
            self._file.flush()
            self._pending = False
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write the index and ``metadata.yaml``; idempotent."""
        if self._writer is None or self._file is None:
            return
        document = _metadata.to_document(self._metadata())
        # what fails below would fail again when the writer is let go
        writer, file, self._writer, self._file = self._writer, self._file, None, None
        try:
            writer.add_metadata("rosbag2", {"serialized_metadata": _metadata.to_text(document)})
            writer.finish()
            file.flush()
            os.fsync(file.fileno())
        finally:
            file.close()
        text = _metadata.to_text({"rosbag2_bagfile_information": document})
        (self._directory / "metadata.yaml").write_text(text)

    def __del__(self) -> None:
        self.close()

    def _opened(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("Bag is not open. Call open() before writing.")
        return self._writer

    def _metadata(self) -> BagMetadata:
        start = _metadata.time(_metadata.NEVER if self._first is None else self._first)
        duration = Duration(nanoseconds=0 if self._first is None else self._last - self._first)
        count = sum(item.message_count for item in self._topics.values())
        return BagMetadata(
            relative_file_paths=[self._name],
            files=[FileInformation(self._name, start, duration, count)],
            duration=duration,
            starting_time=start,
            message_count=count,
            topics_with_message_count=list(self._topics.values()),
            ros_distro=os.environ.get("ROS_DISTRO", "jazzy"),
        )
