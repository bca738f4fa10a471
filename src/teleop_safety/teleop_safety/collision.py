"""The collision filter: no pair gets nearer than the margin, or than it already was.

Distances are those of the links' capsules, which contain the links; where these are not enough, those of their convex hulls.

The rule (design 4), for every pair, on the commit and on samples of the way from measured to committed:
distance ≥ min(margin, distance at the start) − 1e-6; otherwise the largest scale of the step for which it holds, all arms
together. On the way from the measurement the start is the nearer of measurement and last commit, so that a step which
improves on the last commit passes. The gripper never takes part: every configuration is judged at its measured opening.

Before it, each arm by itself, the floor: no part of a moving link below the bench, by the exact hull.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from teleop_common.records import ClearancePair
from teleop_safety.capsules import Points
from teleop_safety.envelope import Clearance, Pose, Verdict
from teleop_safety.space import Space
from teleop_safety.state import Joints

TOLERANCE = 1e-6  # [m]
_HALVINGS = 10
_SPACING = 0.01  # of samples between measured and committed, as motion of the fastest point [m]
_SAMPLES = 8
_SHOWN = 0.1  # pairs nearer than this are shown with the hulls' distance [m]


class CollisionFilter:
    """Judges steps by distances.

    Args:
        arms: names, in the order of the space.
        space: the model.
        margin: clearance that a step may not go below [m].
        floor: the same above the bench, for each link's exact hull [m].
        grip: number of arm joints; those after it are the gripper's.
        geometry: ``hulls``, or ``capsules`` to judge by these alone.
    """

    enabled = True

    def __init__(
        self, arms: tuple[str, ...], space: Space, margin: float, floor: float, grip: int, geometry: str = "hulls"
    ) -> None:
        """Prepare the data that every evaluation reuses."""
        self.geometry = geometry
        self._arms, self._space, self._margin, self._floor, self._grip = arms, space, margin, floor, grip
        self._model, self._coarse, self._fine = space.model, space.coarse, space.fine
        self._data, self._placed, self._hulls = self._model.createData(), self._coarse.createData(), self._fine.createData()
        # live views: reading these costs a fifth of indexing anew
        self._results, self._refined = list(self._placed.distanceResults), list(self._hulls.distanceResults)
        self._offset = {arm: i * space.width for i, arm in enumerate(arms)}
        self._bench = space.coarse.geometryObjects[len(space.bodies) - 1].geometry.d
        self._lows = {
            arm: [
                (k, space.bodies[a]) for k, (a, _b) in enumerate(space.pairs) if k >= space.floor and space.bodies[a].arm == arm
            ]
            for arm in arms
        }

    @property
    def pairs(self) -> int:
        """How many pairs of links and boxes are watched."""
        return self._space.floor

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Return what may be kept of a step, see ``Envelope``."""
        unknown = [arm for arm in self._arms if arm not in start and arm not in measured]
        if unknown:
            return Verdict(scale=0.0, why=f"position of {', '.join(unknown)} unknown, clearance cannot be judged")
        before = self._vector(start, measured, measured)
        after = self._vector(goal, start, measured)
        floors: dict[str, float] = {}
        now = self._vector(measured, start, measured)
        wanted = (self._motion(now, after) + self._margin).tolist()
        distances = self._distances(after, wanted)
        for arm in goal:
            if any(distances[k] < self._floor for k, _body in self._lows[arm]):
                share = self._above(arm, before, after)
                if share < 1.0:
                    floors[arm] = share
                    part = slice(self._offset[arm], self._offset[arm] + self._grip)
                    after[part] = before[part] + share * (after[part] - before[part])
        if floors:
            wanted = (self._motion(now, after) + self._margin).tolist()
            distances = self._distances(after, wanted)
        if all(map(operator.ge, distances, wanted)):
            return Verdict(floors)  # nothing along the whole way can come below the margin
        scale, pair = self._largest(before, after, now)
        return Verdict(floors, scale, pair)

    def clearance(self, committed: Pose, measured: Pose) -> Clearance:
        """Return the distances at two configurations, see ``Envelope``."""
        if any(arm not in committed and arm not in measured for arm in self._arms):
            return Clearance()
        count, actual = self._space.floor, math.nan
        shown = [_SHOWN] * count
        if not count:
            return Clearance()
        if any(arm in measured for arm in self._arms):
            actual = min(self._distances(self._vector(measured, committed, measured), shown)[:count])
        distances = self._distances(self._vector(committed, measured, measured), shown)[:count]
        pairs = []
        for k in sorted(range(count), key=distances.__getitem__)[:4]:
            a, b = self._space.pairs[k]
            exact = self.geometry == "hulls" and distances[k] < _SHOWN
            result = self._refined[k] if exact else self._results[k]
            one, two = (tuple(map(float, point)) for point in (result.getNearestPoint1(), result.getNearestPoint2()))
            names = (self._space.bodies[a].name, self._space.bodies[b].name)
            blocking = distances[k] <= self._margin + TOLERANCE
            pairs.append(ClearancePair(names, distances[k], (one, two), blocking))  # type: ignore[arg-type]
        return Clearance(min(distances), actual, tuple(pairs))

    def _vector(self, first: Pose, second: Pose, measured: Pose) -> Points:
        """Return all joints: each arm's from ``first``, else from ``second``, its gripper as measured."""
        values: list[float] = []
        for arm in self._arms:
            joints: Joints = first.get(arm) or second.get(arm) or measured[arm]
            values += joints[: self._grip]
            values += measured.get(arm, joints)[self._grip :]
        return np.array(values)

    def _distances(self, q: Points, need: list[float]) -> list[float]:
        """Return the distance of every pair at ``q`` [m], the bench's last.

        A value of the pair's ``need`` [m] or more may be a lower bound, below it the value is the hulls' own.
        """
        pin.computeDistances(self._model, self._data, self._coarse, self._placed, q)
        distances = [result.min_distance for result in self._results]
        if self.geometry == "hulls":
            near = [k for k, wanted in enumerate(need) if distances[k] < wanted]
            if near:
                pin.updateGeometryPlacements(self._model, self._data, self._fine, self._hulls)
            for k in near:
                pin.computeDistance(self._fine, self._hulls, k)
                distances[k] = self._refined[k].min_distance
        return distances

    def _motion(self, a: Points, b: Points) -> Points:
        """Return how much nearer each pair can come between two configurations at most [m]."""
        result: Points = self._space.sway @ np.abs(a - b)
        return result

    def _heights(self, arm: str, q: Points) -> list[float]:
        """Return the lowest point of each moving link of ``arm`` above the bench [m]."""
        pin.forwardKinematics(self._model, self._data, q)
        heights = []
        for _k, body in self._lows[arm]:
            place = self._data.oMi[body.joint]
            heights.append(float((body.hull @ place.rotation[2]).min()) + float(place.translation[2]) - self._bench)
        return heights

    def _above(self, arm: str, before: Points, after: Points) -> float:
        """Return the largest share of one arm's step that keeps its links above the bench, or as high as they were."""
        bounds = [min(self._floor, height) - TOLERANCE for height in self._heights(arm, before)]
        part = slice(self._offset[arm], self._offset[arm] + self._grip)
        step = after[part] - before[part]

        def good(share: float) -> bool:
            q = before.copy()
            q[part] += share * step
            return all(height >= bound for height, bound in zip(self._heights(arm, q), bounds))

        return 1.0 if good(1.0) else _bisect(good)

    def _some(self, q: Points, chosen: list[int]) -> list[float]:
        """Return the distances of the ``chosen`` pairs at ``q`` [m]."""
        fine = self.geometry == "hulls"
        geometry, placed, results = (
            (self._fine, self._hulls, self._refined) if fine else (self._coarse, self._placed, self._results)
        )
        pin.updateGeometryPlacements(self._model, self._data, geometry, placed, q)
        for k in chosen:
            pin.computeDistance(geometry, placed, k)
        return [results[k].min_distance for k in chosen]

    def _largest(self, before: Points, after: Points, now: Points) -> tuple[float, tuple[str, ...]]:
        """Return the largest scale of the step for which the rule holds, and the pair that bounds it."""
        margin = self._margin
        # how far any scale of the step, and the way to it, lead from its start and from the measurement
        step, way = self._motion(before, after), np.maximum(self._motion(now, before), self._motion(now, after))
        need_start, need_now = (step + margin).tolist(), (way + margin).tolist()
        at_start, at_now = self._distances(before, need_start), self._distances(now, need_now)
        risk = [k for k, d in enumerate(need_start) if at_start[k] < d or at_now[k] < need_now[k]]
        on_commit = [min(margin, at_start[k]) - TOLERANCE for k in risk]
        on_way = [min(bound, at_now[k] - TOLERANCE) for bound, k in zip(on_commit, risk)]
        blocking = -1

        def good(scale: float) -> bool:
            nonlocal blocking
            q = before + scale * (after - before)
            worst = _worst(self._some(q, risk), on_commit)
            samples = min(_SAMPLES, math.ceil(float(self._motion(now, q)[risk].max(initial=0.0)) / _SPACING))
            for i in range(1, samples):
                if worst >= 0:
                    break
                worst = _worst(self._some(now + i / samples * (q - now), risk), on_way)
            if worst >= 0:
                blocking = risk[worst]
            return worst < 0

        if good(1.0):
            return 1.0, ()
        scale = _bisect(good)
        a, b = self._space.pairs[blocking]
        return scale, (self._space.bodies[a].name, self._space.bodies[b].name)


def _worst(distances: list[float], bounds: list[float]) -> int:
    """Return the pair that is farthest below its bound, -1 when none is."""
    worst, least = -1, 0.0
    for k, bound in enumerate(bounds):
        if distances[k] - bound < least:
            worst, least = k, distances[k] - bound
    return worst


def _bisect(good: Callable[[float], bool]) -> float:
    """Return the largest share in [0, 1) found good by halving; 0, a hold, is always allowed."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if good(middle):
            low = middle
        else:
            high = middle
    return low
