import math

import pytest

from teleop_safety.stall import errors, strained, suspects, watch_still


def test_far_arm_joint_is_suspect_gripper_and_near_one_are_not():
    assert suspects((0.3, 0.1, 1.5), (0.0, 0.0, 0.0), 2, 0.2) == [0]


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
