"""Calibration files of LeRobot, today's and the older ones: read, written, compared with what servos hold."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import limits
from teleop_common.errors import ConfigError
from teleop_hw_so101 import calibration, calibration_old

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
REAL = sorted(path for folder in ROOT.parent.glob("*/data/real/so101_calibration") for path in folder.glob("*.json"))
needs_real = pytest.mark.skipif(not REAL, reason="no recorded calibration files beside the repository")


def arm(**changes):
    joints = []
    for ident, name in enumerate(ROBOT.names, 1):
        joints.append(calibration.JointCalibration(name, ident, 0, 100 * ident - 300, 800 + ident, 3200 + ident))
    return replace(calibration.ArmCalibration(tuple(joints), "test"), **changes)


def changed(given_arm, name, **values):
    return replace(given_arm, joints=tuple(replace(j, **values) if j.name == name else j for j in given_arm.joints))


@needs_real
@pytest.mark.parametrize("path", [p for p in REAL if "old" not in p.name], ids=lambda p: p.stem)
def test_real_file_is_read_and_written_as_it_was(path):
    read = calibration.load(path)
    assert read.names == ROBOT.names
    assert json.loads(calibration.dumps(read)) == json.loads(path.read_text())
    assert list(json.loads(calibration.dumps(read))["gripper"]) == list(json.loads(path.read_text())["gripper"])


@needs_real
@pytest.mark.parametrize("path", [p for p in REAL if "old" in p.name], ids=lambda p: p.stem)
def test_real_file_of_the_older_format_is_read_and_written_as_it_was(path):
    read = calibration_old.parse(path.read_text(), path.name)
    assert json.loads(calibration_old.dumps(read)) == json.loads(path.read_text())
    with pytest.raises(ConfigError, match="older format"):
        calibration.load(path)


@needs_real
def test_every_real_arm_has_a_fingerprint_of_its_own():
    arms = [calibration.load(path) for path in REAL if "old" not in path.name]
    assert len({a.fingerprint for a in arms}) == len(arms) > 1


@given(
    st.lists(
        st.tuples(st.integers(-2047, 2047), st.integers(0, 2047), st.integers(2048, 4095), st.integers(0, 1)),
        min_size=6,
        max_size=6,
    )
)
def test_any_calibration_survives_writing_and_reading(values):
    joints = tuple(
        calibration.JointCalibration(name, i, mode, offset, low, high)
        for i, (name, (offset, low, high, mode)) in enumerate(zip(ROBOT.names, values), 1)
    )
    before = calibration.ArmCalibration(joints, "x")
    assert calibration.parse(calibration.dumps(before), "x") == before


def test_signs_zero_offsets_and_serial_live_in_the_file_beside_it(tmp_path):
    before = changed(arm(usb_serial="5A68"), "elbow_flex", sign=-1, zero_offset=0.12)
    calibration.save(before, tmp_path / "left.json")
    assert set(json.loads((tmp_path / "left.json").read_text())["elbow_flex"]) == {
        "id", "drive_mode", "homing_offset", "range_min", "range_max"
    }  # fmt: skip
    assert replace(calibration.load(tmp_path / "left.json"), source="test") == before


def test_other_calibration_is_not_overwritten_until_asked_and_then_kept_beside(tmp_path):
    path = tmp_path / "left.json"
    calibration.save(arm(), path)
    calibration.save(arm(), path)
    other = changed(arm(), "gripper", range_max=3000)
    with pytest.raises(ConfigError, match="compare the two"):
        calibration.save(other, path)
    assert calibration.load(path).joint("gripper").range_max == 3206
    calibration.save(other, path, overwrite=True)
    assert calibration.load(path).joint("gripper").range_max == 3000
    assert calibration.parse(path.with_suffix(".json.bak").read_text()).joint("gripper").range_max == 3206


@pytest.mark.parametrize("off", [65, 3400])
def test_offset_that_differs_from_the_servos_is_shown_as_a_table(off):
    # seen in the field: a file and an EEPROM of two minds, by 65 and by 3400 ticks
    file = changed(arm(), "wrist_roll", homing_offset=-1700)
    unit = changed(arm(), "wrist_roll", homing_offset=-1700 + off)
    found = calibration.differences(file, unit)
    assert found == (calibration.Difference("wrist_roll", "homing_offset", -1700, -1700 + off),)
    assert calibration.table(found).splitlines()[1].split() == [
        "wrist_roll", "homing_offset", "-1700", str(off - 1700), f"+{off}"
    ]  # fmt: skip


def test_same_values_are_no_difference_whatever_stands_beside_them():
    assert calibration.differences(changed(arm(), "gripper", zero_offset=0.1), arm(source="servos")) == ()


def test_servos_are_known_by_what_they_hold():
    left, right = arm(), changed(arm(), "shoulder_pan", homing_offset=7)
    held = calibration.from_eeprom({j.name: (j.id, j.homing_offset, j.range_min, j.range_max) for j in right.joints})
    assert calibration.whose(held, {"left": left, "right": right}) == "right"
    assert calibration.whose(changed(held, "gripper", range_min=1), {"left": left, "right": right}) is None
    assert held.fingerprint == right.fingerprint != left.fingerprint


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("homing_offset", 2048, "-2047 to 2047"),
        ("range_max", 4096, "0 to 4095"),
        ("range_max", 10, "below range_max"),
        ("id", 1, "each ID once"),
        ("drive_mode", True, "0 to 1"),
        ("range_min", 1.5, "whole"),
        ("extra", 1, "extra"),
    ],
)
def test_value_that_cannot_be_is_named(key, value, says):
    data = json.loads(calibration.dumps(arm()))
    data["elbow_flex"][key] = value
    with pytest.raises(ConfigError, match=says):
        calibration.parse(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"gripper": 3}'])
def test_text_that_is_no_calibration_is_refused(text):
    with pytest.raises(ConfigError):
        calibration.parse(text)


OLD = calibration_old.OldCalibration(
    homing_offset=(-2000, 3080, -1010, -2010, 1600, -2400),
    drive_mode=(0, 1, 0, 0, 1, 0),
    start_pos=(2000, 3080, 1000, 2010, 2000, 2050),
    end_pos=(3024, -2056, 2034, 3034, -576, 3450),
    calib_mode=("DEGREE",) * 5 + ("LINEAR",),
    motor_names=ROBOT.names,
)


def test_older_format_counts_as_lerobot_did():
    assert OLD.value("shoulder_pan", 2000) == 0.0
    assert OLD.value("shoulder_lift", 2056) == 90.0  # where its sweep ended: a quarter turn, counted backwards
    assert OLD.value("gripper", 2750) == 50.0
    for name in ROBOT.names:
        assert OLD.encoder(name, OLD.value(name, 1234)) == pytest.approx(1234)


def test_older_format_is_converted_so_that_todays_zero_reads_the_middle():
    made = calibration_old.converted(OLD, ROBOT)
    for name, degrees in {
        "shoulder_pan": 0,
        "shoulder_lift": 90,
        "elbow_flex": 90,
        "wrist_flex": 0,
        "wrist_roll": 0,
        "gripper": 50,
    }.items():
        joint = made.joint(name)
        present = (OLD.encoder(name, degrees) - joint.homing_offset) % 4096
        assert present == pytest.approx((joint.range_min + joint.range_max) / 2, abs=1)
    assert made.joint("gripper").range_max - made.joint("gripper").range_min == 1400
    assert calibration.parse(calibration.dumps(made)).names == ROBOT.names


def test_older_file_of_other_signs_is_not_converted():
    # the automatic calibration of those days counted otherwise, and does not say from where
    with pytest.raises(ConfigError, match="sweep the arm"):
        calibration_old.converted(replace(OLD, drive_mode=(0,) * 6), ROBOT)


@pytest.mark.parametrize("key", ["homing_offset", "drive_mode", "calib_mode", "motor_names"])
def test_list_of_another_length_in_an_older_file_is_named(key):
    data = json.loads(calibration_old.dumps(OLD))
    data[key] = data[key][:-1]
    with pytest.raises(ConfigError):
        calibration_old.parse(json.dumps(data))


@pytest.mark.parametrize("encoder", [0, 1, 2046, 2047, 2048, 4094, 4095])
def test_offset_fits_the_servo_wherever_the_middle_is(encoder):
    offset = calibration.offset_for(encoder)
    assert -2047 <= offset <= 2047
    assert (encoder - offset) % 4096 == pytest.approx(2047, abs=1)
