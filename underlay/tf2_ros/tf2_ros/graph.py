"""The tree of frames over time: pure, stamps in integer nanoseconds, quaternions (x, y, z, w)."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import NamedTuple

from tf2_ros.exceptions import ConnectivityException, ExtrapolationException, InvalidArgumentException, LookupException

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


class Sample(NamedTuple):
    """Pose of a child frame in its parent: point_parent = rotation * point_child + translation [m]."""

    stamp: int
    parent: str
    translation: Vector
    rotation: Quaternion


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the product of two quaternions."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(q: Quaternion, v: Vector) -> Vector:
    """Return ``v`` turned by ``q``."""
    x, y, z, _ = multiply(multiply(q, (*v, 0.0)), conjugate(q))
    return (x, y, z)


def conjugate(q: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    return (-q[0], -q[1], -q[2], q[3])


def compose(a: tuple[Vector, Quaternion], b: tuple[Vector, Quaternion]) -> tuple[Vector, Quaternion]:
    """Return the pose ``b``, given in ``a``'s frame, in the frame in which ``a`` is given."""
    x, y, z = rotate(a[1], b[0])
    return (a[0][0] + x, a[0][1] + y, a[0][2] + z), multiply(a[1], b[1])


def invert(a: tuple[Vector, Quaternion]) -> tuple[Vector, Quaternion]:
    """Return the inverse pose."""
    back = conjugate(a[1])
    x, y, z = rotate(back, a[0])
    return (-x, -y, -z), back


def interpolate(a: Sample, b: Sample, stamp: int) -> tuple[Vector, Quaternion]:
    """Return the pose between two samples: linear, and along the shorter great arc."""
    if b.stamp == a.stamp:
        return b.translation, b.rotation
    s = (stamp - a.stamp) / (b.stamp - a.stamp)
    x, y, z = (p + s * (q - p) for p, q in zip(a.translation, b.translation))
    dot = sum(p * q for p, q in zip(a.rotation, b.rotation))
    sign = 1.0 if dot >= 0.0 else -1.0
    angle = math.acos(min(1.0, abs(dot)))
    if angle < 1e-6:
        weights = 1.0 - s, s * sign
    else:
        weights = math.sin((1.0 - s) * angle) / math.sin(angle), sign * math.sin(s * angle) / math.sin(angle)
    mixed = [weights[0] * p + weights[1] * q for p, q in zip(a.rotation, b.rotation)]
    norm = math.sqrt(sum(value * value for value in mixed))
    return (x, y, z), (mixed[0] / norm, mixed[1] / norm, mixed[2] / norm, mixed[3] / norm)


@dataclass
class _Edge:
    static: bool
    samples: list[Sample] = field(default_factory=list)


