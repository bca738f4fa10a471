"""The session's bag: raw messages written as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
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
    """Write what can be read of a bag without an index to a new one, and return how many messages that were.

    Raises:
        OSError: the new one cannot be written.
    """
    reader, writer = rosbag2_py.SequentialReader(), rosbag2_py.SequentialWriter()
    formats = rosbag2_py.ConverterOptions("cdr", "cdr")
    file = next(iter(sorted(broken.glob("*.mcap"))), None)
    count = 0
    try:
        writer.open(rosbag2_py.StorageOptions(uri=str(target), storage_id="mcap"), formats)
        if file is not None and file.stat().st_size:
            for row in _readable(reader, rosbag2_py.StorageOptions(uri=str(file), storage_id="mcap"), formats):
                if not count:
                    for topic in reader.get_all_topics_and_types():
                        writer.create_topic(topic)
                writer.write(*row)
                count += 1
        writer.close()
    except RuntimeError as error:
        raise OSError(f"bag '{target}': {error}") from error
    return count


def _readable(
    reader: rosbag2_py.SequentialReader, storage: rosbag2_py.StorageOptions, formats: rosbag2_py.ConverterOptions
) -> Iterator[tuple[str, bytes, int]]:
    """Yield messages up to the first that cannot be read, for whatever reason: damaged bytes can raise anything."""
    with suppress(Exception):
        reader.open(storage, formats)
    while True:
        try:
            if not reader.has_next():
                return
            row = reader.read_next()
        except Exception:  # noqa: BLE001 - see above
            return
        yield row
