"""The codec against rclpy's own serialisation."""

import random

import pytest

pytest.importorskip("rclpy")

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from rosidl_parser.definition import NamespacedType  # noqa: E402,F401
from teleop_common import records, transport  # noqa: E402
