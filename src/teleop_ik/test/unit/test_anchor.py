import math

import pytest

from teleop_common.records import Pose
from teleop_common.spatial import quat_from_axis_angle, quat_from_rpy, quat_from_yaw, quat_multiply, quat_rotate
from teleop_ik.anchor import Anchor, Mapping, tool_target

TOOL = Pose((0.25, 0.02, 0.1), quat_from_rpy(0.3, 1.0, -0.2))
HAND = Pose((0.4, -0.2, 1.1), quat_from_rpy(0.5, -0.4, 0.9))
STRAIGHT = Mapping(Pose((0.0, -0.2, 0.0)), 0.0, 1.0, (1.0, 1.0, 1.0))
AXES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]


def moved(hand, by):
    return hand._replace(position=tuple(a + b for a, b in zip(hand.position, by)))


def delta(anchor, mapping, by):
    return tuple(a - b for a, b in zip(tool_target(anchor, moved(HAND, by), mapping).position, TOOL.position))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_behind_the_arm_axes_are_as_they_are(axis, sign):
    anchor = Anchor(HAND, 0.0, TOOL, ())
    by = tuple(0.1 * sign * a for a in axis)
    assert delta(anchor, STRAIGHT, by) == pytest.approx(by)


@pytest.mark.parametrize("heading", [-2.0, -0.7, 1.1, 3.0])
@pytest.mark.parametrize("axis", AXES)
def test_the_operators_forward_is_the_arms_whatever_way_they_face(heading, axis):
    anchor = Anchor(HAND, heading, TOOL, ())
    by = quat_rotate(quat_from_yaw(heading), tuple(0.1 * a for a in axis))
    assert delta(anchor, STRAIGHT, by) == pytest.approx([0.1 * a for a in axis])


def test_facing_turns_forward_and_left_round():
    anchor = Anchor(HAND, 0.0, TOOL, ())
    facing = STRAIGHT._replace(yaw=math.pi)
    assert delta(anchor, facing, (0.1, 0.05, 0.02)) == pytest.approx((-0.1, -0.05, 0.02))


def test_a_turned_mount_turns_the_motion_into_its_base():
    anchor = Anchor(HAND, 0.0, TOOL, ())
    turned = STRAIGHT._replace(mount=Pose((0.0, 0.0, 0.0), quat_from_yaw(0.5 * math.pi)))
    assert delta(anchor, turned, (0.1, 0.0, 0.0)) == pytest.approx((0.0, -0.1, 0.0))


def test_scale_and_gains_multiply_along_the_operators_axes():
    anchor = Anchor(HAND, 0.5, TOOL, ())
    mapping = STRAIGHT._replace(scale=2.0, gains=(1.0, 0.5, 0.25))
    by = quat_rotate(quat_from_yaw(0.5), (0.1, 0.1, 0.1))
    assert delta(anchor, mapping, by) == pytest.approx((0.2, 0.1, 0.05))


@pytest.mark.parametrize("axis", AXES)
def test_attitude_turns_about_the_same_axis_as_the_hand(axis):
    heading = 0.8
    anchor = Anchor(HAND, heading, TOOL, ())
    turn = quat_from_axis_angle(quat_rotate(quat_from_yaw(heading), axis), 0.4)
    hand = HAND._replace(orientation=quat_multiply(turn, HAND.orientation))
    found = tool_target(anchor, hand, STRAIGHT)
    wanted = quat_multiply(quat_from_axis_angle(axis, 0.4), TOOL.orientation)
    assert abs(sum(a * b for a, b in zip(found.orientation, wanted))) == pytest.approx(1.0)
    assert found.position == pytest.approx(TOOL.position)


def test_two_turns_compose_about_the_operators_axes():
    """Roll 90 degrees, then pitch: pitch is not lost, as it would be with Euler angles added up."""
    anchor = Anchor(HAND, 0.0, TOOL, ())
    roll, pitch = quat_from_axis_angle((1, 0, 0), 0.5 * math.pi), quat_from_axis_angle((0, 1, 0), 0.35)
    hand = HAND._replace(orientation=quat_multiply(pitch, quat_multiply(roll, HAND.orientation)))
    wanted = quat_multiply(pitch, quat_multiply(roll, TOOL.orientation))
    found = tool_target(anchor, hand, STRAIGHT).orientation
    assert abs(sum(a * b for a, b in zip(found, wanted))) == pytest.approx(1.0)


def test_absorbed_reach_is_taken_off():
    anchor = Anchor(HAND, 0.0, TOOL, (), absorbed=(0.03, 0.0, 0.01))
    assert delta(anchor, STRAIGHT, (0.05, 0.0, 0.0)) == pytest.approx((0.02, 0.0, -0.01))
