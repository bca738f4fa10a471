"""One set of convex solids around the links, measured by coal: distances, separating directions, and how joints change them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from teleop_description.pinocchio_compat import kept
from teleop_safety.capsules import Points
from teleop_safety.reach import chain

_TOUCH = 1e-5  # [m], nearer than which two nearest points give no direction


class Solid(NamedTuple):
    """A convex body: all points within ``radius`` of the hull of its corners.

    Attributes:
        body: index of what it belongs to.
        joint: its joint's index in the whole model, 0 for what does not move.
        corners: in the joint's frame, shape (n, 3) [m].
        radius: by which it is inflated [m].
        drawn: coal's shape has the radius in itself (a capsule).
    """

    body: int
    joint: int
    corners: Points
    radius: float = 0.0
    drawn: bool = False


class Pair(NamedTuple):
    """Two solids that are kept apart.

    Attributes:
        group: index of the pair of bodies that it is a part of.
        one, two: indices of the solids.
        anchor: the last joint that moves both alike, 0 for none.
    """

    group: int
    one: int
    two: int
    anchor: int


class Places:
    """Where joints were at one configuration.

    Args:
        at: their placements, by joint index.
    """

    __slots__ = ("_at", "_matrices")

    def __init__(self, at: Any) -> None:
        """Keep the placements; arrays are made of those that are asked for."""
        self._at = at
        self._matrices: dict[int, Points] = {}

    def _matrix(self, joint: int) -> Points:
        found = self._matrices.get(joint)
        if found is None:
            self._matrices[joint] = found = self._at[joint].homogeneous[:3]
        return found

    def turn(self, joint: int) -> Points:
        """Return a joint's rotation, shape (3, 3)."""
        return self._matrix(joint)[:, :3]

    def seen(self, n: Points, joint: int) -> Points:
        """Return what times (point, 1), in the joint's frame, is the point's coordinate along ``n`` (world), shape (4,)."""
        result: Points = n @ self._matrix(joint)
        return result


