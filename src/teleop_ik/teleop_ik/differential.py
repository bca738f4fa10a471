"""One damped step of differential inverse kinematics for any revolute chain: position first, attitude in its null space.

The step is q = previous + J⁺(e − J·(previous − seed)): linearised at the measured joints, integrated from the last command.
For a lagging or drooping arm that gives the same command, to first order, as for one that follows at once.
[Nakamura, Hanafusa 1986 (damping by singularity); Siciliano, Slotine 1991 (task priority); Chiaverini 1997 (both)]

At the edge of reach the first order says nothing: there σ → 0, and along the singular direction the tool moves by
σ·b + h·b²/2 for a step b, where h is the curvature. That quadratic is solved instead of damped away, so an arm at full stretch
neither hunts the last millimetre nor sticks when the hand comes back. [J. Angeles, Fundamentals of Robotic Mechanical
Systems, on the second-order kinematics of serial chains, gives the derivative of a Jacobian column: axis_i × column_j, i ≤ j]
"""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.records import ORIGIN, Vec3
from teleop_ik import linear3
from teleop_ik.kinematics import Chain, Joints, Mat, Posture, forward, jacobian
from teleop_ik.solver import (
    Bounds,
    Solution,
    Target,
    ended,
    refused,
    rotation_between,
    shortened,
    usable,
    within,
    without_yaw,
    yaw_share,
)

# the first three relative to the mean diagonal of J·Jᵀ, the Jacobian's own scale
SINGULAR = 0.02  # a squared singular value below this share is treated as singular
DAMPING = 0.02  # greatest damping of such a direction
CURVED = 0.1  # least |h| relative to the square root of the scale at which the quadratic is worth solving
SPATIAL = 6  # joints from which on the whole attitude is asked for, and may be out of reach
IN_PLACE = 1e-4  # squared distance of an axis from the tool, relative to the farthest's, that counts as through it
ATTITUDE_DAMPING = 1e-4  # least one of the attitude task, whose columns are unit vectors before the projection
NO_AUTHORITY = 1e-6  # squared size of the projected columns below which rounding is all that they hold
LARGEST_STEP = 0.10  # [m], a longer way is walked in several frames: the linearisation holds no farther
SHORT_OF_REACH = 5e-5  # [m], how far before full stretch to stop, so that the arm remembers which way it was bent


