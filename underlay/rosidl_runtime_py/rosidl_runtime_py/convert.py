"""Messages as YAML and dictionaries."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

import yaml
from rosidl_parser.definition import AbstractNestedType, AbstractWString, Array, BasicType, NamespacedType


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which knows ordered dictionaries."""


_Dumper.add_representer(OrderedDict, lambda dumper, value: dumper.represent_dict(value.items()))


def get_message_slot_types(msg: Any) -> dict[str, Any]:
    """Return ``{field: rosidl type}`` of a message or message class, in order."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES))


def message_to_yaml(msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, flow_style: bool = False) -> str:
    """Return a message as YAML.

    Args:
        msg: the message.
        truncate_length: longest string or array that is printed whole; the rest becomes ``...``. None prints all.
        no_arr: print arrays of numbers as their type and length only.
        flow_style: one line with braces.
    """
    data = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr)
    return str(
        yaml.dump(data, Dumper=_Dumper, allow_unicode=True, width=sys.maxsize, default_flow_style=flow_style, sort_keys=False)
    )


def message_to_ordereddict(msg: Any, *, truncate_length: int | None = None, no_arr: bool = False) -> OrderedDict[str, Any]:
    """Return a message as nested dictionaries of plain Python values, in the order of its fields."""
    slots = get_message_slot_types(msg)
    return OrderedDict((name, _convert(getattr(msg, name), kind, truncate_length, no_arr)) for name, kind in slots.items())


def _convert(value: Any, kind: Any, truncate: int | None, no_arr: bool) -> Any:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        return value[:truncate] + "..." if truncate is not None and len(value) > truncate else value
    if isinstance(kind, AbstractNestedType):
        if no_arr:
            form, size = ("array", f"[{kind.size}]") if isinstance(kind, Array) else ("sequence", "")
            return f"<{form} type: {_type_name(kind.value_type)}{size}, length: {len(value)}>"
        cut = truncate is not None and len(value) > truncate
        items = value[:truncate] if cut else value
        plain = hasattr(items, "tolist")  # numpy's and array's arrays of numbers
        converted = items.tolist() if plain else [_convert(item, kind.value_type, truncate, no_arr) for item in items]
        return [*converted, "..."] if cut else converted
    if isinstance(kind, NamespacedType):
        return message_to_ordereddict(value, truncate_length=truncate, no_arr=no_arr)
    return value


def _type_name(kind: Any) -> str:
    if isinstance(kind, BasicType):
        return str(kind.typename)
    if isinstance(kind, NamespacedType):
        return "/".join([*kind.namespaces, kind.name])
    return "wstring" if isinstance(kind, AbstractWString) else "string"
