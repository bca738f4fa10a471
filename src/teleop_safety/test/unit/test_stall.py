import math

import pytest

from teleop_safety.stall import errors, speeds, strained, suspects, watch, watch_still


def test_given_speeds_are_taken_as_they_are():
    assert speeds((1.0,), (0.0,), 0.1, (0.5,)) == (0.5,)


def test_speeds_come_from_two_samples_when_none_are_given():
    assert speeds((1.0, 2.0), (0.5, 2.0), 0.5, ()) == (1.0, 0.0)


def test_first_sample_and_one_not_later_have_no_speed():
    assert speeds((1.0,), None, 0.1, ()) == (0.0,)
    assert speeds((1.0,), (0.0,), 0.0, ()) == (0.0,)


def test_far_and_slow_arm_joint_is_suspect_gripper_and_moving_one_are_not():
    reference, measured = (0.3, 0.3, 0.1, 1.5), (0.0, 0.0, 0.0, 0.0)
    assert suspects(reference, measured, (0.0, 0.06, 0.0, 0.0), 3, 0.2, 0.05) == [0]


def test_suspicion_keeps_its_beginning_and_ends_at_once():
    since = watch((), [1], 100, 3)
    assert since == (0, 100, 0)
    since = watch(since, [1, 2], 200, 3)
    assert since == (0, 100, 200)
    assert watch(since, [2], 300, 3) == (0, 0, 200)


def test_errors_are_distances():
    assert errors((0.5, -0.5), (0.2, 0.0)) == (pytest.approx(0.3), 0.5)


def test_joint_that_moves_meanwhile_gets_somewhere_and_its_time_begins_anew():
    since, places = watch_still((), (), [0, 1], 100, (0.0, 0.0), 0.05)
    assert (since, places) == ((100, 100), (0.0, 0.0))
    since, places = watch_still(since, places, [0, 1], 200, (0.04, 0.06), 0.05)
    assert (since, places) == ((100, 200), (0.0, 0.06))
    assert watch_still(since, places, [1], 300, (0.04, 0.06), 0.05)[0] == (0, 200)


def test_joint_that_pushes_hard_and_is_far_is_strained_the_gripper_and_an_unknown_load_never():
    load, error = (0.9, math.nan, -0.9, 0.2, 0.9), (0.2, 0.2, 0.2, 0.2, 0.2)
    assert strained(load, error, (0.0,) * 5, 4, 0.7, 0.1) == [0, 2]


def test_arm_that_began_under_strain_counts_only_when_it_is_pushed_on():
    assert strained((0.9,), (0.2,), (0.2,), 1, 0.7, 0.1) == []
    assert strained((0.9,), (0.25,), (0.2,), 1, 0.7, 0.1) == [0]
