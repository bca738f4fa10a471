"""Pinocchio models of one arm: what IK, guard and the conformance test compute with."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description.assets import urdf_path
from teleop_description.pinocchio_compat import joint_of


def _frame(model: pin.Model, name: str, key: str, limits: RobotLimits) -> int:
    """Return the id of the body frame ``name``."""
    if not model.existBodyName(name):
        links = ", ".join(f.name for f in model.frames if f.type == pin.FrameType.BODY)
        raise ConfigError("link", key, name, "one of " + links, f"mend the key {key}", limits.source)
    return int(model.getFrameId(name, pin.FrameType.BODY))


def _read(limits: RobotLimits) -> ElementTree.Element:
    """Return the URDF, its continuous joints of the limits file made revolute: their limits are the file's.

    Raises:
        ConfigError: no URDF.
    """
    path = urdf_path(limits.urdf)
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as error:
        raise ConfigError("model", limits.robot, str(error), "a readable URDF", "mend the file", str(path)) from error
    for joint in limits.all_joints:
        element = next((e for e in root.findall("joint") if e.get("name") == joint.name), None)
        if element is not None and element.get("type") == "continuous":
            element.set("type", "revolute")
            for old in element.findall("limit"):
                element.remove(old)
            ElementTree.SubElement(
                element, "limit", lower=repr(joint.lower), upper=repr(joint.upper), velocity=repr(joint.velocity), effort="0"
            )
    return root


def mimics(root: ElementTree.Element, limits: RobotLimits) -> tuple[tuple[str, float, float], ...]:
    """Return name, multiplier and offset of the joints that mimic the gripper's, such as the other finger's."""
    found = []
    for joint in root.findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and limits.gripper is not None and mimic.get("joint") == limits.gripper.limits.name:
            found.append((str(joint.get("name")), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))))
    return tuple(found)


def arm_models(limits: RobotLimits) -> tuple[pin.Model, ...]:
    """Return the arm's model once for each opening of the gripper that its locked links are to be swept through.

    One model where nothing mimics the gripper.

    Raises:
        ConfigError: see ``arm_model``.
    """
    if limits.gripper is None or not mimics(_read(limits), limits):
        return (arm_model(limits),)
    low, high = limits.gripper.limits.lower, limits.gripper.limits.upper
    return tuple(arm_model(limits, low + share * (high - low)) for share in (0.0, 0.25, 0.5, 0.75, 1.0))


def arm_model(limits: RobotLimits, opening: float = 0.0) -> pin.Model:
    """Return the model of one arm, standing fixed on its base link, with the joints of ``limits`` in their order.

    Every other joint of the URDF is locked at its neutral position, one that mimics the gripper where it is at ``opening``.
    Position and velocity limits of the model are those of the limits file. Link and joint names carry no arm prefix; the
    universe frame is the base link's.

    Args:
        limits: the robot.
        opening: position of the gripper [rad or m].

    Raises:
        ConfigError: no URDF, an unknown joint or link, a joint that is not a single revolute, continuous or prismatic one,
            another order.
    """
    root = _read(limits)
    try:
        full = pin.buildModelFromXML(ElementTree.tostring(root, encoding="unicode"))
    except (ValueError, RuntimeError) as error:
        why = " ".join(str(error).split())
        raise ConfigError("model", limits.urdf, why, "a URDF of one connected robot", "mend the URDF", limits.source) from error
    wanted = limits.names
    for name in wanted:
        if not full.existJointName(name):
            known = ", ".join(full.names[1:])
            raise ConfigError("joint", name, name, "one of " + known, "mend the joints of the limits file", limits.source)
        joint = full.joints[full.getJointId(name)]
        if joint.nq != 1:
            raise ConfigError(
                "joint", name, joint.shortname(), "a revolute, continuous or prismatic joint", "mend the URDF", limits.source
            )
    locked = [full.getJointId(name) for name in full.names[1:] if name not in wanted]
    at = pin.neutral(full)
    for name, factor, offset in mimics(root, limits):
        at[full.joints[full.getJointId(name)].idx_q] = factor * opening + offset
    model = pin.buildReducedModel(full, locked, at) if locked else full
    found = tuple(model.names[1:])
    if found != wanted:
        raise ConfigError(
            "joints", limits.robot, list(wanted), "the URDF's order " + ", ".join(found), "reorder the limits file", limits.source
        )
    base = model.frames[_frame(model, limits.base_link, "base_link", limits)]
    if joint_of(base) != 0:
        moved = model.names[joint_of(base)]
        raise ConfigError(
            "link", "base_link", limits.base_link, "a link that no joint moves", f"joint {moved} moves it", limits.source
        )
    _rebase(model, base.placement.inverse())
    _frame(model, limits.tip_link, "tip_link", limits)
    model.lowerPositionLimit = np.array([j.lower for j in limits.all_joints])
    model.upperPositionLimit = np.array([j.upper for j in limits.all_joints])
    model.velocityLimit = np.array([j.velocity for j in limits.all_joints])
    return model


def _rebase(model: pin.Model, transform_universe_to_base: pin.SE3) -> None:
    """Express all that hangs on the universe in the base link's frame (a URDF may put a world link below it)."""
    if transform_universe_to_base.isIdentity(1e-12):
        return
    for joint in range(1, model.njoints):
        if model.parents[joint] == 0:
            model.jointPlacements[joint] = transform_universe_to_base * model.jointPlacements[joint]
    for frame in list(model.frames)[1:]:
        if joint_of(frame) == 0:
            model.frames[model.getFrameId(frame.name, frame.type)].placement = transform_universe_to_base * frame.placement


def tool_frame_id(model: pin.Model, limits: RobotLimits) -> int:
    """Return the frame id of the tool centre point in ``model``.

    Raises:
        ConfigError: the model has no such link.
    """
    return _frame(model, limits.tip_link, "tip_link", limits)
