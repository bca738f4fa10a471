"""Isaac Teleop's MCAP files: one channel each for head, left and right controller."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import McapError
from mcap.records import Channel, Header, McapRecord, Message, Metadata
from mcap.records import Schema as McapSchema
from mcap.writer import CompressionType, Writer

from teleop_common.errors import ConfigError
from teleop_input.isaac.bfbs import binary_schema
from teleop_input.isaac.container import Container
from teleop_input.isaac.wire import (
    CONTROLLER,
    HEAD,
    ControllerInputState,
    ControllerPose,
    DeviceDataTimestamp,
    HeadPose,
    Pose,
    Record,
    RecordError,
    decode,
    encode,
    schema,
)

CHANNELS = ("left", "right", "head")
TOPICS = {"left": "controllers/left_controller", "right": "controllers/right_controller", "head": "head/head"}
"""Topic of each channel as Isaac Teleop's own examples name their sources; others may stand before the slash."""
KINDS = {"left": CONTROLLER, "right": CONTROLLER, "head": HEAD}
_ENDS = {channel: "/" + topic.split("/")[1] for channel, topic in TOPICS.items()}
_CLOCK = "xr_teleop_clock"  # metadata of our own: what joins the file's monotonic times to ROS time
_OFFSET = "ros_minus_monotonic_ns"
_PROFILE = "teleop"
_BROKEN = (McapError, struct.error, ValueError, OSError, MemoryError)


class Timed(NamedTuple):
    """A record and when it was written [ns, monotonic]."""

    log_ns: int
    record: Record


@dataclass
class Contents:
    """What a file holds.

    Attributes:
        records: of each channel that the file has, in the file's order.
        topics: their topics.
        offset_ns: ROS time less monotonic time, where the file says it.
        left_out: topics of other kinds, and metadata that says nothing, which are not read.
        completed: records that lacked a time, pose or inputs, which then read zero and invalid.
        problem: what is missing at the file's end, or why it could not be read to it, or nothing.
    """

    records: dict[str, list[Timed]] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    offset_ns: int | None = None
    left_out: list[str] = field(default_factory=list)
    completed: int = 0
    problem: str = ""


def is_recording(path: str | Path) -> bool:
    """Return whether ``path`` is an MCAP file of Isaac Teleop's profile, or whose first channel is in FlatBuffers as there."""
    if Path(path).suffix != ".mcap" or not Path(path).is_file():
        return False
    try:
        with open(path, "rb") as stream:
            for record in _container(path, stream).records():
                if isinstance(record, Header) and record.profile == _PROFILE:
                    return True
                if isinstance(record, Channel):
                    return record.message_encoding == "flatbuffer"
    except _BROKEN:
        pass
    return False


def read(path: str | Path) -> Contents:
    """Read a file; one that ends early is read as far as it goes.

    Raises:
        ConfigError: no such file, none of the channels, several of one kind, or a record that is none.
    """
    out = Contents()
    schemas: dict[int, str] = {}
    channels: dict[int, str] = {}
    try:
        with open(path, "rb") as stream:
            container = _container(path, stream)
            for item in container.records():
                _take(item, out, schemas, channels, str(path))
            out.problem = container.problem
    except ConfigError:
        raise
    except (FileNotFoundError, IsADirectoryError) as error:
        raise _problem(path, error.strerror or "no file", "an .mcap file", "name an existing file") from error
    except _BROKEN as error:
        out.problem = f"{type(error).__name__} {error}".strip()
    if not any(out.records.values()):
        got = f"nothing ({out.problem})" if out.problem else ", ".join([*out.topics.values(), *out.left_out])
        got = got or "no channel"
        raise _problem(path, got, f"records of {CONTROLLER} or {HEAD}", "record head or controllers")
    return out


