"""From the name of an interface to its Python class."""

from __future__ import annotations

import importlib
from typing import Any

from rosidl_parser.definition import NamespacedType


def import_message_from_namespaced_type(message_type: NamespacedType) -> Any:
    """Return the class of a NamespacedType."""
    return getattr(importlib.import_module(".".join(message_type.namespaces)), message_type.name)


def _get(identifier: str, kind: str, what: str) -> Any:
    parts = identifier.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or not all(parts) or parts[1] != kind:
        raise ValueError(f"The {what} type '{identifier}' is invalid: expected package/{kind}/Name")
    try:
        return import_message_from_namespaced_type(NamespacedType(parts[:-1], parts[-1]))
    except AttributeError as error:
        raise AttributeError(f"The {what} type '{identifier}' is invalid: {error}") from error


def get_message(identifier: str) -> Any:
    """Return the class of the message ``package/msg/Name`` (``package/Name`` works too).

    Raises:
        ValueError: the name has another form.
        ModuleNotFoundError: the package, or its Python module, isn't installed.
        AttributeError: the package has no interface of this name.
    """
    return _get(identifier, "msg", "message")


def get_service(identifier: str) -> Any:
    """Return the class of the service ``package/srv/Name``; see :func:`get_message`."""
    return _get(identifier, "srv", "service")


def is_message(obj: Any) -> bool:
    """Whether ``obj`` is a message or a message class."""
    return hasattr(obj, "get_fields_and_field_types") and hasattr(obj, "SLOT_TYPES")


def is_service(obj: Any) -> bool:
    """Whether ``obj`` is a service class."""
    return hasattr(obj, "Request") and hasattr(obj, "Response")
