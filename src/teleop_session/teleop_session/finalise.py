"""From a provider's raw frame to the finalised one: REP-103 axes, checked values, the play space in world.

Hot path of the graph (one call per operator sample): plain comparisons on tuples, no numpy.
"""

from __future__ import annotations

import math

from teleop_common.enums import Convention
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose, Transform
from teleop_common.spatial import pose_ros_from_openxr

STAMP_TOLERANCE_NS = 200_000_000
"""A header stamp farther than this from its arrival [ns] is not believed (design: staleness 0.2 s)."""
POSITION_BOUND = 1000.0
"""A coordinate beyond this [m] is no place in a room: treated as a non-finite one."""
_UNIT_LOW, _UNIT_HIGH = 0.99**2, 1.01**2
FRAME_ID = "tracking_origin"
UNTRACKED = TrackedPose()
DISCONNECTED = Controller()


def tracked_pose(raw: TrackedPose, convention: int) -> TrackedPose:
    """Return a checked pose in REP-103 axes.

    A position that is all zero, not finite or out of any room, or a quaternion whose length is off 1 by more than 1e-2
    (an all-zero one above all), gives the identity pose with flags 0, whatever the runtime said; smaller errors of
    length (rounded recordings) are normalised.

    Args:
        raw: pose in the provider's tracking space, axes by ``convention``.
        convention: ``Convention.OPENXR`` or ``Convention.ROS``.
    """
    pose, flags = raw
    if not flags:
        return UNTRACKED
    (x, y, z), (qx, qy, qz, qw) = pose
    if not (
        -POSITION_BOUND < x < POSITION_BOUND and -POSITION_BOUND < y < POSITION_BOUND and -POSITION_BOUND < z < POSITION_BOUND
    ):
        return UNTRACKED
    # comparisons with NaN are false: what is not finite stopped above
    if x == 0.0 and y == 0.0 and z == 0.0:
        return UNTRACKED
    square = qx * qx + qy * qy + qz * qz + qw * qw
    if not _UNIT_LOW <= square <= _UNIT_HIGH:
        return UNTRACKED
    if not -1e-12 < square - 1.0 < 1e-12:
        k = 1.0 / math.sqrt(square)
        pose = Pose(pose.position, (qx * k, qy * k, qz * k, qw * k))
    if convention == Convention.OPENXR:
        pose = pose_ros_from_openxr(pose)
    return TrackedPose(pose, flags & 15)


def controller(raw: Controller, convention: int) -> Controller:
    """Return a checked controller in REP-103 axes.

    Analogue values are clamped to their range; one that is not finite reads 0 and takes the hand's tracking with it, so
    that nothing can be driven by a controller that sends nonsense. A disconnected controller is all zero, and so is one
    whose squeeze is not finite: connected with a squeeze of 0 would be an opened grip, which nobody has seen.
    """
    connected, grip, aim, trigger, squeeze, stick_x, stick_y, primary, secondary, click, menu = raw
    if not connected or not math.isfinite(squeeze):
        return DISCONNECTED
    if not (0.0 <= trigger <= 1.0 and 0.0 <= squeeze <= 1.0 and -1.0 <= stick_x <= 1.0 and -1.0 <= stick_y <= 1.0):
        if not math.isfinite(trigger + squeeze + stick_x + stick_y):
            grip = aim = UNTRACKED
        trigger, squeeze = _clamp(trigger, 0.0), _clamp(squeeze, 0.0)
        stick_x, stick_y = _clamp(stick_x, -1.0), _clamp(stick_y, -1.0)
    finished = tracked_pose(grip, convention)
    # most clients send one pose for both: convert it once
    aimed = finished if aim is grip or aim == grip else tracked_pose(aim, convention)
    return Controller(True, finished, aimed, trigger, squeeze, stick_x, stick_y, primary, secondary, click, menu)


def with_trigger_as_dead_man(raw: TeleopFrame, hand: str, closed: bool) -> TeleopFrame:
    """Return a raw frame whose trigger stands where the squeeze does, for a controller that has none.

    Args:
        raw: the provider's frame.
        hand: whose.
        closed: what the gripper is asked for in the trigger's stead.
    """
    given = raw.hand(hand)
    side = given._replace(squeeze=given.trigger, trigger=1.0 if closed else 0.0)
    return raw._replace(left=side) if hand == "left" else raw._replace(right=side)


def finalise(raw: TeleopFrame, arrival_ns: int, world_from_tracking: Transform, recentred: bool) -> TeleopFrame:
    """Return the finalised frame.

    Args:
        raw: the provider's frame.
        arrival_ns: ROS clock at arrival [ns]; replaces a stamp that is more than 0.2 s off.
        world_from_tracking: pose of the play space in world.
        recentred: the play space was moved since the last frame.
    """
    convention = raw.convention
    stamp = raw.header.stamp
    if not -STAMP_TOLERANCE_NS <= arrival_ns - stamp <= STAMP_TOLERANCE_NS:
        stamp = arrival_ns
    return TeleopFrame(
        Header(stamp, FRAME_ID),
        raw.provider,
        raw.connection,
        raw.sequence,
        raw.monotonic_ns,
        raw.available_ns,
        raw.sample_ns,
        raw.device_clock_ns,
        Convention.ROS,
        tracked_pose(raw.head, convention),
        controller(raw.left, convention),
        controller(raw.right, convention),
        world_from_tracking,
        raw.recentred or recentred,
    )


def _clamp(value: float, low: float) -> float:
    """Return ``value`` within [low, 1], or 0 when it is not finite."""
    return min(max(value, low), 1.0) if math.isfinite(value) else 0.0
