"""The last resort in front of the servos: how far a goal may go at once, and how far at all. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from teleop_hw_so101.units import JointScale

_CREDIT = 0.1  # [s] of motion at full speed that may be made at once: commands come in bursts
Positions = tuple[float, ...]


class SpeedBound:
    """Cuts goals to a speed, with a credit for commands that come in bursts.

    Attributes:
        clipped: goals cut since the start.
    """

    def __init__(self, joints: int, speed: float) -> None:
        """Begin without credit.

        Args:
            joints: how many there are.
            speed: no goal moves faster [rad/s].
        """
        self._speed, self._credit, self.clipped = speed, [0.0] * joints, 0
        self._credited: float | None = None

    def begin(self, now: float) -> None:
        """Count from ``now`` (monotonic [s]): what the arm holds was taken from it."""
        self._credited = now

    def cut(self, before: Sequence[float], asked: Sequence[float], now: float) -> Positions:
        """Return ``asked`` [rad], no farther from ``before`` [rad] than may be at ``now`` (monotonic [s])."""
        passed = _CREDIT if self._credited is None else now - self._credited
        self._credited, most = now, _CREDIT * self._speed
        goal = list(asked)
        for index, held in enumerate(before):
            allowed = min(self._credit[index] + passed * self._speed, most)
            step = min(max(goal[index] - held, -allowed), allowed)
            if held + step != goal[index] and abs(goal[index] - held) > allowed:
                self.clipped += 1
                goal[index] = held + step
            self._credit[index] = allowed - abs(step)
        return tuple(goal)


def within(scales: Sequence[JointScale], held: Sequence[float], asked: Sequence[float]) -> Positions:
    """Return ``asked`` [rad] within the servos' ranges, so that what is told of a goal is what its servo gets.

    Args:
        scales: ticks ↔ radians, with the ranges.
        held: the goals until now [rad]; one outside its range is not dragged in, but may not go farther out.
        asked: the new ones [rad].
    """
    found = []
    for scale, old, new in zip(scales, held, asked, strict=True):
        ends = (scale.radians(scale.least), scale.radians(scale.most), old)
        found.append(min(max(new, min(ends)), max(ends)))
    return tuple(found)
