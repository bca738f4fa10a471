"""The wrist that rides the hand: its joints follow the hand's attitude straight, and only position is left to inverse kinematics.

A hand turns less far than a wrist must, so the ride is exaggerated by default. It is told in the operator's heading frame: a turn
about forward (roll), left (pitch) and up (yaw) has a gain each.
"""

from __future__ import annotations

from teleop_common.records import Quat, Vec3
from teleop_common.spatial import quat_from_axis_angle, quat_to_rotvec
from teleop_ik import dense, linear3
from teleop_ik.kinematics import Joints
from teleop_ik.solver import Bounds, Solution

WRISTS = ("ik", "direct")
GAINS = (1.5, 1.5, 1.5)  # of roll, pitch and yaw [rad of the tool per rad of the hand]
PLACING = 3  # joints that place the tool; at most as many after them turn it
_DAMPING = 1e-3  # of the axes' normal matrix: two wrist axes in line share a turn instead of fighting over it
_STILL = 1e-5  # [rad], a way shorter than this holds nothing up
_LEAST = 0.1  # share of its step that the wrist goes in any case, so that a joint which cannot move does not hold it for ever


def count(joints: int) -> int:
    """Return how many of an arm's joints are its wrist: the last ones, at most three."""
    return min(3, max(0, joints - PLACING))


def exaggerated(turn: Quat, gains: Vec3) -> Quat:
    """Return a turn (unit quaternion) with each component of its rotation vector multiplied."""
    if gains == (1.0, 1.0, 1.0):
        return turn
    x, y, z = quat_to_rotvec(turn)
    by = (gains[0] * x, gains[1] * y, gains[2] * z)
    angle = linear3.norm(by)
    return quat_from_axis_angle(by, angle) if angle > 0.0 else (0.0, 0.0, 0.0, 1.0)


def riding(axes: tuple[Vec3, ...]) -> tuple[Vec3, ...]:
    """Return, per wrist joint, the row that gives its angle for a turn of the tool [rad/rad]: least squares over the axes.

    Args:
        axes: of the wrist joints where the arm was anchored, base frame.
    """
    square = [[linear3.dot(a, b) for b in axes] for a in axes]
    for i, row in enumerate(square):
        row[i] += _DAMPING
    columns = [dense.solve(square, [axis[d] for axis in axes]) for d in range(3)]
    x, y, z = [column or [0.0] * len(axes) for column in columns]
    return tuple(zip(x, y, z))


def wanted(wrist: Joints, ride: tuple[Vec3, ...], turn: Vec3) -> Joints:
    """Return the wrist's joints [rad] for a turn of the tool since the anchor, base frame [rad]."""
    return tuple([q + linear3.dot(row, turn) for q, row in zip(wrist, ride)])


def held(joints: Joints, bounds: Bounds, previous: Joints, dt: float) -> tuple[Bounds, Joints]:
    """Return bounds that leave the wrist no choice, and ``previous`` with the wrist there.

    It goes as far towards ``joints`` as bounds and speed allow in ``dt`` [s].
    """
    first = len(previous) - len(joints)
    time = dt if dt > 0.0 else 0.0
    at = []
    for i, q in enumerate(joints, first):
        most = bounds.velocity[i] * time
        p = previous[i]
        at.append(min(max(min(max(q, p - most), p + most), bounds.lower[i]), bounds.upper[i]))
    lower, upper = (*bounds.lower[:first], *at), (*bounds.upper[:first], *at)
    return bounds._replace(lower=lower, upper=upper), (*previous[:first], *at)


def shared(solution: Solution, held: Joints, previous: Joints, count: int) -> Joints:
    """Return a held wrist's solution with as much of the wrist's step as the placing joints do of theirs.

    Args:
        solution: of a solve from ``held``.
        held: last command with the wrist where it is held [rad].
        previous: last command [rad].
        count: joints of the wrist.
    """
    first = len(previous) - count
    steps = [(now - then, to - then) for now, to, then in zip(solution.joints[:first], solution.ahead, held)]
    whole = sum([way * way for _, way in steps])
    share = 1.0 if whole < _STILL * _STILL else min(1.0, max(_LEAST, sum([step * way for step, way in steps]) / whole))
    wrist = [p + share * (q - p) for p, q in zip(previous[first:], held[first:])]
    return (*solution.joints[:first], *wrist)
