"""Statuses to and from diagnostic_msgs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from teleop_diagnostics.diagnostics import Status


def diagnostic_array(statuses: Iterable[Status], stamp_ns: int) -> DiagnosticArray:
    """Return the message; ``stamp_ns`` is the ROS clock [ns]."""
    array = DiagnosticArray()
    array.header.stamp.sec, array.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    for status in statuses:
        values = [KeyValue(key=key, value=value) for key, value in status.values]
        array.status.append(
            DiagnosticStatus(
                level=bytes([status.level]),
                name=status.name,
                message=status.message,
                hardware_id=status.hardware_id,
                values=values,
            )
        )
    return array


def from_array(array: Any) -> list[Status]:
    """Return the statuses of a message."""
    return [Status(s.level[0], s.name, s.message, s.hardware_id, tuple((v.key, v.value) for v in s.values)) for s in array.status]
