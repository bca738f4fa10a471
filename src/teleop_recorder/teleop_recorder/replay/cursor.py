"""Where a replay is in its recording."""

from __future__ import annotations

import math
from dataclasses import dataclass

LATE = 0.1
"""A call later than this [s] moves the cursor by no more: the recording waits for the process and leaps over nothing."""


@dataclass
class Cursor:
    """A place in a recording that moves with time.

    Attributes:
        duration: length of the recording [s].
        loop: begin again at the end.
        speed: recorded seconds per second.
        time: the place [s].
        playing: it moves.
        last: when it was moved last [s, monotonic], None while it stands.
    """

    duration: float
    loop: bool = False
    speed: float = 1.0
    time: float = 0.0
    playing: bool = True
    last: float | None = None

    @property
    def at_end(self) -> bool:
        """Whether the recording is over."""
        return self.time >= self.duration

    def advance(self, now: float) -> float:
        """Move on to ``now`` (monotonic [s]) and return the place; at the end stand there, or begin again by ``loop``."""
        if not self.playing:
            self.last = None
            return self.time
        if self.at_end and self.loop:
            self.time = 0.0
        elif self.last is not None:
            self.time = min(self.time + self.speed * min(max(now - self.last, 0.0), LATE), self.duration)
        self.last = now
        return self.time

    def play(self, on: bool) -> None:
        """Go on, from the beginning when it was over, or stand."""
        if on and not self.playing and self.at_end:
            self.time = 0.0
        self.playing, self.last = on, None

    def seek(self, time: float) -> str:
        """Go to ``time`` [s]; return why not, or nothing."""
        if not (math.isfinite(time) and 0.0 <= time <= self.duration):
            return f"seek 'time': got {time} s, allowed 0 to {self.duration:.3f} s; mend the request"
        self.time, self.last = time, None
        return ""
