"""The outermost points of a robot's hand and forearm, few enough to be looked through at every frame.

Each link's convex hull is thinned to those corners that lose at most ``LOSS`` of its extent in any direction; the result is
cached by the content of URDF and meshes, so that only the first start pays for reading them.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_common import cache
from teleop_common.limits import RobotLimits
from teleop_common.records import Vec3
from teleop_description.assets import digest

LOSS = 0.0015  # [m], the most that a thinned hull lacks in any direction
_SETTINGS = f"hand v2 loss={LOSS!r}"
_DIRECTIONS = 4000  # at which the loss is looked for: 3 degrees apart
_PARALLEL = 1e-3  # sine below which two axes count as parallel
Array = NDArray[np.float64]
Corners = tuple[Vec3, ...]


class Part(NamedTuple):
    """Corners of a convex hull, and a ball around them, by which most looks are spared.

    Attributes:
        corners: of the hull.
        centre: of the ball.
        radius: of the ball [m].
    """

    corners: Corners = ()
    centre: Vec3 = (0.0, 0.0, 0.0)
    radius: float = 0.0

    def lowest(self, x: float, y: float, z: float, below: float) -> float:
        """Return the least of x·a + y·b + z·c over the corners (a, b, c), or ``below`` where none is less."""
        a, b, c = self.centre
        if x * a + y * b + z * c - self.radius >= below or not self.corners:
            return below
        return min(below, min([x * a + y * b + z * c for a, b, c in self.corners]))


class Segment(NamedTuple):
    """A link between two joints of the arm, its corners told by what a posture knows: p = origin + x·a + y·b + z·(a × b).

    Attributes:
        joint: index of the joint that carries it, whose axis is a.
        by_axis: b is the next joint's axis; else, where the two are parallel, the way to the next joint's origin.
        part: its corners as (x, y, z).
    """

    joint: int
    by_axis: bool
    part: Part


class Hand(NamedTuple):
    """The hand, and the links of the outer half of the arm before it.

    Attributes:
        rigid: what the last arm joint carries, tool frame [m].
        jaw: what the gripper's joint carries, in its own frame, whose z is the axis [m].
        hinge: rotation of that frame in the tool frame at gripper position 0, row by row.
        place: its origin in the tool frame [m].
        slides: the gripper's joint is prismatic.
        segments: the links before the hand.
    """

    rigid: Part = Part()
    jaw: Part = Part()
    hinge: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    place: Vec3 = (0.0, 0.0, 0.0)
    slides: bool = False
    segments: tuple[Segment, ...] = ()

    def lowest(self, up: Vec3, openings: tuple[float, ...], below: float = 0.0) -> float:
        """Return the height of the hand's lowest point above the tool point [m], or ``below`` where none is lower.

        Args:
            up: unit vector in the tool frame.
            openings: positions of the gripper to reckon with [rad or m]; the jaw is looked at in each.
            below: height of no more interest [m].
        """
        x, y, z = up
        least = self.rigid.lowest(x, y, z, below)
        if not self.jaw.corners:
            return least
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = self.hinge
        hx, hy, hz = x * r0 + y * r3 + z * r6, x * r1 + y * r4 + z * r7, x * r2 + y * r5 + z * r8
        base = x * self.place[0] + y * self.place[1] + z * self.place[2]
        for opening in openings:
            if self.slides:
                slid = base + opening * hz
                least = slid + self.jaw.lowest(hx, hy, hz, least - slid)
            else:
                co, si = math.cos(opening), math.sin(opening)
                least = base + self.jaw.lowest(co * hx + si * hy, co * hy - si * hx, hz, least - base)
        return least


def load(limits: RobotLimits, folder: Path | None = None) -> Hand:
    """Return a robot's hand; from the cache when the model is the one cached. Empty for a URDF without collision geometry.

    Args:
        limits: the robot.
        folder: where to cache; None means ``$XDG_CACHE_HOME/xr-teleop/hand``, else below ``~/.cache``.

    Raises:
        ConfigError: no such URDF, or a mesh that cannot be read.
    """
    target = (folder or cache.folder("hand")) / f"{limits.robot}-{digest(limits, _SETTINGS + limits.tip_link)}.json"
    return cache.kept(
        target, lambda data: from_json(json.loads(data)), lambda: make(limits), lambda hand: json.dumps(hand._asdict()).encode()
    )


def from_json(data: dict[str, Any]) -> Hand:
    """Return the hand out of the plain values of its fields.

    Raises:
        TypeError: other fields, or values of another kind.
    """
    segments = tuple(Segment(joint, by_axis, _part(part)) for joint, by_axis, part in data["segments"])
    read = {key: _tuples(value) for key, value in data.items()}
    return Hand(**{**read, "rigid": _part(data["rigid"]), "jaw": _part(data["jaw"]), "segments": segments})


def _part(data: Any) -> Part:
    corners, centre, radius = _tuples(data)
    return Part(corners, centre, radius)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def make(limits: RobotLimits) -> Hand:
    """Return a robot's hand, computed from its collision geometry (some seconds for an SO-101).

    Raises:
        ConfigError: see ``load``.
    """
    # Pinocchio takes a third of a second to import, which a cached start need not pay
    import pinocchio as pin

    from teleop_description import hulls
    from teleop_description.models import tool_frame_id
    from teleop_description.pinocchio_compat import joint_of

    found = hulls.clouds(limits)
    model, points = found.model, found.points
    last = len(limits.joints)
    tool = model.frames[tool_frame_id(model, limits)]
    hand = Hand(segments=tuple(s for k in range(last // 2, last - 1) if (s := _segment(model, points, k)) is not None))
    if joint_of(tool) != last:
        return hand
    to_tool = tool.placement.inverse()
    if last in points:
        hand = hand._replace(rigid=part_of(thinned(hulls.hull(points[last])) @ to_tool.rotation.T + to_tool.translation))
    if limits.gripper and last + 1 in points and model.parents[last + 1] == last:
        axis, slides = _axis(model, last + 1)
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
        place = to_tool * model.jointPlacements[last + 1]
        jaw = thinned(hulls.hull(points[last + 1])) @ turn
        hinge = tuple(float(v) for v in (place.rotation @ turn).ravel())
        hand = hand._replace(jaw=part_of(jaw), hinge=hinge, place=_vector(place.translation), slides=slides)
    return hand


def _segment(model: Any, points: dict[int, Array], index: int) -> Segment | None:
    """Return the link that arm joint ``index`` (from 0) carries, None without geometry or where no second direction is known."""
    from teleop_description import hulls

    joint = index + 1
    if joint not in points or model.parents[joint + 1] != joint:
        return None
    place = model.jointPlacements[joint + 1]
    first, second = _axis(model, joint)[0], place.rotation @ _axis(model, joint + 1)[0]
    by_axis = bool(np.linalg.norm(np.cross(first, second)) > _PARALLEL)
    if not by_axis:
        second = place.translation
    third = np.cross(first, second)
    if np.linalg.norm(third) <= _PARALLEL * max(float(np.linalg.norm(second)), 1e-2):
        return None
    corners = thinned(hulls.hull(points[joint]))
    basis = np.column_stack((first, second, third))
    return Segment(index, by_axis, part_of(corners, basis))


def _axis(model: Any, joint: int) -> tuple[Array, bool]:
    """Return a joint's axis in its own frame, and whether it slides along it instead of turning about it."""
    import pinocchio as pin

    data = model.createData()
    move = []
    for value in (0.0, 0.5):
        q = pin.neutral(model)
        q[model.joints[joint].idx_q] = value
        pin.forwardKinematics(model, data, q)
        move.append(data.liMi[joint].copy())
    between = move[0].inverse() * move[1]
    turn = np.asarray(pin.log3(between.rotation))
    slides = bool(np.linalg.norm(turn) < 1e-9)
    return (np.asarray(between.translation) if slides else turn) / 0.5, slides


