"""Conversion of raw frames: axes, checks, stamps."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import spatial
from teleop_common.enums import Convention, PoseFlags
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose, Transform
from teleop_session.finalise import FRAME_ID, UNTRACKED, controller, finalise, tracked_pose

ALL = int(PoseFlags.ALL)
NAN, INF = math.nan, math.inf
anything = st.floats(allow_nan=True, allow_infinity=True)
small = st.floats(-5.0, 5.0)
unit_quats = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(v * v for v in q) > 0.01).map(spatial.quat_normalized)


def tracked(position=(0.1, 1.2, -0.3), orientation=(0.0, 0.0, 0.0, 1.0), flags=ALL):
    return TrackedPose(Pose(position, orientation), flags)


@pytest.mark.parametrize(
    ("openxr", "ros"),
    [
        ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0)),  # forward
        ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0)),  # back
        ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),  # left
        ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),  # right
        ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),  # up
        ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0)),  # down
    ],
)
def test_each_openxr_axis_becomes_its_ros_axis(openxr, ros):
    assert tracked_pose(tracked(openxr), Convention.OPENXR).pose.position == pytest.approx(ros)


@pytest.mark.parametrize(("axis", "ros_axis"), [((0, 0, -1), (1, 0, 0)), ((-1, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 1))])
def test_turn_about_an_openxr_axis_is_the_same_turn_about_its_ros_axis(axis, ros_axis):
    raw = tracked(orientation=spatial.quat_from_axis_angle(axis, 0.7))
    got = tracked_pose(raw, Convention.OPENXR).pose.orientation
    assert spatial.quat_angle(got, spatial.quat_from_axis_angle(ros_axis, 0.7)) < 1e-7


@given(unit_quats, unit_quats, st.tuples(small, small, small))
def test_composed_rotations_convert_to_composed_rotations(a, b, v):
    """Converting a·b is converting a and b; a rotated vector converts to the converted vector rotated."""

    def convert(q):
        return tracked_pose(tracked(orientation=q), Convention.OPENXR).pose.orientation

    product = spatial.quat_multiply(convert(a), convert(b))
    assert spatial.quat_angle(convert(spatial.quat_normalized(spatial.quat_multiply(a, b))), product) < 1e-6
    ros = lambda p: (-p[2], -p[0], p[1])  # noqa: E731
    assert spatial.quat_rotate(convert(a), ros(v)) == pytest.approx(ros(spatial.quat_rotate(a, v)), abs=1e-9)


def test_ros_frames_keep_their_axes():
    raw = tracked((1.0, 2.0, 3.0), spatial.quat_from_rpy(0.1, 0.2, 0.3))
    got = tracked_pose(raw, Convention.ROS)
    assert got.pose.position == raw.pose.position
    assert got.pose.orientation == pytest.approx(raw.pose.orientation)


@pytest.mark.parametrize(
    "raw",
    [
        tracked(position=(0.0, 0.0, 0.0)),
        tracked(position=(NAN, 0.0, 1.0)),
        tracked(position=(0.0, INF, 1.0)),
        tracked(position=(0.0, -INF, 1.0)),
        tracked(position=(1e30, 0.0, 1.0)),
        tracked(orientation=(0.0, 0.0, 0.0, 0.0)),
        tracked(orientation=(0.0, NAN, 0.0, 1.0)),
        tracked(orientation=(INF, 0.0, 0.0, 0.0)),
        tracked(orientation=(0.0, 0.0, 0.0, 1.3)),
        tracked(orientation=(0.0, 0.0, 0.0, 0.989)),
        tracked(flags=0),
    ],
)
@pytest.mark.parametrize("convention", list(Convention))
def test_pose_that_is_none_arrives_with_flags_zero_and_identity(raw, convention):
    assert tracked_pose(raw, convention) == UNTRACKED


def test_rounded_quaternion_is_normalised_and_kept():
    got = tracked_pose(tracked(orientation=(0.0, 0.0, 0.0, 1.008)), Convention.OPENXR)
    assert got.flags == ALL
    assert math.hypot(*got.pose.orientation) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("flags", [3, 5, 12, ALL])
def test_flags_pass_through(flags):
    assert tracked_pose(tracked(flags=flags), Convention.OPENXR).flags == flags


def test_disconnected_controller_is_all_zero():
    raw = Controller(False, tracked(), tracked(), 1.0, 1.0, 0.5, 0.5, True, True, True, True)
    assert controller(raw, Convention.OPENXR) == Controller()


def test_analogue_values_are_clamped():
    got = controller(Controller(True, tracked(), tracked(), 1.5, -0.5, -3.0, 2.0), Convention.OPENXR)
    assert (got.trigger, got.squeeze, got.thumbstick_x, got.thumbstick_y) == (1.0, 0.0, -1.0, 1.0)
    assert got.grip.flags == ALL


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_controller_whose_squeeze_is_no_number_is_not_there(value):
    # were it connected with a squeeze of 0, the guard would take that for an opened grip
    assert controller(Controller(True, tracked(), tracked(), 0.5, value), Convention.OPENXR) == Controller()


@pytest.mark.parametrize("field", ["trigger", "thumbstick_x", "thumbstick_y"])
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_analogue_value_that_is_not_finite_reads_zero_and_untracks_the_hand(field, value):
    got = controller(Controller(True, tracked(), tracked(), 0.5, 1.0)._replace(**{field: value}), Convention.OPENXR)
    assert getattr(got, field) == 0.0
    assert got.grip.flags == got.aim.flags == 0
    assert got.connected


def test_grip_and_aim_are_converted_each():
    raw = Controller(True, tracked((0.0, 1.0, -0.5)), tracked((0.0, 1.0, -0.6)))
    got = controller(raw, Convention.OPENXR)
    assert got.grip.pose.position == pytest.approx((0.5, 0.0, 1.0))
    assert got.aim.pose.position == pytest.approx((0.6, 0.0, 1.0))


@pytest.mark.parametrize(
    ("offset", "kept"), [(0, True), (200_000_000, True), (-200_000_000, True), (200_000_001, False), (-(10**12), False)]
)
def test_stamp_off_by_more_than_the_tolerance_becomes_the_arrival(offset, kept):
    stamp = 10**15
    got = finalise(TeleopFrame(Header(stamp, "x")), stamp + offset, Transform(), False)
    assert got.header == Header(stamp if kept else stamp + offset, FRAME_ID)


def test_identity_of_the_frame_is_kept_and_the_play_space_added():
    raw = TeleopFrame(Header(7, "webxr_local_floor"), "webxr", 3, 4, 5, 6, 7, 8, Convention.OPENXR)
    space = Transform((1.0, 2.0, 3.0), spatial.quat_from_yaw(0.5))
    got = finalise(raw, 7, space, False)
    assert got[1:8] == raw[1:8]
    assert (got.convention, got.world_from_tracking, got.recentred) == (Convention.ROS, space, False)
    assert finalise(raw, 7, space, True).recentred
    assert finalise(raw._replace(recentred=True), 7, space, False).recentred


float32 = st.floats(width=32)
poses = st.builds(TrackedPose, st.builds(Pose, st.tuples(*[anything] * 3), st.tuples(*[anything] * 4)), st.integers(0, 255))
controllers = st.builds(Controller, st.booleans(), poses, poses, float32, float32, float32, float32)


@given(poses, controllers, controllers, st.integers(0, 1), st.integers(-(2**62), 2**62))
def test_whatever_arrives_what_leaves_is_finite_and_in_range(head, left, right, convention, stamp):
    got = finalise(
        TeleopFrame(Header(stamp), convention=convention, head=head, left=left, right=right), 10**18, Transform(), False
    )
    for pose in (got.head, got.left.grip, got.left.aim, got.right.grip, got.right.aim):
        assert 0 <= pose.flags <= 15
        assert all(map(math.isfinite, (*pose.pose.position, *pose.pose.orientation)))
        assert math.hypot(*pose.pose.orientation) == pytest.approx(1.0, abs=1e-9)
    for c in (got.left, got.right):
        assert 0.0 <= c.trigger <= 1.0
        assert 0.0 <= c.squeeze <= 1.0
        struct.pack("4f", c.trigger, c.squeeze, c.thumbstick_x, c.thumbstick_y)
