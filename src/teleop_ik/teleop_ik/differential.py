"""One damped step of differential inverse kinematics for any revolute chain: position first, attitude in its null space.

The step is q = previous + J⁺(e − J·(previous − seed)): linearised at the measured joints, integrated from the last command.
For a lagging or drooping arm that gives the same command, to first order, as for one that follows at once.
[Nakamura, Hanafusa 1986 (damping by singularity); Siciliano, Slotine 1991 (task priority); Chiaverini 1997 (both)]

A target that is farther away is reached by walking there in thought, and going straight to where that ends. Along the straight
line of the tool, joints would bend away and back again, and be late by a second.
"""

from __future__ import annotations

import math

from teleop_common.records import ORIGIN, Vec3
from teleop_ik import linear3, place
from teleop_ik.kinematics import Chain, Joints, Mat, Posture, forward, jacobian
from teleop_ik.solver import (
    UNREACHABLE,
    Bounds,
    Solution,
    Target,
    clamped,
    ended,
    refused,
    rotation_between,
    shortened,
    swung,
    usable,
    within,
    without_yaw,
    yaw_share,
)

SPATIAL = 6  # joints from which on the whole attitude is asked for, and may be out of reach
IN_PLACE = 1e-4  # squared distance of an axis from the tool, relative to the farthest's, that counts as through it
ATTITUDE_DAMPING = 1e-4  # least one of the attitude task, whose columns are unit vectors before the projection
NO_AUTHORITY = 1e-6  # squared size of the projected columns below which rounding is all that they hold
FAR = 0.02  # [m], from which the way is walked to its end, and the joints go straight there
LARGEST_STEP = 0.10  # [m], no step of the walk is longer: the linearisation holds no farther
WALK = 8  # steps at most: each may multiply what is off in a last bit, and machines differ in that
SETTLING = 4  # steps; of a later one that is hardly shorter than the last, the next is half as long: so none goes to and fro
SHRINKING = 0.9  # of the step before, what counts as hardly shorter
NEARLY = 0.05  # [rad], a longer last step leads nowhere, unless the tool is on its target
WALK_DT = 0.2  # [s], what joints could do in it bounds such a step
ARRIVED = 1e-3  # [rad], a step of the walk that moves no joint farther is its last


class Differential:
    """The damped step behind the solvers' interface."""

    name = "differential"

    def __init__(self, chain: Chain) -> None:
        """Take the chain."""
        self.chain = chain

    def solve(self, target: Target, seed: Joints, previous: Joints, bounds: Bounds, dt: float, rate: Joints = ()) -> Solution:
        """See ``solver.Solver``.

        Position takes its step first, as long as speed allows; attitude takes what room is left. Either is walked until a
        joint meets its bound, and on without that joint. A tool that is not near its target is on no line that matters: steps
        are taken in thought until they come to rest, and the joints go straight there, which is the shortest way in time.
        """
        if not usable(target, seed, previous):
            return refused(previous)
        dt = dt if dt > 0.0 else 0.0  # negative or NaN: no time has passed
        allowed = within(bounds, previous)
        posture = forward(self.chain, seed)
        straight = self.straight(target, seed, posture, previous, allowed, dt)
        return straight if straight is not None else self._step(target, seed, posture, previous, allowed, dt)

    def straight(
        self, target: Target, seed: Joints, posture: Posture, previous: Joints, allowed: Bounds, dt: float
    ) -> Solution | None:
        """Go straight to where steps towards a far ``target`` come to rest; None when it is near, or when they do not.

        Args:
            target: tool pose asked for.
            seed: measured joints [rad].
            posture: of the seed.
            previous: last command [rad].
            allowed: limits of position and of speed around it.
            dt: since then, 0 or more [s].
        """
        if math.dist(target.position, posture.position) <= FAR:
            return None
        end = self._walked(target, seed, allowed)
        return None if end is None else ended(previous, end.joints, allowed, dt, end.excess, end.residual_rotation)

    def _walked(self, target: Target, seed: Joints, allowed: Bounds) -> Solution | None:
        """Return where steps towards ``target`` come to rest, or nearly (then nothing counts as excess); None when they do not.

        Args:
            target: tool pose asked for.
            seed: joints [rad] from which to walk, once the first has turned towards the target.
            allowed: limits of position, and of speed, which bound a step.
        """
        joints = swung(self.chain, clamped(seed, allowed), target.position, allowed)
        moved, time = math.inf, WALK_DT
        for count in range(WALK):
            before, last = joints, moved
            found = self._step(target, before, forward(self.chain, before), before, allowed, time)
            joints = found.joints
            moved = max([abs(a - b) for a, b in zip(joints, before)])
            if moved < ARRIVED:
                break
            if count >= SETTLING and moved > SHRINKING * last:
                time *= 0.5
        there = forward(self.chain, joints)
        if moved >= NEARLY and math.dist(there.position, target.position) >= UNREACHABLE:
            return None
        kept, swing, _ = kept_attitude(target.rotation, there)
        turned = math.hypot(swing, *rotation_between(kept, there.rotation))
        return found._replace(excess=found.excess if moved < ARRIVED else ORIGIN, residual_rotation=turned)

    def _step(self, target: Target, seed: Joints, posture: Posture, previous: Joints, allowed: Bounds, dt: float) -> Solution:
        lag = [p - s for p, s in zip(previous, seed)]
        kept, swing, turns = kept_attitude(target.rotation, posture)
        task = _Task(jacobian(posture), turns, posture.axes, previous, allowed, dt)
        way, share = shortened(target.position, posture.position, LARGEST_STEP)
        task.short = share < 1.0
        excess = task.position(place.less(way, task.free_columns, lag))
        if share < 1.0:
            excess = _farther(excess, way, share)
        if len(task.step) >= SPATIAL and (task.reach < math.inf or linear3.norm(excess) > place.SHORT_OF_REACH):
            task.turn_in_place()
        left = task.attitude(rotation_between(kept, posture.rotation), lag)
        joints = tuple([then + by for then, by in zip(previous, task.step)])
        ahead = tuple([then + by for then, by in zip(previous, task.whole)])
        return ended(previous, joints, allowed, dt, excess, math.hypot(left, swing), short=task.short, ahead=ahead)


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
            first = place.place(self.free_columns, self.axes, error, self.blocked)
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
                    first = place.place(self.free_columns, self.axes, error, self.blocked) or first
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
        turn = place.less(turn, self.turns, [a + b for a, b in zip(lag, self.step)])
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
                second = place.projected(self.free_columns, self.inverse, second)
            self.whole = [to + by for to, by in zip(self.whole, second)]
            share, blocker = self._walk(second, low, high)
            if blocker < 0:
                self.short = self.short or not whole
                break
            self.short = self.short or abs(self.step[blocker]) >= self.pace[blocker] - 1e-12
            turn = place.less(turn, self.turns, [share * by for by in second])
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
        for at, least, most in zip(ahead, low, high):
            if not least <= at <= most:
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