def _vector(point: Array) -> Vec3:
    return (float(point[0]), float(point[1]), float(point[2]))


def part_of(points: Array, basis: Array | None = None) -> Part:
    """Return the part with corners ``points``, shape (n, 3) [m], told in the columns of ``basis`` instead of x, y, z."""
    centre: Array = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - centre, axis=1).max()) + 1e-9
    inverse: Array = np.eye(3) if basis is None else np.asarray(np.linalg.inv(basis), np.float64)
    told: Array = points @ inverse.T
    middle: Array = inverse @ centre
    return Part(tuple(map(_vector, told)), _vector(middle), radius)


def _sphere(count: int) -> Array:
    """Return unit vectors spread evenly over the sphere, shape (count, 3) (Fibonacci's spiral)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack((flat * np.cos(turn), flat * np.sin(turn), z))


def thinned(points: Array, loss: float = LOSS) -> Array:
    """Return few of ``points``, shape (n, 3), whose convex hull lacks at most ``loss`` [m] of theirs in any direction.

    Greedy: the corner that is missed most is taken next. A tenth of ``loss`` is kept back for what lies between the directions
    looked at.
    """
    directions = _sphere(_DIRECTIONS)
    along: Array = points @ directions.T
    full = along.max(axis=0)
    chosen = [int(along[:, 0].argmax())]
    reached: Array = along[chosen[0]]
    while (worst := int((full - reached).argmax())) >= 0 and full[worst] - reached[worst] > 0.9 * loss:
        chosen.append(int(along[:, worst].argmax()))
        reached = np.maximum(reached, along[chosen[-1]])
    return points[chosen]
