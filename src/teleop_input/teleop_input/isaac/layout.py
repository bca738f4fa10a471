"""The layout of FlatBuffers objects, computed from a schema in the schema language.

Only what ``records.fbs`` needs: one namespace, structs and tables, the scalars below. Rules of layout: FlatBuffers
internals (a struct's fields are aligned to their size, a table's are found through its vtable by number).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from teleop_common.errors import ConfigError


@dataclass(frozen=True)
class Scalar:
    """A scalar type: its size [bytes], format character of ``struct`` and number in binary schemas."""

    size: int
    code: str
    number: int


SCALARS = {"bool": Scalar(1, "?", 2), "long": Scalar(8, "q", 9), "float": Scalar(4, "f", 11)}


@dataclass(frozen=True)
class Field:
    """A field: ``id`` counts within its object; ``kind`` is a scalar's or an object's name.

    Attributes:
        offset: from the start of a struct, or of a table's vtable [bytes].
        padding: behind it in a struct [bytes].
    """

    name: str
    kind: str
    id: int
    offset: int
    padding: int = 0


@dataclass(frozen=True)
class Kind:
    """A struct or table.

    Attributes:
        name: without the namespace.
        fields: by number.
        is_struct: stored in place, without a vtable.
        align: of a struct [bytes]; 1 for a table.
        size: of a struct [bytes]; 0 for a table.
        format: of a struct, for the module ``struct``, nested structs spread out; empty for a table.
    """

    name: str
    fields: tuple[Field, ...]
    is_struct: bool
    align: int = 1
    size: int = 0
    format: str = ""


@dataclass(frozen=True)
class Schema:
    """All objects of a schema by their name without the namespace."""

    namespace: str
    kinds: Mapping[str, Kind]

    def reachable(self, name: str) -> dict[str, Kind]:
        """Return ``name`` and all that it is made of."""
        found = {name: self.kinds[name]}
        for field in self.kinds[name].fields:
            if field.kind in self.kinds:
                found |= self.reachable(field.kind)
        return found


_OBJECT = re.compile(r"\s*(struct|table)\s+(\w+)\s*\{([^}]*)\}")
_FIELD = re.compile(r"\s*(\w+)\s*:\s*(\w+)\s*;")
_NAMESPACE = re.compile(r"\s*namespace\s+(\w+)\s*;")


def parse(text: str) -> Schema:
    """Return the schema that ``text`` describes; an object must stand before it is used.

    Raises:
        ConfigError: anything that is not understood.
    """
    text = re.sub(r"//[^\n]*", "", text)
    head = _NAMESPACE.match(text)
    if not head:
        raise _problem(text, "'namespace NAME;' first")
    kinds: dict[str, Kind] = {}
    at = head.end()
    while text[at:].strip():
        found = _OBJECT.match(text, at)
        if not found:
            raise _problem(text[at:], "'struct NAME { ... }' or 'table NAME { ... }'")
        kinds[found[2]] = _kind(found[2], found[3], found[1] == "struct", kinds)
        at = found.end()
    return Schema(head[1], kinds)


def _kind(name: str, body: str, is_struct: bool, known: Mapping[str, Kind]) -> Kind:
    names: list[tuple[str, str]] = []
    at = 0
    while body[at:].strip():
        found = _FIELD.match(body, at)
        if not found or not (found[2] in SCALARS or found[2] in known):
            raise _problem(body[at:], f"fields of {name} as 'name:type;', types {', '.join((*SCALARS, *known))}")
        names.append((found[1], found[2]))
        at = found.end()
    if is_struct:
        return _struct(name, names, known)
    return Kind(name, tuple(Field(field, kind, i, 4 + 2 * i) for i, (field, kind) in enumerate(names)), False)


def _struct(name: str, names: list[tuple[str, str]], known: Mapping[str, Kind]) -> Kind:
    parts = [
        (SCALARS[k].size, SCALARS[k].size, SCALARS[k].code) if k in SCALARS else (known[k].size, known[k].align, known[k].format)
        for _, k in names
    ]
    if not parts or not all(size for size, _, _ in parts):
        raise _problem(name, "a struct of scalars and structs")
    align = max(a for _, a, _ in parts)
    fields, text, offset = [], "", 0
    for i, ((field, kind), (size, _, code)) in enumerate(zip(names, parts)):
        following = parts[i + 1][1] if i + 1 < len(parts) else align
        padding = -(offset + size) % following
        fields.append(Field(field, kind, i, offset, padding))
        text += code + (f"{padding}x" if padding else "")
        offset += size + padding
    if struct.calcsize("<" + text) != offset:
        raise _problem(name, "a struct that the module struct can pack")
    return Kind(name, tuple(fields), True, align, offset, text)


def _problem(value: str, allowed: str) -> ConfigError:
    return ConfigError("schema", "records.fbs", " ".join(value.split())[:60], allowed, "mend the schema")
