"""Place where the real package keeps ``import_message_from_namespaced_type``."""

from rosidl_runtime_py.utilities import import_message_from_namespaced_type

__all__ = ["import_message_from_namespaced_type"]
