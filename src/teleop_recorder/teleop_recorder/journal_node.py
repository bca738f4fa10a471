"""The session's bag: raw messages written as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import rosbag2_py

from teleop_common import bag


class BagJournal:
    """A bag with MCAP storage; implements ``samples.Journal``.

    Args:
        path: directory to make.
        describe: topic → its metadata, asked for when its first message comes.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, path: Path, describe: Callable[[str], rosbag2_py.TopicMetadata]) -> None:
        """Begin an empty bag."""
        self._describe = describe
        self._known: set[str] = set()
        self._writer = rosbag2_py.SequentialWriter()
        # the subset for machines without ROS ends a chunk each 0.2 s and when told to; the real writer does not until it is
        # full, so that it is to write without chunks: then a message is with the operating system at once
        self._flush: Callable[[], None] | None = getattr(self._writer, "flush", None)
        preset = {} if self._flush is not None else {"storage_preset_profile": "fastwrite"}
        try:
            self._writer.open(
                rosbag2_py.StorageOptions(uri=str(path), storage_id="mcap", **preset), rosbag2_py.ConverterOptions("cdr", "cdr")
            )
        except RuntimeError as error:
            raise OSError(str(error)) from error

    def write(self, topic: str, data: bytes, received: int) -> None:
        """Append a message received at ``received`` [ns since the epoch]."""
        try:
            if topic not in self._known:
                self._known.add(topic)
                self._writer.create_topic(self._describe(topic))
            self._writer.write(topic, data, received)
        except RuntimeError as error:
            raise OSError(f"bag: {error}") from error

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if self._flush is not None:
            self._flush()

    def close(self) -> None:
        """Write index and metadata."""
        self._writer.close()


def messages(path: Path, topics: list[str]) -> Iterator[tuple[str, bytes, int]]:
    """Yield (topic, data, time of receipt [ns]) of the topics that the bag has, in the order of receipt."""
    return bag.stream(path, lambda kinds: [name for name in kinds if name in topics])


def mend(broken: Path, target: Path) -> int:
    """Write what is left of a bag without an index to a new one, and return how many messages that were."""
    reader, writer = rosbag2_py.SequentialReader(), rosbag2_py.SequentialWriter()
    formats = rosbag2_py.ConverterOptions("cdr", "cdr")
    file = next(iter(sorted(broken.glob("*.mcap"))), None)
    writer.open(rosbag2_py.StorageOptions(uri=str(target), storage_id="mcap"), formats)
    count = 0
    if file is not None and file.stat().st_size:
        reader.open(rosbag2_py.StorageOptions(uri=str(file), storage_id="mcap"), formats)
        for topic in reader.get_all_topics_and_types():
            writer.create_topic(topic)
        while reader.has_next():
            writer.write(*reader.read_next())
            count += 1
    writer.close()
    return count
