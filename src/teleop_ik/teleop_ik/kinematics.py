"""Forward kinematics and the geometric Jacobian of a serial chain, read from a URDF; the one definition of this package.

Plain floats and tuples: for five to seven joints this is as fast as a call into a compiled library with its array
conversions, and the same bits come out on every machine with IEEE 754 doubles. A conformance test holds it to Pinocchio.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import NamedTuple

from teleop_common import spatial
from teleop_common.errors import ConfigError
from teleop_common.records import ORIGIN, Pose, Quat, Vec3

Mat = tuple[float, float, float, float, float, float, float, float, float]  # 3x3, row by row
Joints = tuple[float, ...]
IDENTITY: Mat = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class Link(NamedTuple):
    """One joint, turning about its local z, and what it carries.

    Attributes:
        name: joint name.
        rotation: rotation of the next joint's frame, or the tool's, in this joint's turned frame.
        translation: its origin there [m].
    """

    name: str
    rotation: Mat
    translation: Vec3


class Chain(NamedTuple):
    """A serial chain of revolute joints.

    Attributes:
        base_rotation: rotation of the first joint's frame in the base frame.
        base_translation: its origin there [m].
        links: joints from base to tip.
    """

    base_rotation: Mat
    base_translation: Vec3
    links: tuple[Link, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names from base to tip."""
        return tuple(link.name for link in self.links)


class Posture(NamedTuple):
    """Where a chain is, everything in its base frame.

    Attributes:
        position: tool position [m].
        rotation: tool attitude.
        origins: origin of each joint [m].
        axes: unit axis of each joint.
    """

    position: Vec3
    rotation: Mat
    origins: tuple[Vec3, ...]
    axes: tuple[Vec3, ...]

    @property
    def pose(self) -> Pose:
        """The tool pose."""
        return Pose(self.position, quat_from_mat(self.rotation))


def forward(chain: Chain, joints: Joints) -> Posture:
    """Return the posture at ``joints`` [rad]: per joint a turn about local z, then one fixed transform."""
    a, b, c, d, e, f, g, h, i = chain.base_rotation
    px, py, pz = chain.base_translation
    origins: list[Vec3] = []
    axes: list[Vec3] = []
    for (_, (r0, r1, r2, r3, r4, r5, r6, r7, r8), (tx, ty, tz)), angle in zip(chain.links, joints):
        origins.append((px, py, pz))
        axes.append((c, f, i))
        co = math.cos(angle)
        si = math.sin(angle)
        x0 = co * a + si * b
        x1 = co * d + si * e
        x2 = co * g + si * h
        y0 = co * b - si * a
        y1 = co * e - si * d
        y2 = co * h - si * g
        px += x0 * tx + y0 * ty + c * tz
        py += x1 * tx + y1 * ty + f * tz
        pz += x2 * tx + y2 * ty + i * tz
        a = x0 * r0 + y0 * r3 + c * r6
        b = x0 * r1 + y0 * r4 + c * r7
        c = x0 * r2 + y0 * r5 + c * r8
        d = x1 * r0 + y1 * r3 + f * r6
        e = x1 * r1 + y1 * r4 + f * r7
        f = x1 * r2 + y1 * r5 + f * r8
        g = x2 * r0 + y2 * r3 + i * r6
        h = x2 * r1 + y2 * r4 + i * r7
        i = x2 * r2 + y2 * r5 + i * r8
    return Posture((px, py, pz), (a, b, c, d, e, f, g, h, i), tuple(origins), tuple(axes))


def jacobian(posture: Posture) -> tuple[Vec3, ...]:
    """Return the columns of the position Jacobian [m/rad], base frame; those of rotation are ``posture.axes``.

    Column i is axis_i × (tool − origin_i). [Siciliano et al., Robotics, 2009, eq. 3.30]
    """
    tx, ty, tz = posture.position
    columns = []
    for (ax, ay, az), (ox, oy, oz) in zip(posture.axes, posture.origins):
        rx = tx - ox
        ry = ty - oy
        rz = tz - oz
        columns.append((ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx))
    return tuple(columns)


def second_order(axes: Sequence[Vec3], moves: Sequence[Vec3], error: Vec3) -> list[list[float]]:
    """Return −error·(second derivative of the tool position), lower triangle by rows; that of joints i ≤ j is axis_i × column_j.

    Args:
        axes: of the joints, base frame.
        moves: columns of the position Jacobian [m/rad].
        error: of the position, weighted.
    """
    x, y, z = error
    rows = []
    for j, (a, b, c) in enumerate(moves):
        u, v, w = y * c - z * b, z * a - x * c, x * b - y * a  # error × column
        rows.append([u * p + v * q + w * r for p, q, r in axes[: j + 1]])
    return rows


def mat_multiply(p: Mat, q: Mat) -> Mat:
    """Return the product p·q."""
    a, b, c, d, e, f, g, h, i = p
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = q
    return (
        a * r0 + b * r3 + c * r6,
        a * r1 + b * r4 + c * r7,
        a * r2 + b * r5 + c * r8,
        d * r0 + e * r3 + f * r6,
        d * r1 + e * r4 + f * r7,
        d * r2 + e * r5 + f * r8,
        g * r0 + h * r3 + i * r6,
        g * r1 + h * r4 + i * r7,
        g * r2 + h * r5 + i * r8,
    )


