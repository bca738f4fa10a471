"""Whether a measurement can be true: a joint goes no faster than its motor, whatever an encoder, a bus or a wrap says."""

from __future__ import annotations

JUMP = 0.1  # [rad], noise and play on top of what a motor can do, and a push by hand
LONGEST = 0.05  # [s] that a joint is credited with, however long nothing was heard
IN_A_ROW = 3  # measurements, after which they are the arm's new place and not a fault in between


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
