"""Keeping hand and forearm above the bench, so that an arm pushed down slides along instead of seizing.

The guard judges the links' hulls at last; what is asked of it here keeps them above already, or it would cut whole steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from teleop_common.records import Vec3
from teleop_description.hand import Hand
from teleop_ik.kinematics import Chain, Joints, Posture, forward
from teleop_ik.solver import Solution, Target

PASSES = 12  # raising the target re-pitches the forearm, which takes back a little of the correction
_CLOSE = 1e-5  # [m], less than this below the floor is not below
_BEHIND = 1e-4  # [m], how far a rising floor stays below an arm that started too low, so that rounding lifts nothing
_GAINING = 0.9  # a pass that leaves more than this share of what was missing shows that the joints can no faster


class Floor(NamedTuple):
    """A level below which nothing of the hand may be asked.

    Attributes:
        up: world's up in the arm's base frame.
        height: least height of a point above the base's origin [m].
        hand: what is kept above besides tool point and the outer half of the joints.
        openings: positions of the gripper to reckon with [rad or m].
        lead: of the commands on the joints [rad]: the arm is kept above as it stands and as it is commanded; empty: none.
    """

    up: Vec3
    height: float
    hand: Hand = Hand()
    openings: tuple[float, ...] = ()
    lead: Joints = ()


def height(floor: Floor, point: Vec3) -> float:
    """Return the height of a point [m] above the base's origin."""
    return floor.up[0] * point[0] + floor.up[1] * point[1] + floor.up[2] * point[2]


def lowest(floor: Floor, posture: Posture) -> float:
    """Return the height [m] of the lowest of hand, tool point, and outer half of the joints with their links.

    Links that are surely above ``floor.height`` are not looked at: a result above it may be too great.
    """
    ux, uy, uz = floor.up
    hand, origins, axes = floor.hand, posture.origins, posture.axes
    tool = least = height(floor, posture.position)
    for origin in origins[len(origins) // 2 :]:
        least = min(least, height(floor, origin))
    if tool - hand.radius < min(least, floor.height):
        a, b, c, d, e, f, g, h, i = posture.rotation
        up = (a * ux + d * uy + g * uz, b * ux + e * uy + h * uz, c * ux + f * uy + i * uz)
        least = min(least, tool + hand.lowest(up, floor.openings))
    for joint, by_axis, corners, radius in hand.segments:
        base = height(floor, origins[joint])
        if base - radius >= min(least, floor.height):
            continue
        ax, ay, az = axes[joint]
        bx, by, bz = axes[joint + 1]
        if not by_axis:
            (px, py, pz), (qx, qy, qz) = origins[joint], origins[joint + 1]
            bx, by, bz = qx - px, qy - py, qz - pz
        x, y = ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz
        z = ux * (ay * bz - az * by) + uy * (az * bx - ax * bz) + uz * (ax * by - ay * bx)
        least = min(least, base + min([x * a + y * b + z * c for a, b, c in corners]))
    return least


def clear(floor: Floor, chain: Chain, joints: Joints) -> float:
    """Return ``lowest`` at ``joints``, and with the commands' lead on them where that is lower."""
    least = lowest(floor, forward(chain, joints))
    if any(floor.lead):
        least = min(least, lowest(floor, forward(chain, tuple([q + by for q, by in zip(joints, floor.lead)]))))
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
    short = floor.height - clear(floor, chain, solution.joints)
    for _ in range(PASSES):
        if short <= _CLOSE:
            break
        target, _ = _raised(floor, target, short)
        lifted = True
        solution = solve(target)
        before, short = short, floor.height - clear(floor, chain, solution.joints)
        if short > _GAINING * before:
            break
    return target, solution, lifted


def _raised(floor: Floor, target: Target, by: float) -> tuple[Target, bool]:
    if by <= _CLOSE:
        return target, False
    (x, y, z), (ux, uy, uz) = target.position, floor.up
    return Target((x + by * ux, y + by * uy, z + by * uz), target.rotation), True


def settled(floor: Floor, before: float, joints: Joints, chain: Chain) -> float:
    """Return the level in force [m] after a step: an arm that started below the floor may not sink, and rises for good."""
    return min(floor.height, max(before, clear(floor, chain, joints) - _BEHIND))
