"""Keeping the target above the bench at fingertip and wrist, so that an arm pushed down slides along instead of seizing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from teleop_common.records import Vec3
from teleop_ik.kinematics import Chain, Joints, Posture, forward
from teleop_ik.solver import Solution, Target

PASSES = 12  # raising the target re-pitches the forearm, which takes back a little of the correction
_CLOSE = 1e-5  # [m], less than this below the floor is not below
_BEHIND = 1e-4  # [m], how far a rising floor stays below an arm that started too low, so that rounding lifts nothing


class Floor(NamedTuple):
    """A level below which nothing of the hand may be asked.

    Attributes:
        up: world's up in the arm's base frame.
        height: least height of a point above the base's origin [m].
    """

    up: Vec3
    height: float


def height(floor: Floor, point: Vec3) -> float:
    """Return the height of a point [m] above the base's origin."""
    return floor.up[0] * point[0] + floor.up[1] * point[1] + floor.up[2] * point[2]


def lowest(floor: Floor, posture: Posture) -> float:
    """Return the height [m] of the lowest of tool point and outer half of the joints (elbow, wrist)."""
    least = height(floor, posture.position)
    for origin in posture.origins[len(posture.origins) // 2 :]:
        least = min(least, height(floor, origin))
    return least


def solve_above(floor: Floor, chain: Chain, target: Target, solve: Callable[[Target], Solution]) -> tuple[Target, Solution, bool]:
    """Solve for ``target``, raised as far as it takes to keep the hand above the floor.

    Args:
        floor: the level.
        chain: the arm.
        target: asked tool pose, base frame.
        solve: joints for a target.

    Returns:
        the target in use, its solution, and whether it was raised.
    """
    target, lifted = _raised(floor, target, floor.height - height(floor, target.position))
    solution = solve(target)
    for _ in range(PASSES):
        short = floor.height - lowest(floor, forward(chain, solution.joints))
        if short <= _CLOSE:
            break
        target, _ = _raised(floor, target, short)
        lifted = True
        solution = solve(target)
    return target, solution, lifted


def _raised(floor: Floor, target: Target, by: float) -> tuple[Target, bool]:
    if by <= _CLOSE:
        return target, False
    (x, y, z), (ux, uy, uz) = target.position, floor.up
    return Target((x + by * ux, y + by * uy, z + by * uz), target.rotation), True


def settled(floor: Floor, before: float, joints: Joints, chain: Chain) -> float:
    """Return the level in force [m] after a step: an arm that started below the floor may not sink, and rises for good."""
    return min(floor.height, max(before, lowest(floor, forward(chain, joints)) - _BEHIND))
