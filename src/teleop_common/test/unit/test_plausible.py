import pytest

from teleop_common.plausible import IN_A_ROW, JUMP, LONGEST, MAX_DISTANCE, attitude, in_play_space, jumped


def test_what_a_motor_can_do_is_believed():
    assert jumped((0.0, 1.0), (0.04, 0.95), 0.01, 4.7) == -1


@pytest.mark.parametrize("offset", [0.3, -0.6, 6.2832, float("nan"), float("inf")])
def test_an_offset_between_two_samples_is_not(offset):
    assert jumped((0.0, 1.0), (0.0, 1.0 + offset), 0.01, 4.7) == 1


def test_silence_credits_no_more_than_the_longest():
    assert jumped((0.0,), (4.7 * LONGEST + JUMP + 0.01,), 0.19, 4.7) == 0


def test_a_constant_offset_is_not_believed_before_it_has_come_often_enough_to_stop_the_arm():
    # 0.3 rad at 100 Hz, against the growing time since the last sample that was believed
    assert all(jumped((0.0,), (0.3,), 0.01 * (k + 1), 4.7) == 0 for k in range(IN_A_ROW))


@pytest.mark.parametrize("coordinate", [float("nan"), float("-inf"), MAX_DISTANCE + 0.1, 0.0])
def test_place_that_no_device_has_is_not_believed(coordinate):
    assert not in_play_space((0.0, coordinate, 0.0))
    assert in_play_space((0.0, MAX_DISTANCE, 0.0))


@pytest.mark.parametrize("w", [0.0, 0.98, 1.02, float("nan"), float("inf")])
def test_quaternion_that_is_no_rotation_is_not_believed(w):
    assert attitude((0.0, 0.0, 0.0, w)) is None
    assert attitude((0.0, 0.0, 0.0, 0.995)) == (0.0, 0.0, 0.0, 1.0)
