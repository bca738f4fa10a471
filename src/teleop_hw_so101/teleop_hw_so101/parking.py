"""Easing the arm from its last command to where it may lie without torque. Pure: a path over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Positions = tuple[float, ...]


@dataclass(frozen=True)
class Parking:
    """A straight way in joints that starts and ends with speed 0; all joints arrive at once.

    Attributes:
        start: first positions [rad], the last command: from the measured ones a drooping arm would dip.
        end: last positions [rad].
        begun: when it starts (monotonic) [s].
        duration: how long it takes [s].
    """

    start: Positions
    end: Positions
    begun: float
    duration: float

    def at(self, now: float) -> Positions:
        """Return the positions [rad] at ``now`` (monotonic [s])."""
        part = min(max((now - self.begun) / self.duration, 0.0), 1.0) if self.duration > 0.0 else 1.0
        eased = part * part * (3.0 - 2.0 * part)
        return tuple(a + (b - a) * eased for a, b in zip(self.start, self.end, strict=True))

    def over(self, now: float) -> bool:
        """Return whether the end is reached."""
        return now - self.begun >= self.duration


def plan(start: Sequence[float], end: Sequence[float], now: float, speed: float, longest: float) -> Parking | None:
    """Return the way from ``start`` to ``end`` [rad].

    Args:
        start: the last command [rad].
        end: where the arm rests [rad].
        now: monotonic clock [s].
        speed: largest speed of any joint on the way [rad/s].
        longest: longest duration [s].

    Returns:
        None when it cannot be reached within ``longest`` at that speed.
    """
    farthest = max(abs(b - a) for a, b in zip(start, end, strict=True))
    # the speed of the smooth step is 1.5 times its mean in the middle
    duration = 1.5 * farthest / speed
    return Parking(tuple(start), tuple(end), now, duration) if duration <= longest else None


def unrested(way: Parking, joints: Sequence[str], measured: Sequence[float], near: float, now: float) -> str:
    """Return what has not come to rest, empty when all has.

    Args:
        way: the way there.
        joints: their names.
        measured: where they are [rad].
        near: how far from the end each may lie [rad].
        now: monotonic clock [s].
    """
    off = [name for name, q, end in zip(joints, measured, way.end, strict=True) if not abs(q - end) <= near]
    if not off and way.over(now):
        return ""
    return f"{', '.join(off) or 'the arm'} has not come to within {near:g} rad of its rest; the arm holds"