class TransformGraph:
    """What was heard of every frame within the last ``cache_ns`` [ns] of its newest sample."""

    def __init__(self, cache_ns: int = 10_000_000_000) -> None:
        """Know nothing yet."""
        self.cache_ns = cache_ns
        self._edges: dict[str, _Edge] = {}
        self._frames: set[str] = set()

    def add(self, child: str, sample: Sample, static: bool) -> bool:
        """Take a sample in; returns False for one too old to be kept.

        Raises:
            InvalidArgumentException: names or numbers that can't be.
        """
        child, parent = child.lstrip("/"), sample.parent.lstrip("/")
        what = f"transform '{parent}' -> '{child}'"
        if not child or not parent or child == parent:
            raise InvalidArgumentException(f"{what}: got equal or empty frame names, allowed two different")
        norm = math.sqrt(sum(value * value for value in sample.rotation))
        if not all(math.isfinite(value) for value in (*sample.translation, norm)) or abs(norm - 1.0) > 0.01:
            raise InvalidArgumentException(f"{what}: got {sample}, allowed finite with a unit quaternion")
        x, y, z, w = (value / norm for value in sample.rotation)
        sample = Sample(sample.stamp, parent, sample.translation, (x, y, z, w))
        self._frames |= {child, parent}
        if static:
            self._edges[child] = _Edge(True, [sample])
            return True
        edge = self._edges.get(child)
        if edge is None or edge.static:
            edge = self._edges[child] = _Edge(False)
        samples = edge.samples
        if samples and sample.stamp < samples[-1].stamp - self.cache_ns:
            return False
        place = bisect_left(samples, sample.stamp, key=lambda item: item.stamp)
        if place < len(samples) and samples[place].stamp == sample.stamp:
            samples[place] = sample
        else:
            insort(samples, sample, key=lambda item: item.stamp)
        del samples[: bisect_left(samples, samples[-1].stamp - self.cache_ns, key=lambda item: item.stamp)]
        return True

    def lookup(self, target: str, source: str, stamp: int = 0) -> tuple[int, Vector, Quaternion]:
        """Return (stamp [ns], translation [m], rotation) of ``source`` in ``target``.

        Args:
            target: frame in which the answer is given.
            source: frame whose pose is asked.
            stamp: time [ns]; 0 is the latest time at which every part of the way is known.

        Raises:
            InvalidArgumentException, LookupException, ConnectivityException, ExtrapolationException.
        """
        for name, what in ((target, "target_frame"), (source, "source_frame")):
            if not name or name.startswith("/"):
                raise InvalidArgumentException(
                    f"Invalid argument '{name}' passed to lookupTransform argument {what} - "
                    "in tf2 frame_ids are not empty and cannot start with a '/'"
                )
            if name not in self._frames:
                raise LookupException(f'"{name}" passed to lookupTransform argument {what} does not exist. ')
        up, down = self._ancestry(source), self._ancestry(target)
        common = next((frame for frame in up if frame in down), None)
        if common is None:
            raise ConnectivityException(
                f"Could not find a connection between '{target}' and '{source}' because they are not part of the same tree. "
                "Tf has two or more unconnected trees."
            )
        way_up, way_down = up[: up.index(common)], down[: down.index(common)]
        if stamp == 0:
            newest = [self._edges[frame].samples[-1].stamp for frame in (*way_up, *way_down) if not self._edges[frame].static]
            stamp = min(newest, default=0)
        where = f"when looking up transform from frame [{source}] to frame [{target}]"
        to_common = self._chain(way_up, stamp, where)
        translation, rotation = compose(invert(self._chain(way_down, stamp, where)), to_common)
        return stamp, translation, rotation

    def _ancestry(self, frame: str) -> list[str]:
        found = [frame]
        while (edge := self._edges.get(found[-1])) is not None:
            parent = edge.samples[-1].parent
            if parent in found:
                raise ConnectivityException(f"The tf tree contains a loop at '{parent}'")
            found.append(parent)
        return found

    def _chain(self, frames: list[str], stamp: int, where: str) -> tuple[Vector, Quaternion]:
        pose: tuple[Vector, Quaternion] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        for frame in frames:
            pose = compose(self._at(self._edges[frame], stamp, where), pose)
        return pose

    @staticmethod
    def _at(edge: _Edge, stamp: int, where: str) -> tuple[Vector, Quaternion]:
        samples = edge.samples
        if edge.static:
            return samples[0].translation, samples[0].rotation
        asked = f"Requested time {stamp * 1e-9:.6f} but the"
        if stamp > samples[-1].stamp:
            latest = samples[-1].stamp * 1e-9
            raise ExtrapolationException(
                f"Lookup would require extrapolation into the future.  {asked} latest data is at time {latest:.6f}, {where}"
            )
        if stamp < samples[0].stamp:
            earliest = samples[0].stamp * 1e-9
            raise ExtrapolationException(
                f"Lookup would require extrapolation into the past.  {asked} earliest data is at time {earliest:.6f}, {where}"
            )
        place = bisect_left(samples, stamp, key=lambda item: item.stamp)
        return interpolate(samples[max(place - 1, 0)], samples[place], stamp)
