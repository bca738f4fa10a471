"""Dataclasses and named tuples as plain JSON values, and back by their annotations, to the bit."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from teleop_common.errors import ConfigError


def to_plain(value: Any) -> Any:
    """Return ``value`` with dataclasses and named tuples as mappings, and tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_plain(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: Any, value: Any, name: str, remedy: str) -> Any:
    """Return the ``kind`` that ``to_plain`` took apart.

    Args:
        kind: a dataclass, a named tuple, ``tuple[X, ...]``, ``tuple[X, Y]``, ``dict[str, X]``, ``X | None``, or a scalar type.
        value: plain values; a field that has a default may be absent.
        name: what is read, for the error; fields are added with dots.
        remedy: what to do about an error.

    Raises:
        ConfigError: a field is missing or unknown, or a value is of another type.
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        (kind,) = (item for item in inner if item is not type(None))
        return from_plain(kind, value, name, remedy)
    if origin is tuple:
        if not isinstance(value, list | tuple) or (inner[-1] is not Ellipsis and len(value) != len(inner)):
            raise ConfigError("value", name, value, "a list" if inner[-1] is Ellipsis else f"{len(inner)} values", remedy)
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(from_plain(k, v, f"{name}[{i}]", remedy) for i, (k, v) in enumerate(zip(kinds, value)))
    if origin is dict:
        if not isinstance(value, dict):
            raise ConfigError("value", name, value, "a mapping", remedy)
        return {key: from_plain(inner[1], item, f"{name}.{key}", remedy) for key, item in value.items()}
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _structure(kind, value, name, remedy)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError("value", name, value, kind.__name__, remedy)
    return value


def _structure(kind: Any, value: Any, name: str, remedy: str) -> Any:
    """Return a dataclass or named tuple out of a mapping of its fields."""
    if dataclasses.is_dataclass(kind):
        fields = {field.name: field.default is dataclasses.MISSING for field in dataclasses.fields(kind)}
    else:
        fields = {field: field not in kind._field_defaults for field in kind._fields}
    if not isinstance(value, dict):
        raise ConfigError("value", name, value, "a mapping of " + ", ".join(fields), remedy)
    for key in value:
        if key not in fields:
            raise ConfigError("field", f"{name}.{key}", value[key], "one of " + ", ".join(fields), remedy)
    for key, needed in fields.items():
        if needed and key not in value:
            raise ConfigError("field", f"{name}.{key}", None, "present", remedy)
    hints = typing.get_type_hints(kind)
    return kind(**{key: from_plain(hints[key], item, f"{name}.{key}", remedy) for key, item in value.items()})
