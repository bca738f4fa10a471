"""Blocked arms, by two signs: one that lags far behind and stands still (stall), one that pushes hard and gets nowhere (effort).

Pushing on would break something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from teleop_safety.state import Joints

GIVES = 0.02  # [rad] by which the error of an arm that began under strain must grow to count again


def suspects(reference: Joints, measured: Joints, arm: int, error: float) -> list[int]:
    """Return the arm joints that are farther than ``error`` [rad] from the reference.

    Args:
        reference: committed joints [rad].
        measured: measured joints [rad].
        arm: number of arm joints; the gripper after them is bounded by its force limit and never stalls.
        error: see above.
    """
    return [i for i in range(arm) if abs(reference[i] - measured[i]) > error]


def errors(reference: Joints, measured: Joints) -> Joints:
    """Return how far each joint is from its reference [rad]; both are joints [rad]."""
    return tuple([abs(r - m) for r, m in zip(reference, measured)])


def strained(load: Sequence[float], error: Joints, rest: Joints, arm: int, high: float, far: float) -> list[int]:
    """Return the arm joints that push with more than ``high`` and yet are farther than ``far`` [rad] from their reference.

    Args:
        load: share of the torque that each may use, -1 to 1, NaN when unknown, which is never high.
        error: see ``errors`` [rad].
        rest: the same when the arm began to be moved; an arm that began under strain may be pulled out of it, but not pushed on.
        arm: number of arm joints; a gripper that grips pushes, and may.
        high: see above [0, 1].
        far: see above [rad].
    """
    return [
        i
        for i in range(arm)
        if math.isfinite(load[i]) and abs(load[i]) > high and error[i] > (far if rest[i] <= far else rest[i] + GIVES)
    ]


def watch_still(
    since: tuple[int, ...], places: Joints, found: list[int], now: int, measured: Joints, still: float
) -> tuple[tuple[int, ...], Joints]:
    """Return per joint since when it is a suspect [ns], 0 for not, and where it was then [rad].

    A joint that has moved by more than ``still`` [rad] since gets somewhere, or is carried away: its time begins anew. That needs
    no speed, which is noisy when it comes from a servo's ticks.
    """
    times, where = [0] * len(measured), list(measured)
    for i in found:
        stayed = bool(since) and since[i] != 0 and abs(measured[i] - places[i]) <= still
        times[i], where[i] = (since[i], places[i]) if stayed else (now, measured[i])
    return tuple(times), tuple(where)
