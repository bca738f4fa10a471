"""A planar three-link arm with joint limits, in closed form: exact pose, else nearest elevation, else closest point.

Elevations e1, e2, e3 of the three links are measured from the horizontal, up positive. Joints lower them:
e1 = first − j1, e2 = e1 − (second + j2), e3 = e2 − (third + j3). Where the asked elevation of the last link cannot be had
with the asked point, the nearest one that can lies where a joint is at a bound or the elbow straight (the reachable
elevations form intervals, and those are their ends); with one joint fixed two links are left, which the law of cosines
solves. Where the point itself is out of reach, the closest one has its free links in line with the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

Triple = tuple[float, float, float]
_SLACK = 1e-6  # [rad], rounding at a bound, which a folded arm amplifies


class Planar(NamedTuple):
    """Lengths [m] and zero angles [rad] of the three links."""

    length1: float
    length2: float
    length3: float
    first: float
    second: float
    third: float


def point(arm: Planar, joints: Triple) -> tuple[float, float, float]:
    """Return r [m], z [m] of the tip from the first joint, and the elevation of the last link [rad]."""
    e1 = arm.first - joints[0]
    e2 = e1 - arm.second - joints[1]
    e3 = e2 - arm.third - joints[2]
    r = arm.length1 * math.cos(e1) + arm.length2 * math.cos(e2) + arm.length3 * math.cos(e3)
    z = arm.length1 * math.sin(e1) + arm.length2 * math.sin(e2) + arm.length3 * math.sin(e3)
    return r, z, e3


def wrap(angle: float) -> float:
    """Return ``angle`` [rad] in [-pi, pi]."""
    return math.remainder(angle, 2.0 * math.pi)


def inside(joints: Triple, lower: Triple, upper: Triple) -> Triple | None:
    """Return the joints when all three are within their bounds, drawn in by no more than rounding; else None."""
    a, b, c = joints
    if lower[0] <= a <= upper[0] and lower[1] <= b <= upper[1] and lower[2] <= c <= upper[2]:
        return joints
    drawn = (
        min(max(a, lower[0]), upper[0]),
        min(max(b, lower[1]), upper[1]),
        min(max(c, lower[2]), upper[2]),
    )
    return drawn if max(abs(a - drawn[0]), abs(b - drawn[1]), abs(c - drawn[2])) <= _SLACK else None


def all_inside(options: Iterable[Triple | None], lower: Triple, upper: Triple) -> list[Triple]:
    """Return those of ``options`` that are within their bounds."""
    found = [inside(joints, lower, upper) for joints in options if joints is not None]
    return [joints for joints in found if joints is not None]


def exact(arm: Planar, r: float, z: float, e3: float, bend_sign: float) -> Triple | None:
    """Return the joints for a point and an elevation with the elbow bent to one side, or None beyond reach."""
    rw = r - arm.length3 * math.cos(e3)
    zw = z - arm.length3 * math.sin(e3)
    found = two_links(arm.length1, arm.length2, rw, zw, bend_sign)
    return None if found is None else _joints(arm, found[0], found[0] - found[1], e3)


def two_links(length1: float, length2: float, r: float, z: float, bend_sign: float) -> tuple[float, float] | None:
    """Return the elevation of the first of two links that reach (r, z), and the bend between them; None beyond reach."""
    # law of cosines
    cosine = (r * r + z * z - length1 * length1 - length2 * length2) / (2.0 * length1 * length2)
    if not -1.0 <= cosine <= 1.0:
        return None
    bend = bend_sign * math.acos(cosine)
    return math.atan2(z, r) + math.atan2(length2 * math.sin(bend), length1 + length2 * cosine), bend


def _joints(arm: Planar, e1: float, e2: float, e3: float) -> Triple:
    return (wrap(arm.first - e1), wrap(e1 - e2 - arm.second), wrap(e2 - e3 - arm.third))


def _both_bends(a: float, b: float, r: float, z: float) -> list[tuple[float, float]]:
    """Return the elevations of two links of lengths a, b that reach (r, z), bent to either side."""
    if a * b == 0.0:
        return []
    found = [two_links(a, b, r, z, sign) for sign in (1.0, -1.0)]
    return [(pair[0], pair[0] - pair[1]) for pair in found if pair is not None]


def _chained(length1: float, length2: float, turn: float) -> tuple[float, float]:
    """Return length and elevation, from the first's, of two links locked at a relative ``turn``."""
    x = length1 + length2 * math.cos(turn)
    y = -length2 * math.sin(turn)
    return math.hypot(x, y), math.atan2(y, x)


