"""Which node of the graph is there, judged by the age of what it publishes, never by discovery.

A killed process stays in the DDS graph for 20 s; its topics fall silent at once. All times are monotonic seconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

RESPAWNS = "it respawns within 1 s by itself; if it does not, read its lines in the terminal that runs the graph"


@dataclass
class Watch:
    """One node and the sign of life that it must give.

    Attributes:
        name: node name.
        does: what stands still without it.
        limit: oldest sign of life that counts [s].
        heard: time of the last one [s], None before the first.
        lost_since: when it was last found silent [s], None while it is heard.
    """

    name: str
    does: str
    limit: float
    heard: float | None = None
    lost_since: float | None = None

    def report(self, now: float) -> dict[str, Any]:
        """Return its state for the page: ``ok``, ``gone`` (was heard once) or ``waiting`` (never heard)."""
        age = None if self.heard is None else max(0.0, now - self.heard)
        alive = age is not None and age <= self.limit
        state = "ok" if alive else "waiting" if age is None else "gone"
        return {
            "name": self.name,
            "state": state,
            "age": None if age is None else round(age, 3),
            "limit": self.limit,
            "does": self.does,
            "remedy": ""
            if alive
            else RESPAWNS
            if state == "gone"
            else "wait for the start; if it stays so, read its lines in the terminal",
        }


@dataclass
class Rate:
    """How often something arrives, over the last two seconds."""

    window: float = 2.0
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=1024))

    def tick(self, now: float) -> None:
        """Count one arrival."""
        self._times.append(now)

    def hz(self, now: float) -> float:
        """Return arrivals per second [Hz]."""
        times = self._times
        while times and now - times[0] > self.window:
            times.popleft()
        return len(times) / self.window


@dataclass
class Link:
    """Quality of the way from the headset: rate, gaps and waiting of its frames, and the round trip it measured.

    Wi-Fi power saving shows as bursts: the rate is right and the gaps are not.
    """

    window: float = 2.0
    round_trip: float | None = None
    _frames: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=1024))

    def frame(self, now: float, delay: float) -> None:
        """Count one frame that waited ``delay`` [s] on its way."""
        self._frames.append((now, delay))

    def report(self, now: float) -> dict[str, Any]:
        """Return rate [Hz], 95th percentile and largest gap [s], longest waiting [s], age [s] and round trip [s]."""
        frames = self._frames
        while len(frames) > 1 and now - frames[0][0] > self.window:
            frames.popleft()
        listed = [at for at, _ in frames]
        gaps = sorted(b - a for a, b in zip(listed, listed[1:], strict=False))
        age = now - listed[-1] if listed else None
        return {
            "hz": round(len(gaps) / (listed[-1] - listed[0]), 1)
            if gaps and age is not None and age < 1.0 and listed[-1] > listed[0]
            else 0.0,
            "gap_p95": round(gaps[int(0.95 * (len(gaps) - 1))], 4) if gaps else None,
            "gap_max": round(gaps[-1], 4) if gaps else None,
            "delay_max": round(max(delay for _, delay in frames), 4) if frames else None,
            "age": None if age is None else round(age, 3),
            "round_trip": self.round_trip,
        }


def percentiles(values: deque[float]) -> dict[str, float | None]:
    """Return median and 95th percentile of ``values``, None without any."""
    if not values:
        return {"p50": None, "p95": None}
    ordered = sorted(values)
    return {"p50": ordered[len(ordered) // 2], "p95": ordered[int(0.95 * (len(ordered) - 1))]}
