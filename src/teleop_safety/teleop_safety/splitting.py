"""Cuts a surface into convex pieces that contain it: planes part it, and each part's convex hull is a piece.

Every triangle is cut where a plane crosses it, so that the hulls of the parts contain the whole surface, to the last digit. A
piece is then thinned to few corners, and inflated by how far what was left out sticks out of it.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from teleop_description.pinocchio_compat import coal, convex_hull
from teleop_safety.capsules import Points, directions

_PLACES = np.linspace(0.1, 0.9, 9)  # where along a part's extent it may be cut
_GRID = 0.002  # of the points by which cuts are compared [m]
_FLAT = 1e-4  # [m]
_MANY = 100000  # points on edges of like length
_SIDE = 1 << 19  # cells each way, 1 km
_GAIN = 0.004  # share of the whole hull's volume that a further cut must save
_OUTLINE = 200  # directions in which corners are looked for first
_START = 24


def split(triangles: Points, most: int) -> list[Points]:
    """Return the triangles in at most ``most`` parts whose hulls' volumes are small together, shape (n, 3, 3) [m] each.

    Greedy: the cut, of any part, that saves most volume, until it saves little.
    """
    parts = [triangles]
    whole = _volume(_sketch(triangles))
    best = [_best_cut(triangles)]
    while len(parts) < most:
        index = max(range(len(parts)), key=lambda i: best[i][0])
        saved, axis, place = best[index]
        if saved < _GAIN * whole:
            break
        halves = cut(parts[index], axis, place)
        parts[index : index + 1] = halves
        best[index : index + 1] = [_best_cut(half) for half in halves]
    return parts


def cut(triangles: Points, axis: int, place: float) -> list[Points]:
    """Return the triangles below and above a plane, those that cross it cut along it."""
    above = triangles[:, :, axis] > place
    count = above.sum(axis=1)
    crossing = (count == 1) | (count == 2)
    low, high = [triangles[count == 0]], [triangles[count == 3]]
    some, lone_above = triangles[crossing], count[crossing] == 1
    # the corner that is alone on its side comes first
    lone = np.where(lone_above, above[crossing].argmax(axis=1), (~above[crossing]).argmax(axis=1))
    a, b, c = (some[np.arange(len(some)), (lone + i) % 3] for i in range(3))
    ab, ac = _meet(a, b, axis, place), _meet(a, c, axis, place)
    tip = np.stack((a, ab, ac), axis=1)
    base = np.concatenate((np.stack((ab, b, c), axis=1), np.stack((ab, c, ac), axis=1)))
    twice = np.concatenate((lone_above, lone_above))
    low += [tip[~lone_above], base[twice]]
    high += [tip[lone_above], base[~twice]]
    return [np.concatenate(low), np.concatenate(high)]


def thin(points: Points, most: int, deviation: float) -> tuple[Points, float]:
    """Return at most ``most`` of the corners of the points' hull, and how far the points stick out of the hull of these [m].

    Args:
        points: shape (n, 3) [m].
        most: corners.
        deviation: that suffices [m].
    """
    corners = np.asarray(convex_hull(_thick(points), faces=False).points())
    if len(corners) <= _START:
        return np.ascontiguousarray(corners), 0.0
    along = corners @ directions(_START // 2).T
    chosen = sorted({*along.argmax(axis=0).tolist(), *along.argmin(axis=0).tolist()})
    left, within = np.arange(len(corners)), 0.0
    while True:
        out = _outside(corners[left], convex_hull(corners[chosen], faces=True))
        done = out <= deviation  # and stays so, as the hull only grows
        within = max(within, float(out[done].max(initial=0.0)))
        if done.all() or len(chosen) >= most:
            return np.ascontiguousarray(corners[chosen]), max(within, float(out.max())) + 1e-6
        chosen.append(int(left[out.argmax()]))
        left = left[~done]


def _outside(points: Points, hull: coal.ConvexBase) -> Points:
    """Return how far each point is from a convex shape, 0 inside [m]."""
    here, request, ball, upright = pin.SE3.Identity(), coal.DistanceRequest(), coal.Sphere(1e-6), np.eye(3)
    result = np.zeros(len(points))
    for i, point in enumerate(points):
        answer = coal.DistanceResult()
        place = pin.SE3(upright, point)
        result[i] = max(0.0, coal.distance(ball, place, hull, here, request, answer) + 1e-6)
    return result


def _meet(a: Points, b: Points, axis: int, place: float) -> Points:
    share = (place - a[:, axis]) / (b[:, axis] - a[:, axis])
    result: Points = a + share[:, None] * (b - a)
    return result


def _sketch(triangles: Points) -> Points:
    """Return few points that stand for a surface: corners and points of long edges, each only once in a small cube."""
    ends = np.roll(triangles, 1, axis=1)
    lengths = np.linalg.norm(ends - triangles, axis=2)
    points: list[Points] = [triangles.reshape(-1, 3)]
    longest = _GRID
    while longest < lengths.max(initial=0.0):
        # edges of up to twice as long, each cut so often that its points are a grid apart
        some = (lengths > longest) & (lengths <= 2.0 * longest)
        count = min(round(2.0 * longest / _GRID), max(1, _MANY // max(1, int(some.sum()))))
        starts, ways = triangles[some], ends[some] - triangles[some]
        points += [starts + float(share) * ways for share in np.linspace(0.0, 1.0, count + 1)[1:-1]]
        longest *= 2.0
    cell = np.rint(np.concatenate(points) / _GRID).astype(np.int64)
    keys = ((cell[:, 0] + _SIDE) * 2 * _SIDE + cell[:, 1] + _SIDE) * 2 * _SIDE + cell[:, 2] + _SIDE
    result: Points = cell[np.unique(keys, return_index=True)[1]].astype(np.float64) * _GRID
    return result


def _volume(points: Points) -> float:
    """Return the volume of the points' hull [m³], 0 for what is flat."""
    if len(points) < 4 or _thickness(points)[0] < _FLAT:
        return 0.0
    along = points @ directions(_OUTLINE // 2).T
    outer = points[np.unique(np.concatenate((along.argmax(axis=0), along.argmin(axis=0))))]
    return float(convex_hull(outer, faces=True).computeVolume())


def _thickness(points: Points) -> tuple[float, Points]:
    """Return the extent of points across the plane nearest to them [m], and its normal."""
    around = points - points.mean(axis=0)
    normal = np.linalg.eigh(around.T @ around)[1][:, 0]
    return float(np.ptp(points @ normal)), normal


def _thick(points: Points) -> Points:
    """Return points without near doubles, and when they are flat, which qhull refuses, a slab around them."""
    distinct = np.unique(np.round(points, 7), axis=0)  # what this moves is in the radius
    extent, normal = _thickness(distinct)
    return distinct if extent >= _FLAT else np.concatenate((distinct + _FLAT * normal, distinct - _FLAT * normal))


def _best_cut(triangles: Points) -> tuple[float, int, float]:
    """Return what the best cut of a part saves [m³], its axis and its place [m]."""
    points = _sketch(triangles)
    whole, best = _volume(points), (0.0, 0, 0.0)
    for axis in range(3):
        low, high = points[:, axis].min(), points[:, axis].max()
        for place in low + _PLACES * (high - low):
            # both parts reach the plane: near it, points of either side count for both
            saved = whole - _volume(points[points[:, axis] <= place + _GRID]) - _volume(points[points[:, axis] >= place - _GRID])
            if saved > best[0]:
                best = (float(saved), axis, float(place))
    return best
