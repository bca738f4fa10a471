"""The real collision filter in a fuzz run, and what its commits are held to: distances measured here, pair by pair, with no rule.

The links' hulls stand for the links, in the filter and here. Distances are coal's own in both; which pairs are looked at, when,
and what follows from it is the filter's.
"""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import Pose
from teleop_safety import shapes, space
from teleop_safety.collision import CollisionFilter
from teleop_safety.fuzz.wall import Known
from teleop_safety.state import Joints

MARGIN, FLOOR = 0.015, 0.001
# two arms side by side at a bench, whatever the user's own cell is: a kept run must stay what it was
CELL = Cell(
    mounts={"left": Pose((0.0, 0.2, 0.0)), "right": Pose((0.0, -0.2, 0.0))},
    bench_height=0.0,
    bench_centre=(0.25, 0.0),
    bench_size=(0.9, 1.2),
    boxes=(),
    place_zone=(0.25, 0.0),
    place_zone_radius=0.06,
    source="the fuzzer",
)
_TOLERANCE = 1e-5  # [m]
_DEEP = 1e-3  # the same for bodies that overlap, whose depth is not known better [m]
_BETWEEN = 6e-4  # by which a distance may be less between the ends of a step [m]


class Solids:
    """Two arms in the cell.

    Args:
        robot: of both arms.
        arms: their names.

    Attributes:
        filter: the guard's.
    """

    def __init__(self, robot: RobotLimits, arms: tuple[str, ...]) -> None:
        """Build the space."""
        self._arms, self._grip = arms, len(robot.joints)
        self._space = made = space.build(arms, robot, CELL, shapes.load(robot))
        self.filter = CollisionFilter(arms, made, MARGIN, FLOOR, self._grip)
        self._data, self._placed = made.model.createData(), made.fine.createData()
        self._results = list(self._placed.distanceResults)
        self._bench = made.coarse.geometryObjects[len(made.bodies) - 1].geometry.d
        self._falling = [made.bodies[a] for a, _bench in made.pairs[made.floor :]]

    def broken(self, before: Known, after: Known, measured: Known) -> str:
        """Return which distance a commit made less than it may be, empty for none; grippers are where they were measured."""
        n = self._grip
        if any(before[arm] is None or after[arm] is None for arm in self._arms):
            return ""
        if all(before[arm][:n] == after[arm][:n] for arm in self._arms):  # type: ignore[index]
            return ""
        a, b = self._vector(before, measured), self._vector(after, measured)
        was = self._look(a)
        bounds = np.minimum([MARGIN] * self._space.floor + [FLOOR] * len(self._falling), was)
        slack = np.where(bounds < 0.0, _DEEP, _TOLERANCE)
        for share, more in ((0.5, _BETWEEN), (1.0, 0.0)):
            lack = bounds - slack - more - self._look(a + share * (b - a))
            if lack.max() > 0.0:
                k = int(lack.argmax())
                names = [self._space.bodies[i].name for i in self._space.pairs[k]]
                return f"{' and '.join(names)}: from {was[k]:.6f} m {lack[k]:.6f} m nearer than allowed, {share:g} of a step"
        return ""

    def _vector(self, pose: Known, measured: Known) -> np.ndarray:
        values: list[float] = []
        for arm in self._arms:
            joints: Joints = pose[arm] or ()
            values += (*joints[: self._grip], *(measured[arm] or joints)[self._grip :])
        return np.array(values)

    def _look(self, q: np.ndarray) -> np.ndarray:
        """Return the distance of every pair, then of every link that may sink from the bench, shape (pairs,) [m]."""
        pin.computeDistances(self._space.model, self._data, self._space.fine, self._placed, q)
        found = [result.min_distance for result in self._results]
        for body in self._falling:
            place = self._data.oMi[body.joint]
            found.append((body.hull @ place.rotation.T + place.translation)[:, 2].min() - self._bench)
        return np.array(found)


@functools.cache
def solids(robot: RobotLimits, arms: tuple[str, ...]) -> Solids:
    """Return the space of two arms, made once."""
    return Solids(robot, arms)
