"""A calibration held against the model of the arm: are its ranges those of an SO-101, and where is its zero?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from teleop_common.errors import ConfigError
from teleop_common.limits import JointLimits, RobotLimits
from teleop_hw_so101.calibration import LAST_TICK, ArmCalibration, JointCalibration
from teleop_hw_so101.registers import STEPS_PER_TURN
from teleop_hw_so101.units import RADIANS_PER_TICK, joint_scale

Level = Literal["good", "doubtful", "wrong"]
# [deg] a swept range beside the model's limits; real arms are up to 12° short and 20° over, 30° at the gripper
_SHORT, _FAR_SHORT, _LONG = 20.0, 60.0, 30.0
_MOST_ZERO = math.radians(20.0)


class Finding(NamedTuple):
    """What there is to say of one joint.

    Attributes:
        joint: its name.
        level: good, doubtful (look at it), wrong (do not drive so).
        span_deg: its range of motion [deg].
        model_deg: the range of the limits file [deg].
        text: what it means and what to do; empty where good.
    """

    joint: str
    level: Level
    span_deg: float
    model_deg: float
    text: str


def _judge(name: str, span: float, model: float, reach: tuple[float, float]) -> tuple[Level, str]:
    if span < model - _FAR_SHORT:
        return "wrong", f"swept {span:.0f}° of about {model:.0f}°: sweep it to both stops"
    if span > model + _LONG:
        return "wrong", f"swept {span:.0f}°, the arm has about {model:.0f}°: something slipped, or a servo sits on another joint"
    if span < model - _SHORT:
        return "doubtful", f"swept {span:.0f}° of about {model:.0f}°: was it moved to both stops?"
    beyond = max(reach)
    if beyond > 12.0:
        return "doubtful", f"its limits lie {beyond:.0f}° beyond its stop: the servo stops there first"
    return "good", ""


def with_model(calibration: ArmCalibration, robot: RobotLimits) -> tuple[Finding, ...]:
    """Return one finding a joint, in the order of the limits file.

    Raises:
        ConfigError: the calibration lacks a joint of the robot.
    """
    found = []
    for limits in robot.all_joints:
        joint = calibration.joint(limits.name)
        span = math.degrees((joint.range_max - joint.range_min) * RADIANS_PER_TICK)
        model = math.degrees(limits.upper - limits.lower)
        level: Level
        endless = (joint.range_min, joint.range_max) == (0, LAST_TICK)
        if endless and limits.upper - limits.lower > math.radians(270.0):
            level, text = "good", ""  # LeRobot's own range of the wrist's roll
        elif robot.gripper and limits.name == robot.gripper.limits.name:
            level, text = _judge(limits.name, span, model, (0.0, 0.0))
        else:
            level, text = _judge(limits.name, span, model, _beyond(limits, calibration))
        found.append(Finding(limits.name, level, span, model, text))
    return tuple(found)


def _beyond(limits: JointLimits, calibration: ArmCalibration) -> tuple[float, float]:
    """Return how far each limit lies beyond the mechanical range [deg]; negative: within."""
    joint = calibration.joint(limits.name)
    scale = joint_scale(joint)
    ends = sorted((scale.radians(joint.range_min), scale.radians(joint.range_max)))
    return math.degrees(ends[0] - limits.lower), math.degrees(limits.upper - ends[1])


def centred(calibration: ArmCalibration, robot: RobotLimits) -> ArmCalibration:
    """Return the calibration with the middle of each arm joint's range at the middle of its limits, where nobody measured it.

    The SO-101's wrist rolls from -157° to 163°: its stops lie about 2.8°, at which the hand is level.
    """
    middles = {joint.name: round((joint.lower + joint.upper) / 2.0, 6) for joint in robot.joints}
    joints = (j if j.zero_offset else replace(j, zero_offset=middles.get(j.name, 0.0)) for j in calibration.joints)
    return replace(calibration, joints=tuple(joints))


def carried(made: ArmCalibration, before: ArmCalibration, robot: RobotLimits) -> ArmCalibration:
    """Return a new calibration of the same servos with the signs and zeros that were found with the one before.

    The zero is a place of the encoder: where the middle of the range moves, its angle moves with it.
    """
    turning = {joint.name for joint in robot.joints}
    joints = []
    for joint in made.joints:
        was = before.joint(joint.name)
        if joint.name not in turning:
            joint = replace(joint, drive_mode=was.drive_mode)  # the gripper's way of counting; it has no zero of its own
        else:
            moved = _middle(joint) - _middle(was)
            moved -= round(moved / STEPS_PER_TURN) * STEPS_PER_TURN
            zero = was.zero_offset + was.sign * moved * RADIANS_PER_TICK
            # so far off, one of the two sweeps was none
            joint = replace(joint, sign=was.sign, zero_offset=round(zero, 6) if abs(zero) <= _MOST_ZERO else 0.0)
        joints.append(joint)
    return replace(made, joints=tuple(joints))


def _middle(joint: JointCalibration) -> float:
    """Return the middle of the range [ticks of the encoder]."""
    return (joint.range_min + joint.range_max) / 2.0 + joint.homing_offset


def zeroed(calibration: ArmCalibration, readings: Mapping[str, int], pose: Mapping[str, float]) -> ArmCalibration:
    """Return the calibration with the zero offsets that make ``readings`` mean ``pose``.

    Args:
        calibration: of the arm.
        readings: joint name → what its servo reports with the arm put into the pose [ticks].
        pose: joint name → the model's angle there [rad]; joints that it does not name keep their offset.

    Raises:
        ConfigError: an offset comes out above 20°: the arm is not in that pose, or its ranges are wrong.
    """
    joints = []
    for joint in calibration.joints:
        if joint.name in pose:
            offset = pose[joint.name] - joint_scale(replace(joint, zero_offset=0.0)).radians(readings[joint.name])
            if abs(offset) > _MOST_ZERO:
                got, most = f"{math.degrees(offset):.1f}°", math.degrees(_MOST_ZERO)
                remedy = "look at the arm's pose, then at its swept range"
                raise ConfigError("zero offset", joint.name, got, f"±{most:.0f}°", remedy, calibration.source)
            joint = replace(joint, zero_offset=round(offset, 5))
        joints.append(joint)
    return replace(calibration, joints=tuple(joints))