def mat_from_quat(q: Quat) -> Mat:
    """Return the matrix of a unit quaternion."""
    (a, b, c), (d, e, f), (g, h, i) = spatial.quat_to_matrix(q)
    return (a, b, c, d, e, f, g, h, i)


def quat_from_mat(m: Mat) -> Quat:
    """Return the unit quaternion of a rotation matrix, w >= 0, dividing by its largest component (Shepperd 1978)."""
    a, b, c, d, e, f, g, h, i = m
    trace = a + e + i
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        q = ((h - f) / s, (c - g) / s, (d - b) / s, 0.25 * s)
    elif a >= e and a >= i:
        s = 2.0 * math.sqrt(max(0.0, 1.0 + a - e - i))
        q = (0.25 * s, (b + d) / s, (c + g) / s, (h - f) / s)
    elif e >= i:
        s = 2.0 * math.sqrt(max(0.0, 1.0 + e - a - i))
        q = ((b + d) / s, 0.25 * s, (f + h) / s, (c - g) / s)
    else:
        s = 2.0 * math.sqrt(max(0.0, 1.0 + i - a - e))
        q = ((c + g) / s, (f + h) / s, 0.25 * s, (d - b) / s)
    x, y, z, w = q if q[3] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    n = math.sqrt(x * x + y * y + z * z + w * w)
    return (x / n, y / n, z / n, w / n)


def _numbers(text: str | None, default: Vec3) -> Vec3:
    if text is None:
        return default
    x, y, z = (float(part) for part in text.split())
    return (x, y, z)


def _turn_z_to(axis: Vec3) -> Mat:
    """Return a rotation that takes +z to the unit vector ``axis``."""
    x, y, z = axis
    if z > 1.0 - 1e-12:
        return IDENTITY
    if z < -1.0 + 1e-12:
        return mat_from_quat((1.0, 0.0, 0.0, 0.0))
    return mat_from_quat(spatial.quat_from_axis_angle((-y, x, 0.0), math.acos(max(-1.0, min(1.0, z)))))


def chain_from_urdf(text: str, base_link: str, tip_link: str, names: tuple[str, ...], source: str = "") -> Chain:
    """Read the chain from ``base_link`` to ``tip_link``.

    Args:
        text: the URDF.
        base_link: link in whose frame everything is expressed.
        tip_link: tool frame.
        names: the moving joints that the chain must have, base to tip.
        source: file name for messages.

    Raises:
        ConfigError: no URDF, no such link, a moving joint that is not revolute, or joints other than ``names``.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ConfigError("urdf", tip_link, str(error), "well-formed XML", "mend the file", source) from error
    parents = {joint.find("child").attrib["link"]: joint for joint in root.findall("joint")}  # type: ignore[union-attr]
    steps: list[ElementTree.Element] = []
    link = tip_link
    while link != base_link:
        if link not in parents:
            known = ", ".join(sorted(element.attrib["name"] for element in root.findall("link")))
            raise ConfigError(
                "chain",
                f"{base_link} to {tip_link}",
                link,
                f"a link below {base_link} (links: {known})",
                "mend base_link or tip_link",
                source,
            )
        steps.append(parents[link])
        link = parents[link].find("parent").attrib["link"]  # type: ignore[union-attr]
    pose = Pose()
    found: list[str] = []
    frames: list[Pose] = []
    for joint in reversed(steps):
        origin = joint.find("origin")
        attributes = origin.attrib if origin is not None else {}
        rpy = _numbers(attributes.get("rpy"), ORIGIN)
        pose = spatial.compose(pose, Pose(_numbers(attributes.get("xyz"), ORIGIN), spatial.quat_from_rpy(*rpy)))
        kind, name = joint.attrib["type"], joint.attrib["name"]
        if kind == "fixed":
            continue
        if kind not in ("revolute", "continuous") or joint.find("mimic") is not None:
            raise ConfigError("joint", name, kind, "revolute or continuous, without mimic", "choose another tip_link", source)
        axis_element = joint.find("axis")
        axis = _numbers(axis_element.attrib["xyz"] if axis_element is not None else None, (1.0, 0.0, 0.0))
        n = math.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
        turned = quat_from_mat(_turn_z_to((axis[0] / n, axis[1] / n, axis[2] / n)))
        frame = Pose(pose.position, spatial.quat_multiply(pose.orientation, turned))
        found.append(name)
        frames.append(frame)
        pose = Pose(ORIGIN, spatial.quat_conjugate(turned))
    frames.append(pose)
    if tuple(found) != names:
        raise ConfigError(
            "joints",
            f"{base_link} to {tip_link}",
            names,
            f"the chain's own, in order: {', '.join(found)}",
            "mend the limits file",
            source,
        )
    links = tuple(Link(name, mat_from_quat(f.orientation), f.position) for name, f in zip(names, frames[1:]))
    return Chain(mat_from_quat(frames[0].orientation), frames[0].position, links)
