"""Keeping hand and forearm above the bench, so that an arm pushed down slides along instead of seizing.

The guard judges the links' hulls at last; what is asked of it here keeps them above already, or it would cut whole steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from teleop_common.records import Vec3
from teleop_description.hand import Hand
from teleop_ik.kinematics import Chain, Joints, Posture, forward
from teleop_ik.solver import Solution, Target

PASSES = 12  # raising the target re-pitches the forearm, which takes back a little of the correction
NOWHERE = -1e3  # [m], as a height to rest at: nowhere (JSON has no infinity)
BRAKING = 2.0  # [m/s²], with which a descent towards the floor is slowed; every joint that carries the hand can do more
SLACK = 2e-3  # [m], how far below it the straight way of a stop may lead: an arm that slides fast would else be held up
QUICK = 0.03  # [s], longest step in which a hand ``LOOK`` above cannot come to where it could no longer stop
LOOK = 0.1  # [m] above the floor, from where on it is looked at: 0.63 m/s stop within that, faster than joints move a hand
_CLOSE = 1e-5  # [m], less than this is not raised
_MOST = 0.05  # [m] above the tool, beyond which a higher target does not raise it faster
_LOWERING = 2  # passes that may lower a target which is above the floor already; the next frame goes on
_LEAST_SLOPE = 0.25  # a step that speed cuts is raised more gently, or all speed would go into rising
_HELD = 5  # of the passes, the last so many keep the attitude
_SINK = 2e-3  # [m], most by which one pass lowers a target again
_ON = 1e-4  # [m], this near the floor the hand is on it
_BEHIND = 1e-4  # [m], how far a rising floor stays below an arm that started too low, so that rounding lifts nothing


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

    With a hand no more than ``floor.height``: what is surely above is not looked at.
    """
    ux, uy, uz = floor.up
    hand, origins, axes = floor.hand, posture.origins, posture.axes
    tool = least = height(floor, posture.position)
    for origin in origins[len(origins) // 2 :]:
        least = min(least, height(floor, origin))
    if not hand.rigid.corners and not hand.segments:
        return least
    least = min(least, floor.height)
    a, b, c, d, e, f, g, h, i = posture.rotation
    up = (a * ux + d * uy + g * uz, b * ux + e * uy + h * uz, c * ux + f * uy + i * uz)
    least = tool + hand.lowest(up, floor.openings, least - tool)
    for joint, by_axis, part in hand.segments:
        base = height(floor, origins[joint])
        ax, ay, az = axes[joint]
        bx, by, bz = axes[joint + 1]
        if not by_axis:
            (px, py, pz), (qx, qy, qz) = origins[joint], origins[joint + 1]
            bx, by, bz = qx - px, qy - py, qz - pz
        x, y = ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz
        z = ux * (ay * bz - az * by) + uy * (az * bx - ax * bz) + uz * (ax * by - ay * bx)
        least = base + part.lowest(x, y, z, least - base)
    return least


def clear(floor: Floor, chain: Chain, joints: Joints, here: Posture | None = None) -> float:
    """Return ``lowest`` at ``joints``, whose posture is ``here`` if known, and with the commands' lead where that is lower."""
    least = lowest(floor, here or forward(chain, joints))
    if any(floor.lead):
        least = min(least, lowest(floor, forward(chain, tuple([q + by for q, by in zip(joints, floor.lead)]))))
    return least


def room(floor: Floor, chain: Chain, joints: Joints, here: Posture) -> float:
    """Return the height of the hand above the floor [m], no more than ``LOOK``."""
    return min(LOOK, clear(floor._replace(height=floor.height + LOOK), chain, joints, here) - floor.height + _CLOSE)


def approached(floor: Floor, above: float, dt: float) -> Floor:
    """Return the level that the next step must stay above: the floor, or higher while a fast descent would not stop on it.

    Args:
        floor: the level.
        above: height of the hand above it [m].
        dt: length of the step [s].
    """
    if above >= LOOK or above <= 0.0:
        return floor
    # the step itself counts: a descent of v·dt and braking after it
    by = BRAKING * dt
    return floor._replace(
        height=floor.height + above - min(above, dt * (math.sqrt(0.25 * by * by + 2.0 * BRAKING * above) - 0.5 * by))
    )


def raised_to(floor: Floor, target: Target) -> Target:
    """Return ``target``, not below the floor itself: what suffices far above it."""
    return _raised(floor, target, floor.height - height(floor, target.position))


def solve_above(
    floor: Floor, chain: Chain, here: Posture, target: Target, solve: Callable[[Target], Solution], rest: float = NOWHERE
) -> tuple[Target, Solution, float]:
    """Solve for ``target``, raised as far as it takes to keep the hand above the floor.

    Args:
        floor: the level.
        chain: the arm.
        here: where the arm is. Where raising alone does not help, because the hand turns towards the floor faster than it
            rises, it keeps this attitude meanwhile.
        target: asked tool pose, base frame.
        solve: joints for a target.
        rest: height [m] that the last target was raised to, from which the search starts: so the arm rests on the floor
            instead of finding it anew in every frame.

    Returns:
        the target in use, its solution, and the height [m] that it was raised to, NOWHERE when it was not raised.
    """
    asked = height(floor, target.position)
    least = max(asked, floor.height)
    most = max(least, height(floor, here.position)) + _MOST
    raised = min(max(least, rest), most)
    seen = floor._replace(height=floor.height + _SINK)  # from exactly on the floor it is not to be seen that the hand could sink
    slope, last = 1.0, None  # of the hand's height over the target's; small while the step is cut by speed
    for left in range(PASSES, 0, -1):
        if left == _HELD:
            slope, last = 1.0, None
            target = target._replace(rotation=here.rotation)
            raised = min(max(least, height(floor, here.position)), most)
        used = _raised(floor, target, raised - asked)
        solution = solve(used)
        short = floor.height - clear(seen, chain, solution.joints)
        if abs(short) <= _ON or (short < 0.0 and (raised <= least or left <= PASSES - _LOWERING)):
            break
        if last is not None and raised != last[0]:
            slope = min(1.0, max(_LEAST_SLOPE, (last[1] - short) / (raised - last[0])))
        last = (raised, short)
        raised = min(max(least, raised + short / slope), most)
    return used, solution, raised if raised > asked + _CLOSE else NOWHERE


def _raised(floor: Floor, target: Target, by: float) -> Target:
    if by <= _CLOSE:
        return target
    (x, y, z), (ux, uy, uz) = target.position, floor.up
    return Target((x + by * ux, y + by * uy, z + by * uz), target.rotation)


def settled(floor: Floor, before: float, joints: Joints, chain: Chain) -> float:
    """Return the level in force [m] after a step: an arm that started below the floor may not sink, and rises for good."""
    return min(floor.height, max(before, clear(floor, chain, joints) - _BEHIND))
