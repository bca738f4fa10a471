"""When something is said again: at once when it changed, each second when it did not. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PERIOD_NS = 1_000_000_000


@dataclass
class Repeat:
    """Remembers what was said and when."""

    _said: Any = None
    _at_ns: int | None = None

    def due(self, saying: Any, now_ns: int) -> bool:
        """Return whether ``saying`` is to be said at ``now_ns`` (monotonic) [ns], and remember that it was."""
        if self._at_ns is not None and saying == self._said and now_ns - self._at_ns < PERIOD_NS:
            return False
        self._said, self._at_ns = saying, now_ns
        return True
