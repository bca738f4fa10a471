"""The arithmetic of the oracle: one committed step against speed, acceleration, interval, leash and direction."""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.limits import RobotLimits
from teleop_safety.settings import Settings
from teleop_safety.state import Joints

_TINY = 1e-9  # [rad]


class Step(NamedTuple):
    """One motion commit of one arm.

    Attributes:
        before, after: committed joints [rad].
        requested: the target [rad].
        measured: newest measurement [rad].
        velocity: of the commit before [rad/s]; empty: at rest.
        dt: motion time credited [s].
        stands: the target is where the one before was.
        led: perhaps along what blocks it, so that its direction is its own.
    """

    before: Joints
    after: Joints
    requested: Joints
    measured: Joints
    velocity: Joints
    dt: float
    stands: bool
    led: bool = False


def judge(step: Step, robot: RobotLimits, settings: Settings) -> str:
    """Return what is wrong with a step, beginning with the sentence's name; empty for nothing."""
    velocity = step.velocity or (0.0,) * len(step.before)
    for i, joint in enumerate(robot.all_joints):
        before, after = step.before[i], step.after[i]
        if not math.isfinite(after):
            return f"D9: {joint.name} is {after}"
        moved = abs(after - before)
        if moved > joint.velocity * min(step.dt, 0.025) + 1e-12:
            return f"E1: {joint.name} moved {moved} rad in {step.dt} s"
        along = max(0.0, velocity[i] if after > before else -velocity[i])
        if moved > (along + joint.acceleration * step.dt) * step.dt + 1e-12:
            return f"E2: {joint.name} moved {moved} rad in {step.dt} s after {along} rad/s"
        room = abs(step.requested[i] - before)
        if step.stands and moved > math.sqrt(2.0 * joint.acceleration * room) * step.dt + 1e-12:
            return f"E2: {joint.name} moves {moved / step.dt} rad/s with {room} rad left to brake"
        speed, left = moved / step.dt, (joint.upper - before if after > before else before - joint.lower)
        # what is left of a speed that falls by a·dt with each step must end at the limit
        if speed > joint.acceleration * step.dt and speed * (speed / joint.acceleration + step.dt) > 2.0 * left + _TINY:
            return f"E2: {joint.name} moves {speed} rad/s with {left} rad left to its limit"
        if not min(joint.lower, before) <= after <= max(joint.upper, before):
            return f"E3: {joint.name} went from {before} to {after}, limits {joint.lower} to {joint.upper}"
        far = max(settings.leash, abs(before - step.measured[i]))
        if i < len(robot.joints) and abs(after - step.measured[i]) > far + _TINY:
            return f"D6: {joint.name} is {abs(after - step.measured[i])} rad from its measurement, leash {settings.leash}"
    return _direction(step, robot, settings) if settings.low_pass == 0.0 and not step.led else ""


def _direction(step: Step, robot: RobotLimits, settings: Settings) -> str:
    """Compare the shares of the way that the arm's joints went, where neither limit nor leash bent the target."""
    shares = []
    for i, joint in enumerate(robot.joints):
        asked, way = step.requested[i], step.requested[i] - step.before[i]
        if joint.lower <= asked <= joint.upper and abs(asked - step.measured[i]) <= settings.leash and abs(way) > 1e-3:
            shares.append((step.after[i] - step.before[i]) / way)
    if shares and max(shares) - min(shares) > 1e-6:
        return f"E9: joints went {min(shares)} to {max(shares)} of their way"
    return ""
