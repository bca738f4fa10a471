import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from teleop_common import spatial
from teleop_common.records import Pose, Transform

number = st.floats(-3.0, 3.0, allow_nan=False)
vectors = st.tuples(number, number, number)


@st.composite
def rotations(draw):
    q = draw(st.tuples(number, number, number, number))
    assume(sum(x * x for x in q) > 1e-3)
    return spatial.quat_normalized(q)


poses = st.builds(Pose, vectors, rotations())


def close(a, b, tolerance=1e-9):
    return np.allclose(a, b, atol=tolerance)


def same_rotation(a, b):
    return spatial.quat_angle(a, b) < 1e-7


@given(poses, poses, poses)
def test_composition_is_associative_and_undone_by_inverse(a, b, c):
    left, right = spatial.compose(spatial.compose(a, b), c), spatial.compose(a, spatial.compose(b, c))
    assert close(left.position, right.position)
    assert same_rotation(left.orientation, right.orientation)
    back = spatial.compose(a, spatial.inverse(a))
    assert close(back.position, (0, 0, 0))
    assert same_rotation(back.orientation, (0, 0, 0, 1))


@given(rotations(), vectors)
def test_rotation_equals_its_matrix_and_keeps_length(q, v):
    assert close(spatial.quat_rotate(q, v), np.array(spatial.quat_to_matrix(q)) @ v)
    assert math.isclose(np.linalg.norm(spatial.quat_rotate(q, v)), np.linalg.norm(v), abs_tol=1e-9)


@given(rotations())
def test_rotation_vector_gives_the_rotation_back(q):
    r = spatial.quat_to_rotvec(q)
    angle = float(np.linalg.norm(r))
    assert angle <= math.pi + 1e-9
    if angle > 1e-6:
        assert same_rotation(spatial.quat_from_axis_angle(r, angle), q)


@pytest.mark.parametrize(
    ("openxr", "ros"),
    [
        ((1, 0, 0), (0, -1, 0)),
        ((-1, 0, 0), (0, 1, 0)),
        ((0, 1, 0), (0, 0, 1)),
        ((0, -1, 0), (0, 0, -1)),
        ((0, 0, 1), (-1, 0, 0)),
        ((0, 0, -1), (1, 0, 0)),
    ],
)
def test_each_openxr_axis_becomes_its_ros_axis(openxr, ros):
    assert close(spatial.pose_ros_from_openxr(Pose(openxr)).position, ros)
    assert close(spatial.quat_rotate(spatial.ROS_FROM_OPENXR, openxr), ros)


@given(rotations(), rotations())
def test_openxr_conversion_respects_composition(a, b):
    def convert(q):
        return spatial.pose_ros_from_openxr(Pose(orientation=q)).orientation

    r = spatial.ROS_FROM_OPENXR
    assert same_rotation(convert(a), spatial.quat_multiply(spatial.quat_multiply(r, a), spatial.quat_conjugate(r)))
    assert same_rotation(convert(spatial.quat_multiply(a, b)), spatial.quat_multiply(convert(a), convert(b)))


@given(rotations(), vectors)
def test_openxr_conversion_keeps_what_the_body_sees(q, v):
    turned = spatial.quat_rotate(q, v)
    converted = spatial.pose_ros_from_openxr(Pose(v, q))
    assert close(
        spatial.quat_rotate(converted.orientation, converted.position), spatial.pose_ros_from_openxr(Pose(turned)).position
    )


@given(rotations(), vectors)
def test_openxr_conversion_is_undone_exactly(q, v):
    assert spatial.pose_openxr_from_ros(spatial.pose_ros_from_openxr(Pose(v, q))) == Pose(v, q)


@given(st.floats(-math.pi, math.pi), st.floats(-1.5, 1.5))
def test_heading_follows_yaw_at_any_pitch(yaw, pitch):
    q = spatial.quat_multiply(spatial.quat_from_yaw(yaw), spatial.quat_from_axis_angle((0, 1, 0), pitch))
    error = spatial.heading_yaw(q) - yaw
    assert abs(math.atan2(math.sin(error), math.cos(error))) < 1e-6


def test_rpy_matches_elementary_rotations():
    q = spatial.quat_multiply(
        spatial.quat_multiply(spatial.quat_from_yaw(0.3), spatial.quat_from_axis_angle((0, 1, 0), -0.4)),
        spatial.quat_from_axis_angle((1, 0, 0), 0.7),
    )
    assert same_rotation(q, spatial.quat_from_rpy(0.7, -0.4, 0.3))


@pytest.mark.parametrize("bad", [(0, 0, 0, 0), (math.nan, 0, 0, 1), (math.inf, 0, 0, 1)])
def test_degenerate_quaternion_is_refused_by_name(bad):
    with pytest.raises(ValueError, match="quaternion: got"):
        spatial.quat_normalized(bad)


def test_world_pose_applies_the_tracking_space_first():
    space = Transform((1.0, 2.0, 0.0), spatial.quat_from_yaw(math.pi / 2))
    assert close(spatial.world_pose(space, Pose((1.0, 0.0, 0.5))).position, (1.0, 3.0, 0.5))


@given(rotations())
def test_roll_pitch_yaw_give_the_rotation_back(q):
    assert same_rotation(spatial.quat_from_rpy(*spatial.quat_to_rpy(q)), q)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_roll_pitch_yaw_straight_up_or_down_give_the_rotation_back(pitch):
    q = spatial.quat_from_rpy(0.3, pitch, -0.8)
    assert same_rotation(spatial.quat_from_rpy(*spatial.quat_to_rpy(q)), q)
