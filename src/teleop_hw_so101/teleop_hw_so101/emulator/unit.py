"""Emulated units: what each servo of an arm holds in EEPROM, and how its magnet sits on the shaft."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_hw_so101 import compare
from teleop_hw_so101.calibration import LAST_TICK, MIDDLE, ArmCalibration, JointCalibration
from teleop_hw_so101.emulator.dynamics import STEPS_PER_RADIAN
from teleop_hw_so101.units import arm_scales

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
    for name, scale in zip(limits.names, arm_scales(calibration, limits)):
        own = calibration.joint(name)
        if own.sign != 1:
            raise ConfigError("sign", name, own.sign, "1", "emulate a unit whose joints turn as its model", calibration.source)
        # a real gripper's range is longer than its model's: its scale begins where the two agree, at the closed end
        found.append(scale.origin_ticks + own.homing_offset - scale.origin * STEPS_PER_RADIAN)
    return tuple(found)


def make_unit(arm: str, limits: RobotLimits, seed: int, *, calibrated: bool = True) -> Unit:
    """Return a unit as a person calibrates it, with homing offsets of its own by ``seed`` and ``arm``."""
    generator = random.Random(f"{seed}/{arm}")
    joints = []
    for number, joint in enumerate(limits.all_joints, 1):
        margin = 0.0 if limits.gripper and joint.name == limits.gripper.limits.name else limits.mechanical_margin
        half = round((joint.upper - joint.lower + 2.0 * margin) / 2.0 * STEPS_PER_RADIAN)
        offset = generator.randint(-_MOST_OFFSET, _MOST_OFFSET)
        low, high = max(MIDDLE - half, 0), min(MIDDLE + half, LAST_TICK)
        joints.append(JointCalibration(joint.name, number, 0, offset, low, high))
    bare = ArmCalibration(tuple(joints), f"emulated unit {seed}/{arm}", f"EMULATED-{seed}-{arm}")
    calibration = compare.centred(bare, limits)
    return Unit(arm, calibration, horns(calibration, limits), calibrated)


def from_calibration(arm: str, calibration: ArmCalibration, limits: RobotLimits) -> Unit:
    """Return the unit that a calibration file belongs to."""
    return Unit(arm, calibration, horns(calibration, limits))


def all_horns(units: Sequence[Unit]) -> list[float]:
    """Return the horns of several units, arm by arm [step]."""
    return [angle for unit in units for angle in unit.horn]
