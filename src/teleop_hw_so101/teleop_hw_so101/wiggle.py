"""Small motions that tell which arm, which joint and which way: by hand with torque off, or by one servo at low torque."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from teleop_hw_so101.calibration import JointCalibration
from teleop_hw_so101.sweep import Track

# which way each joint counts up, in words for somebody who stands behind the arm and looks where it reaches; a test
# holds them against the model
UPWARDS = {
    "shoulder_pan": "turn the whole arm to its right",
    "shoulder_lift": "tip the upper arm forwards and down",
    "elbow_flex": "bend the forearm down",
    "wrist_flex": "bend the hand down",
    "wrist_roll": "roll the hand anticlockwise",
    "gripper": "open the jaw",
}
ENOUGH = 114  # [ticks] 10° by hand: well above backlash and a trembling arm
_CLEAR = 2.0  # the joint that was meant has moved this many times as far as any other

AMPLITUDE = 57  # [ticks] 5° to each side
PERIOD, CYCLES = 1.0, 2.0  # [s], [1]
TORQUE_LIMIT = 200  # [0.1 %] a fifth: far below what latches an overload, should the joint be stuck


class Moved(NamedTuple):
    """What somebody's hand moved.

    Attributes:
        joint: the joint that moved farthest.
        ticks: how far, signed [ticks].
        clear: no other joint moved half as far.
    """

    joint: str
    ticks: int
    clear: bool


@dataclass
class HandMove:
    """Follows all joints from where they stood, until one has clearly been moved.

    Attributes:
        tracks: joint name → what was seen of it.
        start: joint name → where it stood [ticks, without wrapping].
    """

    tracks: dict[str, Track] = field(default_factory=dict)
    start: dict[str, int] = field(default_factory=dict)

    def feed(self, readings: Mapping[str, int | None]) -> Moved | None:
        """Take one reading of every joint [ticks] and return what was moved, once some joint went 10°."""
        for name, reading in readings.items():
            track = self.tracks.setdefault(name, Track(0))
            track.feed(reading)
            if track.samples == 1:
                self.start[name] = track.at
        ways = sorted(((abs(t.at - self.start[n]), n) for n, t in self.tracks.items() if n in self.start), reverse=True)
        if not ways or ways[0][0] < ENOUGH:
            return None
        farthest, name = ways[0]
        second = ways[1][0] if len(ways) > 1 else 0
        return Moved(name, self.tracks[name].at - self.start[name], farthest >= _CLEAR * second)


def sign_of(moved: Moved, asked: str) -> tuple[int, str]:
    """Return the sign of the joint that was to be moved upwards, and what is wrong (empty: nothing).

    Args:
        moved: what the hand moved.
        asked: the joint that it was asked to move as ``UPWARDS`` says.

    Returns:
        +1 or -1, or 0 where that cannot be said, and the reason.
    """
    if moved.joint != asked:
        return 0, f"'{moved.joint}' moved, not '{asked}': move that joint alone; if you did, two servos have each other's ID"
    if not moved.clear:
        return 0, f"more than '{asked}' moved: hold the rest of the arm"
    return (1 if moved.ticks > 0 else -1), ""


def goal(joint: JointCalibration, start: int, elapsed: float) -> int:
    """Return the goal of a servo that wiggles [ticks], within its mechanical range.

    Args:
        joint: the joint.
        start: where it stood when the wiggle began [ticks].
        elapsed: time since then [s].
    """
    phase = min(max(elapsed / PERIOD, 0.0), CYCLES) * 2.0 * math.pi
    return min(max(start + round(AMPLITUDE * math.sin(phase)), joint.range_min), joint.range_max)


def done(elapsed: float) -> bool:
    """Return whether the wiggle is over, ``elapsed`` [s] after its begin."""
    return elapsed >= PERIOD * CYCLES


def followed(reached: Track) -> bool:
    """Return whether the servo made at least a third of the way that the wiggle asked for."""
    return reached.span >= 2 * AMPLITUDE // 3
