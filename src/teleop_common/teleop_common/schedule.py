"""Regular things in a faster tick: when one is due, and how often one happened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Schedule:
    """Says when something regular is due, from a tick that is faster; a late call is not made up for by a burst.

    Attributes:
        hz: rate [Hz].
        tolerance: what falls due within this time is due now [s]: a tick of about the same rate, a hair early, costs no turn.
    """

    hz: float
    tolerance: float = 0.0
    _next: float | None = None

    def due(self, now: float) -> bool:
        """Return whether it is due at ``now`` (monotonic [s])."""
        period = 1.0 / self.hz
        if self._next is None:
            self._next = now
        if now < self._next - self.tolerance:
            return False
        late = now - self._next
        self._next = self._next + period if late < period else now + period
        return True


@dataclass
class Rate:
    """How often something happened per second, from its count.

    Attributes:
        hz: rate in the last full second [Hz].
    """

    hz: float = 0.0
    _count: int = 0
    _since: float | None = None

    def update(self, count: int, now: float) -> float:
        """Take the ``count`` so far at ``now`` (monotonic [s]) and return the rate [Hz]."""
        if self._since is None:
            self._count, self._since = count, now
        elif now - self._since >= 1.0:
            self.hz = (count - self._count) / (now - self._since)
            self._count, self._since = count, now
        return self.hz
