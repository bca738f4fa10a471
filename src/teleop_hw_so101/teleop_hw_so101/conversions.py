"""The driver's own diagnostics as ROS messages."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from teleop_hw_so101.health_report import Entry


def diagnostic_array(entries: Sequence[Entry], stamp: int, hardware: str) -> DiagnosticArray:
    """Return ``entries`` as a message; ``stamp`` is the ROS clock [ns], ``hardware`` the port."""
    array = DiagnosticArray()
    array.header.stamp.sec, array.header.stamp.nanosec = divmod(stamp, 10**9)
    for entry in entries:
        status = DiagnosticStatus(level=bytes([entry.level]), name=entry.name, message=entry.message, hardware_id=hardware)
        status.values = [KeyValue(key=key, value=value) for key, value in entry.values]
        array.status.append(status)
    return array
