"""Moments of a recording as frames, and back."""

import pytest

pytest.importorskip("flatbuffers")
pytest.importorskip("mcap")
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import spatial
from teleop_common.enums import Convention, PoseFlags
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose
from teleop_input.isaac import wire
from teleop_input.isaac.files import CHANNELS, Timed
from teleop_input.isaac.frames import frame_of, note_of, step_of
from teleop_input.isaac.testing import recordings
from teleop_input.isaac.wire import ControllerPose, ControllerSnapshot, ControllerSnapshotRecord, HeadPose, HeadPoseRecord

AT = 1_000_000_000
STAMPS = wire.DeviceDataTimestamp(AT, AT - 3, 77)
POSE = wire.Pose((1.0, 2.0, 3.0), (0.5, -0.5, 0.5, -0.5))


def step(**records):
    whole = {c: HeadPoseRecord(None, STAMPS) if c == "head" else ControllerSnapshotRecord(None, STAMPS) for c in CHANNELS}
    return {c: Timed(AT, record) for c, record in (whole | records).items()}


@given(recordings())
def test_any_moment_comes_back_from_its_frame_and_note(steps):
    for number, moment in enumerate(steps):
        frame = frame_of(moment, number, -5)
        assert repr(step_of(frame, note_of(moment, frame))) == repr(moment)


@given(recordings(channels=("left", "head")))
def test_channel_that_is_missing_reads_as_an_inactive_device(steps):
    for moment in steps:
        frame = frame_of(moment, 0, 0)
        assert frame.right == Controller()
        back = step_of(frame, note_of(moment, frame))
        assert back["right"].record.data is None
        assert repr({c: back[c] for c in moment}) == repr(moment)


def test_usual_moment_needs_no_note():
    head = HeadPoseRecord(HeadPose(POSE, True, False), STAMPS)
    hand = ControllerSnapshotRecord(ControllerSnapshot(ControllerPose(POSE, True), ControllerPose(POSE, False)), STAMPS)
    moment = step(head=head, left=hand)
    assert note_of(moment, frame_of(moment, 0, 0)) == ""


def test_all_three_times_are_kept():
    frame = frame_of(step(), 4, 100)
    assert (frame.available_ns, frame.sample_ns, frame.device_clock_ns) == STAMPS
    assert (frame.monotonic_ns, frame.header.stamp, frame.sequence) == (AT, AT + 100, 4)


@pytest.mark.parametrize("valid", [False, True])
def test_valid_pose_of_a_controller_is_tracked_in_all_four_bits(valid):
    hand = ControllerSnapshotRecord(ControllerSnapshot(ControllerPose(POSE, valid), ControllerPose(POSE, True)), STAMPS)
    got = frame_of(step(right=hand), 0, 0).right
    assert got.connected
    assert got.grip == TrackedPose(Pose(*POSE), PoseFlags.ALL if valid else 0)
    assert got.aim.flags == PoseFlags.ALL


@pytest.mark.parametrize(
    ("valid", "tracked", "flags"), [(True, True, 15), (True, False, 3), (False, True, 12), (False, False, 0)]
)
def test_head_has_valid_and_tracked_apart(valid, tracked, flags):
    frame = frame_of(step(head=HeadPoseRecord(HeadPose(POSE, valid, tracked), STAMPS)), 0, 0)
    assert frame.head == TrackedPose(Pose(*POSE), flags)


def test_null_record_is_a_disconnected_controller():
    frame = frame_of(step(), 0, 0)
    assert (frame.left, frame.right, frame.head) == (Controller(), Controller(), TrackedPose())


@pytest.mark.parametrize("flags", [1, 3, 7, 14])
def test_partly_tracked_controller_is_written_as_not_valid(flags):
    frame = TeleopFrame(Header(AT), monotonic_ns=AT, left=Controller(True, TrackedPose(Pose(*POSE), flags)))
    assert not step_of(frame)["left"].record.data.grip_pose.is_valid


def test_frame_without_device_times_has_its_arrival():
    frame = TeleopFrame(Header(AT + 9), monotonic_ns=AT)
    for timed in step_of(frame).values():
        assert timed == (AT, timed.record)
        assert timed.record.timestamp == (AT, AT, 0)


@given(st.tuples(*(st.floats(-3, 3),) * 3), st.tuples(*(st.floats(-1, 1),) * 4))
def test_frame_in_ros_axes_is_turned(position, orientation):
    pose = Pose(position, orientation)
    turned = TrackedPose(spatial.pose_ros_from_openxr(pose), 15)
    frame = TeleopFrame(Header(AT), convention=Convention.ROS, head=turned, left=Controller(True, turned, turned))
    got = step_of(frame)
    assert got["left"].record.data.aim_pose.pose == pose
    assert got["head"].record.data is None or got["head"].record.data.pose == pose


@pytest.mark.parametrize("note", ["{", "[]", '{"left": 3}', '{"head": [[1], [1, 2, 3]]}', '{"left": [null, [1, 2, 3, 4]]}'])
def test_broken_note_is_refused(note):
    with pytest.raises(ValueError):
        step_of(frame_of(step(), 0, 0), note)
