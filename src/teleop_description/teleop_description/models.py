"""Pinocchio models of one arm: what IK, guard and the conformance test compute with."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description.assets import urdf_path


def _frame(model: pin.Model, name: str, key: str, limits: RobotLimits) -> int:
    """Return the id of the body frame ``name``."""
    if not model.existBodyName(name):
        links = ", ".join(f.name for f in model.frames if f.type == pin.FrameType.BODY)
        raise ConfigError("link", key, name, "one of " + links, f"mend the key {key}", limits.source)
    return int(model.getFrameId(name, pin.FrameType.BODY))


def arm_model(limits: RobotLimits) -> pin.Model:
    """Return the model of one arm, standing fixed on its base link, with the joints of ``limits`` in their order.

    Every other joint of the URDF is locked at its neutral position. Position and velocity limits of the model are those
    of the limits file. Link and joint names carry no arm prefix; the universe frame is the base link's.

    Raises:
        ConfigError: an unknown joint or link, a joint that is not a single revolute or prismatic one, another order.
    """
    full = pin.buildModelFromUrdf(str(urdf_path(limits.urdf)))
    wanted = limits.names
    for name in wanted:
        if not full.existJointName(name):
            known = ", ".join(full.names[1:])
            raise ConfigError("joint", name, name, "one of " + known, "mend the joints of the limits file", limits.source)
        joint = full.joints[full.getJointId(name)]
        if joint.nq != 1:
            raise ConfigError(
                "joint", name, joint.shortname(), "a revolute or prismatic joint with limits", "mend the URDF", limits.source
            )
    locked = [full.getJointId(name) for name in full.names[1:] if name not in wanted]
    model = pin.buildReducedModel(full, locked, pin.neutral(full)) if locked else full
    found = tuple(model.names[1:])
    if found != wanted:
        raise ConfigError(
            "joints", limits.robot, list(wanted), "the URDF's order " + ", ".join(found), "reorder the limits file", limits.source
        )
    base = model.frames[_frame(model, limits.base_link, "base_link", limits)]
    if base.parentJoint != 0:
        moved = model.names[base.parentJoint]
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
        if frame.parentJoint == 0:
            model.frames[model.getFrameId(frame.name, frame.type)].placement = transform_universe_to_base * frame.placement


def tool_frame_id(model: pin.Model, limits: RobotLimits) -> int:
    """Return the frame id of the tool centre point in ``model``.

    Raises:
        ConfigError: the model has no such link.
    """
    return _frame(model, limits.tip_link, "tip_link", limits)
