"""A status message that is easy to fill."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

_OK = DiagnosticStatus.OK


class DiagnosticStatusWrapper(DiagnosticStatus):  # type: ignore[misc]
    """A DiagnosticStatus with ``summary`` and ``add``."""

    def summary(self, *args: Any) -> None:
        """Set level and message: ``summary(level, message)`` or ``summary(status)``."""
        self.level, self.message = _pair(args)

    def clearSummary(self) -> None:  # noqa: N802 - the real name
        """Set OK with an empty message."""
        self.summary(_OK, "")

    def mergeSummary(self, *args: Any) -> None:  # noqa: N802 - the real name
        """Merge a second summary in: the worse level counts; messages of levels that aren't OK are joined."""
        level, message = _pair(args)
        if (level > _OK) == (self.level > _OK):
            self.message = f"{self.message}; {message}" if self.message else message
        elif level > self.level:
            self.message = message
        self.level = max(self.level, level)

    def add(self, key: str, value: Any) -> None:
        """Add a value, as text."""
        self.values.append(KeyValue(key=str(key), value=str(value)))


def _pair(args: tuple[Any, ...]) -> tuple[bytes, str]:
    level, message = (args[0].level, args[0].message) if len(args) == 1 else args
    # the message's field is a ROS byte; numbers are accepted as the constants of older releases
    return (bytes([level]) if isinstance(level, int) else level), str(message)
