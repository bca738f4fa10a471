"""A servo as the benchmarks know it: a delay, a first-order lag, and a droop under load. Pure, and exact for any step."""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_ik.kinematics import Joints


class Servo(NamedTuple):
    """What all joints of an arm have in common, and how far each hangs.

    Attributes:
        lag: time constant [s]; 0: none.
        delay: until a command has any effect [s].
        droop: where each joint settles, less its command [rad]; empty: on the command.
    """

    lag: float = 0.0
    delay: float = 0.0
    droop: Joints = ()


class ServoState(NamedTuple):
    """What an arm's servos carry from step to step.

    Attributes:
        measured: where the joints are [rad].
        pending: the last commands, newest last, as many as the delay spans, and one.
    """

    measured: Joints
    pending: tuple[Joints, ...]


_DROOP = math.radians(2.8)
IDEAL = Servo()
# of a loaded SO-101: lift, elbow and wrist hang towards the bench (their positive direction), pan and roll carry no weight
LAGGING = Servo(lag=0.060, delay=0.012, droop=(0.0, _DROOP, _DROOP, _DROOP, 0.0))


def settled(servo: Servo, measured: Joints) -> tuple[ServoState, Joints]:
    """Return the state of servos at rest at ``measured`` [rad], and the command that holds them there [rad]."""
    command = tuple([m - d for m, d in zip(measured, servo.droop)]) if servo.droop else measured
    return ServoState(measured, (command,)), command


def follow(servo: Servo, state: ServoState, command: Joints, dt: float) -> ServoState:
    """Return the state a step of ``dt`` [s] after ``command`` [rad] was sent.

    Between commands m' = (c(t − delay) + droop − m) / lag has the solution m(t) = goal + (m − goal)·exp(−t/lag).
    """
    whole = int(servo.delay / dt + 1e-9)
    rest = servo.delay - whole * dt
    pending = (*state.pending, command)
    older = pending[max(0, len(pending) - whole - 2)]
    newer = pending[max(0, len(pending) - whole - 1)]
    measured = state.measured
    for goal, seconds in ((older, rest), (newer, dt - rest)):
        if seconds <= 1e-12:
            continue
        keep = math.exp(-seconds / servo.lag) if servo.lag > 0.0 else 0.0
        droop = servo.droop or (0.0,) * len(goal)
        measured = tuple([g + d + keep * (m - g - d) for g, d, m in zip(goal, droop, measured)])
    return ServoState(measured, pending[-(whole + 2) :])
