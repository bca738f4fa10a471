"""How far an arm folds before two of its own links meet: for a pair two joints apart, the outer joint's interval over the inner.

The relative pose of such a pair depends on these two joints alone, so the border of what clearance allows is a curve. It is found
once, by bisection of the convex hulls' distance, and cached by the content of URDF and meshes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from teleop_common import cache
from teleop_common.limits import RobotLimits
from teleop_description.assets import digest

RESERVE = 0.002  # [m] above the margin, so that what the guard rounds, smooths and samples stays above it
SLACK = 0.5  # share of the reserve that a fast step may use up
_SETTINGS = f"folds v3 reserve={RESERVE!r}"
_INNER = 49  # values of the inner joint
_OUTER = 65  # of the outer joint, between which the border is then bisected
_HALVINGS = 14
_STILL = 0.003  # [m], a pair whose distance changes less stands still, and nothing keeps it apart
_FARTHER = 0.02  # [rad] than any joint can be, so that the end of what was looked at is no border
_NOWHERE = 1e3  # [rad], as an end of a range: none
_DIGITS = 6  # kept of an angle [rad]


class Fold(NamedTuple):
    """What clearance between two links of one arm allows two neighbouring joints.

    Attributes:
        links: names of the two links.
        inner: index of the inner arm joint; the outer one is the next.
        range: of the inner joint, outside which no position of the outer one is clear [rad].
        first: inner joint at the first knot [rad].
        step: between two knots [rad].
        lower: least position of the outer joint at each knot [rad].
        upper: greatest.
        slack: how far beyond that the outer joint still keeps the margin [rad].
    """

    links: tuple[str, str]
    inner: int
    range: tuple[float, float]
    first: float
    step: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    slack: float


def load(limits: RobotLimits, margin: float, folder: Path | None = None) -> tuple[Fold, ...]:
    """Return a robot's folds, base first; from the cache when model, limits and margin are those cached.

    Args:
        limits: the robot.
        margin: clearance to keep [m].
        folder: where to cache; None means ``$XDG_CACHE_HOME/xr-teleop/folds``, else below ``~/.cache``.

    Raises:
        ConfigError: no such URDF, or a mesh that cannot be read.
    """
    spans = [(j.lower, j.upper, j.home) for j in limits.joints]
    settings = f"{_SETTINGS} {margin!r} {limits.mechanical_margin!r} {spans} {limits.tip_link}"
    return cache.kept(
        (folder or cache.folder("folds")) / f"{limits.robot}-{digest(limits, settings)}.json",
        lambda data: from_json(json.loads(data)),
        lambda: make(limits, margin),
        lambda folds: json.dumps([fold._asdict() for fold in folds]).encode(),
    )


def from_json(data: Any) -> tuple[Fold, ...]:
    """Return folds out of the plain values of their fields.

    Raises:
        TypeError: other fields, or values of another kind.
    """
    read: list[dict[str, Any]] = [{k: tuple(v) if isinstance(v, list) else v for k, v in fold.items()} for fold in data]
    return tuple(Fold(**fold) for fold in read)


def make(limits: RobotLimits, margin: float) -> tuple[Fold, ...]:
    """Return a robot's folds, computed from its collision geometry (about a second for an SO-101).

    Left out are pairs that stay clear within the limits, that stand still, and that are nearer than the margin with every joint
    at zero: those are built so, and nothing would move.

    Raises:
        ConfigError: see ``load``.
    """
    import pinocchio as pin

    from teleop_description import hulls
    from teleop_description.pinocchio_compat import coal, convex_hull

    found = hulls.clouds(limits)
    model, need = found.model, margin + RESERVE
    corners = {joint: hulls.hull(points) for joint, points in found.points.items() if joint <= len(limits.joints)}
    shapes = {joint: convex_hull(points, faces=True) for joint, points in corners.items()}
    data = model.createData()
    folds = []
    for base in range(len(limits.joints) - 1):
        tip = base + 2
        if base not in shapes or tip not in shapes or model.parents[tip] != base + 1 or model.parents[base + 1] != base:
            continue

        def distance(inner: float, outer: float, base: int = base, tip: int = tip) -> float:
            q = pin.neutral(model)
            q[model.joints[base + 1].idx_q], q[model.joints[tip].idx_q] = inner, outer
            pin.forwardKinematics(model, data, q)
            placed = data.oMi[base] if base else pin.SE3.Identity()
            result = coal.DistanceResult()
            return float(coal.distance(shapes[base], placed, shapes[tip], data.oMi[tip], coal.DistanceRequest(), result))

        if distance(0.0, 0.0) < need:
            continue
        reach = float(np.linalg.norm(corners[tip], axis=1).max())
        fold = _border(limits, base, (found.names[base], found.names[tip]), distance, need, SLACK * RESERVE / reach)
        if fold is not None:
            folds.append(fold)
    return tuple(folds)


def _border(
    limits: RobotLimits,
    index: int,
    links: tuple[str, str],
    distance: Callable[[float, float], float],
    need: float,
    slack: float,
) -> Fold | None:
    """Return the border of one pair; None where none is met, or nothing is clear."""
    inner, outer = limits.joints[index], limits.joints[index + 1]
    beyond = limits.mechanical_margin + _FARTHER
    us = np.linspace(inner.lower - beyond, inner.upper + beyond, _INNER)
    vs = np.linspace(outer.lower - beyond, outer.upper + beyond, _OUTER)
    distances = np.array([[distance(float(u), float(v)) for v in vs] for u in us])
    within = np.ix_((us >= inner.lower) & (us <= inner.upper), (vs >= outer.lower) & (vs <= outer.upper))
    if distances[within].min() >= need or float(np.ptp(distances)) < _STILL:
        return None
    # from the row of home outwards, the interval that goes on from the row before
    start = int(np.abs(us - inner.home).argmin())
    home = int(np.abs(vs - outer.home).argmin())
    rows: dict[int, tuple[int, int]] = {}
    for order in (range(start, _INNER), range(start, -1, -1)):
        before = (home, home)
        for k in order:
            options = _intervals(distances[k] >= need)
            near = [(_overlap(option, before), option) for option in options]
            best = max(near, default=None)
            if best is None or best[0] < 0:
                break
            rows[k] = before = best[1]
    if not rows:
        return None
    low, high = min(rows), max(rows)

    def edge(u: float, clear: float, met: float) -> float:
        for _ in range(_HALVINGS):
            middle = 0.5 * (clear + met)
            if distance(u, middle) >= need:
                clear = middle
            else:
                met = middle
        return clear

    lower, upper = [], []
    for k in range(low, high + 1):
        u, (first, last) = float(us[k]), rows[k]
        least = float(vs[0]) if first == 0 else edge(u, float(vs[first]), float(vs[first - 1]))
        most = float(vs[-1]) if last == _OUTER - 1 else edge(u, float(vs[last]), float(vs[last + 1]))
        lower.append(_rounded(least, math.ceil))
        upper.append(_rounded(most, math.floor))
    # a row at the end of the joint's own range ends nothing
    ends = (float(us[low]) if low > 0 else -_NOWHERE, float(us[high]) if high < _INNER - 1 else _NOWHERE)
    step = float(us[1] - us[0])
    return Fold(links, index, ends, float(us[low]), step, tuple(lower), tuple(upper), round(slack, _DIGITS))


def _rounded(angle: float, towards: Callable[[float], int]) -> float:
    return round(towards(angle * 10.0**_DIGITS) * 10.0**-_DIGITS, _DIGITS)


def _intervals(clear: Any) -> list[tuple[int, int]]:
    """Return first and last index of each run of true values."""
    found, begin = [], -1
    for k, good in enumerate([*clear.tolist(), False]):
        if good and begin < 0:
            begin = k
        elif not good and begin >= 0:
            found.append((begin, k - 1))
            begin = -1
    return found


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Return how many steps two intervals share, negative when they are apart."""
    return min(one[1], other[1]) - max(one[0], other[0])
