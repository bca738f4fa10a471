"""How many physics steps are due: real time where the machine allows it, dropped and counted time where it does not."""

from __future__ import annotations

from dataclasses import dataclass

_WINDOW = 1.0  # [s], over which the real-time factor is measured


@dataclass
class Pacer:
    """Paces fixed steps against a clock that is handed in.

    When more than ``max_behind`` is owed, the excess is dropped: catching up on a slow machine would only make the next
    call later still.

    Attributes:
        period: length of a step [s].
        max_behind: most time that is made up for in one call [s].
        dropped: time dropped so far [s].
        real_time_factor: simulated over real time, in the last full second [1].
    """

    period: float
    max_behind: float = 0.05
    dropped: float = 0.0
    real_time_factor: float = 1.0
    _last: float | None = None
    _owed: float = 0.0
    _window_start: float = 0.0
    _window_steps: int = 0

    def due(self, now: float) -> int:
        """Return the number of steps to do at ``now`` (monotonic [s])."""
        if self._last is None:
            self.restart(now)
            return 0
        self._owed += max(now - self._last, 0.0)
        self._last = now
        if self._owed > self.max_behind:
            self.dropped += self._owed - self.max_behind
            self._owed = self.max_behind
        # a hair of tolerance: 5 * 0.002 owed as 0.00999999 is five steps
        steps = int(self._owed / self.period + 1e-6)
        self._owed -= steps * self.period
        self._window_steps += steps
        elapsed = now - self._window_start
        if elapsed >= _WINDOW:
            self.real_time_factor = self._window_steps * self.period / elapsed
            self._window_start, self._window_steps = now, 0
        return steps

    def restart(self, now: float) -> None:
        """Forget what is owed, as after a pause."""
        self._last, self._owed = now, 0.0
        self._window_start, self._window_steps = now, 0
