"""Binary schemas as MCAP files carry them: FlatBuffers' reflection format, built from the layout.

Field numbers are those of ``reflection.fbs`` in FlatBuffers 25: Schema 0 objects, 1 enums, 4 root; Object 0 name, 1 fields,
2 is_struct, 3 minalign, 4 bytesize; Field 0 name, 1 type, 2 id, 3 offset, 11 optional, 12 padding; Type 0 base type,
2 index, 4 base size, 5 element size.
"""

from __future__ import annotations

from collections.abc import Sequence

import flatbuffers

from teleop_input.isaac.layout import SCALARS, Field, Kind, Schema

_OBJECT = 15  # base type of a struct or table


def binary_schema(schema: Schema, root: str) -> bytes:
    """Return the binary schema of ``root`` and all that it is made of."""
    # the format wants objects and fields sorted by name, and refers to objects by their place in that order
    kinds = dict(sorted(schema.reachable(root).items()))
    places = {name: i for i, name in enumerate(kinds)}
    builder = flatbuffers.Builder(4096)
    objects = {name: _object(builder, schema.namespace, kind, places) for name, kind in kinds.items()}
    vector, none = _vector(builder, list(objects.values())), _vector(builder, [])
    builder.StartObject(8)
    builder.PrependUOffsetTRelativeSlot(0, vector, 0)
    builder.PrependUOffsetTRelativeSlot(1, none, 0)
    builder.PrependUOffsetTRelativeSlot(4, objects[root], 0)
    builder.Finish(builder.EndObject(), file_identifier=b"BFBS")
    return bytes(builder.Output())


def _object(builder: flatbuffers.Builder, namespace: str, kind: Kind, places: dict[str, int]) -> int:
    fields = [_field(builder, kind, f, places) for f in sorted(kind.fields, key=lambda f: f.name)]
    vector, name = _vector(builder, fields), builder.CreateString(f"{namespace}.{kind.name}")
    builder.StartObject(8)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependUOffsetTRelativeSlot(1, vector, 0)
    builder.PrependBoolSlot(2, kind.is_struct, False)
    builder.PrependInt32Slot(3, kind.align, 0)
    builder.PrependInt32Slot(4, kind.size, 0)
    return int(builder.EndObject())


def _field(builder: flatbuffers.Builder, owner: Kind, field: Field, places: dict[str, int]) -> int:
    scalar = SCALARS.get(field.kind)
    name = builder.CreateString(field.name)
    builder.StartObject(6)
    builder.PrependInt8Slot(0, scalar.number if scalar else _OBJECT, 0)
    builder.PrependInt32Slot(2, places.get(field.kind, -1), -1)
    builder.PrependUint32Slot(4, scalar.size if scalar else 4, 4)
    builder.PrependUint32Slot(5, 1, 0)
    kind = builder.EndObject()
    builder.StartObject(14)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependUOffsetTRelativeSlot(1, kind, 0)
    builder.PrependUint16Slot(2, field.id, 0)
    builder.PrependUint16Slot(3, field.offset, 0)
    builder.PrependBoolSlot(11, scalar is None, False)
    builder.PrependUint16Slot(12, field.padding, 0)
    return int(builder.EndObject())


def _vector(builder: flatbuffers.Builder, items: Sequence[int]) -> int:
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    return int(builder.EndVector())
