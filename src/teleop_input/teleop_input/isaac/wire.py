"""Isaac Teleop's records, and their bytes."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import flatbuffers

from teleop_common.errors import TeleopError
from teleop_common.records import Quat, Vec3
from teleop_input.isaac.layout import SCALARS, Kind, Schema, parse

_INT, _SHORT, _WORD = struct.Struct("<i"), struct.Struct("<H"), struct.Struct("<I")
CONTROLLER, HEAD = "ControllerSnapshotRecord", "HeadPoseRecord"


class Pose(NamedTuple):
    """A pose in the stage space [m], +y up; quaternion x, y, z, w. An untracked device's may be all zero."""

    position: Vec3 = (0.0, 0.0, 0.0)
    orientation: Quat = (0.0, 0.0, 0.0, 0.0)


class DeviceDataTimestamp(NamedTuple):
    """When a sample became available and was taken, on the host's monotonic clock, and on the device's own [ns]."""

    available: int = 0
    sample: int = 0
    device: int = 0


class ControllerPose(NamedTuple):
    """Grip or aim."""

    pose: Pose = Pose()
    is_valid: bool = False


class ControllerInputState(NamedTuple):
    """Buttons, and axes in [-1, 1] and [0, 1]."""

    primary_click: bool = False
    secondary_click: bool = False
    thumbstick_click: bool = False
    menu_click: bool = False
    thumbstick_x: float = 0.0
    thumbstick_y: float = 0.0
    squeeze_value: float = 0.0
    trigger_value: float = 0.0


class ControllerSnapshot(NamedTuple):
    """One controller; a file may lack any of the three."""

    grip_pose: ControllerPose | None = ControllerPose()
    aim_pose: ControllerPose | None = ControllerPose()
    inputs: ControllerInputState | None = ControllerInputState()


class HeadPose(NamedTuple):
    """The headset; a file may lack the pose."""

    pose: Pose | None = Pose()
    is_valid: bool = False
    is_tracked: bool = False


class ControllerSnapshotRecord(NamedTuple):
    """What one update recorded of a controller; without ``data`` it was inactive."""

    data: ControllerSnapshot | None = None
    timestamp: DeviceDataTimestamp | None = DeviceDataTimestamp()


class HeadPoseRecord(NamedTuple):
    """What one update recorded of the headset; without ``data`` it was inactive."""

    data: HeadPose | None = None
    timestamp: DeviceDataTimestamp | None = DeviceDataTimestamp()


Record = ControllerSnapshotRecord | HeadPoseRecord
# a point and a quaternion are plain tuples
CLASSES: dict[str, Any] = {
    c.__name__: c
    for c in (
        *(Pose, DeviceDataTimestamp, ControllerPose, ControllerInputState),
        *(ControllerSnapshot, HeadPose, ControllerSnapshotRecord, HeadPoseRecord),
    )
}


class RecordError(TeleopError, ValueError):
    """Bytes that are no record of the kind expected."""


@functools.cache
def schema() -> Schema:
    """Return the schema of the records."""
    return parse((Path(__file__).parent / "records.fbs").read_text())


def encode(record: Record) -> bytes:
    """Return the bytes of a record.

    Raises:
        RecordError: a number too large for 32-bit floats.
    """
    builder = flatbuffers.Builder(256)
    try:
        builder.Finish(_write(builder, schema().kinds[type(record).__name__], record))
    except (struct.error, OverflowError) as error:
        raise RecordError(f"record: got {record}, allowed numbers that 32-bit floats hold ({error}); mend the data") from error
    return bytes(builder.Output())


def decode(name: str, data: bytes) -> Record:
    """Return the record in ``data``.

    Args:
        name: ``CONTROLLER`` or ``HEAD``.
        data: as ``encode`` makes it; fields of later versions are ignored.

    Raises:
        RecordError: cut off or garbled.
    """
    try:
        (start,) = _WORD.unpack_from(data)
        return _read(data, schema().kinds[name], start)  # type: ignore[no-any-return]
    except (struct.error, IndexError) as error:
        raise RecordError(
            f"record '{name}': got {len(data)} bytes that do not decode ({error}), allowed a whole record"
        ) from error


def _write(builder: flatbuffers.Builder, kind: Kind, value: tuple[Any, ...]) -> int:
    """Write a table, children first, and return its place."""
    kinds = schema().kinds
    children = {
        f.id: _write(builder, kinds[f.kind], part)
        for f, part in zip(kind.fields, value)
        if f.kind in kinds and not kinds[f.kind].is_struct and part is not None
    }
    builder.StartObject(len(kind.fields))
    for field, part in zip(kind.fields, value):
        if field.id in children:
            builder.PrependUOffsetTRelativeSlot(field.id, children[field.id], 0)
        elif field.kind in SCALARS:
            builder.PrependBoolSlot(field.id, part, False)  # the only scalars that stand in these tables
        elif part is not None:
            inner = kinds[field.kind]
            data = struct.pack("<" + inner.format, *_flat(part))
            builder.Prep(inner.align, len(data))
            builder.head -= len(data)
            builder.Bytes[builder.head : builder.head + len(data)] = data
            builder.PrependStructSlot(field.id, builder.Offset(), 0)
    return int(builder.EndObject())


def _read(data: bytes, kind: Kind, start: int) -> Any:
    """Read the table at ``start``: its vtable says where each field lies, 0 where it is absent."""
    (back,) = _INT.unpack_from(data, start)
    vtable = start - back
    (size,) = _SHORT.unpack_from(data, vtable)
    values: list[Any] = []
    for field in kind.fields:
        offset = _SHORT.unpack_from(data, vtable + field.offset)[0] if field.offset < size else 0
        at = start + offset
        if field.kind in SCALARS:
            values.append(bool(data[at]) if offset else False)  # the only scalars that stand in these tables
        elif not offset:
            values.append(None)
        elif (inner := schema().kinds[field.kind]).is_struct:
            unpack, nest = _struct(field.kind)
            values.append(nest(unpack(data, at)))
        else:
            values.append(_read(data, inner, at + _WORD.unpack_from(data, at)[0]))
    return CLASSES[kind.name](*values)


def _flat(value: tuple[Any, ...]) -> Iterator[Any]:
    for part in value:
        if isinstance(part, tuple):
            yield from _flat(part)
        else:
            yield part


@functools.cache
def _struct(name: str) -> tuple[Callable[[bytes, int], tuple[Any, ...]], Callable[[tuple[Any, ...]], Any]]:
    """Return what unpacks a struct to plain numbers, and what makes the record's part of them."""
    kind = schema().kinds[name]
    parts: list[tuple[int, int, Callable[[tuple[Any, ...]], Any] | None]] = []
    at = 0
    for field in kind.fields:
        # letters of the format, less the padding, are its numbers
        inner = "?" if field.kind in SCALARS else schema().kinds[field.kind].format
        end = at + sum(c in "?qf" for c in inner)
        parts.append((at, end, None if field.kind in SCALARS else _struct(field.kind)[1]))
        at = end
    made = CLASSES.get(name)
    if all(nest is None for *_, nest in parts):
        return struct.Struct("<" + kind.format).unpack_from, (lambda flat: made(*flat)) if made else tuple

    def nested(flat: tuple[Any, ...]) -> Any:
        return CLASSES[name](*(nest(flat[a:b]) if nest else flat[a] for a, b, nest in parts))

    return struct.Struct("<" + kind.format).unpack_from, nested