def _take(item: McapRecord, out: Contents, schemas: dict[int, str], channels: dict[int, str], path: str) -> None:
    """Take in one record of the container."""
    if isinstance(item, McapSchema):
        schemas[item.id] = item.name
    elif isinstance(item, Channel) and item.id not in channels and item.topic not in out.left_out:
        name = schemas.get(item.schema_id, "")
        found = [c for c in CHANNELS if name == f"{schema().namespace}.{KINDS[c]}" and item.topic.endswith(_ENDS[c])]
        if not found:
            out.left_out.append(item.topic)
        elif found[0] in out.topics:
            raise _problem(
                path, f"{out.topics[found[0]]}, {item.topic}", f"one channel for {found[0]}", "cut the other out of the file"
            )
        else:
            channels[item.id] = found[0]
            out.topics[found[0]], out.records[found[0]] = item.topic, []
    elif isinstance(item, Message) and item.channel_id in channels:
        channel = channels[item.channel_id]
        rows = out.records[channel]
        try:
            record, whole = complete(decode(KINDS[channel], item.data), item.log_time)
        except RecordError as error:
            raise _problem(
                path, f"{out.topics[channel]}, record {len(rows)}: {error}", "whole records", "record again"
            ) from error
        out.completed += not whole
        rows.append(Timed(item.log_time, record))
    elif isinstance(item, Metadata) and item.name == _CLOCK:
        try:
            out.offset_ns = int(item.metadata.get(_OFFSET, ""))
        except ValueError:
            out.left_out.append(f"metadata {_CLOCK}, which names no time")


def complete(record: Record, log_ns: int) -> tuple[Record, bool]:
    """Return the record with zeros for what it lacks inside, and whether it lacked nothing.

    Isaac Teleop's own reader fails on a controller without a pose or inputs; a record without data stays one.
    """
    stamps = record.timestamp or DeviceDataTimestamp(available=log_ns)
    data: Any = record.data
    if isinstance(data, HeadPose):
        data = data._replace(pose=data.pose or Pose())
    elif data is not None:
        grip, aim, inputs = data
        data = type(data)(grip or ControllerPose(), aim or ControllerPose(), inputs or ControllerInputState())
    lacking = record.timestamp is None or (record.data is not None and None in tuple(record.data))
    return record._replace(data=data, timestamp=stamps), not lacking


def write(
    stream: IO[bytes],
    rows: Iterable[Mapping[str, Timed]],
    topics: Mapping[str, str] = TOPICS,
    offset_ns: int | None = None,
) -> None:
    """Write a file that Isaac Teleop replays: chunks, not compressed, which is all that its player reads.

    Args:
        stream: where to.
        rows: channel → record, moment by moment.
        topics: topic of each channel to write.
        offset_ns: ROS time less the records' monotonic time, kept as metadata, which the player ignores.

    Raises:
        RecordError: as of ``encode``.
    """
    writer = Writer(stream, compression=CompressionType.NONE)
    writer.start(profile=_PROFILE, library="xr_teleop")
    if offset_ns is not None:
        writer.add_metadata(_CLOCK, {_OFFSET: str(offset_ns)})
    kinds = {}
    for kind in sorted({KINDS[c] for c in topics}):
        kinds[kind] = writer.register_schema(f"{schema().namespace}.{kind}", "flatbuffer", binary_schema(schema(), kind))
    ids = {c: writer.register_channel(topic, "flatbuffer", kinds[KINDS[c]]) for c, topic in topics.items()}
    for sequence, row in enumerate(rows):
        for channel, (log_ns, record) in row.items():
            writer.add_message(ids[channel], log_ns, encode(record), log_ns, sequence)
    writer.finish()  # type: ignore[no-untyped-call]


def _container(path: str | Path, stream: IO[bytes]) -> Container:
    return Container(stream, Path(path).stat().st_size)


def _problem(path: str | Path, value: str, allowed: str, remedy: str) -> ConfigError:
    return ConfigError("recording", str(path), value, allowed, remedy)
