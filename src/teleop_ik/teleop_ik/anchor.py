"""The anchor: hand and tool at the moment of engaging, and what a hand's motion since then asks of the tool."""

from __future__ import annotations

from typing import NamedTuple

from teleop_common.records import ORIGIN, Pose, Quat, Vec3
from teleop_common.spatial import quat_conjugate, quat_from_yaw, quat_multiply, quat_normalized, quat_rotate
from teleop_ik.kinematics import Joints
from teleop_ik.wrist import exaggerated


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
        wrist: solver joints of a wrist that rides the hand's attitude [rad].
        ride: how a turn of the tool moves them, see ``wrist.riding``.
    """

    hand: Pose
    heading: float
    tool: Pose
    offset: Joints
    absorbed: Vec3 = ORIGIN
    wrist: Joints = ()
    ride: tuple[Vec3, ...] = ()


class Mapping(NamedTuple):
    """How operator motion turns into tool motion.

    Attributes:
        mount: base of the arm in world.
        yaw: rotation from the operator's heading frame to world [rad], given by the stance.
        scale: translation scale.
        gains: further translation gains along forward, left and up of the heading frame.
        turns: gains of the attitude's rotation vector along the same axes: roll, pitch and yaw.
    """

    mount: Pose
    yaw: float
    scale: float
    gains: Vec3
    turns: Vec3 = (1.0, 1.0, 1.0)


def tool_target(anchor: Anchor, hand: Pose, mapping: Mapping) -> Pose:
    """Return the tool pose asked for by ``hand`` (world), in the arm's base frame.

    The hand's delta is taken in the heading frame, scaled there, and turned by the stance and the mount. Attitude follows the
    hand's attitude delta in the same frame, with gains of its own.
    """
    to_heading = quat_from_yaw(-anchor.heading)
    to_base = quat_multiply(quat_conjugate(mapping.mount.orientation), quat_from_yaw(mapping.yaw))
    now, then = hand.position, anchor.hand.position
    x, y, z = quat_rotate(to_heading, (now[0] - then[0], now[1] - then[1], now[2] - then[2]))
    k, (gx, gy, gz) = mapping.scale, mapping.gains
    dx, dy, dz = quat_rotate(to_base, (k * gx * x, k * gy * y, k * gz * z))
    delta = turn_of(anchor, hand, mapping)
    px, py, pz = anchor.tool.position
    ax, ay, az = anchor.absorbed
    position = (px + dx - ax, py + dy - ay, pz + dz - az)
    return Pose(position, quat_normalized(quat_multiply(delta, anchor.tool.orientation)))


def turn_of(anchor: Anchor, hand: Pose, mapping: Mapping) -> Quat:
    """Return the turn asked of the tool since the anchor, in the arm's base frame."""
    to_heading = quat_from_yaw(-anchor.heading)
    to_base = quat_multiply(quat_conjugate(mapping.mount.orientation), quat_from_yaw(mapping.yaw))
    delta = quat_multiply(hand.orientation, quat_conjugate(anchor.hand.orientation))
    if mapping.turns != (1.0, 1.0, 1.0):
        told = quat_multiply(quat_multiply(to_heading, delta), quat_conjugate(to_heading))
        delta = quat_multiply(quat_multiply(quat_conjugate(to_heading), exaggerated(told, mapping.turns)), to_heading)
    turn = quat_multiply(to_base, to_heading)
    return quat_multiply(quat_multiply(turn, delta), quat_conjugate(turn))


def moved(pose: Pose, before: Pose, after: Pose) -> Pose:
    """Return ``pose`` moved and turned as much as it takes from ``before`` to ``after``, all in one frame."""
    x, y, z = (p + a - b for p, a, b in zip(pose.position, after.position, before.position))
    turn = quat_multiply(after.orientation, quat_conjugate(before.orientation))
    return Pose((x, y, z), quat_normalized(quat_multiply(turn, pose.orientation)))
