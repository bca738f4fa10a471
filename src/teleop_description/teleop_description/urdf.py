"""``robot_description``: one URDF of all arms, links and joints prefixed, standing in world on their mounts."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from teleop_common import spatial
from teleop_common.cell import Cell
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_common.records import Pose
from teleop_description.assets import mesh_path, urdf_path

WORLD = "world"


def arm_description(arm: str, limits: RobotLimits) -> str:
    """Return the URDF of one arm with prefixed names, on its own base (for tools that look at one arm).

    Raises:
        ConfigError: the model is missing or no URDF.
    """
    robot = ElementTree.Element("robot", name=arm)
    robot.extend(_arm_elements(arm, *_read(limits)))
    return _text(robot)


def robot_description(arms: Sequence[str], cell: Cell, limits: RobotLimits) -> str:
    """Return the URDF of all ``arms``, each base link fixed to ``world`` by its mount.

    Links and joints are named ``<arm>_<name>``; meshes are ``file://`` URIs.

    Raises:
        ConfigError: an arm without mount, or a model that is missing or no URDF.
    """
    source, path = _read(limits)
    robot = ElementTree.Element("robot", name="xr_teleop")
    ElementTree.SubElement(robot, "link", name=WORLD)
    for arm in arms:
        root, root_to_base = _chain_to_root(source, limits)
        # the mount is where the base link stands, which need not be the URDF's root
        pose = spatial.compose(cell.mount(arm), spatial.inverse(root_to_base))
        joint = ElementTree.SubElement(robot, "joint", name=f"{arm}_mount", type="fixed")
        ElementTree.SubElement(joint, "parent", link=WORLD)
        ElementTree.SubElement(joint, "child", link=f"{arm}_{root}")
        rpy = spatial.quat_to_rpy(pose.orientation)
        ElementTree.SubElement(joint, "origin", xyz=_numbers(pose.position), rpy=_numbers(rpy))
        robot.extend(_arm_elements(arm, source, path))
    return _text(robot)


def _read(limits: RobotLimits) -> tuple[ElementTree.Element, Path]:
    path = urdf_path(limits.urdf)
    try:
        return ElementTree.parse(path).getroot(), path
    except (ElementTree.ParseError, OSError) as error:
        raise ConfigError("model", limits.robot, str(error), "a readable URDF", "mend the file", str(path)) from error


def _arm_elements(arm: str, source: ElementTree.Element, path: Path) -> list[ElementTree.Element]:
    """Return links, joints and the like of one arm, renamed."""
    elements = [copy.deepcopy(element) for element in source if element.tag in ("link", "joint", "material")]
    for top in elements:
        for element in top.iter():
            # a material is prefixed as well: two definitions of one name would be an error
            if element.tag in ("link", "joint", "material") and element.get("name"):
                element.set("name", f"{arm}_{element.get('name')}")
            if element.tag in ("parent", "child"):
                element.set("link", f"{arm}_{element.get('link')}")
            if element.tag == "mimic":
                element.set("joint", f"{arm}_{element.get('joint')}")
            if element.tag == "mesh":
                element.set("filename", _mesh_uri(element.get("filename", ""), path))
    return elements


def _mesh_uri(name: str, path: Path) -> str:
    """Return a mesh reference that a viewer on this machine finds."""
    found = mesh_path(name, path)
    return name if found is None else found.resolve().as_uri()


def _chain_to_root(source: ElementTree.Element, limits: RobotLimits) -> tuple[str, Pose]:
    """Return the root link and the pose of the base link in it."""
    joints = {child.get("link"): joint for joint in source.findall("joint") if (child := joint.find("child")) is not None}
    link, pose = limits.base_link, Pose()
    if all(element.get("name") != link for element in source.findall("link")):
        known = ", ".join(str(element.get("name")) for element in source.findall("link"))
        raise ConfigError("link", "base_link", link, "one of " + known, "mend the key base_link", limits.source)
    while link in joints:
        joint = joints[link]
        parent = joint.find("parent")
        if joint.get("type") != "fixed" or parent is None:
            raise ConfigError("link", "base_link", limits.base_link, "a link that no joint moves", "mend", limits.source)
        pose = spatial.compose(_origin(joint), pose)
        link = str(parent.get("link"))
    return link, pose


def _origin(joint: ElementTree.Element) -> Pose:
    element = joint.find("origin")
    if element is None:
        return Pose()
    x, y, z = (float(v) for v in element.get("xyz", "0 0 0").split())
    roll, pitch, yaw = (float(v) for v in element.get("rpy", "0 0 0").split())
    return Pose((x, y, z), spatial.quat_from_rpy(roll, pitch, yaw))


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value:.12g}" for value in values)


def _text(robot: ElementTree.Element) -> str:
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
