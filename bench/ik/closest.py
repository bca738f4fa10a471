"""The closest pose that an arm can reach, found by dense search: the judge of the solvers, who shares no formula with them.

Every 8 to 13 degrees of four joints, and the roll at its ends and middle, are looked at once; what comes nearest to the point is
refined by direct search
[Nelder, Mead 1965], which knows values only. Position counts first; among the joints that reach the closest point, attitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from teleop_common.records import Vec3
from teleop_ik.kinematics import Chain, Joints, Mat, forward
from teleop_ik.solver import Target, rotation_between

STEPS = (27, 17, 17, 15, 3)  # looked at per joint, ends included
STARTS = 12  # of the refinement, no two of them within APART of each other
APART = 0.3  # [rad]
WEIGHT = 0.002  # [m/rad], what position counts against attitude around the closest point: some µm are given away, no more


Cost = Callable[[Joints], float]


class Closest(NamedTuple):
    """A closest pose.

    Attributes:
        distance: from the asked position [m].
        turn: from the asked attitude [rad].
        position: of the tool [m].
        rotation: of the tool.
        joints: that have it there [rad].
    """

    distance: float
    turn: float
    position: Vec3
    rotation: Mat
    joints: Joints


class Search:
    """The joints looked at, and what was found."""

    def __init__(self, chain: Chain, lower: Joints, upper: Joints, steps: tuple[int, ...] = STEPS) -> None:
        """Look at all joints once."""
        self.chain, self.lower, self.upper = chain, lower, upper
        axes = [np.linspace(low, high, count) for low, high, count in zip(lower, upper, steps)]
        self.joints = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        self.points = tool_points(chain, self.joints)
        self.found: dict[Target, Closest] = {}

    def closest(self, target: Target, near: Joints | None = None) -> Closest:
        """Return the closest pose to ``target``.

        Args:
            target: pose asked for, base frame.
            near: joints that are nearly there [rad], to refine instead of looking at all.
        """
        if target not in self.found:
            starts = [near] if near is not None else self._starts(target.position)
            reached = min((self._refined(start, self._position_cost(target.position)) for start in starts), key=lambda f: f[0])
            point = forward(self.chain, reached[1]).position
            starts = [reached[1], *starts]
            best = min((self._refined(start, self._pose_cost(point, target.rotation)) for start in starts), key=lambda f: f[0])
            posture = forward(self.chain, best[1])
            turn = math.hypot(*rotation_between(target.rotation, posture.rotation))
            self.found[target] = Closest(math.dist(point, target.position), turn, point, posture.rotation, best[1])
        return self.found[target]

    def _starts(self, position: Vec3) -> list[Joints]:
        distance = np.sum((self.points - np.array(position)) ** 2, axis=1)
        count = min(4000, len(distance) - 1)
        order = np.argpartition(distance, count)[:count]
        order = order[np.argsort(distance[order])]
        starts: list[Any] = []
        for joints in self.joints[order]:
            if all(np.max(np.abs(joints - other)) > APART for other in starts):
                starts.append(joints)
                if len(starts) == STARTS:
                    break
        return [tuple(float(q) for q in joints) for joints in starts]

    def _position_cost(self, position: Vec3) -> Cost:
        return lambda joints: math.dist(forward(self.chain, joints).position, position)

    def _pose_cost(self, point: Vec3, rotation: Mat) -> Cost:
        def cost(joints: Joints) -> float:
            posture = forward(self.chain, joints)
            turn = math.hypot(*rotation_between(rotation, posture.rotation))
            return math.hypot(math.dist(posture.position, point) / WEIGHT, turn)

        return cost

    def _refined(self, start: Joints, cost: Cost) -> tuple[float, Joints]:
        best = start
        for size in (0.1, 0.02, 0.004):  # a fresh simplex gets on where the last one has collapsed
            value, best = direct_search(cost, best, size, self.lower, self.upper)
        return value, best


def direct_search(
    cost: Cost, start: Joints, size: float, lower: Joints, upper: Joints, calls: int = 1500
) -> tuple[float, Joints]:
    """Return the least cost found within the box, and where: the simplex search of Nelder and Mead [1965].

    Args:
        cost: of a point.
        start: a corner of the first simplex.
        size: length of its edges.
        lower: corner of the box.
        upper: opposite corner.
        calls: of ``cost``, at most about.
    """

    def at(point: list[float]) -> tuple[float, Joints]:
        inside = tuple([min(max(x, low), high) for x, low, high in zip(point, lower, upper)])
        return cost(inside), inside

    n = len(start)
    inwards = [size if x < 0.5 * (low + high) else -size for x, low, high in zip(start, lower, upper)]
    simplex = [at(list(start))] + [at([x + (inwards[i] if i == k else 0.0) for i, x in enumerate(start)]) for k in range(n)]
    used = n + 1
    while used < calls:
        simplex.sort()
        (least, best), (most, worst) = simplex[0], simplex[-1]
        if most - least < 1e-10 and max(abs(a - b) for a, b in zip(best, worst)) < 1e-8:
            break
        middle = [sum(point[i] for _, point in simplex[:-1]) / n for i in range(n)]

        def along(factor: float, middle: list[float] = middle, worst: Joints = worst) -> tuple[float, Joints]:
            return at([m + factor * (m - w) for m, w in zip(middle, worst)])

        tried = along(1.0)
        used += 2
        if tried[0] < least:
            simplex[-1] = min(tried, along(2.0))
        elif tried[0] < simplex[-2][0]:
            simplex[-1] = tried
        else:
            drawn = along(0.5) if tried[0] < most else along(-0.5)
            if drawn[0] < min(tried[0], most):
                simplex[-1] = drawn
            else:
                simplex[1:] = [at([0.5 * (x + b) for x, b in zip(point, best)]) for _, point in simplex[1:]]
                used += n
    return min(simplex)


def tool_points(chain: Chain, joints: Any) -> Any:
    """Return the tool positions [m], shape (n, 3), at ``joints`` [rad], shape (n, joints of the chain)."""
    points = np.zeros((len(joints), 3))
    for i in reversed(range(len(chain.links))):
        link = chain.links[i]
        points = points @ np.reshape(link.rotation, (3, 3)).T + np.array(link.translation)
        co, si = np.cos(joints[:, i]), np.sin(joints[:, i])
        points = np.stack([co * points[:, 0] - si * points[:, 1], si * points[:, 0] + co * points[:, 1], points[:, 2]], axis=1)
    return points @ np.reshape(chain.base_rotation, (3, 3)).T + np.array(chain.base_translation)
