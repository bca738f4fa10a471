"""Whether a measurement can be true.

A joint goes no faster than its motor, whatever an encoder, a bus or a wrap says; a headset's pose lies within some play space
and has an attitude, whatever the runtime says.
"""

from __future__ import annotations

import math

from teleop_common.records import Quat, Vec3

JUMP = 0.1  # [rad], noise and play on top of what a motor can do, and a push by hand
LONGEST = 0.05  # [s] that a joint is credited with, however long nothing was heard
IN_A_ROW = 3  # measurements, after which they are the arm's new place and not a fault in between
MAX_DISTANCE = 100.0  # [m]; no play space is wider, a larger coordinate is a broken pose
NORM_TOLERANCE = 1e-2  # of a quaternion's length; runtimes and browsers give unit quaternions in float32


def jumped(before: tuple[float, ...], after: tuple[float, ...], elapsed: float, ceiling: float) -> int:
    """Return the first joint that cannot have come from ``before`` to ``after``, -1 when all can.

    Args:
        before: last measurement that was believed [rad].
        after: the new one [rad].
        elapsed: time between them [s].
        ceiling: the fastest that any joint's motor turns [rad/s].
    """
    most = ceiling * min(max(elapsed, 0.0), LONGEST) + JUMP
    for i, (a, b) in enumerate(zip(before, after)):
        if not -most <= b - a <= most:
            return i
    return -1


def in_play_space(position: Vec3) -> bool:
    """Return whether a tracked device can be at ``position`` [m]: exactly zero is what a runtime says that knows no place."""
    return all(map(math.isfinite, position)) and any(position) and max(map(abs, position)) <= MAX_DISTANCE


def attitude(orientation: Quat) -> Quat | None:
    """Return ``orientation`` with unit length, None for one that is no rotation."""
    norm = math.hypot(*orientation)
    if not abs(norm - 1.0) <= NORM_TOLERANCE:  # of NaN, too
        return None
    return (orientation[0] / norm, orientation[1] / norm, orientation[2] / norm, orientation[3] / norm)
