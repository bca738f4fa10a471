"""A runtime's sample as a TeleopFrame: location bits become flags, and what cannot be true is not tracked."""

from __future__ import annotations

import math

from teleop_common import plausible
from teleop_common.enums import Convention, PoseFlags
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose
from teleop_input.openxr.runtime import HandSample, Location, LocationBits, Sample

PROVIDER = "openxr"
_UNKNOWN = TrackedPose()
_FLAGS = (
    (LocationBits.POSITION_VALID, PoseFlags.POSITION_VALID),
    (LocationBits.ORIENTATION_VALID, PoseFlags.ORIENTATION_VALID),
    (LocationBits.POSITION_TRACKED, PoseFlags.POSITION_TRACKED),
    (LocationBits.ORIENTATION_TRACKED, PoseFlags.ORIENTATION_TRACKED),
)
FLAGS_OF_BITS = tuple(sum(int(flag) for bit, flag in _FLAGS if bits & bit) for bits in range(16))


def tracked_pose(location: Location) -> TrackedPose:
    """Return the pose with its flags; identity with flags 0 for one that cannot be true, whatever the runtime says of it.

    Parts without their VALID bit are undefined in OpenXR; they are replaced by zero and identity.
    """
    bits = location.bits & LocationBits.ALL
    position, orientation = _UNKNOWN.pose
    if bits & LocationBits.POSITION_VALID:
        position = location.position
        if not plausible.in_play_space(position):
            return _UNKNOWN
    if bits & LocationBits.ORIENTATION_VALID:
        unit = plausible.attitude(location.orientation)
        if unit is None:
            return _UNKNOWN
        orientation = unit
    return TrackedPose(Pose(position, orientation), FLAGS_OF_BITS[bits])


def _within(value: float, low: float) -> float:
    return min(max(value, low), 1.0) if math.isfinite(value) else 0.0


def controller(hand: HandSample) -> Controller:
    """Return one hand; the zero Controller when no device is bound to it."""
    if not hand.active:
        return Controller()
    return Controller(
        True,
        tracked_pose(hand.grip),
        tracked_pose(hand.aim),
        _within(hand.trigger, 0.0),
        _within(hand.squeeze, 0.0),
        _within(hand.thumbstick[0], -1.0),
        _within(hand.thumbstick[1], -1.0),
        hand.primary,
        hand.secondary,
        hand.thumbstick_click,
        hand.menu,
    )


def frame(
    sample: Sample, space: str, connection: int, sequence: int, stamp_ns: int, monotonic_ns: int, recentred: bool
) -> TeleopFrame:
    """Return the frame of a sample.

    Args:
        sample: what the runtime said.
        space: reference space, e.g. ``stage``.
        connection: of this session.
        sequence: of this frame.
        stamp_ns: ROS clock [ns].
        monotonic_ns: monotonic time the runtime was asked about [ns].
        recentred: the reference space moved since the last frame.
    """
    return TeleopFrame(
        Header(stamp_ns, f"openxr_{space}"),
        PROVIDER,
        connection,
        sequence,
        monotonic_ns,
        monotonic_ns,
        monotonic_ns,
        sample.xr_time,
        Convention.OPENXR,
        tracked_pose(sample.head),
        controller(sample.left),
        controller(sample.right),
        recentred=recentred,
    )
