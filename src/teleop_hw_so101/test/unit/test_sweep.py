"""Ranges from a stream of positions: seams, glitches, lost readings."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration
from teleop_hw_so101.sweep import LEAP, Sweep, Track, homed, shortest


def unit(offset=0, sign=1):
    return ArmCalibration((JointCalibration("elbow_flex", 3, 0, offset, 0, 4095, sign),), "servos", "S1")


def swept(encoder_positions, offset=0, wrong=()):
    """The calibration from a joint that went through ``encoder_positions`` [ticks], read through ``offset``."""
    sweep = Sweep.of(unit(offset))
    for index, encoder in enumerate(encoder_positions):
        reading = wrong[index] if index < len(wrong) and wrong[index] != "good" else (encoder - offset) % 4096
        sweep.feed({"elbow_flex": reading})
    return sweep.calibration(unit(offset)).joint("elbow_flex")


def there_and_back(low, high, start, step=60):
    up = [*range(start, high, step), high]
    down = [*range(high, low, -step), low]
    return [*up, *down, *range(low, start, step)]


@given(st.integers(0, 4095), st.integers(200, 4000), st.floats(0.0, 1.0), st.integers(-2047, 2047))
def test_any_range_at_any_place_of_the_turn_reads_without_a_seam_and_centred(low, span, share, offset):
    joint = swept(there_and_back(low, low + span, low + round(share * span)), offset)
    readings = [(encoder - joint.homing_offset) % 4096 for encoder in range(low, low + span + 1)]
    assert readings == list(range(joint.range_min, joint.range_min + span + 1))
    assert readings[-1] == joint.range_max
    assert abs((joint.range_min + joint.range_max) / 2 - 2047) <= 1.5
    assert -2047 <= joint.homing_offset <= 2047


def test_range_across_the_seam_by_one_tick_either_side_is_two_ticks_wide():
    joint = swept([4095, 4096, 4097, 4096, 4095])
    assert joint.range_max - joint.range_min == 2
    assert joint.homing_offset in (-2047, 4096 - 2047)


def test_joint_that_turns_without_end_keeps_the_whole_turn():
    joint = swept(there_and_back(-100, 4300, 2000))
    assert (joint.range_min, joint.range_max) == (0, 4095)


def test_single_glitches_and_lost_readings_change_nothing():
    path = there_and_back(900, 3100, 2000)
    clean = swept(path)
    wrong = ["good"] * len(path)
    wrong[5], wrong[20], wrong[21] = None, 4095, (path[21] + 2048) % 4096
    assert swept(path, wrong=wrong) == clean


def test_joint_that_leapt_unseen_must_be_swept_again():
    sweep = Sweep.of(unit())
    for reading in [2000] * 3 + [2000 + LEAP + 100] * 6:
        sweep.feed({"elbow_flex": reading})
    with pytest.raises(ConfigError, match="more slowly"):
        sweep.calibration(unit())
    sweep.again("elbow_flex")
    for reading in there_and_back(1000, 3000, 2000):
        sweep.feed({"elbow_flex": reading})
    assert sweep.calibration(unit()).joint("elbow_flex").range_max == 3047


def test_joint_that_was_not_moved_is_named():
    sweep = Sweep.of(unit())
    sweep.feed({"elbow_flex": 2000})
    sweep.feed({})
    with pytest.raises(ConfigError, match="elbow_flex"):
        sweep.calibration(unit())
    assert sweep.tracks["elbow_flex"].missed == 1


def test_sign_zero_offset_and_serial_outlive_a_new_sweep():
    before = replace(unit(sign=-1), joints=(replace(unit().joints[0], sign=-1, zero_offset=0.1),))
    sweep = Sweep.of(before)
    for reading in there_and_back(1000, 3000, 2000):
        sweep.feed({"elbow_flex": reading})
    after = sweep.calibration(before)
    assert (after.joints[0].sign, after.joints[0].zero_offset, after.usb_serial) == (-1, 0.1, "S1")


@given(st.integers(0, 4095), st.integers(-2047, 2047))
def test_homing_makes_the_present_pose_read_the_middle(encoder, before):
    after = homed(unit(before), {"elbow_flex": (encoder - before) % 4096}).joint("elbow_flex")
    assert (encoder - after.homing_offset) % 4096 in (2046, 2047)


@given(st.integers(0, 4095), st.integers(-2048, 2047))
def test_shortest_way_goes_across_the_seam(before, way):
    assert shortest(before, (before + way) % 4096) == way


def test_multi_turn_reading_is_taken_modulo_one_turn():
    track = Track(0)
    for reading in (4000, 4090, 4100, -50 + 4096 * 2):
        track.feed(reading)
    assert (track.least, track.most) == (4000, 4100)