def nearest_elevation(arm: Planar, r: float, z: float, lower: Triple, upper: Triple) -> list[Triple]:
    """Return the joints that reach the point with one joint at a bound, or the elbow straight, all within bounds."""
    found: list[Triple] = []
    for bound in (lower[0], upper[0]):
        e1 = arm.first - bound
        rest = _both_bends(arm.length2, arm.length3, r - arm.length1 * math.cos(e1), z - arm.length1 * math.sin(e1))
        found += [_joints(arm, e1, e2, e3) for e2, e3 in rest]
    for bound in (lower[1], upper[1], -arm.second):
        turn = arm.second + bound
        length, lead = _chained(arm.length1, arm.length2, turn)
        found += [_joints(arm, e - lead, e - lead - turn, e3) for e, e3 in _both_bends(length, arm.length3, r, z)]
    for bound in (lower[2], upper[2]):
        turn = arm.third + bound
        length, lead = _chained(arm.length2, arm.length3, turn)
        found += [_joints(arm, e1, e - lead, e - lead - turn) for e1, e in _both_bends(arm.length1, length, r, z)]
    return all_inside(found, lower, upper)


def closest_point(arm: Planar, r: float, z: float, lower: Triple, upper: Triple) -> list[Triple]:
    """Return the candidates for the closest reachable point: the free links in line with the target, the others at bounds."""
    towards = math.atan2(z, r)
    found: list[Triple] = [_joints(arm, towards, towards, towards)]
    for b1 in (lower[0], upper[0]):
        e1 = arm.first - b1
        rest = math.atan2(z - arm.length1 * math.sin(e1), r - arm.length1 * math.cos(e1))
        found.append(_joints(arm, e1, rest, rest))
        for b2 in (lower[1], upper[1]):
            e2 = e1 - arm.second - b2
            tip_r = r - arm.length1 * math.cos(e1) - arm.length2 * math.cos(e2)
            tip_z = z - arm.length1 * math.sin(e1) - arm.length2 * math.sin(e2)
            found.append(_joints(arm, e1, e2, math.atan2(tip_z, tip_r)))
            found += [(b1, b2, b3) for b3 in (lower[2], upper[2])]
        for b3 in (lower[2], upper[2]):
            turn = arm.third + b3
            _, lead = _chained(arm.length2, arm.length3, turn)
            found.append(_joints(arm, e1, rest - lead, rest - lead - turn))
    for b2 in (lower[1], upper[1]):
        turn2 = arm.second + b2
        length, lead = _chained(arm.length1, arm.length2, turn2)
        for away in (0.0, math.pi):
            found.append(_joints(arm, towards - lead, towards - lead - turn2, towards + away))
            found.append(_joints(arm, towards + math.pi - lead, towards + math.pi - lead - turn2, towards + away))
        for b3 in (lower[2], upper[2]):
            turn3 = arm.third + b3
            # all three locked: length and lead of the whole
            x = length * math.cos(lead) + arm.length3 * math.cos(-turn2 - turn3)
            y = length * math.sin(lead) + arm.length3 * math.sin(-turn2 - turn3)
            e1 = towards - math.atan2(y, x)
            found.append(_joints(arm, e1, e1 - turn2, e1 - turn2 - turn3))
    for b3 in (lower[2], upper[2]):
        turn = arm.third + b3
        _, lead = _chained(arm.length2, arm.length3, turn)
        found.append(_joints(arm, towards, towards - lead, towards - lead - turn))
        found.append(_joints(arm, towards + math.pi, towards - lead, towards - lead - turn))
    return all_inside(found, lower, upper)
