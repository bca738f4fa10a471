"""The calibration of one arm: what its servos hold in EEPROM, in LeRobot's file format, and what is known of it besides.

The file of an arm is LeRobot's, unchanged: one mapping a joint with ``id``, ``drive_mode``, ``homing_offset``, ``range_min`` and
``range_max``, all in ticks (1/4096 turn). What LeRobot has no place for (zero offsets, signs, the adapter's USB serial number)
stands in a second file beside it, ``<name>.unit.yaml``. Files of LeRobot's older format are read by ``calibration_old``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from teleop_common import cache, yamlfile
from teleop_common.errors import ConfigError

MOST_OFFSET = 2047  # what the servo's sign and magnitude of 11 bits hold
LAST_TICK = 4095
MIDDLE = 2047  # what LeRobot makes a servo read in the middle of its range
_TURN = LAST_TICK + 1
EEPROM_FIELDS = ("homing_offset", "range_min", "range_max")
_RANGES = {"id": (0, 253), "drive_mode": (0, 1), "homing_offset": (-MOST_OFFSET, MOST_OFFSET), "range_min": (0, LAST_TICK)}
_RANGES["range_max"] = _RANGES["range_min"]


def offset_for(encoder: float, reads: int = MIDDLE) -> int:
    """Return the homing offset [ticks] with which ``encoder`` reads ``reads``, within what the servo holds."""
    offset = (round(encoder) - reads + _TURN // 2) % _TURN - _TURN // 2
    return max(offset, -MOST_OFFSET)  # -2048 does not fit in 11 bits: one tick beside it


@dataclass(frozen=True)
class JointCalibration:
    """One joint.

    Attributes:
        name: joint name without an arm's prefix.
        id: servo ID on the bus.
        drive_mode: LeRobot's; 1 mirrors its two range modes and our gripper.
        homing_offset: EEPROM 31 [ticks]; the servo reports its encoder less this, modulo one turn.
        range_min: EEPROM 9, lower end of the mechanical range [ticks, as reported].
        range_max: EEPROM 11, upper end of it [ticks, as reported].
        sign: +1 where growing ticks turn the joint as its URDF counts, else -1; in the unit file.
        zero_offset: what the URDF's joint angle is at the middle of the range [rad]; in the unit file.
    """

    name: str
    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int
    sign: int = 1
    zero_offset: float = 0.0


@dataclass(frozen=True)
class ArmCalibration:
    """All joints of one arm.

    Attributes:
        joints: arm joints from base to tip, then the gripper.
        source: the file, or what was read.
        usb_serial: serial number of the USB adapter that this arm was last seen on; empty: not known.
    """

    joints: tuple[JointCalibration, ...]
    source: str = ""
    usb_serial: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names in order."""
        return tuple(joint.name for joint in self.joints)

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits of what the servos hold: alike for two arms only when their EEPROM is."""
        text = json.dumps([[j.id, *(getattr(j, field) for field in EEPROM_FIELDS)] for j in self.joints])
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def joint(self, name: str) -> JointCalibration:
        """Return one joint.

        Raises:
            ConfigError: there is none of this name.
        """
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise ConfigError("joint", name, None, "one of " + ", ".join(self.names), "calibrate the arm anew", self.source)


class Difference(NamedTuple):
    """One value in which two calibrations differ."""

    joint: str
    field: str
    file: int
    unit: int


def differences(file: ArmCalibration, unit: ArmCalibration) -> tuple[Difference, ...]:
    """Return where the servos (``unit``) hold other values than the file; empty: this is the file of this very arm."""
    found = []
    for joint in file.joints:
        servo = unit.joint(joint.name)
        for field in ("id", *EEPROM_FIELDS):
            mine, its = getattr(joint, field), getattr(servo, field)
            if mine != its:
                found.append(Difference(joint.name, field, mine, its))
    return tuple(found)


def table(found: Sequence[Difference]) -> str:
    """Return differences as lines of text, one a value, for logs and messages."""
    rows = [("joint", "value", "file", "servo", "off by")]
    rows += [(d.joint, d.field, str(d.file), str(d.unit), f"{d.unit - d.file:+d}") for d in found]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        numbers = (cell.rjust(width) for cell, width in zip(row[2:], widths[2:]))
        lines.append("  ".join((row[0].ljust(widths[0]), row[1].ljust(widths[1]), *numbers)))
    return "\n".join(lines)


def whose(unit: ArmCalibration, known: Mapping[str, ArmCalibration]) -> str | None:
    """Return the arm among ``known`` whose file says exactly what these servos hold; None: nobody's."""
    for arm, calibration in known.items():
        if set(calibration.names) == set(unit.names) and not differences(calibration, unit):
            return arm
    return None


