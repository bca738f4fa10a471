"""The files of a bag: where they are and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from struct import error as StructError

from mcap.exceptions import McapError
from mcap.reader import SeekingReader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from rclpy.duration import Duration

from rosbag2_py import _metadata
from rosbag2_py._qos import profiles_from
from rosbag2_py._types import BagMetadata, FileInformation, TopicInformation, TopicMetadata

# what reading a file that was cut off, or is none of ours, raises
_BROKEN = (McapError, StructError, UnicodeDecodeError, EOFError, KeyError, ValueError, OverflowError, MemoryError)


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
        except _BROKEN as error:
            raise RuntimeError(f"bag file '{path}': not an MCAP file ({error!r})") from error
        try:
            summary = self._reader.get_summary()
        except _BROKEN:
            summary = None
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._counts: dict[int, int] = Counter()
        self._first, self._last = _metadata.NEVER, 0
        self._indexed = summary is not None and summary.statistics is not None and bool(summary.channels)
        if self._indexed:
            assert summary is not None
            assert summary.statistics is not None
            self._schemas, self._channels, known = summary.schemas, summary.channels, summary.statistics
            self._counts = known.channel_message_counts
            if known.message_count:
                self._first, self._last = known.message_start_time, known.message_end_time
            return
        for record in self._records():
            self._counts[record.channel_id] += 1
            self._first, self._last = min(self._first, record.log_time), max(self._last, record.log_time)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def messages(self, topics: list[str], start: int) -> Iterator[tuple[str, bytes, int]]:
        """Yield (topic, data, time of receipt [ns]) of the topics from a time on, which is included."""
        if self._indexed:
            for _, channel, message in self._reader.iter_messages(topics, starting_at=start):
                yield channel.topic, message.data, message.log_time
            return
        for message in self._records():
            name = self._channels[message.channel_id].topic
            if name in topics and message.log_time >= start:
                yield name, message.data, message.log_time

    def information(self) -> FileInformation:
        """Return the file's span and count."""
        count = sum(self._counts.values())
        span = Duration(nanoseconds=max(0, self._last - self._first))
        return FileInformation(self.path.name, _metadata.time(self._first), span, count)

    def topics(self) -> list[TopicInformation]:
        """Return the file's topics."""
        found = []
        for number, channel in sorted(self._channels.items()):
            kind = self._schemas[channel.schema_id].name if channel.schema_id in self._schemas else ""
            profiles = profiles_from(channel.metadata.get("offered_qos_profiles"))
            type_hash = channel.metadata.get("topic_type_hash", "")
            topic = TopicMetadata(number, channel.topic, kind, channel.message_encoding, profiles, type_hash)
            found.append(TopicInformation(topic, self._counts.get(number, 0)))
        return found

    def _records(self) -> Iterator[Message]:
        self._stream.seek(0)
        with suppress(*_BROKEN):  # the tail of a recording that was killed
            for record in StreamReader(self._stream, validate_crcs=True).records:
                if isinstance(record, Schema):
                    self._schemas[record.id] = record
                elif isinstance(record, Channel):
                    self._channels[record.id] = record
                elif isinstance(record, Message):
                    yield record


def find_files(uri: Path) -> list[Path]:
    """Return the files of a bag: of a directory, or the one ``.mcap`` file that ``uri`` is.

    Raises:
        RuntimeError: there is none.
    """
    # a split bag numbers its files
    paths = [uri] if uri.is_file() else sorted(uri.glob("*.mcap"), key=lambda path: (len(path.name), path.name))
    if not paths:
        raise RuntimeError(f"No storage could be initialized from '{uri}': no .mcap file there; others need the real rosbag2")
    return paths


def metadata_of(files: list[McapFile]) -> BagMetadata:
    """Return what ``metadata.yaml`` says of a bag, from the files themselves."""
    topics: dict[str, TopicInformation] = {}
    for file in files:
        for item in file.topics():
            known = topics.get(item.topic_metadata.name)
            count = item.message_count + (known.message_count if known else 0)
            topics[item.topic_metadata.name] = replace(known or item, message_count=count)
    infos = [file.information() for file in files]
    filled = [item for item in infos if item.message_count]
    start = min((item.starting_time.nanoseconds for item in filled), default=_metadata.NEVER)
    end = max((item.starting_time.nanoseconds + item.duration.nanoseconds for item in filled), default=start)
    return BagMetadata(
        bag_size=sum(file.path.stat().st_size for file in files),
        relative_file_paths=[file.path.name for file in files],
        files=infos,
        duration=Duration(nanoseconds=end - start),
        starting_time=_metadata.time(start),
        message_count=sum(item.message_count for item in infos),
        topics_with_message_count=list(topics.values()),
    )
