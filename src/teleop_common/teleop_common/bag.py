"""Bags of records: reading them, with every error in one line, and writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import rosbag2_py
import yaml

from teleop_common.errors import ConfigError
from teleop_common.transport import codec, type_name

_MAGIC = b"\x89MCAP0\r\n"


def read(path: str | Path, choose: Callable[[dict[str, str]], list[str]]) -> list[tuple[str, bytes, int]]:
    """Return all that ``stream`` yields."""
    return list(stream(path, choose))


def stream(path: str | Path, choose: Callable[[dict[str, str]], list[str]]) -> Iterator[tuple[str, bytes, int]]:
    """Yield (topic, serialised message, time of receipt [ns]) of chosen topics, in the order of receipt.

    Args:
        path: a bag's directory, or one ``.mcap`` file.
        choose: returns the topics to read out of topic → type of all; may raise ConfigError.

    Raises:
        ConfigError: no such bag, or it cannot be read.
    """
    bag = Path(path)
    if not str(path) or not bag.exists():
        raise ConfigError("bag", str(path), "no such file", "a bag's directory or .mcap file", "name an existing bag")
    try:
        reader = rosbag2_py.SequentialReader()
        storage = rosbag2_py.StorageOptions(uri=str(bag), storage_id="mcap" if bag.suffix == ".mcap" else "")
        reader.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
        wanted = choose({t.name: t.type for t in reader.get_all_topics_and_types()})
        if wanted:  # an empty filter lets everything through
            reader.set_filter(rosbag2_py.StorageFilter(topics=wanted))
        while wanted and reader.has_next():
            yield reader.read_next()
    except (RuntimeError, OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = " ".join(str(error).split())
        raise ConfigError(
            "bag", str(bag), reason, "a readable bag with mcap storage", "name another bag, or repair it"
        ) from error


def losses(path: str | Path, read: Mapping[str, int]) -> tuple[str, ...]:
    """Return what a bag that could be read lacks all the same: the end of a file, or messages that its metadata counts.

    Args:
        path: a bag's directory, or one ``.mcap`` file.
        read: topic → messages that were found on it.
    """
    bag = Path(path)
    files = sorted(bag.glob("*.mcap")) if bag.is_dir() else [bag]
    found = [f"{file.name} has no end: it was cut, or is being written" for file in files if not _ended(file)]
    counted: dict[str, int] = {}
    if (metadata := bag / "metadata.yaml").is_file():
        try:
            listed = yaml.safe_load(metadata.read_text())["rosbag2_bagfile_information"]["topics_with_message_count"]
            counted = {str(row["topic_metadata"]["name"]): int(row["message_count"]) for row in listed}
        except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
            found.append(f"metadata.yaml cannot be read ({' '.join(str(error).split())})")
    found += [
        f"{read[topic]} of {count} messages on {topic}" for topic, count in counted.items() if read.get(topic, count) < count
    ]
    return tuple(found)


def _ended(file: Path) -> bool:
    """Return whether an ``.mcap`` file ends as its writer left it (https://mcap.dev/spec: magic bytes at both ends)."""
    with file.open("rb") as stream:
        if stream.seek(0, 2) < 2 * len(_MAGIC):
            return False
        stream.seek(-len(_MAGIC), 2)
        return stream.read() == _MAGIC


def write(path: str | Path, kinds: Mapping[str, type], rows: Iterable[tuple[str, Any, int]]) -> None:
    """Write a new bag (mcap).

    Args:
        path: directory to make; must not exist.
        kinds: topic → class of its records.
        rows: (topic, record, time of receipt [ns]), in order.
    """
    writer = rosbag2_py.SequentialWriter()
    writer.open(rosbag2_py.StorageOptions(uri=str(path), storage_id="mcap"), rosbag2_py.ConverterOptions("cdr", "cdr"))
    for topic, kind in kinds.items():
        writer.create_topic(rosbag2_py.TopicMetadata(id=0, name=topic, type=type_name(kind), serialization_format="cdr"))
    encode = {topic: codec(kind).encode for topic, kind in kinds.items()}
    for topic, record, received in rows:
        writer.write(topic, encode[topic](record), received)
    writer.close()