def from_eeprom(values: Mapping[str, tuple[int, int, int, int]], source: str = "servos") -> ArmCalibration:
    """Return what the servos hold as a calibration.

    Args:
        values: joint name → ID, homing offset, least and greatest position [ticks].
        source: where it was read.
    """
    return ArmCalibration(
        tuple(JointCalibration(name, ident, 0, offset, low, high) for name, (ident, offset, low, high) in values.items()), source
    )


def _joint(name: str, table: yamlfile.Table) -> JointCalibration:
    values: dict[str, int] = {}
    for field, (low, high) in _RANGES.items():
        value = table.number(field, low, high)
        if value != int(value):
            raise table.error(field, value, "a whole number")
        values[field] = int(value)
    table.done()
    if values["range_min"] >= values["range_max"]:
        raise table.error("range_min", values["range_min"], f"below range_max ({values['range_max']})", "calibrate the arm anew")
    return JointCalibration(name, **values)


def parse(text: str, source: str = "text") -> ArmCalibration:
    """Read LeRobot's format of today.

    Raises:
        ConfigError: it is not that; names the key, the value and what is allowed.
    """
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise ConfigError("calibration", source, str(error), "a JSON file of LeRobot", "name another file") from error
    if isinstance(data, dict) and "motor_names" in data:
        remedy = "convert it: ./teleop arm calibrate --from FILE"
        raise ConfigError("calibration", source, "LeRobot's older format", "one mapping a joint", remedy)
    joints = tuple(_joint(name, part) for name, part in yamlfile.Table(data, source).items())
    idents = [joint.id for joint in joints]
    if not joints or len(set(idents)) != len(idents):
        raise ConfigError("key", "id", idents, "at least one joint, each ID once", "mend the file", source)
    return ArmCalibration(joints, source)


def dumps(calibration: ArmCalibration) -> str:
    """Return the text of LeRobot's file."""
    data = {j.name: {field: getattr(j, field) for field in _RANGES} for j in calibration.joints}
    return json.dumps(data, indent=4)


def unit_file(path: str | Path) -> Path:
    """Return the file beside LeRobot's that holds the rest."""
    return Path(path).with_suffix(".unit.yaml")


def load(path: str | Path) -> ArmCalibration:
    """Read an arm's calibration, with its unit file where there is one.

    Raises:
        ConfigError: a file is absent or says what cannot be.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        remedy = "calibrate the arm: ./teleop arm calibrate"
        raise ConfigError("calibration", str(path), error.strerror, "a file that can be read", remedy) from error
    calibration = parse(text, str(path))
    beside = unit_file(path)
    if not beside.exists():
        return calibration
    top = yamlfile.read(beside)
    serial, parts = top.text("usb_serial", ""), dict(top.table("joints", {}).items())
    top.done()
    for name in parts:
        calibration.joint(name)
    joints = []
    for joint in calibration.joints:
        if (part := parts.get(joint.name)) is not None:
            sign = part.number("sign", -1, 1, 1)
            if sign == 0:
                raise part.error("sign", sign, "1 or -1")
            joint = replace(joint, sign=int(sign), zero_offset=part.number("zero_offset", -0.6, 0.6, 0.0))
            part.done()
        joints.append(joint)
    return replace(calibration, joints=tuple(joints), usb_serial=serial)


def save(calibration: ArmCalibration, path: str | Path, *, overwrite: bool = False) -> None:
    """Write LeRobot's file and the unit file.

    Args:
        calibration: what to write.
        path: LeRobot's file, ``<name>.json``.
        overwrite: replace a file that says something else; the one before it is kept as ``<name>.json.bak``.

    Raises:
        ConfigError: a file is there that says something else, and ``overwrite`` was not given.
    """
    path, text = Path(path), dumps(calibration)
    if path.exists():
        before = path.read_text(encoding="utf-8")
        if not _same(before, text):
            if not overwrite:
                raise ConfigError(
                    "file", str(path), "another calibration", "the same, or none", "compare the two, then overwrite"
                )
            cache.write_atomically(path.with_suffix(".json.bak"), before.encode())
    cache.write_atomically(path, text.encode())
    extra: dict[str, Any] = {"usb_serial": calibration.usb_serial} if calibration.usb_serial else {}
    known = {
        j.name: {"sign": j.sign, "zero_offset": j.zero_offset} for j in calibration.joints if (j.sign, j.zero_offset) != (1, 0.0)
    }
    if known:
        extra["joints"] = known
    if extra or unit_file(path).exists():
        cache.write_atomically(unit_file(path), yaml.safe_dump(extra, sort_keys=False).encode())


def _same(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False
