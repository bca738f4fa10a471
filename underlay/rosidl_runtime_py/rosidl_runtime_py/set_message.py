"""Fill a message from plain values, as a person types them on a command line."""

from __future__ import annotations

import array
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rosidl_parser.definition import AbstractNestedType, NamespacedType

from rosidl_runtime_py.convert import get_message_slot_types
from rosidl_runtime_py.utilities import import_message_from_namespaced_type


def set_message_fields(
    msg: Any, values: dict[str, Any], expand_header_auto: bool = False, expand_time_now: bool = False
) -> list[Callable[[Any], None]]:
    """Set the fields of ``msg`` that ``values`` names.

    Args:
        msg: the message, changed in place.
        values: ``{field: value}``, nested for messages in messages.
        expand_header_auto: a std_msgs/Header field may be given as ``auto``.
        expand_time_now: a builtin_interfaces/Time field may be given as ``now``.

    Returns:
        One function per ``auto`` or ``now``: call it with the Time of each publication.

    Raises:
        AttributeError: a name is no field of the message.
        TypeError, AssertionError: a value has not the field's type.
    """
    if not isinstance(values, dict):
        raise TypeError(f"Value '{values}' is expected to be a dictionary but is a {type(values).__name__}")
    stamps: list[Callable[[Any], None]] = []
    slots = get_message_slot_types(msg)
    for name, value in values.items():
        if name not in slots:
            raise AttributeError(f"'{type(msg).__name__}' object has no attribute '{name}'")
        field = getattr(msg, name)
        kind = slots[name]
        full_name = "/".join([*kind.namespaces, kind.name]) if isinstance(kind, NamespacedType) else ""
        if expand_header_auto and full_name == "std_msgs/msg/Header" and value == "auto":
            stamps.append(partial(setattr, field, "stamp"))
        elif expand_time_now and full_name == "builtin_interfaces/msg/Time" and value == "now":
            stamps.append(partial(setattr, msg, name))
        elif full_name:
            if type(value) is type(field):
                setattr(msg, name, value)
            else:
                stamps += set_message_fields(field, value, expand_header_auto, expand_time_now)
        elif isinstance(kind, AbstractNestedType) and isinstance(kind.value_type, NamespacedType):
            items = [import_message_from_namespaced_type(kind.value_type)() for _ in value]
            for item, content in zip(items, value):
                stamps += set_message_fields(item, content, expand_header_auto, expand_time_now)
            setattr(msg, name, items)
        else:
            setattr(msg, name, _coerce(field, value))
    return stamps


def _coerce(field: Any, value: Any) -> Any:
    """Return ``value`` in the type of ``field``."""
    if isinstance(field, np.ndarray):
        return np.array(value, dtype=field.dtype)
    if isinstance(field, array.array):
        return array.array(field.typecode, value)
    if isinstance(field, bytes):
        # ROS `byte`: YAML has a number or a one-character text
        return bytes([value]) if isinstance(value, int) else value.encode("latin-1") if isinstance(value, str) else bytes(value)
    if type(value) is type(field):
        return value
    if isinstance(field, bool) or (isinstance(field, str) and isinstance(value, dict | list)):
        raise TypeError(f"Value '{value}' is expected to be a {type(field).__name__} but is a {type(value).__name__}")
    return type(field)(value)
