"""Moments of a recording as operator frames, and frames as moments.

A controller's ``is_valid`` sets all four flags (the format has no tracked bit), and only all four make it valid again; the
head's ``is_valid`` is the two valid bits, its ``is_tracked`` the two tracked ones. What a frame cannot hold (times of a
channel that differ from the others', poses of a head that is there but not valid) goes into a note, a line of JSON
that stands beside the frame in the bag; frames of other origin need none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from teleop_common.enums import Convention, PoseFlags
from teleop_common.records import Controller, Header, TeleopFrame, TrackedPose
from teleop_common.records import Pose as FramePose
from teleop_common.spatial import pose_openxr_from_ros
from teleop_input.isaac.files import CHANNELS, Timed
from teleop_input.isaac.wire import (
    ControllerInputState,
    ControllerPose,
    ControllerSnapshot,
    ControllerSnapshotRecord,
    DeviceDataTimestamp,
    HeadPose,
    HeadPoseRecord,
    Pose,
    Record,
)

FRAME_ID = "openxr_stage"
PROVIDER = "isaac"
CONNECTION = 1
_ALL = int(PoseFlags.ALL)
_VALID = int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID)
_TRACKED = int(PoseFlags.POSITION_TRACKED | PoseFlags.ORIENTATION_TRACKED)
_NO_HEAD = TrackedPose()


def frame_of(step: Mapping[str, Timed], sequence: int, offset_ns: int) -> TeleopFrame:
    """Return the raw frame of one moment.

    Its times are those of the first record with data, ``monotonic_ns`` when the earliest of them was written.

    Args:
        step: channel → record; not empty, each with its times.
        sequence: number of the moment.
        offset_ns: ROS time less monotonic time.
    """
    records = {c: step[c].record for c in CHANNELS if c in step}
    spoken = next((r for r in records.values() if r.data is not None), next(iter(records.values())))
    stamps = spoken.timestamp or DeviceDataTimestamp()
    written = min(timed.log_ns for timed in step.values())
    return TeleopFrame(
        header=Header(written + offset_ns, FRAME_ID),
        provider=PROVIDER,
        connection=CONNECTION,
        sequence=sequence,
        monotonic_ns=written,
        available_ns=stamps.available,
        sample_ns=stamps.sample,
        device_clock_ns=stamps.device,
        convention=Convention.OPENXR,
        head=_head(records.get("head")),
        left=_controller(records.get("left")),
        right=_controller(records.get("right")),
    )


def step_of(frame: TeleopFrame, note: str = "") -> dict[str, Timed]:
    """Return the records of one moment, of all channels.

    Poses become 32-bit numbers. A frame without the device's times (0) has them from its arrival.

    Args:
        frame: raw or finalised, in either convention.
        note: as ``note_of`` made it for this frame.

    Raises:
        ValueError: a note that is none.
    """
    arrival = frame.monotonic_ns or frame.header.stamp
    available = frame.available_ns or arrival
    stamps = DeviceDataTimestamp(available, frame.sample_ns or available, frame.device_clock_ns)
    turn = frame.convention == Convention.ROS
    head: HeadPose | None = None
    if frame.head != _NO_HEAD:
        flags = frame.head.flags
        head = HeadPose(_pose(frame.head, turn), flags & _VALID == _VALID, flags & _TRACKED == _TRACKED)
    records: dict[str, Record] = {
        "left": ControllerSnapshotRecord(_snapshot(frame.left, turn), stamps),
        "right": ControllerSnapshotRecord(_snapshot(frame.right, turn), stamps),
        "head": HeadPoseRecord(head, stamps),
    }
    if note:
        records |= _noted(note)
    return {channel: Timed(_log_time(record, arrival), record) for channel, record in records.items()}


def note_of(step: Mapping[str, Timed], frame: TeleopFrame) -> str:
    """Return what ``step_of(frame)`` would not give back, or nothing."""
    plain = step_of(frame)
    differing = {c: timed.record for c, timed in step.items() if plain[c].record != timed.record}
    return json.dumps(differing) if differing else ""


def _log_time(record: Record, arrival: int) -> int:
    available = record.timestamp.available if record.timestamp else 0
    return available if 0 < available < 2**63 else max(arrival, 0)


def _head(record: Record | None) -> TrackedPose:
    if not isinstance(record, HeadPoseRecord) or record.data is None:
        return _NO_HEAD
    pose, valid, tracked = record.data
    return TrackedPose(FramePose(*(pose or Pose())), (_VALID if valid else 0) | (_TRACKED if tracked else 0))


def _controller(record: Record | None) -> Controller:
    if not isinstance(record, ControllerSnapshotRecord) or record.data is None:
        return Controller()
    grip, aim, inputs = record.data
    primary, secondary, click, menu, x, y, squeeze, trigger = inputs or ControllerInputState()
    return Controller(True, _tracked(grip), _tracked(aim), trigger, squeeze, x, y, primary, secondary, click, menu)


def _tracked(pose: ControllerPose | None) -> TrackedPose:
    values, valid = pose or ControllerPose()
    return TrackedPose(FramePose(*values), _ALL if valid else 0)


def _snapshot(hand: Controller, turn: bool) -> ControllerSnapshot | None:
    if not hand.connected:
        return None
    return ControllerSnapshot(
        ControllerPose(_pose(hand.grip, turn), hand.grip.flags & _ALL == _ALL),
        ControllerPose(_pose(hand.aim, turn), hand.aim.flags & _ALL == _ALL),
        ControllerInputState(
            *(hand.primary, hand.secondary, hand.thumbstick_click, hand.menu),
            *(hand.thumbstick_x, hand.thumbstick_y, hand.squeeze, hand.trigger),
        ),
    )


def _pose(tracked: TrackedPose, turn: bool) -> Pose:
    return Pose(*(pose_openxr_from_ros(tracked.pose) if turn else tracked.pose))


def _noted(note: str) -> dict[str, Record]:
    try:
        return {channel: _record(channel, *value) for channel, value in json.loads(note).items()}
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"note: got {note[:80]!r}, allowed records by channel; convert the recording again") from error


def _record(channel: str, data: list[Any] | None, stamps: list[int]) -> Record:
    times = DeviceDataTimestamp(*stamps)
    if channel == "head":
        return HeadPoseRecord(HeadPose(_listed(data[0]), *data[1:]) if data else None, times)
    if not data:
        return ControllerSnapshotRecord(None, times)
    grip, aim, inputs = data
    return ControllerSnapshotRecord(
        ControllerSnapshot(
            ControllerPose(_listed(grip[0]), grip[1]), ControllerPose(_listed(aim[0]), aim[1]), ControllerInputState(*inputs)
        ),
        times,
    )


def _listed(pose: list[list[float]]) -> Pose:
    (x, y, z), (qx, qy, qz, qw) = pose
    return Pose((x, y, z), (qx, qy, qz, qw))
