"""Ticks, radians, degrees and percent of an arm's joints, converted in this one place.

A servo reports ticks of 1/4096 turn. LeRobot counts degrees from the middle of the swept range, with 360° on 4095 ticks (0.024 %
more than there are), and the gripper in percent of its range, 0 closed. A URDF counts radians from its own zero, which LeRobot
takes for the middle of the range; an arm's ``zero_offset`` says by how much that is wrong. The gripper's angle is known by
percentage alone: a real one sweeps about 128° where the model has 110°.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration
from teleop_hw_so101.registers import STEPS_PER_TURN

TICKS_PER_TURN = STEPS_PER_TURN
RADIANS_PER_TICK = 2.0 * math.pi / TICKS_PER_TURN
LEROBOT_TICKS_PER_TURN = 4095
LeRobotMode = Literal["degrees", "range_m100_100", "range_0_100"]


@dataclass(frozen=True)
class JointScale:
    """Ticks ↔ radians of one joint, a straight line.

    Attributes:
        origin_ticks: a position [ticks].
        origin: the joint angle there [rad].
        radians_per_tick: slope, negative where the servo turns against the URDF [rad/tick].
        least: lower end of the mechanical range [ticks].
        most: upper end of the mechanical range [ticks].
    """

    origin_ticks: float
    origin: float
    radians_per_tick: float
    least: int
    most: int

    def radians(self, ticks: float) -> float:
        """Return the joint angle [rad] at ``ticks``."""
        return self.origin + (ticks - self.origin_ticks) * self.radians_per_tick

    def ticks(self, radians: float) -> float:
        """Return the position [ticks] at ``radians``, neither rounded nor clamped."""
        return self.origin_ticks + (radians - self.origin) / self.radians_per_tick

    def goal(self, radians: float) -> int:
        """Return the nearest tick within the mechanical range."""
        return min(max(round(self.ticks(radians)), self.least), self.most)

    def speed(self, ticks_per_second: float) -> float:
        """Return a speed [rad/s]."""
        return ticks_per_second * self.radians_per_tick

    def interval(self, lower: float, upper: float) -> tuple[int, int]:
        """Return the whole ticks within the limits and the mechanical range.

        Args:
            lower: least joint angle [rad].
            upper: greatest joint angle [rad].

        Returns:
            Least and greatest tick. Rounded inwards, so that no tick of them lies outside the limits.

        Raises:
            ConfigError: no tick is within both.
        """
        ends = sorted((self.ticks(lower), self.ticks(upper)))
        least, most = max(math.ceil(ends[0] - 1e-9), self.least), min(math.floor(ends[1] + 1e-9), self.most)
        if least > most:
            allowed = f"some of {self.least} to {self.most} ticks"
            raise ConfigError("limits", f"{lower:.3f} to {upper:.3f} rad", [least, most], allowed, "calibrate the arm anew")
        return least, most


def joint_scale(joint: JointCalibration) -> JointScale:
    """Return the scale of an arm joint: the middle of the range is the URDF's zero plus ``zero_offset``."""
    middle = (joint.range_min + joint.range_max) / 2.0
    return JointScale(middle, joint.zero_offset, joint.sign * RADIANS_PER_TICK, joint.range_min, joint.range_max)


def gripper_scale(joint: JointCalibration, closed: float, opened: float) -> JointScale:
    """Return the scale of a gripper: 0 % of the range is ``closed`` [rad], 100 % is ``opened`` [rad]."""
    slope = (opened - closed) / (joint.range_max - joint.range_min)
    if joint.drive_mode:
        return JointScale(joint.range_max, closed, -slope, joint.range_min, joint.range_max)
    return JointScale(joint.range_min, closed, slope, joint.range_min, joint.range_max)


def arm_scales(calibration: ArmCalibration, robot: RobotLimits) -> tuple[JointScale, ...]:
    """Return the scales of all joints in the order of the limits file.

    Raises:
        ConfigError: the calibration lacks a joint of the robot.
    """
    scales = [joint_scale(calibration.joint(joint.name)) for joint in robot.joints]
    if robot.gripper:
        joint = calibration.joint(robot.gripper.limits.name)
        scales.append(gripper_scale(joint, robot.gripper.closed, robot.gripper.open))
    return tuple(scales)


def lerobot_value(ticks: float, joint: JointCalibration, mode: LeRobotMode) -> float:
    """Return LeRobot's value [degrees or percent] at ``ticks``; its range modes clamp, and ``drive_mode`` mirrors them alone."""
    if mode == "degrees":
        return (ticks - (joint.range_min + joint.range_max) / 2.0) * 360.0 / LEROBOT_TICKS_PER_TURN
    share = (min(max(ticks, joint.range_min), joint.range_max) - joint.range_min) / (joint.range_max - joint.range_min)
    share = 1.0 - share if joint.drive_mode else share
    return share * 200.0 - 100.0 if mode == "range_m100_100" else share * 100.0


def lerobot_ticks(value: float, joint: JointCalibration, mode: LeRobotMode) -> float:
    """Return where LeRobot's ``value`` [degrees or percent] is [ticks]; the inverse of :func:`lerobot_value`."""
    if mode == "degrees":
        return value * LEROBOT_TICKS_PER_TURN / 360.0 + (joint.range_min + joint.range_max) / 2.0
    share = (value + 100.0) / 200.0 if mode == "range_m100_100" else value / 100.0
    share = min(max(share, 0.0), 1.0)
    share = 1.0 - share if joint.drive_mode else share
    return joint.range_min + share * (joint.range_max - joint.range_min)


def _zeros(robot: RobotLimits, calibration: ArmCalibration | None) -> list[tuple[int, float]]:
    if calibration is None:
        return [(1, 0.0)] * len(robot.joints)
    return [((j := calibration.joint(joint.name)).sign, j.zero_offset) for joint in robot.joints]


def lerobot_from_radians(
    positions: Sequence[float], robot: RobotLimits, calibration: ArmCalibration | None = None
) -> tuple[float, ...]:
    """Return joint angles as LeRobot's follower reports them by default.

    Args:
        positions: all joints in the order of the limits file [rad].
        robot: the limits file, for the gripper's ends.
        calibration: of the arm, for its zero offsets and signs; None: none, as in simulation.

    Returns:
        Degrees of the arm joints, then percent of the gripper where the robot has one.
    """
    factor = math.degrees(1.0) * TICKS_PER_TURN / LEROBOT_TICKS_PER_TURN
    values = [sign * (q - zero) * factor for q, (sign, zero) in zip(positions, _zeros(robot, calibration))]
    if robot.gripper:
        closed, opened = robot.gripper.closed, robot.gripper.open
        values.append((positions[len(robot.joints)] - closed) / (opened - closed) * 100.0)
    return tuple(values)


def radians_from_lerobot(
    values: Sequence[float], robot: RobotLimits, calibration: ArmCalibration | None = None
) -> tuple[float, ...]:
    """Return LeRobot's degrees and percent as joint angles [rad]; the inverse of :func:`lerobot_from_radians`."""
    factor = math.radians(1.0) * LEROBOT_TICKS_PER_TURN / TICKS_PER_TURN
    positions = [sign * value * factor + zero for value, (sign, zero) in zip(values, _zeros(robot, calibration))]
    if robot.gripper:
        closed, opened = robot.gripper.closed, robot.gripper.open
        positions.append(closed + values[len(robot.joints)] / 100.0 * (opened - closed))
    return tuple(positions)
