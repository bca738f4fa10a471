"""Which readings of a servo are believed."""

import pytest

from teleop_hw_so101.samples import Samples, Servo


def taken(*readings, samples=None):
    """Samples of one servo after readings of (time [s], raw [step])."""
    samples = samples or Samples([Servo()], 0.06)
    for time, raw in readings:
        samples.take_motion(0, raw, 0, 0.0, 0, time)
    return samples


@pytest.mark.parametrize("wild", [50, 3500, 2047 + 0x1000, -1])
def test_one_wild_reading_is_no_reading_and_no_crossing(wild):
    samples = taken((1.0, 2047), (1.01, wild))
    assert (samples.positions, samples.seams, samples.servos[0].misses) == ((2047,), [], 1)
    samples = taken((1.02, 2049), samples=samples)
    assert (samples.positions, samples.seams, samples.servos[0].misses) == ((2049,), [], 0)


def test_two_readings_that_agree_are_believed():
    believed = taken((1.0, 1000), (1.01, 2500), (1.02, 2510))
    assert (believed.positions, believed.leaps) == ((2510,), [0])
    refused = taken((1.0, 1000), (1.01, 2500), (1.02, 1700))
    assert (refused.positions, refused.leaps) == ((1000,), [])


def test_joint_that_crosses_the_seam_is_counted_on_at_once_and_noted_after_two_readings():
    samples = taken((1.0, 4080), (1.01, 10))
    assert (samples.positions, samples.seams) == ((4106,), [])
    samples = taken((1.02, 40), samples=samples)
    assert (samples.positions, samples.seams) == ((4136,), [0])
    samples = taken((1.03, 4090), (1.04, 4085), samples=samples)
    assert (samples.positions, samples.seams) == ((4085,), [0, 0])


def test_flicker_on_the_seam_is_no_crossing():
    assert taken((1.0, 4095), (1.01, 0), (1.02, 4095), (1.03, 0), (1.04, 4095)).seams == []


def test_servo_heard_again_after_a_silence_is_where_it_says_and_suspect():
    samples = taken((1.0, 3200))
    for count in range(300):
        samples.miss(0, 1.0 + 0.01 * count)
    samples = taken((11.0, 900), samples=samples)
    assert samples.positions == (900,)
    assert samples.servos[0].suspect
