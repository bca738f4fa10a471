"""Rotations and rigid transforms on plain tuples.

Scalars in tuples, not arrays: for single poses this is several times faster than numpy, and the results are
bit-for-bit the same on every machine with IEEE 754 doubles, which re-simulation relies on.
Quaternions are (x, y, z, w); names read ``a_from_b``: it takes coordinates in b to coordinates in a.
"""

from __future__ import annotations

import math

from teleop_common.records import Pose, Quat, Transform, Vec3

# Axes of OpenXR and WebXR (x right, y up, -z forward) to REP-103 (x forward, y left, z up):
# rows (0, 0, -1), (-1, 0, 0), (0, 1, 0). [REP-103; OpenXR specification, reference spaces]
ROS_FROM_OPENXR: Quat = (0.5, -0.5, -0.5, 0.5)


def quat_multiply(a: Quat, b: Quat) -> Quat:
    """Return the Hamilton product a·b: first rotate by b, then by a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def quat_conjugate(q: Quat) -> Quat:
    """Return the inverse of a unit quaternion."""
    return (-q[0], -q[1], -q[2], q[3])


def quat_normalized(q: Quat) -> Quat:
    """Return q scaled to unit length.

    Raises:
        ValueError: q is zero or not finite.
    """
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if not math.isfinite(n) or n < 1e-9:
        raise ValueError(f"quaternion: got {q}, allowed finite and non-zero; the sender must mark such a pose untracked")
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def quat_rotate(q: Quat, v: Vec3) -> Vec3:
    """Return v rotated by the unit quaternion q."""
    x, y, z, w = q
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def quat_from_axis_angle(axis: Vec3, angle: float) -> Quat:
    """Return the rotation by ``angle`` [rad] about ``axis`` (any length but zero)."""
    n = math.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    s = math.sin(0.5 * angle) / n
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(0.5 * angle))


def quat_from_yaw(yaw: float) -> Quat:
    """Return the rotation by ``yaw`` [rad] about +z."""
    return (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))


def quat_from_rpy(roll: float, pitch: float, yaw: float) -> Quat:
    """Return the rotation of fixed-axis roll, pitch, yaw [rad], as URDF's rpy."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def quat_to_rpy(q: Quat) -> Vec3:
    """Return the fixed-axis roll, pitch, yaw [rad] of the unit quaternion q, as URDF's rpy; roll is 0 at pitch ±90°."""
    rows = quat_to_matrix(q)
    level = math.hypot(rows[0][0], rows[1][0])
    pitch = math.atan2(-rows[2][0], level)
    if level < 1e-9:
        return (0.0, pitch, math.atan2(-rows[0][1], rows[1][1]))
    return (math.atan2(rows[2][1], rows[2][2]), pitch, math.atan2(rows[1][0], rows[0][0]))


def quat_to_rotvec(q: Quat) -> Vec3:
    """Return the rotation vector [rad] of the unit quaternion q, the shorter way round (angle in [0, pi])."""
    x, y, z, w = q if q[3] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 if s < 1e-12 else 2.0 * math.atan2(s, w) / s
    return (x * k, y * k, z * k)


def quat_to_matrix(q: Quat) -> tuple[Vec3, Vec3, Vec3]:
    """Return the rotation matrix of the unit quaternion q, as rows."""
    x, y, z, w = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def quat_angle(a: Quat, b: Quat) -> float:
    """Return the angle [rad] between two attitudes, in [0, pi]."""
    r = quat_to_rotvec(quat_multiply(quat_conjugate(a), b))
    return math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])


def compose(a: Pose, b: Pose) -> Pose:
    """Return the pose b, given in the frame of a, in the frame in which a is given."""
    p = quat_rotate(a.orientation, b.position)
    q = a.position
    return Pose((q[0] + p[0], q[1] + p[1], q[2] + p[2]), quat_multiply(a.orientation, b.orientation))


def inverse(a: Pose) -> Pose:
    """Return the pose that undoes a."""
    q = quat_conjugate(a.orientation)
    p = quat_rotate(q, a.position)
    return Pose((-p[0], -p[1], -p[2]), q)


def world_pose(world_from_tracking: Transform, pose: Pose) -> Pose:
    """Return the world pose of a tracked thing given in the tracking space."""
    return compose(Pose(world_from_tracking.translation, world_from_tracking.rotation), pose)


def pose_ros_from_openxr(pose: Pose) -> Pose:
    """Return an OpenXR or WebXR pose in REP-103 axes, body axes relabelled too (body x forward, y left, z up).

    Positions turn by R; orientations by q → R q R⁻¹, so that "-z forward" of a controller becomes its "+x forward".
    """
    x, y, z = pose.position
    qx, qy, qz, qw = pose.orientation
    # R (x, y, z) = (-z, -x, y); conjugating a quaternion by R permutes its vector part the same way
    return Pose((-z, -x, y), (-qz, -qx, qy, qw))


def pose_openxr_from_ros(pose: Pose) -> Pose:
    """Undo ``pose_ros_from_openxr``."""
    x, y, z = pose.position
    qx, qy, qz, qw = pose.orientation
    return Pose((-y, z, -x), (-qy, qz, -qx, qw))


def heading_yaw(orientation: Quat) -> float:
    """Return the yaw [rad] of a REP-103 body's forward; beyond 60° of pitch, of its up turned forward.

    Looking steeply down, the top of the head points where the operator faces; looking steeply up, it points backwards.
    """
    rows = quat_to_matrix(orientation)
    forward = (rows[0][0], rows[1][0], rows[2][0])
    if abs(forward[2]) <= math.sin(math.radians(60.0)):
        return math.atan2(forward[1], forward[0])
    up = (rows[0][2], rows[1][2], rows[2][2])
    s = -1.0 if forward[2] > 0.0 else 1.0
    return math.atan2(s * up[1], s * up[0])
