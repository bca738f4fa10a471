"""The gripper: absolute from the trigger, taken over softly after each engage."""

from __future__ import annotations

import math

from teleop_common.limits import Gripper

TAKE_OVER = 0.05  # share of the gripper's range within which the trigger takes the gripper over


def asked(gripper: Gripper, trigger: float, dead_zone: float, gain: float = 1.0) -> float:
    """Return the position [rad] that a trigger asks for: open when released, closed when pulled.

    Args:
        gripper: the gripper.
        trigger: 0 released to 1 pulled.
        dead_zone: share of the travel at either end that does nothing, so that both ends are surely reached.
        gain: of the travel between: with 2 the gripper is closed at half of it.
    """
    pull = gain * (trigger - dead_zone) / (1.0 - 2.0 * dead_zone)
    pull = min(1.0, max(0.0, pull)) if math.isfinite(pull) else 0.0
    return gripper.open * (1.0 - pull) + gripper.closed * pull


def takes_over(gripper: Gripper, held: float, now: float, before: float) -> bool:
    """Return whether the trigger has met the held position: it is near it, or has passed it since the frame before.

    Args:
        gripper: the gripper.
        held: position held since the engage [rad].
        now: position asked for [rad].
        before: position asked for one frame earlier [rad].
    """
    near = abs(now - held) <= TAKE_OVER * abs(gripper.open - gripper.closed)
    return near or (now - held) * (before - held) < 0.0
