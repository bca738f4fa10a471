"""The one interface of every solver, and what they share: step limits and the attitude that a five-joint arm gives up.

A solver is a pure function: the same arguments give the same bytes, whatever was called before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, Protocol

from teleop_common.records import Vec3
from teleop_ik.kinematics import Chain, Joints, Mat, forward

SOLVERS = ("differential", "analytic", "velocity", "levenberg_marquardt", "qp", "point_dls")  # qp: when pink is installed

# below this elevation of the approach its azimuth is well defined; above the second it is taken as undefined
_YAW_FULL = math.cos(math.radians(60.0))
_YAW_NONE = math.cos(math.radians(80.0))
_POINTS_BACK = math.radians(120.0)
_IN_DOUBT = math.radians(15.0)  # either side of that, the attitude that the tool has decides
_OFF_AXIS = 0.05  # [m], mean distance from the first axis within which a direction round it means little
UNREACHABLE = 1e-3  # [m], distance to what the arm can reach from which a target counts as out of reach


class Target(NamedTuple):
    """A tool pose asked for, in the arm's base frame.

    Attributes:
        position: [m].
        rotation: attitude of the tool frame, whose +z is the approach.
    """

    position: Vec3
    rotation: Mat


class Bounds(NamedTuple):
    """What joints may do, one value per joint.

    Attributes:
        lower: least position [rad].
        upper: greatest position [rad].
        velocity: greatest speed [rad/s].
        acceleration: greatest change of speed [rad/s²]; empty: any.
    """

    lower: Joints
    upper: Joints
    velocity: Joints
    acceleration: Joints = ()


class SolveStatus(IntEnum):
    """How a solve ended, as to position; what of the attitude is given up is ``Solution.residual_rotation``.

    ``OK`` the answer is where the solver wants the joints; ``UNREACHABLE`` that is more than 1 mm from the target, as near as
    the arm gets; ``LIMITED`` on the way there, a step that speed, acceleration or the reach of the linearisation ended short;
    ``NOT_CONVERGED`` the budget of iterations ran out; ``BAD_INPUT`` nothing was solved. The first that applies of
    BAD_INPUT, UNREACHABLE, NOT_CONVERGED, LIMITED.
    """

    OK = 0
    UNREACHABLE = 1
    LIMITED = 2
    NOT_CONVERGED = 3
    BAD_INPUT = 4


class Solution(NamedTuple):
    """What a solver answers.

    Attributes:
        joints: [rad], within the bounds and at most velocity·dt from ``previous``.
        excess: the part of the asked position that the arm cannot reach, asked minus reachable [m], base frame.
        residual_rotation: angle from the asked attitude to what the arm can reach [rad].
        status: how it ended.
        ahead: where the joints would be had the step no speed limit [rad]: how far each still has to go, to brake in time.
    """

    joints: Joints
    excess: Vec3
    residual_rotation: float
    status: SolveStatus = SolveStatus.OK
    ahead: Joints = ()

    @property
    def residual_position(self) -> float:
        """Distance from the asked position to what the arm can reach [m]."""
        return math.sqrt(self.excess[0] ** 2 + self.excess[1] ** 2 + self.excess[2] ** 2)


class Solver(Protocol):
    """Joints for a tool pose.

    Attributes:
        name: as the parameter calls it.
        chain: the arm.
    """

    name: str
    chain: Chain

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """Return the joints to command.

        Args:
            target: tool pose asked for.
            seed: measured joints [rad]: where to linearise, which branch to take.
            previous: last command [rad]; limits and integration are relative to it.
            bounds: allowed interval and speed.
            dt: time since ``previous`` was commanded [s]; ``math.inf`` for no speed limit.
            rate: speed of the last command [rad/s]; empty: unknown, and acceleration is not limited. Only ``velocity`` and
                ``qp`` reckon in speeds.
        """


def sane(values: tuple[float, ...]) -> bool:
    """Return whether all values are finite and their norm is below 1000 (m, rad), beyond which no robot here goes."""
    return math.hypot(*values) < 1000.0  # false for NaN too


def usable(target: Target, seed: Joints, previous: Joints) -> bool:
    """Return whether a solver can work with these numbers: all of them together ``sane``."""
    return math.hypot(*target.position, *target.rotation, *seed, *previous) < 1000.0


def within(bounds: Bounds, previous: Joints) -> Bounds:
    """Return the allowed interval for the next command: hull(bounds, previous), so that it shrinks inwards only."""
    for p, low, high in zip(previous, bounds.lower, bounds.upper):
        if not low <= p <= high:
            break
    else:
        return bounds
    return Bounds(
        tuple([p if p < low else low for p, low in zip(previous, bounds.lower)]),
        tuple([p if p > high else high for p, high in zip(previous, bounds.upper)]),
        bounds.velocity,
        bounds.acceleration,
    )


def limit_step(previous: Joints, joints: Joints, bounds: Bounds, dt: float) -> Joints:
    """Return ``joints`` drawn towards ``previous`` until no joint moves faster than its speed; the direction is kept."""
    share = 1.0
    dt = dt if dt > 0.0 else 0.0  # negative or NaN: no time has passed
    for now, then, speed in zip(joints, previous, bounds.velocity):
        most = speed * dt
        if not -most <= now - then <= most:
            share = min(share, most / abs(now - then))
    if share >= 1.0:
        return joints
    return tuple([then + share * (now - then) for now, then in zip(joints, previous)])


def ended(
    previous: Joints,
    goal: Joints,
    allowed: Bounds,
    dt: float,
    excess: Vec3,
    turned: float,
    *,
    converged: bool = True,
    short: bool = False,
    ahead: Joints = (),
) -> Solution:
    """Return the solution of a solver that wants the joints at ``goal``: the step there that speed allows, and its status.

    Args:
        previous: last command [rad].
        goal: inside the allowed interval [rad].
        allowed: the interval and the speeds.
        dt: time since ``previous`` [s].
        excess: part of the asked position that is out of reach [m].
        turned: part of the asked attitude that is given up [rad].
        converged: whether the budget of iterations was enough.
        short: whether ``goal`` itself is only on the way.
        ahead: where that way leads [rad]; empty: to ``goal``.
    """
    joints = limit_step(previous, goal, allowed, dt)
    x, y, z = excess
    if x * x + y * y + z * z > UNREACHABLE * UNREACHABLE:
        status = SolveStatus.UNREACHABLE
    elif not converged:
        status = SolveStatus.NOT_CONVERGED
    elif short or joints is not goal:
        status = SolveStatus.LIMITED
    else:
        status = SolveStatus.OK
    return Solution(joints, excess, turned, status, ahead or goal)


def refused(previous: Joints) -> Solution:
    """Return the solution for input that is no pose or no angle: stay."""
    return Solution(previous, (0.0, 0.0, 0.0), 0.0, SolveStatus.BAD_INPUT, previous)


def clamped(joints: Joints, bounds: Bounds) -> Joints:
    """Return ``joints`` [rad] drawn into the interval of ``bounds``."""
    return tuple([low if q < low else high if q > high else q for q, low, high in zip(joints, bounds.lower, bounds.upper)])


def shortened(wanted: Vec3, position: Vec3, longest: float) -> tuple[Vec3, float]:
    """Return the way from ``position`` to ``wanted`` [m], no longer than ``longest``, and which share of the whole that is."""
    x, y, z = wanted[0] - position[0], wanted[1] - position[1], wanted[2] - position[2]
    length = math.sqrt(x * x + y * y + z * z)
    if length <= longest:
        return (x, y, z), 1.0
    k = longest / length
    return (k * x, k * y, k * z), k


def swung(chain: Chain, joints: Joints, wanted: Vec3, allowed: Bounds) -> Joints:
    """Return ``joints`` with the first turned so far that the tool is as near to ``wanted`` as that joint alone can bring it.

    A long way is mostly one round the base, which steps along the straight line lead through the arm's own place. The closed
    form is that of one step of cyclic coordinate descent [Wang, Chen 1991]. Where the joint's limit is in the way, or the
    points lie close to its axis, ``joints`` come back as they are.

    Args:
        chain: the arm.
        joints: [rad].
        wanted: tool position asked for, base frame [m].
        allowed: limits of position.
    """
    posture = forward(chain, joints)
    (ax, ay, az), (ox, oy, oz) = posture.axes[0], posture.origins[0]
    vectors = []
    for x, y, z in (posture.position, wanted):
        x, y, z = x - ox, y - oy, z - oz
        along = x * ax + y * ay + z * az
        vectors.append((x - along * ax, y - along * ay, z - along * az))
    (x, y, z), (u, v, w) = vectors
    cosine = x * u + y * v + z * w
    sine = ax * (y * w - z * v) + ay * (z * u - x * w) + az * (x * v - y * u)
    if math.hypot(cosine, sine) < _OFF_AXIS * _OFF_AXIS:
        return joints
    turned = joints[0] + math.atan2(sine, cosine)
    return (turned, *joints[1:]) if allowed.lower[0] <= turned <= allowed.upper[0] else joints


def yaw_share(rotation: Mat) -> float:
    """Return how far the yaw of an attitude's approach is given up: 1 up to 60° of elevation, 0 from 80°."""
    flat = math.sqrt(rotation[2] * rotation[2] + rotation[5] * rotation[5])
    if flat >= _YAW_FULL:
        return 1.0
    share = max(0.0, (flat - _YAW_NONE) / (_YAW_FULL - _YAW_NONE))
    return share * share * (3.0 - 2.0 * share)


