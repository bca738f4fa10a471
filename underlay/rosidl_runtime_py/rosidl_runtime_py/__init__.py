"""Subset of rosidl_runtime_py for machines without a ROS install."""

from typing import Any

from rosidl_runtime_py.convert import get_message_slot_types, message_to_ordereddict, message_to_yaml
from rosidl_runtime_py.get_interfaces import get_interface_path
from rosidl_runtime_py.set_message import set_message_fields

__all__ = ["get_interface_path", "get_message_slot_types", "message_to_ordereddict", "message_to_yaml", "set_message_fields"]


def __getattr__(name: str) -> Any:
    # only what the real package has: test tools and the import system probe modules for other names
    if not name.startswith(("get_", "message_to_")):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    raise NotImplementedError(f"rosidl_runtime_py '{name}': not in this subset; install the real ros-jazzy-rosidl-runtime-py")
