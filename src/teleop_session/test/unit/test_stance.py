"""Stance: yaw, pairing, play space."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import spatial
from teleop_common.records import Pose, Transform
from teleop_session.stance import pairing, stance_yaw, world_from_tracking

MOUNTS = {"left": Pose((0.0, 0.2, 0.0)), "right": Pose((0.0, -0.2, 0.0))}
ARMS = ("left", "right")
ORIGIN = Pose((-0.4, 0.0, -0.75))


@pytest.mark.parametrize(("stance", "yaw"), [("behind", 0.0), ("facing", math.pi), ("camera", 1.2)])
def test_yaw_of_each_stance(stance, yaw):
    assert stance_yaw(stance, "front", {"front": 1.2}) == yaw


def test_behind_pairs_by_name_and_facing_crosswise():
    assert pairing("behind", 0.0, ARMS, MOUNTS) == ("left", "right")
    assert pairing("facing", math.pi, ARMS, MOUNTS) == ("right", "left")
    assert pairing("facing", math.pi, ("left",), MOUNTS) == ("right",)


@pytest.mark.parametrize(("yaw", "hands"), [(0.0, ("left", "right")), (math.pi, ("right", "left")), (0.5, ("left", "right"))])
def test_camera_pairs_by_left_and_right_of_the_picture(yaw, hands):
    assert pairing("camera", yaw, ARMS, MOUNTS) == hands


def test_camera_along_the_line_of_mounts_falls_back_to_names():
    assert pairing("camera", math.pi / 2, ARMS, MOUNTS) == ("left", "right")


def test_single_arm_keeps_its_side_of_the_cell():
    assert pairing("camera", math.pi, ("right",), MOUNTS) == ("left",)
    assert pairing("behind", 0.0, ("a",), {"a": Pose((0.0, 0.2, 0.0)), "b": Pose((0.0, -0.2, 0.0))}) == ("left",)


def test_two_arms_of_other_names_get_different_hands():
    mounts = {"a": Pose((0.0, -0.3, 0.0)), "b": Pose((0.0, 0.1, 0.0))}
    assert pairing("behind", 0.0, ("a", "b"), mounts) == ("right", "left")


@given(st.floats(-math.pi, math.pi))
def test_camera_gives_every_arm_one_hand_of_its_own(yaw):
    assert sorted(pairing("camera", yaw, ARMS, MOUNTS)) == ["left", "right"]


def test_play_space_behind_is_as_configured():
    assert world_from_tracking(ORIGIN, 0.0) == Transform(*ORIGIN)


def test_play_space_turns_with_its_operator():
    got = world_from_tracking(ORIGIN, math.pi)
    assert got.translation == pytest.approx((0.4, 0.0, -0.75))
    assert spatial.heading_yaw(got.rotation) == pytest.approx(math.pi)
