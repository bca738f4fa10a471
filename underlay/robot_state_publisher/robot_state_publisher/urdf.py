"""The kinematic tree of a URDF: pure, metres and radians, quaternions (x, y, z, w)."""

from __future__ import annotations

import math
from typing import NamedTuple
from xml.etree import ElementTree

from tf2_ros.graph import Quaternion, Vector, compose, multiply


class Mimic(NamedTuple):
    """A joint that follows another: multiplier * q + offset."""

    joint: str
    multiplier: float
    offset: float


class Joint(NamedTuple):
    """A joint: its origin in the parent link and its axis in its own frame."""

    name: str
    kind: str
    parent: str
    child: str
    translation: Vector
    rotation: Quaternion
    axis: Vector
    mimic: Mimic | None

    @property
    def fixed(self) -> bool:
        """Whether it doesn't move."""
        return self.kind == "fixed"

    def pose(self, position: float) -> tuple[Vector, Quaternion]:
        """Return the pose of the child link in the parent link at ``position`` [rad] or [m]."""
        if self.fixed:
            return self.translation, self.rotation
        if self.kind == "prismatic":
            slid = (self.axis[0] * position, self.axis[1] * position, self.axis[2] * position)
            return compose((self.translation, self.rotation), (slid, (0.0, 0.0, 0.0, 1.0)))
        sine = math.sin(position / 2.0)
        turn = (self.axis[0] * sine, self.axis[1] * sine, self.axis[2] * sine, math.cos(position / 2.0))
        return self.translation, multiply(self.rotation, turn)


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the rotation about fixed x, then y, then z [rad] (REP-103)."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def parse(text: str) -> list[Joint]:
    """Return the joints of a URDF.

    Raises:
        ValueError: the text isn't a URDF, or its links are no tree.
        NotImplementedError: a joint of more than one degree of freedom.
    """
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"robot_description: not XML ({error}); expected a URDF") from error
    if robot.tag != "robot":
        raise ValueError(f"robot_description: got the root element '{robot.tag}', allowed 'robot'; expected a URDF")
    links = {link.get("name", "") for link in robot.findall("link")}
    joints = [_joint(element) for element in robot.findall("joint")]
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in links:
                raise ValueError(f"joint '{joint.name}': got link '{link}', allowed one of {sorted(links)}")
    children = [joint.child for joint in joints]
    roots = links - set(children)
    if len(roots) != 1 or len(children) != len(set(children)):
        raise ValueError(f"robot_description: got root links {sorted(roots)}, allowed exactly one and one parent a link")
    return joints


def _joint(element: ElementTree.Element) -> Joint:
    name, kind = element.get("name", ""), element.get("type", "")
    if kind in ("floating", "planar"):
        raise NotImplementedError(f"joint '{name}': type '{kind}' isn't in this subset; install ros-jazzy-robot-state-publisher")
    if kind not in ("revolute", "continuous", "prismatic", "fixed"):
        raise ValueError(f"joint '{name}': got type '{kind}', allowed revolute, continuous, prismatic or fixed")
    ends = {tag: getattr(element.find(tag), "attrib", {}).get("link", "") for tag in ("parent", "child")}
    origin = getattr(element.find("origin"), "attrib", {})
    mimic = element.find("mimic")
    axis = _vector(name, getattr(element.find("axis"), "attrib", {}).get("xyz", "1 0 0"))
    norm = math.sqrt(sum(value * value for value in axis))
    if kind != "fixed" and norm < 1e-9:
        raise ValueError(f"joint '{name}': got axis {axis}, allowed a vector that isn't zero")
    return Joint(
        name,
        kind,
        ends["parent"],
        ends["child"],
        _vector(name, origin.get("xyz", "0 0 0")),
        quaternion_from_rpy(*_vector(name, origin.get("rpy", "0 0 0"))),
        (axis[0] / norm, axis[1] / norm, axis[2] / norm) if norm else axis,
        None
        if mimic is None
        else Mimic(mimic.get("joint", ""), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))),
    )


def _vector(joint: str, text: str) -> Vector:
    try:
        x, y, z = (float(part) for part in text.split())
    except ValueError:
        raise ValueError(f"joint '{joint}': got '{text}', allowed three numbers") from None
    return (x, y, z)
