"""The files of a bag: where they are and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from struct import error as StructError

from mcap.exceptions import McapError
from mcap.reader import SeekingReader
from mcap.records import Channel, Message, Schema, Statistics
from mcap.stream_reader import StreamReader
from rclpy.duration import Duration

from rosbag2_py import _metadata
from rosbag2_py._qos import profiles_from
from rosbag2_py._subset import refuse_storage
from rosbag2_py._types import BagMetadata, FileInformation, TopicInformation, TopicMetadata

# what reading a file that was cut off, or is none of ours, raises
_BROKEN = (McapError, StructError, UnicodeDecodeError, EOFError, KeyError, ValueError)


class McapFile:
    """One MCAP file; without an index (its writer was killed) it is read from the beginning up to where it breaks off."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            RuntimeError: it is no MCAP file.
        """
        self.path = path
        self._stream = path.open("rb")
        try:
            self._reader = SeekingReader(self._stream)
            summary = self._reader.get_summary()
        except _BROKEN:
            summary = None
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self.indexed = summary is not None and summary.statistics is not None and bool(summary.channels)
        if self.indexed:
            assert summary is not None
            assert summary.statistics is not None
            self._schemas, self._channels = summary.schemas, summary.channels
            self._statistics: Statistics = summary.statistics
        else:
            self._statistics = self._scan()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def messages(
        self, topics: list[str], start: int | None, end: int | None, by_time: bool, reverse: bool
    ) -> Iterator[tuple[str, bytes, int]]:
        """Yield (topic, data, time of receipt [ns]) of the topics between two times, both included."""
        if not self.indexed:
            for record in self._records():
                name = self._channels[record.channel_id].topic
                if name in topics and (start is None or record.log_time >= start) and (end is None or record.log_time <= end):
                    yield name, record.data, record.log_time
            return
        if start is not None and end is not None and start > end:
            return
        for _, channel, message in self._reader.iter_messages(
            topics, log_time_order=by_time, reverse=reverse, starting_at=start, ending_at=end
        ):
            yield channel.topic, message.data, message.log_time

    def information(self) -> FileInformation:
        """Return the file's span and count."""
        known = self._statistics
        start = known.message_start_time if known.message_count else 2**63 - 1
        span = known.message_end_time - known.message_start_time
        return FileInformation(self.path.name, _metadata.time(start), Duration(nanoseconds=span), known.message_count)

    def topics(self) -> list[TopicInformation]:
        """Return the file's topics."""
        counts = self._statistics.channel_message_counts
        return [
            TopicInformation(
                TopicMetadata(
                    number,
                    channel.topic,
                    self._schemas[channel.schema_id].name if channel.schema_id in self._schemas else "",
                    channel.message_encoding,
                    profiles_from(channel.metadata.get("offered_qos_profiles")),
                    channel.metadata.get("topic_type_hash", ""),
                ),
                counts.get(number, 0),
            )
            for number, channel in sorted(self._channels.items())
        ]

    def _records(self) -> Iterator[Message]:
        self._stream.seek(0)
        try:
            for record in StreamReader(self._stream).records:
                if isinstance(record, Schema):
                    self._schemas[record.id] = record
                elif isinstance(record, Channel):
                    self._channels[record.id] = record
                elif isinstance(record, Message):
                    yield record
        except _BROKEN as error:
            # the tail of a recording that was killed; a file that has not even a beginning is an error
            if not self._channels and self._stream.seek(0) == 0 and self._stream.read(8) != b"\x89MCAP0\r\n":
                raise RuntimeError(f"bag file '{self.path}': not an MCAP file ({error!r})") from error

    def _scan(self) -> Statistics:
        counts: dict[int, int] = {}
        first, last = 2**63 - 1, 0
        for record in self._records():
            counts[record.channel_id] = counts.get(record.channel_id, 0) + 1
            first, last = min(first, record.log_time), max(last, record.log_time)
        total = sum(counts.values())
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=counts,
            chunk_count=0,
            message_count=total,
            message_end_time=last,
            message_start_time=first if total else 0,
            metadata_count=0,
            schema_count=len(self._schemas),
        )


def find_files(uri: Path) -> tuple[BagMetadata, list[Path]]:
    """Return a bag's metadata and the paths of its files.

    Args:
        uri: a directory with ``metadata.yaml``, one with ``.mcap`` files only, or an ``.mcap`` file.

    Raises:
        RuntimeError: there is no bag.
        NotImplementedError: its storage or compression isn't in the subset.
    """
    if (uri / _metadata.NAME).is_file():
        metadata = _metadata.read(uri)
        refuse_storage(metadata.storage_identifier, str(uri))
        if metadata.compression_mode.lower() in ("file", "message"):
            mode = metadata.compression_mode
            raise NotImplementedError(f"bag '{uri}': compression by {mode}: install ros-jazzy-rosbag2-compression")
        paths = [uri / name for name in metadata.relative_file_paths]
        missing = [str(path) for path in paths if not path.is_file()]
        if missing or not paths:
            raise RuntimeError(f"bag '{uri}': its file {', '.join(missing) or '(none)'} is missing")
        return metadata, paths
    paths = [uri] if uri.is_file() else sorted(uri.glob("*.mcap"))
    if not paths:
        raise RuntimeError(f"No storage could be initialized from '{uri}': no {_metadata.NAME} and no .mcap file there")
    return _from_files(paths), paths


def _from_files(paths: list[Path]) -> BagMetadata:
    topics: dict[str, TopicInformation] = {}
    infos = []
    for path in paths:
        file = McapFile(path)
        infos.append(file.information())
        for item in file.topics():
            known = topics.get(item.topic_metadata.name)
            count = item.message_count + (known.message_count if known else 0)
            topics[item.topic_metadata.name] = replace(known or item, message_count=count)
        file.close()
    filled = [item for item in infos if item.message_count]
    start = min((item.starting_time.nanoseconds for item in filled), default=2**63 - 1)
    end = max((item.starting_time.nanoseconds + item.duration.nanoseconds for item in filled), default=start)
    return BagMetadata(
        bag_size=sum(path.stat().st_size for path in paths),
        storage_identifier="mcap",
        relative_file_paths=[path.name for path in paths],
        files=infos,
        duration=Duration(nanoseconds=end - start),
        starting_time=_metadata.time(start),
        message_count=sum(item.message_count for item in infos),
        topics_with_message_count=list(topics.values()),
    )