def without_yaw(rotation: Mat, cosine: float, sine: float, now: Callable[[], Mat] | None = None) -> tuple[Mat, float]:
    """Swing an attitude's approach about the vertical into the arm's plane, of azimuth (cosine, sine).

    That keeps the elevation of the approach and the roll about it, and gives up its yaw, which an arm whose azimuth follows
    from position cannot choose. An approach more than 120° off counts as pointing back in the plane (an elevation past the
    vertical). Towards the vertical the azimuth of the approach loses its meaning (there yaw *is* roll), so from 60° to 80° of
    elevation the swing fades out; what then still leaves the plane is dropped by projection.

    Args:
        rotation: the attitude.
        cosine: of the azimuth of the arm's plane.
        sine: of it.
        now: gives the attitude that the tool has: near the border of pointing back the way to swing that is nearer to it is
            taken, or what the choice itself moves would change the choice again.

    Returns:
        the attitude, and the angle [rad] by which it was swung.
    """
    c, f = rotation[2], rotation[5]
    flat = math.sqrt(c * c + f * f)
    if flat <= _YAW_NONE:
        return rotation, 0.0
    # the angle from the approach's azimuth to the wanted one
    swing = math.atan2(c * sine - f * cosine, c * cosine + f * sine)
    share = 1.0 if flat >= _YAW_FULL else yaw_share(rotation)
    wide = abs(swing)
    if now is not None and abs(wide - _POINTS_BACK) < _IN_DOUBT:
        ahead, back = share * swing, share * (swing - math.copysign(math.pi, swing))
        forth, here = _swung(rotation, ahead), now()
        over = _swung(rotation, back)
        return (forth, ahead) if _trace(forth, here) >= _trace(over, here) else (over, back)
    if wide > _POINTS_BACK:
        swing -= math.copysign(math.pi, swing)
    swing *= share
    return _swung(rotation, swing), swing