class Differential:
    """The damped step behind the solvers' interface."""

    name = "differential"

    def __init__(self, chain: Chain) -> None:
        """Take the chain."""
        self.chain = chain

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``.

        Position takes its step first, as long as speed allows; attitude takes what room is left. Either is walked until a
        joint meets its bound, and on without that joint.
        """
        if not usable(target, seed, previous):
            return refused(previous)
        dt = dt if dt > 0.0 else 0.0  # negative or NaN: no time has passed
        allowed = within(bounds, previous)
        posture = forward(self.chain, seed)
        lag = [p - s for p, s in zip(previous, seed)]
        kept, swing, turns = kept_attitude(target.rotation, posture)
        task = _Task(jacobian(posture), turns, posture.axes, previous, allowed, dt)
        way, share = shortened(target.position, posture.position, LARGEST_STEP)
        task.short = share < 1.0
        excess = task.position(_less(way, task.free_columns, lag))
        if share < 1.0:
            excess = _farther(excess, way, share)
        if len(task.step) >= SPATIAL and (task.reach < math.inf or linear3.norm(excess) > SHORT_OF_REACH):
            task.turn_in_place()
        left = task.attitude(rotation_between(kept, posture.rotation), lag)
        joints = tuple([then + by for then, by in zip(previous, task.step)])
        ahead = tuple([then + by for then, by in zip(previous, task.whole)])
        return ended(previous, joints, allowed, dt, excess, math.hypot(left, swing), short=task.short, ahead=ahead)


class First(NamedTuple):
    """The position task, solved.

    Attributes:
        joints: its step [rad].
        excess: what it cannot reach [m].
        inverse: (J·Jᵀ)⁻¹ as used, for the projection onto its null space.
        reach: largest step [rad] of the attitude task within which the linearisation of the null space holds.
    """

    joints: list[float]
    excess: Vec3
    inverse: linear3.Sym
    reach: float


class _Task:
    """One solve in progress: the step so far, and the joints that may still move."""

    def __init__(
        self,
        columns: tuple[Vec3, ...],
        turns: tuple[Vec3, ...],
        axes: tuple[Vec3, ...],
        previous: Joints,
        allowed: Bounds,
        dt: float,
    ) -> None:
        self.axes = axes
        self.turns = turns
        self.free_columns = columns
        self.free_turns = turns
        self.step = [0.0] * len(columns)
        self.whole = [0.0] * len(columns)  # the step without its speed limit
        self.blocked = False
        self.short = False
        self.reach = math.inf
        self.inverse: linear3.Sym | None = None
        self.pace = [speed * dt for speed in allowed.velocity]
        self.low = [low - p for low, p in zip(allowed.lower, previous)]
        self.high = [high - p for high, p in zip(allowed.upper, previous)]

    def position(self, error: Vec3) -> Vec3:
        """Step towards a position error [m]; return the part of it that is out of reach."""
        for attempt in range(len(self.step) + 1):
            first = _position(self.free_columns, self.axes, error, self.blocked)
            if first is None:
                return error
            if attempt == 0:
                self.whole = first.joints
                share = 1.0
                for by, pace in zip(first.joints, self.pace):
                    if not -pace <= share * by <= pace:
                        share = pace / abs(by)
                if share < 1.0:
                    self.short = True
                    # ask for no more than this step can do, or joints would be stopped by bounds that they are far from
                    error = (share * error[0], share * error[1], share * error[2])
                    first = _position(self.free_columns, self.axes, error, self.blocked) or first
            self.inverse, self.reach = first.inverse, first.reach
            share, blocker = self._walk(first.joints, self.low, self.high)
            if blocker < 0:
                return first.excess
            ex, ey, ez = first.excess
            rest = 1.0 - share
            error = (ex + rest * (error[0] - ex), ey + rest * (error[1] - ey), ez + rest * (error[2] - ez))
            self._block(blocker)
        return error

    def attitude(self, turn: Vec3, lag: list[float]) -> float:
        """Step towards an attitude error [rad] of the seed without moving the tool; return what remains of it."""
        turn = _less(turn, self.turns, [a + b for a, b in zip(lag, self.step)])
        low = [low if low > -pace else -pace for low, pace in zip(self.low, self.pace)]
        high = [high if high < pace else pace for high, pace in zip(self.high, self.pace)]
        left = linear3.norm(turn)
        for _ in range(len(self.step)):
            if self.inverse is None:
                square = linear3.gram(self.free_columns)
                scale = square[0] + square[3] + square[5]
                self.inverse = linear3.inverse(linear3.plus_diagonal(square, max(1e-8 * scale, 1e-12)))
            second, left, whole = _attitude(self.free_columns, self.free_turns, self.inverse, self.reach, turn)
            if self.blocked:
                second = _projected(self.free_columns, self.inverse, second)
            self.whole = [to + by for to, by in zip(self.whole, second)]
            share, blocker = self._walk(second, low, high)
            if blocker < 0:
                self.short = self.short or not whole
                break
            self.short = self.short or abs(self.step[blocker]) >= self.pace[blocker] - 1e-12
            turn = _less(turn, self.turns, [share * by for by in second])
            self._block(blocker)
        return left

    def turn_in_place(self) -> None:
        """Leave attitude to the joints whose axes pass through the tool.

        At the edge of reach any other turn pulls the tool in, to second order, and position pushes it out again, for ever.
        """
        most = IN_PLACE * max([linear3.dot(c, c) for c in self.free_columns])
        self.free_turns = tuple([t if linear3.dot(c, c) <= most else ORIGIN for c, t in zip(self.free_columns, self.free_turns)])
        self.reach = math.inf

    def _walk(self, by: list[float], low: list[float], high: list[float]) -> tuple[float, int]:
        """Add as much of ``by`` to the step as bounds allow; return that share, and the joint that ended it or -1."""
        ahead = [done + more for done, more in zip(self.step, by)]
        for place, least, most in zip(ahead, low, high):
            if not least <= place <= most:
                break
        else:
            self.step = ahead
            return 1.0, -1
        share, blocker = 1.0, -1
        for i, (done, more, least, most) in enumerate(zip(self.step, by, low, high)):
            room = most - done if more > 0.0 else least - done
            if abs(more) * share > abs(room) + 1e-12 or room * more < 0.0:
                share, blocker = max(0.0, room / more), i
        self.step = [done + share * more for done, more in zip(self.step, by)]
        return share, blocker

    def _block(self, joint: int) -> None:
        self.free_columns = tuple([ORIGIN if i == joint else c for i, c in enumerate(self.free_columns)])
        self.free_turns = tuple([ORIGIN if i == joint else c for i, c in enumerate(self.free_turns)])
        self.inverse = None
        self.blocked = True


def _farther(excess: Vec3, way: Vec3, share: float) -> Vec3:
    """Return ``excess`` with what lies behind it in its direction, where only a ``share`` of the way was asked for."""
    square = excess[0] * excess[0] + excess[1] * excess[1] + excess[2] * excess[2]
    if square == 0.0:
        return excess
    k = 1.0 + max(0.0, (1.0 / share - 1.0) * (excess[0] * way[0] + excess[1] * way[1] + excess[2] * way[2]) / square)
    return (k * excess[0], k * excess[1], k * excess[2])


def kept_attitude(rotation: Mat, posture: Posture) -> tuple[Mat, float, tuple[Vec3, ...]]:
    """Return the attitude to go for, the yaw given up [rad], and how each joint turns the tool against that attitude.

    With fewer than six joints the approach is swung into the tool's own azimuth, and follows it: a joint that turns the tool
    about the vertical takes the wanted attitude along, as far as yaw is given up.
    """
    x, y, z = posture.rotation[2], posture.rotation[5], posture.rotation[8]
    flat2 = x * x + y * y
    if len(posture.axes) >= 6 or flat2 < 1e-18:
        return rotation, 0.0, posture.axes
    flat = math.sqrt(flat2)
    kept, swing = without_yaw(rotation, x / flat, y / flat, lambda: posture.rotation)
    share = yaw_share(rotation)
    if share == 0.0:
        return kept, swing, posture.axes
    k = share / flat2
    # rate of the azimuth of an approach a turned about axis w: (w_z − (w·a)·a_z) / |a flat|²
    turns = tuple([(u, v, w - k * (w - (u * x + v * y + w * z) * z)) for u, v, w in posture.axes])
    return kept, swing, turns


def _less(task: Vec3, columns: tuple[Vec3, ...], joints: list[float]) -> Vec3:
    """Return ``task`` less what ``joints`` already do of it."""
    x, y, z = task
    for (cx, cy, cz), by in zip(columns, joints):
        x -= cx * by
        y -= cy * by
        z -= cz * by
    return (x, y, z)


def _position(columns: tuple[Vec3, ...], axes: tuple[Vec3, ...], error: Vec3, held: bool) -> First | None:
    """Solve the position task; None when no joint moves the tool."""
    square = linear3.gram(columns)
    scale = (square[0] + square[3] + square[5]) / 3.0
    if scale <= 1e-12:
        return None
    threshold = SINGULAR * scale
    # the least eigenvalue is at least det / (trace / 2)², which costs less to know
    well = 4.0 * linear3.determinant(square) >= 9.0 * threshold * scale * scale
    least, middle = (threshold, threshold) if well else linear3.two_least(square)
    if least >= threshold:
        inverse = linear3.inverse(square)
        x, y, z = linear3.times(inverse, error)
        return First([a * x + b * y + c * z for a, b, c in columns], ORIGIN, inverse, math.inf)
    if middle < threshold:
        # two directions at once: plain damping
        ramp = 1.0 - max(0.0, least) / threshold
        return _damped(columns, error, linear3.inverse(linear3.plus_diagonal(square, DAMPING * scale * ramp * ramp)), held)
    u = linear3.eigenvector(square, least)
    if u is None:
        return _damped(columns, error, linear3.inverse(linear3.plus_diagonal(square, DAMPING * scale)), held)
    row = [u[0] * a + u[1] * b + u[2] * c for a, b, c in columns]
    sigma = math.sqrt(sum([g * g for g in row]))
    along = u[0] * error[0] + u[1] * error[1] + u[2] * error[2]
    curvature = 0.0
    if sigma > 1e-7:
        v = [g / sigma for g in row]
        curvature = _curvature(columns, axes, u, v)
    if abs(curvature) < CURVED * math.sqrt(scale):
        ramp = 1.0 - max(0.0, least) / threshold
        return _damped(columns, error, linear3.inverse(linear3.plus_dyad(square, u, DAMPING * scale * ramp * ramp)), held)
    # the well-conditioned rest, then sigma·b + curvature·b²/2 = along, as far as it has a solution
    rest = (error[0] - along * u[0], error[1] - along * u[1], error[2] - along * u[2])
    inverse = linear3.inverse(linear3.plus_dyad(square, u, threshold - least))
    x, y, z = linear3.times(inverse, rest)
    least_root = min(sigma * sigma, 2.0 * abs(curvature) * SHORT_OF_REACH)
    root = sigma * sigma + 2.0 * curvature * along
    missing = 0.0
    if root < least_root:
        missing = along - (least_root - sigma * sigma) / (2.0 * curvature)
        root = least_root
    b = (math.sqrt(root) - sigma) / curvature
    joints = [p * x + q * y + r * z + b * w for (p, q, r), w in zip(columns, v)]
    # the null space leaves v out: there attitude must not move the tool, however little
    strict = linear3.plus_dyad(inverse, u, 1.0 / (sigma * sigma) - 1.0 / threshold)
    excess = (missing * u[0], missing * u[1], missing * u[2])
    return First(joints, excess, strict, 0.5 * sigma / abs(curvature))


def _projected(columns: tuple[Vec3, ...], inverse: linear3.Sym, step: list[float]) -> list[float]:
    """Return ``step`` without what it still moves the tool.

    An attitude that cannot be had is a large right-hand side; what little an inverse is off that is regularised for joints held
    at their bounds, it multiplies: 0.2 mm, to and fro with every step.
    """
    by = [0.0, 0.0, 0.0]
    for column, q in zip(columns, step):
        for k in range(3):
            by[k] += column[k] * q
    x, y, z = linear3.times(inverse, (by[0], by[1], by[2]))
    return [q - (a * x + b * y + c * z) for q, (a, b, c) in zip(step, columns)]


def _damped(columns: tuple[Vec3, ...], error: Vec3, inverse: linear3.Sym, held: bool) -> First:
    """Return the damped solution; what it leaves is out of reach only where joints are held at their bounds."""
    x, y, z = linear3.times(inverse, error)
    joints = [a * x + b * y + c * z for a, b, c in columns]
    return First(joints, _less(error, columns, joints) if held else ORIGIN, inverse, math.inf)


def _curvature(columns: tuple[Vec3, ...], axes: tuple[Vec3, ...], u: Vec3, v: list[float]) -> float:
    """Return u·(second derivative of the tool position along v) [m/rad²]; that of columns i ≤ j is axis_i × column_j."""
    total = 0.0
    sx = sy = sz = 0.0  # sum of v_i·axis_i over the joints before j
    for (cx, cy, cz), (ax, ay, az), by in zip(columns, axes, v):
        # twice for the joints before, once for the joint itself
        tx, ty, tz = 2.0 * sx + by * ax, 2.0 * sy + by * ay, 2.0 * sz + by * az
        total += by * (u[0] * (ty * cz - tz * cy) + u[1] * (tz * cx - tx * cz) + u[2] * (tx * cy - ty * cx))
        sx += by * ax
        sy += by * ay
        sz += by * az
    return total


def _attitude(
    position: tuple[Vec3, ...], rotation: tuple[Vec3, ...], inverse: linear3.Sym, reach: float, wanted: Vec3
) -> tuple[list[float], float, bool]:
    """Return the attitude task's step in the null space of position, what error remains [rad], and whether it is whole."""
    # attitude columns seen through that null space: B = Jr − S·A·Jp with S = Jr·Jpᵀ, A = (Jp·Jpᵀ)⁻¹; so B·Bᵀ = Jr·Jrᵀ − S·A·Sᵀ
    sxx = sxy = sxz = syx = syy = syz = szx = szy = szz = 0.0
    xx = xy = xz = yy = yz = zz = 0.0
    for (px, py, pz), (rx, ry, rz) in zip(position, rotation):
        sxx += rx * px
        sxy += rx * py
        sxz += rx * pz
        syx += ry * px
        syy += ry * py
        syz += ry * pz
        szx += rz * px
        szy += rz * py
        szz += rz * pz
        xx += rx * rx
        xy += rx * ry
        xz += rx * rz
        yy += ry * ry
        yz += ry * rz
        zz += rz * rz
    ax, ay, az, by, bz, cz = inverse
    kxx, kxy, kxz = sxx * ax + sxy * ay + sxz * az, sxx * ay + sxy * by + sxz * bz, sxx * az + sxy * bz + sxz * cz
    kyx, kyy, kyz = syx * ax + syy * ay + syz * az, syx * ay + syy * by + syz * bz, syx * az + syy * bz + syz * cz
    kzx, kzy, kzz = szx * ax + szy * ay + szz * az, szx * ay + szy * by + szz * bz, szx * az + szy * bz + szz * cz
    xx -= kxx * sxx + kxy * sxy + kxz * sxz
    yy -= kyx * syx + kyy * syy + kyz * syz
    zz -= kzx * szx + kzy * szy + kzz * szz
    if xx + yy + zz < NO_AUTHORITY:
        return [0.0] * len(position), linear3.norm(wanted), True
    xy -= kxx * syx + kxy * syy + kxz * syz
    xz -= kxx * szx + kxy * szy + kxz * szz
    yz -= kyx * szx + kyy * szy + kyz * szz
    # by what is missing: an attitude out of reach is approached without overshoot, one within reach at full speed at last. Else
    # five joints with a straight elbow, which no step of the null space brings nearer, are thrown to and fro across it.
    # [Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, 2011]
    # At the edge of reach the self-motion that is left bends with a radius of 2·reach, which a first-order step overshoots.
    damping = ATTITUDE_DAMPING + linear3.norm(wanted) * (1.0 + 0.5 / reach)
    x, y, z = linear3.times(linear3.inverse((xx + damping, xy, xz, yy + damping, yz, zz + damping)), wanted)
    # Bᵀ·(x, y, z)
    u, v, w = kxx * x + kyx * y + kzx * z, kxy * x + kyy * y + kzy * z, kxz * x + kyz * y + kzz * z
    step = [rx * x + ry * y + rz * z - (px * u + py * v + pz * w) for (px, py, pz), (rx, ry, rz) in zip(position, rotation)]
    left = damping * math.sqrt(x * x + y * y + z * z)
    if reach < math.inf:
        length = math.sqrt(sum([s * s for s in step]))
        if length > reach:
            return [s * reach / length for s in step], left, False
    return step, left, True
