"""Emulated units: what each servo of an arm holds in EEPROM, and how its magnet sits on the shaft."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration
from teleop_hw_so101.emulator.dynamics import STEPS_PER_RADIAN
from teleop_hw_so101.registers import STEPS_PER_TURN

_MIDDLE = 2047  # where calibration puts the middle of the range [step]
_MOST_OFFSET = 1900  # of a unit's homing offset [step]: most of what 11 bits hold, as real units have


@dataclass(frozen=True)
class Unit:
    """One arm.

    Attributes:
        arm: its name.
        calibration: what a calibration of this very unit says.
        horn: angle of each magnet when its joint stands at 0 [step].
        calibrated: its EEPROM holds the calibration, else what it left the factory with.
    """

    arm: str
    calibration: ArmCalibration
    horn: tuple[float, ...]
    calibrated: bool = True

    def eeprom(self, index: int) -> tuple[tuple[str, int], ...]:
        """Return what the servo of joint ``index`` holds besides the factory's values: register name, count."""
        if not self.calibrated:
            return ()
        joint = self.calibration.joints[index]
        return (
            ("homing_offset", joint.homing_offset),
            ("min_position", joint.range_min),
            ("max_position", joint.range_max),
        )


def horns(calibration: ArmCalibration, limits: RobotLimits) -> tuple[float, ...]:
    """Return how the magnets of a unit with this calibration sit: the angle of each at joint angle 0 [step].

    Raises:
        ConfigError: the calibration lacks a joint, or says that one turns against its model, which no SO-101 does.
    """
    found = []
    for joint in limits.all_joints:
        own = calibration.joint(joint.name)
        if own.sign != 1:
            raise ConfigError(
                "sign", joint.name, own.sign, "1", "emulate a unit whose joints turn as its model", calibration.source
            )
        reference, angle = (own.range_min + own.range_max) / 2.0, own.zero_offset
        if limits.gripper and joint.name == limits.gripper.limits.name:
            # a real gripper's range is longer than its model's: the closed ends are what agrees
            reference, angle = own.range_min, limits.gripper.closed
        found.append(reference + own.homing_offset - angle * STEPS_PER_RADIAN)
    return tuple(found)


def make_unit(arm: str, limits: RobotLimits, seed: int, *, calibrated: bool = True) -> Unit:
    """Return a unit as a person calibrates it, with homing offsets of its own by ``seed`` and ``arm``."""
    generator = random.Random(f"{seed}/{arm}")
    joints = []
    for number, joint in enumerate(limits.all_joints, 1):
        margin = 0.0 if limits.gripper and joint.name == limits.gripper.limits.name else limits.mechanical_margin
        half = round((joint.upper - joint.lower + 2.0 * margin) / 2.0 * STEPS_PER_RADIAN)
        offset = generator.randint(-_MOST_OFFSET, _MOST_OFFSET)
        zero = round((joint.lower + joint.upper) / 2.0, 6) if not limits.gripper or margin else 0.0
        low, high = max(_MIDDLE - half, 0), min(_MIDDLE + half, STEPS_PER_TURN - 1)
        joints.append(JointCalibration(joint.name, number, 0, offset, low, high, 1, zero))
    calibration = ArmCalibration(tuple(joints), f"emulated unit {seed}/{arm}", f"EMULATED-{seed}-{arm}")
    return Unit(arm, calibration, horns(calibration, limits), calibrated)


def from_calibration(arm: str, calibration: ArmCalibration, limits: RobotLimits) -> Unit:
    """Return the unit that a calibration file belongs to."""
    return Unit(arm, calibration, horns(calibration, limits))


def all_horns(units: Sequence[Unit]) -> list[float]:
    """Return the horns of several units, arm by arm [step]."""
    return [angle for unit in units for angle in unit.horn]
