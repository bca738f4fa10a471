"""The closest pose that an arm can reach, found by dense search: the judge of the solvers, who shares no formula with them.

Every 4 to 14 degrees of every joint are looked at once; what comes nearest to the point is refined by direct search
[Nelder, Mead 1965], which knows values only. Position counts first; among the joints that reach the closest point, attitude.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from teleop_common.records import Vec3
from teleop_ik.kinematics import Chain, Joints, Mat, forward
from teleop_ik.solver import Target, rotation_between

STEPS = (33, 21, 21, 19, 5)  # looked at per joint, ends included
STARTS = 8  # of the refinement, no two of them within APART of each other
APART = 0.3  # [rad]
WEIGHT = 0.002  # [m/rad]: a radian of attitude buys no more than this to the power of two, over the arm's length


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

    def _position_cost(self, position: Vec3) -> Any:
        return lambda joints: math.dist(forward(self.chain, joints).position, position)

    def _pose_cost(self, point: Vec3, rotation: Mat) -> Any:
        def cost(joints: Joints) -> float:
            posture = forward(self.chain, joints)
            turn = math.hypot(*rotation_between(rotation, posture.rotation))
            return math.hypot(math.dist(posture.position, point) / WEIGHT, turn)

        return cost

    def _refined(self, start: Joints, cost: Any) -> tuple[float, Joints]:
        from scipy.optimize import minimize

        joints = np.array(start)
        box = list(zip(self.lower, self.upper))
        inwards = np.where(joints < 0.5 * (np.array(self.lower) + self.upper), 1.0, -1.0)
        for size in (0.1, 0.02, 0.004):  # a fresh simplex gets on where the last one has collapsed
            simplex = np.vstack([joints, joints + size * np.diag(inwards)])
            options = {"xatol": 1e-8, "fatol": 1e-10, "maxfev": 600, "initial_simplex": simplex}
            done = minimize(lambda q: cost(tuple(q.tolist())), joints, method="Nelder-Mead", bounds=box, options=options)
            joints = done.x
        return float(done.fun), tuple(joints.tolist())


def tool_points(chain: Chain, joints: Any) -> Any:
    """Return the tool positions [m], shape (n, 3), at ``joints`` [rad], shape (n, joints of the chain)."""
    points = np.zeros((len(joints), 3))
    for i in reversed(range(len(chain.links))):
        link = chain.links[i]
        points = points @ np.reshape(link.rotation, (3, 3)).T + np.array(link.translation)
        co, si = np.cos(joints[:, i]), np.sin(joints[:, i])
        points = np.stack([co * points[:, 0] - si * points[:, 1], si * points[:, 0] + co * points[:, 1], points[:, 2]], axis=1)
    return points @ np.reshape(chain.base_rotation, (3, 3)).T + np.array(chain.base_translation)
