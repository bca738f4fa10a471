"""One arm's step towards a target: interval, leash, low-pass, speed and acceleration. Pure functions of plain floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

from teleop_common.enums import Reason
from teleop_common.limits import RobotLimits
from teleop_safety.state import Joints

_EPSILON = 1e-12
_REST = 5e-4  # [rad] short of the goal, from which a motion counts as cut
# plain numbers: this runs in every commit, and looking an enumeration up costs more than the arithmetic
_POSITION, _LEASH = int(Reason.POSITION_LIMIT), int(Reason.LEASH)
_SPEED, _ACCELERATION = int(Reason.SPEED_LIMIT), int(Reason.ACCELERATION_LIMIT)


@dataclass(frozen=True)
class MotionLimits:
    """What bounds a step, arm joints first, then the gripper.

    Attributes:
        lower, upper: limits [rad].
        velocity: largest speed [rad/s].
        acceleration: largest growth of speed [rad/s²].
        arm: number of arm joints; what follows is the gripper, which no leash binds.
        ceiling: what no joint's motor exceeds [rad/s].
    """

    lower: Joints
    upper: Joints
    velocity: Joints
    acceleration: Joints
    arm: int
    ceiling: float


def motion_limits(limits: RobotLimits) -> MotionLimits:
    """Return the motion limits of a robot."""
    joints = limits.all_joints
    return MotionLimits(
        lower=tuple(j.lower for j in joints),
        upper=tuple(j.upper for j in joints),
        velocity=tuple(j.velocity for j in joints),
        acceleration=tuple(j.acceleration for j in joints),
        arm=len(limits.joints),
        ceiling=limits.velocity_ceiling,
    )


@dataclass(frozen=True)
class Step:
    """A proposed step of one arm.

    Attributes:
        position: where it leads [rad].
        filtered: state of the low-pass after it [rad].
        reason: per joint, what cut most.
        cut: how much that was [rad].
        short: speed or acceleration stopped it short of the filtered target.
    """

    position: Joints
    filtered: Joints
    reason: tuple[int, ...]
    cut: Joints
    short: bool


def allowed(limits: MotionLimits, reference: Joints) -> tuple[Joints, Joints]:
    """Return the allowed interval per joint: hull(limits, q_ref) [rad].

    A reference outside its limits may stay or move inwards; as it moves inwards the hull shrinks with it.
    """
    return tuple(map(min, limits.lower, reference)), tuple(map(max, limits.upper, reference))


def clamp(
    target: Joints, reference: Joints, measured: Joints, limits: MotionLimits, leash: float
) -> tuple[Joints, list[int], list[float]]:
    """Return the target within the allowed interval and the leash, with the reason and size of each cut [rad].

    The leash binds arm joints to hull(measured ± leash, q_ref): never farther from the measurement than the leash or
    than the reference already is.
    """
    result: list[float] = []
    reasons: list[int] = []
    cuts: list[float] = []
    for i, asked in enumerate(target):
        leashed = i < limits.arm
        # the common case first: both hulls contain what lies within limits and leash
        if limits.lower[i] <= asked <= limits.upper[i] and (not leashed or abs(asked - measured[i]) <= leash):
            result.append(asked)
            reasons.append(0)
            cuts.append(0.0)
            continue
        ref = reference[i]
        value = min(max(asked, min(limits.lower[i], ref)), max(limits.upper[i], ref))
        cut = abs(asked - value)
        reason = _POSITION if cut > _EPSILON else 0
        if leashed:
            near = min(max(value, min(measured[i] - leash, ref)), max(measured[i] + leash, ref))
            if abs(value - near) > max(cut, _EPSILON):
                reason, cut = _LEASH, abs(value - near)
            value = near
        result.append(value)
        reasons.append(reason)
        cuts.append(cut if reason else 0.0)
    return tuple(result), reasons, cuts


def _until_end(room: float, fall: float, dt: float) -> float:
    """Return the speed [rad/s] of steps of ``dt`` [s], each slower by ``fall`` [rad/s], as long together as ``room`` [rad].

    A speed of n·fall and a bit takes n steps more, n·(n + 1)/2 of fall·dt and the bit n + 1 times.
    """
    units = room / (fall * dt)
    more = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * units) - 1.0))
    return fall * (units / (more + 1) + 0.5 * more)


def _scale(
    delta: list[float],
    goal: list[float],
    velocity: Joints,
    dt: float,
    top: Joints,
    growth: Joints,
    lead: list[float],
    room: list[float],
) -> tuple[float, int]:
    """Return the largest share of ``delta`` [rad] that every joint's speed and acceleration allow, and which of them binds.

    ``room`` is how far each joint is from the end of its interval towards which it moves [rad]: whatever the target does, it can
    brake within it.
    """
    best, why = 1.0, 0
    for i, d in enumerate(delta):
        if d == 0.0:
            continue
        wanted = abs(d) / dt
        # growth from the speed in this direction; after a reversal, from rest: a hold is always allowed
        along = velocity[i] if d > 0.0 else -velocity[i]
        grown = (along if along > 0.0 else 0.0) + growth[i] * dt
        # against a target that moves on, braking counts from its speed: one that keeps the limits itself is followed as it is
        ahead = lead[i] if d > 0.0 else -lead[i]
        ahead = ahead if ahead > 0.0 else 0.0
        braked = ahead + math.sqrt(2.0 * growth[i] * max(0.0, abs(goal[i]) - ahead * dt))
        # one step's worth of speed may end at the limit at once: rounding of a joint there must not hold the others
        if wanted * best > growth[i] * dt:
            braked = min(braked, _until_end(room[i], growth[i] * dt, dt))
        if wanted * best > top[i]:
            best, why = top[i] / wanted, _SPEED
        slower = grown if grown < braked else braked
        if wanted * best > slower:
            best, why = slower / wanted, _ACCELERATION
    return best, why


def step(
    target: Joints,
    reference: Joints,
    velocity: Joints,
    filtered: Joints,
    measured: Joints,
    dt: float,
    limits: MotionLimits,
    leash: float,
    low_pass: float,
    speed: Joints = (),
) -> Step:
    """Return the step of ``dt`` [s] from ``reference`` towards ``target``.

    Order: allowed interval and leash, low-pass, then speed and acceleration, scaled jointly for the arm's
    joints so that the step keeps its direction. The gripper is scaled for itself: a pulled trigger must not slow the arm.

    Args:
        target: asked joints [rad].
        reference: last committed joints [rad].
        velocity: speed of the last commit [rad/s].
        filtered: state of the low-pass [rad].
        measured: measured joints [rad].
        dt: motion time credited [s].
        limits: what bounds it.
        leash: see ``clamp`` [rad].
        low_pass: time constant [s].
        speed: at which the target moves [rad/s]; empty: it stands.
    """
    goal, reasons, cuts = clamp(target, reference, measured, limits, leash)
    if dt <= 0.0:
        return Step(reference, filtered, tuple(reasons), tuple(cuts), goal != reference)
    alpha = 1.0 - math.exp(-dt / low_pass) if low_pass > 0.0 else 1.0
    smooth = [f + alpha * (g - f) for f, g in zip(filtered, goal)]
    delta = [s - r for s, r in zip(smooth, reference)]
    rest = [g - r for g, r in zip(goal, reference)]
    # where the target was cut, it does not move on
    lead = [0.0 if cut else s for s, cut in zip(speed, cuts)] if speed else [0.0] * len(goal)
    room = [max(0.0, b - r if d > 0.0 else r - a) for d, r, a, b in zip(delta, reference, limits.lower, limits.upper)]
    position, short = list(reference), False
    for part in (slice(0, limits.arm), slice(limits.arm, None)):
        top, growth = limits.velocity[part], limits.acceleration[part]
        scale, why = _scale(delta[part], rest[part], velocity[part], dt, top, growth, lead[part], room[part])
        for i in range(*part.indices(len(delta))):
            position[i] += scale * delta[i]
            lost = (1.0 - scale) * abs(delta[i])
            if scale < 1.0 and lost > max(cuts[i], _EPSILON):
                reasons[i], cuts[i] = why, lost
        short = short or scale < 1.0
    # what the low-pass still keeps back is to be walked as well, should no frame come that does
    short = short or any(abs(g - p) > _REST for g, p in zip(goal, position))
    # rounding of r + s·(y - r) must not leave the interval by a bit
    low, high = allowed(limits, reference)
    bounded = tuple([a if p < a else b if p > b else p for p, a, b in zip(position, low, high)])
    return Step(bounded, tuple(smooth), tuple(reasons), tuple(cuts), short)
