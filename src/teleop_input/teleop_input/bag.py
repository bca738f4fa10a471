"""Operator input in bags, and in recordings of Isaac Teleop: reading the raw frames of one provider, and writing them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from teleop_common import bag
from teleop_common.cdr import WireError
from teleop_common.errors import ConfigError
from teleop_common.records import TeleopFrame
from teleop_common.transport import codec, type_name
from teleop_input.isaac import load as isaac
from teleop_input.isaac.files import is_recording
from teleop_input.player import pace

TYPE = type_name(TeleopFrame)
_INPUT = re.compile(r"/teleop/input/[^/]+/frame")


@dataclass(frozen=True)
class Recording:
    """The raw frames of one topic; kept as bytes (a decoded frame takes ten times the memory).

    Attributes:
        topic: where they were recorded.
        data: serialised frames.
        times: when each is due [s from the first], by the recorded header stamps.
        connections: the recorded connection of each.
        report: what there is to say of the file.
    """

    topic: str
    data: tuple[bytes, ...]
    times: tuple[float, ...]
    connections: tuple[int, ...]
    report: tuple[str, ...] = ()

    def frame(self, index: int) -> TeleopFrame:
        """Return frame ``index`` decoded."""
        return codec(TeleopFrame).decode(self.data[index])  # type: ignore[no-any-return]


def read(path: str | Path, topic: str = "") -> Recording:
    """Read the frames of ``topic``, or of the only ``/teleop/input/<provider>/frame`` that holds any.

    An ``.mcap`` file of Isaac Teleop reads as the bag that it would be converted to.

    Raises:
        ConfigError: no such bag, no such topic, more than one, or no frame.
    """
    if topic in ("", isaac.TOPIC) and is_recording(path):
        loaded = isaac.load(path)
        encode = codec(TeleopFrame).encode
        times = pace(tuple(frame.header.stamp for frame in loaded.frames))
        connections = tuple(frame.connection for frame in loaded.frames)
        return Recording(isaac.TOPIC, tuple(map(encode, loaded.frames)), times, connections, tuple(loaded.report))

    def choose(kinds: dict[str, str]) -> list[str]:
        found = [name for name, kind in kinds.items() if kind == TYPE and (name == topic if topic else _INPUT.fullmatch(name))]
        if not found:
            what = topic or "/teleop/input/<provider>/frame"
            raise ConfigError(
                "bag", str(path), ", ".join(sorted(kinds)) or "no topic", f"one that holds {what}", "record that topic"
            )
        wanted.extend(found)
        return found

    wanted: list[str] = []
    found: dict[str, list[bytes]] = {}
    for name, data, _ in bag.read(path, choose):
        found.setdefault(name, []).append(data)
    if not found:
        raise ConfigError("bag", str(path), "0 frames on " + ", ".join(wanted), "at least one frame", "record again")
    if len(found) > 1:
        raise ConfigError(
            "bag", str(path), ", ".join(sorted(found)), "frames of one provider", "choose one with the parameter topic"
        )
    ((name, rows),) = found.items()
    return _recording(name, tuple(rows), str(path))


def write(path: str | Path, frames: Iterable[TeleopFrame], topic: str = "/teleop/input/webxr/frame") -> None:
    """Write frames as a new bag (mcap), logged at their header stamps.

    Args:
        path: directory to make; must not exist.
        frames: raw frames, in order.
        topic: topic to store them on.
    """
    bag.write(path, {topic: TeleopFrame}, ((topic, frame, frame.header.stamp) for frame in frames))


def _recording(topic: str, data: tuple[bytes, ...], source: str) -> Recording:
    decode = codec(TeleopFrame).decode
    stamps, connections = [], []
    for i, row in enumerate(data):
        try:
            frame = decode(row)
        except (WireError, ValueError) as error:
            raise ConfigError("bag", source, f"frame {i}: {error}", "TeleopFrame messages", "record again") from error
        stamps.append(frame.header.stamp)
        connections.append(frame.connection)
    return Recording(topic, data, pace(tuple(stamps)), tuple(connections))
