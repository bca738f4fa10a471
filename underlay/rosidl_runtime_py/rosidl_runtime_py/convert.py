"""Messages as YAML, CSV and dictionaries."""

from __future__ import annotations

import array
import sys
from collections import OrderedDict
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractSequence,
    AbstractString,
    AbstractWString,
    Array,
    BasicType,
    NamespacedType,
)


def get_message_slot_types(msg: Any) -> dict[str, Any]:
    """Return ``{field: rosidl type}`` of a message or message class, in order."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES))


def message_to_yaml(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False, flow_style: bool = False
) -> str:
    """Return a message as YAML.

    Args:
        msg: the message.
        truncate_length: longest string or array that is printed whole; the rest becomes ``...``. None prints all.
        no_arr: print arrays of numbers as their type and length only.
        no_str: print strings as their length only.
        flow_style: one line with braces.
    """
    data = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return yaml.dump(
        _plain(data),
        Dumper=yaml.SafeDumper,
        allow_unicode=True,
        width=sys.maxsize,
        default_flow_style=flow_style,
        sort_keys=False,
    )


def _plain(value: Any) -> Any:
    # the safe dumper knows no OrderedDict
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def message_to_csv(msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False) -> str:
    """Return a message's values in the order of their fields, separated by commas."""

    def flatten(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for item in value.values() for text in flatten(item)]
        if isinstance(value, list):
            return [text for item in value for text in flatten(item)]
        return [str(value)]

    return ",".join(flatten(message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)))


def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]:
    """Return a message as nested dictionaries of plain Python values, in the order of its fields."""
    result: OrderedDict[str, Any] = OrderedDict()
    for name, kind in get_message_slot_types(msg).items():
        result[name] = _convert(getattr(msg, name), kind, truncate_length, no_arr, no_str)
    return result


def _convert(value: Any, kind: Any, truncate: int | None, no_arr: bool, no_str: bool) -> Any:
    if isinstance(value, bytes):
        value = "".join(chr(code) for code in value)
        return value[:truncate] + "..." if truncate is not None and len(value) > truncate else value
    if isinstance(value, str):
        if no_str:
            return f"<string length: <{len(value)}>>"
        return value[:truncate] + "..." if truncate is not None and len(value) > truncate else value
    if isinstance(value, list | tuple | np.ndarray | array.array):
        inner = kind.value_type if isinstance(kind, AbstractNestedType) else None
        if no_arr and inner is not None:
            form = "array" if isinstance(kind, Array) else "sequence"
            return f"<{form} type: {_type_name(kind)}, length: {len(value)}>"
        cut = truncate is not None and len(value) > truncate
        items = value[:truncate] if cut else value
        if isinstance(items, np.ndarray | array.array):
            converted: list[Any] = items.tolist()
        else:
            converted = [_convert(item, inner, truncate, no_arr, no_str) for item in items]
        return [*converted, "..."] if cut else converted
    if isinstance(value, np.number):
        return value.item()
    if hasattr(value, "get_fields_and_field_types"):
        return message_to_ordereddict(value, truncate_length=truncate, no_arr=no_arr, no_str=no_str)
    return value


def _type_name(kind: Any) -> str:
    if isinstance(kind, Array):
        return f"{_type_name(kind.value_type)}[{kind.size}]"
    if isinstance(kind, AbstractSequence):
        return _type_name(kind.value_type)
    if isinstance(kind, BasicType):
        return str(kind.typename)
    if isinstance(kind, NamespacedType):
        return "/".join([*kind.namespaces, kind.name])
    if isinstance(kind, AbstractWString):
        return "wstring"
    return "string" if isinstance(kind, AbstractString) else str(kind)
