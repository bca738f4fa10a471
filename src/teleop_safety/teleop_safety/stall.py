"""Stall: an arm that is told to move, lags far behind and stands still is blocked, and pushing on would break something."""

from __future__ import annotations

from teleop_safety.state import Joints


def speeds(position: Joints, previous: Joints | None, elapsed: float, given: Joints) -> Joints:
    """Return measured joint speeds [rad/s]: those of the sample, else the difference of two samples.

    Args:
        position: measured joints [rad].
        previous: the sample before [rad], None when there is none.
        elapsed: time between the two stamps [s].
        given: speeds of the sample [rad/s], empty when it has none.
    """
    if given:
        return given
    if previous is None or elapsed <= 0.0:
        return (0.0,) * len(position)
    return tuple((a - b) / elapsed for a, b in zip(position, previous))


def suspects(reference: Joints, measured: Joints, speed: Joints, arm: int, error: float, slow: float) -> list[int]:
    """Return the arm joints that are farther than ``error`` [rad] from the reference and slower than ``slow`` [rad/s].

    Args:
        reference: committed joints [rad].
        measured: measured joints [rad].
        speed: measured speeds [rad/s].
        arm: number of arm joints; the gripper after them is bounded by its force limit and never stalls.
        error: see above.
        slow: see above.
    """
    return [i for i in range(arm) if abs(reference[i] - measured[i]) > error and abs(speed[i]) < slow]


def watch(since: tuple[int, ...], found: list[int], now: int, joints: int) -> tuple[int, ...]:
    """Return per joint since when it is a suspect [ns], 0 for not."""
    before = since or (0,) * joints
    return tuple((before[i] or now) if i in found else 0 for i in range(joints))
