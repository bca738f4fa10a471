"""The roll that gives way: of a pose that does not reach its point, the nearest roll that does.

The roll carries the SO-101's tool point round by an 8 mm lever, so where another joint is at its limit, or the arm at full
stretch, another roll may reach what the asked one does not. The least error that is left at a given roll is a smooth function of
it; by the envelope theorem its slope is what the roll alone does to the tool at that pose, the others' motion being of second
order there. The lever is up or down in the arm's plane where the hand is level or upside down; in between lies a best roll to
either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from teleop_ik.kinematics import Joints

GIVEN_UP = 5e-5  # [m], error that another roll is not taken for
_OUT_OF_REACH = 5e-4  # [m], the most of what no roll can reach that is added to it
_CROSSINGS = 12  # steps of the search for a roll
_BISECTIONS = 12  # of the span of a roll in search of its best: to a milliradian
_ENOUGH = 1e-6  # [m], how near to what is enough it ends
_ROLL_TOLERANCE = 1e-5  # [rad], difference of rolls that is none


class Pose(NamedTuple):
    """One way to hold the tool: joints, position error [m], elevation error [rad]."""

    joints: Joints
    error: float
    tilt: float


def nearest(
    at: Callable[[float], Pose],
    nearer: Callable[[Joints], float],
    kept: Pose,
    level: float,
    low: float,
    high: float,
    seed: float,
) -> Pose:
    """Return the pose whose roll is nearest to that of ``kept`` among those that bring the tool as near as any roll can.

    Args:
        at: gives the closest pose with a given roll [rad].
        nearer: gives how much nearer a turn of the roll brings the tool at given joints, the others as they are, in any unit.
        kept: pose with the roll asked for.
        level: roll [rad] at which its lever lies in the arm's plane.
        low: least roll [rad].
        high: greatest roll [rad].
        seed: roll of the seed [rad], which decides between the two sides.
    """
    start = kept.joints[4]
    half = math.floor((start - level) / math.pi)
    best = []
    for turn in (half, half + 1):
        best.append(_least(at, nearer, kept, at(min(max(level + turn * math.pi, low), high))))
    least = min(kept.error, best[0].error, best[1].error)
    enough = least + GIVEN_UP + min(least, _OUT_OF_REACH)
    if kept.error <= enough:
        return kept
    found = [_crossing(at, kept, pose, enough) for pose in best if pose.error <= enough]
    return min(found, key=lambda p: abs(p.joints[4] - start) + abs(p.joints[4] - seed) + p.tilt)


def _least(at: Callable[[float], Pose], nearer: Callable[[Joints], float], kept: Pose, end: Pose) -> Pose:
    """Return the pose of the least error between two rolls: ``end``, unless the error falls from there inwards."""
    inwards = kept.joints[4] - end.joints[4]
    if end.error <= GIVEN_UP or inwards * nearer(end.joints) <= 0.0:
        return end
    a, b, least = end.joints[4], kept.joints[4], min(end, kept, key=lambda p: p.error)
    for _ in range(_BISECTIONS):
        pose = at(0.5 * (a + b))
        least = min(least, pose, key=lambda p: p.error)
        if least.error <= GIVEN_UP:
            break
        if inwards * nearer(pose.joints) > 0.0:
            a = pose.joints[4]
        else:
            b = pose.joints[4]
    return least


def _crossing(at: Callable[[float], Pose], over: Pose, under: Pose, enough: float) -> Pose:
    """Return the pose nearest in roll to ``over`` whose error is not above ``enough`` [m], by regula falsi (Illinois)."""
    a, b = over.joints[4], under.joints[4]
    above, below, side = over.error - enough, under.error - enough, 0
    for _ in range(_CROSSINGS):
        if under.error > enough - _ENOUGH or abs(b - a) < _ROLL_TOLERANCE:
            break
        pose = at(a + (b - a) * above / (above - below))
        error = pose.error - enough
        if error > 0.0:
            a, above = pose.joints[4], error
            below, side = 0.5 * below if side > 0 else below, 1
        else:
            under, b, below = pose, pose.joints[4], error
            above, side = 0.5 * above if side < 0 else above, -1
    return under
