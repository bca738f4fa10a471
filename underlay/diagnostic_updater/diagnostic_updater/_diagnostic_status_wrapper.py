"""A status message that is easy to fill."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue


class DiagnosticStatusWrapper(DiagnosticStatus):  # type: ignore[misc]
    """A DiagnosticStatus with ``summary`` and ``add``."""

    def summary(self, level: bytes | int, message: str) -> None:
        """Set level and message; a number is accepted as the constants of older releases."""
        self.level, self.message = bytes([level]) if isinstance(level, int) else level, message

    def add(self, key: str, value: Any) -> None:
        """Add a value, as text."""
        self.values.append(KeyValue(key=str(key), value=str(value)))