def _swung(rotation: Mat, swing: float) -> Mat:
    """Return an attitude turned about the vertical by ``swing`` [rad]."""
    a, b, c, d, e, f, g, h, i = rotation
    co = math.cos(swing)
    si = math.sin(swing)
    return (co * a - si * d, co * b - si * e, co * c - si * f, si * a + co * d, si * b + co * e, si * c + co * f, g, h, i)


def _trace(one: Mat, other: Mat) -> float:
    """Return the trace of one·otherᵀ, the greater the less is between them."""
    return sum([p * q for p, q in zip(one, other)])


def rotation_between(wanted: Mat, current: Mat) -> Vec3:
    """Return the rotation vector [rad] that turns ``current`` into ``wanted``, base frame, the shorter way round."""
    a, b, c, d, e, f, g, h, i = wanted
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = current
    # D = wanted · currentᵀ: 2·sin(angle)·axis from its skew part, 1 + 2·cos(angle) from its trace
    x = (g * r3 + h * r4 + i * r5) - (d * r6 + e * r7 + f * r8)
    y = (a * r6 + b * r7 + c * r8) - (g * r0 + h * r1 + i * r2)
    z = (d * r0 + e * r1 + f * r2) - (a * r3 + b * r4 + c * r5)
    trace = a * r0 + b * r1 + c * r2 + d * r3 + e * r4 + f * r5 + g * r6 + h * r7 + i * r8
    s = math.sqrt(x * x + y * y + z * z)
    if s < 1e-6 and trace < 0.0:
        return _half_turn(wanted, current)
    if s < 1e-12:
        return (0.0, 0.0, 0.0)
    k = math.atan2(0.5 * s, 0.5 * (trace - 1.0)) / s
    return (k * x, k * y, k * z)


def _half_turn(wanted: Mat, current: Mat) -> Vec3:
    """Return the rotation vector [rad] of a half turn, whose skew part says nothing: D = 2·axis·axisᵀ − 1, either sign."""
    a, b, c, d, e, f, g, h, i = wanted
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = current
    rows = (
        (a * r0 + b * r1 + c * r2 + 1.0, a * r3 + b * r4 + c * r5, a * r6 + b * r7 + c * r8),
        (d * r0 + e * r1 + f * r2, d * r3 + e * r4 + f * r5 + 1.0, d * r6 + e * r7 + f * r8),
        (g * r0 + h * r1 + i * r2, g * r3 + h * r4 + i * r5, g * r6 + h * r7 + i * r8 + 1.0),
    )
    x, y, z = max(rows, key=lambda row: row[0] * row[0] + row[1] * row[1] + row[2] * row[2])
    n = math.sqrt(x * x + y * y + z * z)
    return (math.pi * x / n, math.pi * y / n, math.pi * z / n) if n > 0.0 else (0.0, 0.0, 0.0)
