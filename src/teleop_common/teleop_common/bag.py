"""Reading bags: every error in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import rosbag2_py

from teleop_common.errors import ConfigError


def read(path: str | Path, choose: Callable[[dict[str, str]], list[str]]) -> list[tuple[str, bytes, int]]:
    """Return (topic, serialised message, time of receipt [ns]) of chosen topics, in the order of receipt.

    Args:
        path: a bag's directory, or one ``.mcap`` file.
        choose: returns the topics to read out of topic → type of all; may raise ConfigError.

    Raises:
        ConfigError: no such bag, or it cannot be read.
    """
    bag = Path(path)
    if not str(path) or not bag.exists():
        raise ConfigError("bag", str(path), "no such file", "a bag's directory or .mcap file", "name an existing bag")
    rows = []
    try:
        reader = rosbag2_py.SequentialReader()
        storage = rosbag2_py.StorageOptions(uri=str(bag), storage_id="mcap" if bag.suffix == ".mcap" else "")
        reader.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
        wanted = choose({t.name: t.type for t in reader.get_all_topics_and_types()})
        if wanted:  # an empty filter lets everything through
            reader.set_filter(rosbag2_py.StorageFilter(topics=wanted))
        while wanted and reader.has_next():
            rows.append(reader.read_next())
    except (RuntimeError, OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = " ".join(str(error).split())
        raise ConfigError(
            "bag", str(bag), reason, "a readable bag with mcap storage", "name another bag, or repair it"
        ) from error
    return rows
