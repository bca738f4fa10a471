"""From the name of an interface to its Python class."""

from __future__ import annotations

import importlib
from typing import Any

from rosidl_parser.definition import NamespacedType


def get_namespaced_type(full_type_name: str) -> NamespacedType:
    """Return ``package/kind/Name`` as a NamespacedType; ValueError for another form."""
    parts = full_type_name.split("/")
    if len(parts) < 2 or not all(parts):
        raise ValueError(f"Invalid type '{full_type_name}'. Expected 'package/kind/Name'")
    return NamespacedType(parts[:-1], parts[-1])


def import_message_from_namespaced_type(message_type: NamespacedType) -> Any:
    """Return the class of a NamespacedType."""
    module = importlib.import_module(".".join(message_type.namespaces))
    return getattr(module, message_type.name)


def get_interface(identifier: str) -> Any:
    """Return the class of ``package/msg/Name``, ``package/srv/Name`` or ``package/action/Name``.

    Raises:
        ValueError: the name has another form.
        ModuleNotFoundError: the package, or its Python module, isn't installed.
        AttributeError: the package has no interface of this name.
    """
    return import_message_from_namespaced_type(get_namespaced_type(identifier))


def _get(identifier: str, kind: str, what: str) -> Any:
    parts = identifier.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    try:
        if len(parts) != 3 or parts[1] != kind:
            raise ValueError(f"Expected the full name of a {what}")
        return get_interface("/".join(parts))
    except ModuleNotFoundError:
        raise
    except (ValueError, AttributeError) as error:
        raise type(error)(f"The {what} type '{identifier}' is invalid: {error}") from error


def get_message(identifier: str) -> Any:
    """Return the class of the message ``package/msg/Name`` (``package/Name`` works too)."""
    return _get(identifier, "msg", "message")


def get_service(identifier: str) -> Any:
    """Return the class of the service ``package/srv/Name`` (``package/Name`` works too)."""
    return _get(identifier, "srv", "service")


def get_action(identifier: str) -> Any:
    """Return the class of the action ``package/action/Name`` (``package/Name`` works too)."""
    return _get(identifier, "action", "action")


def _has_parts(message: Any, *names: str) -> bool:
    return all(hasattr(message, name) for name in names)


def is_message(obj: Any) -> bool:
    """Whether ``obj`` is a message or a message class."""
    return _has_parts(obj, "get_fields_and_field_types") and _has_parts(obj, "SLOT_TYPES")


def is_service(obj: Any) -> bool:
    """Whether ``obj`` is a service class."""
    return _has_parts(obj, "Request", "Response")


def is_action(obj: Any) -> bool:
    """Whether ``obj`` is an action class."""
    return _has_parts(obj, "Goal", "Result", "Feedback")
