"""The smallest capsule around points: fitted once per link, and it contains every vertex, so it contains the mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
_CLEAR = 1e-6  # added to the radius, far above rounding [m]


class Capsule(NamedTuple):
    """A segment with a radius.

    Attributes:
        start: one end of the segment, shape (3,) [m].
        end: the other end [m].
        radius: of the tube and its caps [m].
    """

    start: Points
    end: Points
    radius: float

    @property
    def volume(self) -> float:
        """Volume [m³]."""
        r = self.radius
        return float(np.pi * r * r * np.linalg.norm(self.end - self.start) + 4.0 / 3.0 * np.pi * r**3)


def distance_to_axis(points: Points, capsule: Capsule) -> Points:
    """Return each point's distance to the capsule's segment, shape (n,) [m]."""
    axis = capsule.end - capsule.start
    length2 = float(axis @ axis)
    along = np.clip((points - capsule.start) @ axis / length2, 0.0, 1.0) if length2 > 0.0 else np.zeros(len(points))
    result: Points = np.linalg.norm(points - capsule.start - along[:, None] * axis, axis=1)
    return result


def _circle(flat: Points) -> tuple[Points, float]:
    """Return centre and radius of a circle around plane points, shape (n, 2), near the smallest.

    Badoiu and Clarkson's iteration (Smaller core-sets for balls, 2003): walk towards the farthest point in shrinking steps.
    """
    centre = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    for i in range(1, 60):
        farthest = flat[np.argmax(((flat - centre) ** 2).sum(axis=1))]
        centre = centre + (farthest - centre) / (i + 4.0)
    return centre, float(np.sqrt(((flat - centre) ** 2).sum(axis=1).max()))


def _along(points: Points, direction: Points) -> Capsule:
    """Return the capsule around ``points`` whose axis has ``direction`` (unit length)."""
    helper = np.eye(3)[np.argmin(np.abs(direction))]
    u = np.cross(direction, helper)
    u /= np.linalg.norm(u)
    v = np.cross(direction, u)
    flat = points @ np.column_stack((u, v))
    centre, radius = _circle(flat)
    along = points @ direction
    # how far before its own height the cap's centre may sit for the cap to hold a point
    slack = np.sqrt(np.maximum(radius**2 - ((flat - centre) ** 2).sum(axis=1), 0.0))
    low, high = float((along + slack).min()), float((along - slack).max())
    if low > high:
        low = high = 0.5 * (low + high)
    foot = centre[0] * u + centre[1] * v
    rough = Capsule(foot + low * direction, foot + high * direction, 0.0)
    return rough._replace(radius=float(distance_to_axis(points, rough).max()) + _CLEAR)


def fit(points: Points) -> Capsule:
    """Return a capsule of small volume that contains ``points``, shape (n, 3) [m].

    The axis starts from the best of the principal axes and of directions spread over the half sphere, and is then
    turned in shrinking steps as long as the volume falls. The search looks at the outermost points only; the radius is
    then that of all points. Deterministic.
    """
    best = _search(_outermost(points))
    return best._replace(radius=float(distance_to_axis(points, best).max()) + _CLEAR)


def directions(count: int) -> Points:
    """Return unit vectors spread evenly over a half sphere, shape (count, 3) (Fibonacci's spiral)."""
    z = (np.arange(count) + 0.5) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack((flat * np.cos(turn), flat * np.sin(turn), z))


def _outermost(points: Points) -> Points:
    along = points @ directions(300).T
    chosen: Points = points[np.unique(np.concatenate((along.argmax(axis=0), along.argmin(axis=0))))]
    return chosen


def _search(points: Points) -> Capsule:
    spread = points - points.mean(axis=0)
    axes = [np.ascontiguousarray(axis) for axis in np.linalg.svd(spread, full_matrices=False)[2]]
    axes.extend(directions(60))
    best = min((_along(points, axis) for axis in axes), key=lambda c: c.volume)
    size = 0.15
    while size > 0.01:
        axis = best.end - best.start
        length = np.linalg.norm(axis)
        axis = axis / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
        turned = [axis + size * offset for offset in (*np.eye(3), *-np.eye(3))]
        near = min((_along(points, t / np.linalg.norm(t)) for t in turned), key=lambda c: c.volume)
        if near.volume < best.volume:
            best = near
        else:
            size *= 0.5
    return best
