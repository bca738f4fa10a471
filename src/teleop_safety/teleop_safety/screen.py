"""Clears many pairs of pieces at once: those that one plane keeps apart over a whole step and the way to it.

The step leads from ``before`` to ``after``, the way to it from ``now``; whatever share of the step is kept, joints stay in the
triangle of the three. Along a fixed direction a corner's coordinate there is within the sags of its values at the three corners:
two linear interpolations, each off by at most an eighth of the second derivative (see ``sweep``). So the pieces' extents along
that direction at the three bound their distance from below everywhere. The two arms may keep different shares: each has its own
triangle, and the worst of one meets the worst of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_safety.capsules import Points
from teleop_safety.layer import Layer, Places


class _Stack(NamedTuple):
    """The solids of one body: joint, all their corners and ones (4, n), where each one's begin, and radii."""

    joint: int
    corners: Points
    begins: NDArray[np.intp]
    radii: Points

    def extents(self, ways: tuple[Points, Points, Points], places: tuple[Places, Places, Places], sign: float) -> Points:
        """Return how far each solid reaches along ``sign`` times each of ``ways`` (world), times ``sign``, shape (3, solids)."""
        along = np.array([at.seen(n, self.joint) for n, at in zip(ways, places)]) @ self.corners
        if sign > 0.0:
            return np.maximum.reduceat(along, self.begins, axis=1) + self.radii
        return np.minimum.reduceat(along, self.begins, axis=1) - self.radii


class Screen:
    """The stacks of a layer's bodies, by group.

    Args:
        layer: whose pairs are to be cleared.
    """

    def __init__(self, layer: Layer) -> None:
        """Stack the corners of each body once."""
        self._layer = layer
        stacks: dict[tuple[int, ...], _Stack] = {}
        self._sides: list[tuple[_Stack, _Stack] | None] = []
        for members in layer.group:
            if len(members) < 2:
                self._sides.append(None)
                continue
            sides = []
            for side in ([layer.pairs[i].one for i in members], [layer.pairs[i].two for i in members]):
                key = tuple(dict.fromkeys(side))
                if key not in stacks:
                    stacks[key] = self._stack(key)
                sides.append(stacks[key])
            self._sides.append((sides[0], sides[1]))

    def _stack(self, key: tuple[int, ...]) -> _Stack:
        solids = [self._layer.solids[i] for i in key]
        begins = np.cumsum([0, *(len(s.corners) for s in solids)], dtype=np.intp)[:-1]
        corners = np.concatenate([s.corners for s in solids])
        corners = np.ascontiguousarray(np.column_stack((corners, np.ones(len(corners)))).T)
        return _Stack(solids[0].joint, corners, begins, np.array([s.radius for s in solids]))

    def open(self, group: int, n: Points, places: tuple[Places, Places, Places], need: float) -> list[int]:
        """Return the pairs of two bodies that a plane across ``n`` does not clear.

        Args:
            group: the two bodies.
            n: unit direction from the first to the second, in world at the first of ``places``.
            places: where the joints are at the three corners.
            need: distance that clears, sags included [m].
        """
        members, sides = self._layer.group[group], self._sides[group]
        if sides is None:
            return members
        one, two = sides
        anchor = self._layer.pairs[members[0]].anchor
        if anchor:
            # one arm's own pair: both move by the same share, so that only their difference counts, seen from what carries both
            fixed = n @ places[0].turn(anchor)
            ends, starts, here = places
            ways = ends.turn(anchor) @ fixed, starts.turn(anchor) @ fixed, here.turn(anchor) @ fixed
            gaps = (two.extents(ways, places, -1.0)[:, None] - one.extents(ways, places, 1.0)[:, :, None]).min(axis=0)
        else:
            near, far = two.extents((n, n, n), places, -1.0).min(axis=0), one.extents((n, n, n), places, 1.0).max(axis=0)
            gaps = near[None] - far[:, None]
        return [members[i] for i in np.flatnonzero(np.ravel(gaps) < need)]