class Layer:
    """Solids and their pairs, with the data that every evaluation reuses.

    Args:
        model: joints of every arm.
        data: where they are, shared by all layers of a model.
        geometry: coal's shapes of the solids, in their order, with the pairs as its collision pairs.
        solids: see there.
        pairs: ordered by group.
        count: number of groups.
    """

    def __init__(
        self,
        model: pin.Model,
        data: pin.Data,
        geometry: pin.GeometryModel,
        solids: tuple[Solid, ...],
        pairs: tuple[Pair, ...],
        count: int,
    ) -> None:
        """Prepare the data."""
        self.solids, self.pairs, self.geometry = solids, pairs, geometry
        self._model, self._data, self._placed = model, data, geometry.createData()
        # live views: reading these costs a fifth of indexing anew
        self._results = list(self._placed.distanceResults)
        self._drawn = [sum(0.0 if s.drawn else s.radius for s in (solids[p.one], solids[p.two])) for p in pairs]
        self.group: list[list[int]] = [[] for _ in range(count)]
        for index, pair in enumerate(pairs):
            self.group[pair.group].append(index)
        self._blocks = _blocks(solids, self.group, pairs)
        supports = [_supports(model, solid.joint) for solid in solids]
        self._moves = [supports[p.two] - supports[p.one] for p in pairs]
        self._one, self._two = [supports[p.one] for p in pairs], [supports[p.two] for p in pairs]

    def place(self, q: Points) -> None:
        """Put every solid where the joints ``q`` have it."""
        pin.updateGeometryPlacements(self._model, self._data, self.geometry, self._placed, q)

    def follow(self) -> None:
        """Put every solid where the joints were put last, by whichever layer."""
        pin.updateGeometryPlacements(self._model, self._data, self.geometry, self._placed)

    def everything(self, q: Points) -> list[float]:
        """Place and return the distance of every pair [m]."""
        pin.computeDistances(self._model, self._data, self.geometry, self._placed, q)
        return [result.min_distance - drawn for result, drawn in zip(self._results, self._drawn)]

    def distance(self, index: int) -> float:
        """Return the distance of one pair as placed [m]; below zero: how deep they overlap."""
        pin.computeDistance(self.geometry, self._placed, index)
        return float(self._results[index].min_distance) - self._drawn[index]

    def nearest(self, group: int) -> tuple[float, int]:
        """Return the distance of two bodies as placed [m] and the pair of solids that has it."""
        members = self.group[group]
        if len(members) == 1:
            return self.distance(members[0]), members[0]
        gaps = self._gaps(group)
        best, found = np.inf, members[0]
        for i in np.argsort(gaps):
            if gaps[i] >= best:
                break
            distance = self.distance(members[i])
            if distance < best:
                best, found = distance, members[i]
        return float(best), found

    def near(self, group: int, limit: float) -> list[int]:
        """Return the pairs of solids of two bodies whose distance as placed may be below ``limit`` [m]."""
        members = self.group[group]
        if len(members) == 1:
            return members
        return [members[i] for i in np.flatnonzero(self._gaps(group) < limit)]

    def _gaps(self, group: int) -> Points:
        """Return a lower bound of the distance of each pair of solids of two bodies, of the balls around them [m]."""
        one, two = self._blocks[group]
        at = self._data.oMi
        a = one.centres @ at[one.joint].rotation.T + at[one.joint].translation
        b = two.centres @ at[two.joint].rotation.T + at[two.joint].translation
        apart: Points = np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2)) - one.radii[:, None] - two.radii[None]
        return apart.ravel()

    def points(self, index: int) -> tuple[Points, Points]:
        """Return the nearest points of the pair as last measured, in world [m]."""
        result = self._results[index]
        one, two = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        lift = self.direction(index) * self._drawn[index]
        solids = [self.solids[i] for i in (self.pairs[index].one, self.pairs[index].two)]
        if self._drawn[index]:
            more = [0.0 if s.drawn else s.radius / self._drawn[index] for s in solids]
            one, two = one + lift * more[0], two - lift * more[1]
        return one, two

    def direction(self, index: int) -> Points:
        """Return the unit vector, in world, along which the second solid of the pair, as last measured, leaves the first."""
        result = self._results[index]
        distance = result.min_distance
        if abs(distance) > _TOUCH:
            way: Points = (result.getNearestPoint2() - result.getNearestPoint1()) / distance
        else:
            way = np.array(result.normal)
        length = math.sqrt(way @ way)
        return way / length if length > 0.0 else way

    def gradients(self, indices: list[int], q: Points) -> list[Points]:
        """Return how the distance of each pair grows with each joint at ``q``, shape (nv,) [m/rad].

        The pairs must be those as last measured, placed by ``q``.
        """
        if not indices:
            return []
        pin.computeJointJacobians(self._model, self._data, q)
        jacobian = self._data.J
        return [self._gradient(index, jacobian) for index in indices]

    def _gradient(self, index: int, jacobian: Points) -> Points:
        n, (one, two) = self.direction(index), self.points(index)
        # a point's speed is v + w x p, with v and w of the joint in world: n·(w x p) = w·(p x n)
        push = n @ jacobian[:3]
        turn = jacobian[3:]
        grown: Points = self._two[index] * (push + _cross(two, n) @ turn) - self._one[index] * (push + _cross(one, n) @ turn)
        grown[self._moves[index] == 0.0] = 0.0  # carries both, or neither
        return grown

    def places(self) -> Places:
        """Return where joints are, as placed."""
        return Places(kept(self._data.oMi))

    def separation(self, index: int, n: Points, at: Places) -> float:
        """Return how far apart the two are along ``n`` (unit, world): a lower bound of their distance [m]."""
        pair = self.pairs[index]
        one, two = self.solids[pair.one], self.solids[pair.two]
        to, of = at.seen(n, two.joint), at.seen(n, one.joint)
        near, far = (two.corners @ to[:3]).min() + to[3], (one.corners @ of[:3]).max() + of[3]
        return float(near - far) - one.radius - two.radius


def _cross(p: Points, n: Points) -> Points:
    """Return p x n; numpy's own takes ten times as long for one vector."""
    a, b, c = p.tolist()
    x, y, z = n.tolist()
    return np.array((b * z - c * y, c * x - a * z, a * y - b * x))


class _Balls(NamedTuple):
    """Balls around the solids of one body: joint, centres (n, 3) and radii (n,) [m], in the joint's frame."""

    joint: int
    centres: Points
    radii: Points


def _blocks(solids: tuple[Solid, ...], groups: list[list[int]], pairs: tuple[Pair, ...]) -> list[tuple[_Balls, _Balls]]:
    """Return the balls of both bodies of each group, in the order of its pairs: the second body's change first."""
    found: dict[tuple[int, ...], _Balls] = {}
    result = []
    for members in groups:
        sides = []
        for side in ([pairs[i].one for i in members], [pairs[i].two for i in members]):
            key = tuple(dict.fromkeys(side))
            if key not in found:
                found[key] = _balls([solids[i] for i in key])
            sides.append(found[key])
        result.append((sides[0], sides[1]))
    return result


def _balls(solids: list[Solid]) -> _Balls:
    centres, radii = np.zeros((len(solids), 3)), np.zeros(len(solids))
    for i, each in enumerate(solids):
        centres[i] = 0.5 * (each.corners.min(axis=0) + each.corners.max(axis=0))
        radii[i] = np.linalg.norm(each.corners - centres[i], axis=1).max() + each.radius
    return _Balls(solids[0].joint if solids else 0, centres, radii)


def _supports(model: pin.Model, joint: int) -> Points:
    """Return 1 for each degree of freedom that moves the joint, else 0, shape (nv,)."""
    result = np.zeros(model.nv)
    for mover in chain(model, joint):
        result[mover - 1] = 1.0
    return result
