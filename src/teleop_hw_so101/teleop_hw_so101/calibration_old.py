"""LeRobot's older calibration files: parallel lists, zero at the arm stretched out level, offsets applied in software.

There a joint's degrees are (±encoder + ``homing_offset``)·180/2048, minus where ``drive_mode`` is 1, and 0 is the arm stretched
out forwards; today's are 0 at mid-range. LeRobot's own conversion of recordings gives the shift: today's shoulder_lift is 90°
less the old, elbow_flex the old less 90°.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from teleop_common import yamlfile
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_hw_so101.calibration import LAST_TICK, MIDDLE, ArmCalibration, JointCalibration, offset_for
from teleop_hw_so101.units import RADIANS_PER_TICK

_HALF = 2048  # [ticks] half a turn
_LISTS = ("homing_offset", "drive_mode", "start_pos", "end_pos")
# today's zero [deg] in the old count, of an SO-101 with these signs; with others nobody knows what 0 was
_ZERO = {"shoulder_pan": 0.0, "shoulder_lift": 90.0, "elbow_flex": 90.0, "wrist_flex": 0.0, "wrist_roll": 0.0}
_DRIVE = {"shoulder_pan": 0, "shoulder_lift": 1, "elbow_flex": 0, "wrist_flex": 0, "wrist_roll": 1, "gripper": 0}


@dataclass(frozen=True)
class OldCalibration:
    """A file of the older format; all tuples in the order of ``motor_names``.

    Attributes:
        homing_offset: added to the encoder's ticks [ticks].
        drive_mode: 1 counts the encoder backwards.
        start_pos: where the sweep began [ticks]; closed, for the gripper.
        end_pos: where it ended [ticks, counted as by drive_mode].
        calib_mode: DEGREE or LINEAR.
        motor_names: joint names.
        source: the file.
    """

    homing_offset: tuple[int, ...]
    drive_mode: tuple[int, ...]
    start_pos: tuple[int, ...]
    end_pos: tuple[int, ...]
    calib_mode: tuple[str, ...]
    motor_names: tuple[str, ...]
    source: str = ""

    def value(self, name: str, encoder: float) -> float:
        """Return the old count of a joint [deg, or percent where LINEAR] at an encoder position [ticks]."""
        i = self.motor_names.index(name)
        counted = -encoder if self.drive_mode[i] else encoder
        if self.calib_mode[i] == "LINEAR":
            return (counted - self.start_pos[i]) / (self.end_pos[i] - self.start_pos[i]) * 100.0
        return (counted + self.homing_offset[i]) * 180.0 / _HALF

    def encoder(self, name: str, value: float) -> float:
        """Return the encoder position [ticks] at an old count; the inverse of :meth:`value`."""
        i = self.motor_names.index(name)
        if self.calib_mode[i] == "LINEAR":
            counted = self.start_pos[i] + value / 100.0 * (self.end_pos[i] - self.start_pos[i])
        else:
            counted = value * _HALF / 180.0 - self.homing_offset[i]
        return -counted if self.drive_mode[i] else counted


def parse(text: str, source: str = "text") -> OldCalibration:
    """Read the older format.

    Raises:
        ConfigError: it is not that; names the key, the value and what is allowed.
    """
    try:
        top = yamlfile.Table(json.loads(text), source)
    except ValueError as error:
        raise ConfigError("calibration", source, str(error), "a JSON file of LeRobot", "name another file") from error
    names = top.raw("motor_names")
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise top.error("motor_names", names, "a list of joint names, each once")
    modes = top.raw("calib_mode")
    if not isinstance(modes, list) or len(modes) != len(names) or not set(modes) <= {"DEGREE", "LINEAR"}:
        raise top.error("calib_mode", modes, f"a list of {len(names)} of DEGREE, LINEAR")
    lists: dict[str, tuple[int, ...]] = {}
    for key in _LISTS:
        most = 1 if key == "drive_mode" else 2 * LAST_TICK
        values = top.numbers(key, len(names), 0 if key == "drive_mode" else -most, most)
        if any(value != int(value) for value in values):
            raise top.error(key, list(values), "whole numbers")
        lists[key] = tuple(int(value) for value in values)
    top.done()
    for name, mode, first, last in zip(names, modes, lists["start_pos"], lists["end_pos"]):
        if mode == "LINEAR" and first == last:
            raise top.error("end_pos", last, f"another than start_pos of '{name}'")
    return OldCalibration(calib_mode=tuple(modes), motor_names=tuple(names), source=source, **lists)


def dumps(old: OldCalibration) -> str:
    """Return the text of the file."""
    data: dict[str, Any] = asdict(old)
    del data["source"]
    return json.dumps(data)


def converted(old: OldCalibration, robot: RobotLimits) -> ArmCalibration:
    """Return today's calibration of the arm: zero where the old file has it, ranges as wide as the limits, since it has none.

    Raises:
        ConfigError: joints or signs are not those of an SO-101 that was calibrated by hand: what 0 was is not known then.
    """
    drive = dict(zip(old.motor_names, old.drive_mode))
    if drive != _DRIVE:
        remedy = "sweep the arm instead: ./teleop arm calibrate"
        raise ConfigError(
            "key", "drive_mode", list(old.drive_mode), f"{list(_DRIVE.values())} for {', '.join(_DRIVE)}", remedy, old.source
        )
    joints = []
    for ident, limits in enumerate(robot.all_joints, 1):
        name = limits.name
        if name in _ZERO:
            encoder, half = old.encoder(name, _ZERO[name]), round((limits.upper - limits.lower) / 2.0 / RADIANS_PER_TICK)
        else:
            ends = old.encoder(name, 0.0), old.encoder(name, 100.0)
            encoder, half = sum(ends) / 2.0, round(abs(ends[1] - ends[0]) / 2.0)
        joints.append(JointCalibration(name, ident, 0, offset_for(encoder), MIDDLE - half, MIDDLE + half))
    return ArmCalibration(tuple(joints), f"{old.source} (older format; ranges from the limits)")
