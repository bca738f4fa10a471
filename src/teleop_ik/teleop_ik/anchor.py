"""The anchor: hand and tool at the moment of engaging, and what a hand's motion since then asks of the tool."""

from __future__ import annotations

from typing import NamedTuple

from teleop_common.records import ORIGIN, Pose, Vec3
from teleop_common.spatial import quat_conjugate, quat_from_yaw, quat_multiply, quat_normalized, quat_rotate
from teleop_ik.kinematics import Joints


class Anchor(NamedTuple):
    """What was true when the arm was anchored.

    Attributes:
        hand: hand pose in world.
        heading: yaw of the operator in world [rad], frozen for the life of the anchor.
        tool: tool pose at the measured joints, arm base frame.
        offset: command minus solver joints [rad]: q_ref − solve(tool). It carries droop, the solver's own error, and the part
            of a joint that lies outside its limits, so that engaging changes nothing.
        absorbed: asked positions that lay out of reach, summed up [m], arm base frame; they are forgiven, so that coming back
            moves the arm at once.
    """

    hand: Pose
    heading: float
    tool: Pose
    offset: Joints
    absorbed: Vec3 = ORIGIN


class Mapping(NamedTuple):
    """How operator motion turns into tool motion.

    Attributes:
        mount: base of the arm in world.
        yaw: rotation from the operator's heading frame to world [rad], given by the stance.
        scale: translation scale.
        gains: further translation gains along forward, left and up of the heading frame.
    """

    mount: Pose
    yaw: float
    scale: float
    gains: Vec3


def tool_target(anchor: Anchor, hand: Pose, mapping: Mapping) -> Pose:
    """Return the tool pose asked for by ``hand`` (world), in the arm's base frame.

    The hand's delta is taken in the heading frame, scaled there, and turned by the stance and the mount. Attitude follows the
    hand's attitude delta in the same frame, unscaled.
    """
    to_heading = quat_from_yaw(-anchor.heading)
    to_base = quat_multiply(quat_conjugate(mapping.mount.orientation), quat_from_yaw(mapping.yaw))
    now, then = hand.position, anchor.hand.position
    x, y, z = quat_rotate(to_heading, (now[0] - then[0], now[1] - then[1], now[2] - then[2]))
    k, (gx, gy, gz) = mapping.scale, mapping.gains
    dx, dy, dz = quat_rotate(to_base, (k * gx * x, k * gy * y, k * gz * z))
    delta = quat_multiply(hand.orientation, quat_conjugate(anchor.hand.orientation))
    turn = quat_multiply(to_base, to_heading)
    delta = quat_multiply(quat_multiply(turn, delta), quat_conjugate(turn))
    px, py, pz = anchor.tool.position
    ax, ay, az = anchor.absorbed
    position = (px + dx - ax, py + dy - ay, pz + dz - az)
    return Pose(position, quat_normalized(quat_multiply(delta, anchor.tool.orientation)))


def moved(pose: Pose, before: Pose, after: Pose) -> Pose:
    """Return ``pose`` moved and turned as much as it takes from ``before`` to ``after``, all in one frame."""
    x, y, z = (p + a - b for p, a, b in zip(pose.position, after.position, before.position))
    turn = quat_multiply(after.orientation, quat_conjugate(before.orientation))
    return Pose((x, y, z), quat_normalized(quat_multiply(turn, pose.orientation)))
