"""What RViz sees of the operator: transforms and markers."""

from __future__ import annotations

from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMsg
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from teleop_common.enums import PoseFlags
from teleop_common.records import Header, Pose, TeleopFrame, TFMessage, TrackedPose, Transform, TransformStamped
from teleop_session.finalise import FRAME_ID

_COLOURS = {"head": (0.8, 0.8, 0.8), "left_hand": (0.2, 0.5, 1.0), "right_hand": (1.0, 0.5, 0.2), FRAME_ID: (0.3, 0.8, 0.3)}
_SIZES = {
    "head": (0.16, 0.14, 0.22),
    "left_hand": (0.12, 0.03, 0.03),
    "right_hand": (0.12, 0.03, 0.03),
    FRAME_ID: (0.3, 0.3, 0.01),
}


def origin_transform(stamp_ns: int, world_from_tracking: Transform) -> TransformStamped:
    """Return world → tracking_origin."""
    return TransformStamped(Header(stamp_ns, "world"), FRAME_ID, world_from_tracking)


def operator_transforms(frame: TeleopFrame) -> TFMessage:
    """Return world → tracking_origin → head, left_hand, right_hand; of the latter those that are tracked."""
    stamp = frame.header.stamp
    header = Header(stamp, FRAME_ID)
    return TFMessage(
        (
            origin_transform(stamp, frame.world_from_tracking),
            *(TransformStamped(header, name, Transform(*tracked.pose)) for name, tracked in _things(frame)),
        )
    )


def operator_markers(frame: TeleopFrame) -> MarkerArray:
    """Return a marker each for the play space, the head and the hands; those without a tracked pose are deleted."""
    tracked = dict(_things(frame))
    out = MarkerArray()
    for number, name in enumerate(_COLOURS):
        marker = Marker(ns="operator", id=number, type=Marker.CUBE)
        marker.header.frame_id = FRAME_ID
        marker.header.stamp.sec, marker.header.stamp.nanosec = divmod(frame.header.stamp, 1_000_000_000)
        pose = Pose() if name == FRAME_ID else tracked[name].pose if name in tracked else None
        marker.action = Marker.DELETE if pose is None else Marker.ADD
        if pose is not None:
            marker.pose = PoseMsg(position=Point(**_named(pose.position)), orientation=Quaternion(**_named(pose.orientation)))
        marker.scale.x, marker.scale.y, marker.scale.z = _SIZES[name]
        red, green, blue = _COLOURS[name]
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=0.8)
        out.markers.append(marker)
    return out


def _things(frame: TeleopFrame) -> list[tuple[str, TrackedPose]]:
    things = (("head", frame.head), ("left_hand", frame.left.grip), ("right_hand", frame.right.grip))
    return [(name, tracked) for name, tracked in things if tracked.flags == PoseFlags.ALL]


def _named(values: tuple[float, ...]) -> dict[str, float]:
    return dict(zip("xyzw", values, strict=False))
