"""The pace of joints: a step towards a goal under speed and acceleration limits, braking in time to stop on it.

Every solver's answer goes through here, so that no target, however wild, asks more of a joint than it may do. The guard limits
again what it is sent; what left here within limits passes the guard as it is, so that no target runs away from its arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from teleop_ik.kinematics import Joints
from teleop_ik.solver import Bounds

_HALVINGS = 5  # of the share of a step that is kept: to 3 %


class Stride(NamedTuple):
    """A step of the joints.

    Attributes:
        joints: after it [rad].
        rate: their speed in it [rad/s].
    """

    joints: Joints
    rate: Joints


def step(previous: Joints, rate: Joints, wanted: Joints, ahead: Joints, bounds: Bounds, dt: float) -> Stride:
    """Return the step of ``dt`` towards ``wanted``.

    Speed never exceeds ``bounds.velocity``, and between two steps changes by no more than ``bounds.acceleration``·dt, growing,
    braking or turning round. A joint brakes early enough to stop where its way ends. Joints keep the direction of the step as
    far as that allows: all are slowed with the one that must be slowest. A joint that is on its way past a goal which has
    turned back is brought to rest first. At a position limit it stops at once.

    Args:
        previous: last command [rad].
        rate: its speed [rad/s]; empty: at rest.
        wanted: the solver's step [rad].
        ahead: where the joints would go without a speed limit [rad].
        bounds: limits of position, speed and acceleration; the interval may not exclude ``previous``.
        dt: time since ``previous`` [s]; ``math.inf``: no limit but position.
    """
    rest = (0.0,) * len(previous)
    if not dt > 0.0:
        return Stride(previous, rest)
    if dt == math.inf:
        return Stride(tuple([min(max(g, low), high) for g, low, high in zip(wanted, bounds.lower, bounds.upper)]), rest)
    rate = rate or rest
    gains = [a * dt for a in bounds.acceleration] or [math.inf] * len(previous)
    way = [w - p for w, p in zip(wanted, previous)]
    share = 1.0
    for d, p, end, v, top, gain, low, high in zip(way, previous, ahead, rate, bounds.velocity, gains, bounds.lower, bounds.upper):
        far = abs(d)
        if far == 0.0:
            continue
        # along the way: the speed and the room to the limit. How far it goes on is no matter of direction: a step for position
        # may lead away from where attitude will lead, and braking for that would hold up every joint
        along, room = (v, high - p) if d > 0.0 else (-v, p - low)
        # growing from the speed in this direction; one that goes the other way does not hold up the rest while it turns
        grown = (along if along > 0.0 else 0.0) + gain
        most = min(top, grown, braking(min(max(far, abs(end - p)), room), gain, dt)) * dt
        if share * far > most:
            share = most / far
    moved, speeds = [], []
    for p, d, v, gain, low, high in zip(previous, way, rate, gains, bounds.lower, bounds.upper):
        speed = min(max(share * d / dt, v - gain), v + gain)
        q = p + d if share == 1.0 and speed == d / dt else p + speed * dt
        if not low <= q <= high:
            q = min(max(q, low), high)
            speed = (q - p) / dt
        moved.append(q)
        speeds.append(speed)
    return Stride(tuple(moved), tuple(speeds))


def braking(far: float, gain: float, dt: float) -> float:
    """Return the greatest speed [rad/s] of a step of ``dt`` from which a joint can still stop within ``far``.

    A step at speed v and n more, each slower by ``gain``, with n·gain <= v < (n + 1)·gain, cover dt·(n + 1)·(v - n·gain/2).

    Args:
        far: distance to the goal, before the step [rad].
        gain: change of speed that one step allows [rad/s].
        dt: length of a step [s].
    """
    if far <= gain * dt:
        return math.inf  # one step goes there, and the next stops
    n = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * far / (gain * dt)) - 1.0))
    return far / (dt * (n + 1)) + 0.5 * n * gain


def speed(before: Joints, after: Joints, dt: float) -> Joints:
    """Return the speed [rad/s] of a step of ``dt`` [s]; no time, no speed."""
    return tuple([(a - b) / dt for a, b in zip(after, before)]) if dt > 0.0 else (0.0,) * len(after)


def stopped(stride: Stride, bounds: Bounds, dt: float) -> Joints:
    """Return where joints come to rest [rad] that all brake after ``stride``, in steps of ``dt``."""
    if not bounds.acceleration or not dt > 0.0:
        return stride.joints
    places = []
    for q, v, a, low, high in zip(*stride, bounds.acceleration, bounds.lower, bounds.upper):
        n = math.floor(abs(v) / (a * dt))
        far = dt * n * (abs(v) - 0.5 * (n + 1) * a * dt)
        places.append(min(max(q + math.copysign(far, v), low), high))
    return tuple(places)


def clear(
    stride: Stride, previous: Joints, rate: Joints, bounds: Bounds, dt: float, room: Callable[[Joints], float], least: float
) -> Stride:
    """Return ``stride``, or as much of it as leaves a way to stop with ``room`` not below ``least``; the rest is braking.

    A step after which braking would still lead too low was taken too fast. What is left between it and full braking keeps
    every limit that both keep, since they all are intervals.

    Args:
        stride: the step.
        previous: joints before it [rad].
        rate: their speed [rad/s]; empty: at rest.
        bounds: limits.
        dt: length of the step [s].
        room: what may not fall below ``least``, at given joints.
        least: in the same unit.
    """
    if room(stopped(stride, bounds, dt)) >= least or not (rate and bounds.acceleration and dt > 0.0):
        return stride
    slower = [v - min(max(v, -a * dt), a * dt) for v, a in zip(rate, bounds.acceleration)]
    brake = Stride(tuple([p + v * dt for p, v in zip(previous, slower)]), tuple(slower))
    least = min(least, room(stopped(brake, bounds, dt)))
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = 0.5 * (low + high)
        if room(stopped(_between(brake, stride, share), bounds, dt)) >= least:
            low = share
        else:
            high = share
    return _between(brake, stride, low)


def _between(one: Stride, other: Stride, share: float) -> Stride:
    joints = tuple([a + share * (b - a) for a, b in zip(one.joints, other.joints)])
    return Stride(joints, tuple([a + share * (b - a) for a, b in zip(one.rate, other.rate)]))
