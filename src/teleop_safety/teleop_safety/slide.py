"""What of a step leads along an obstacle: the step less its part towards what blocks it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from teleop_safety import motion
from teleop_safety.envelope import Pose, Verdict
from teleop_safety.motion import MotionLimits
from teleop_safety.settings import Settings
from teleop_safety.state import ArmState, Joints, Target

_LIFT = 0.02  # by which, of its length, a kept step leads off: links turn, so a plain tangent of theirs comes nearer
_ROUNDS = 8  # of the projections
_TINY = 1e-12
_TRIES = 2  # of a slide, the second minding also what stopped the first


class Slide(NamedTuple):
    """One arm whose step was cut.

    Attributes:
        state: where it stands; reference and measurement are known.
        target: where it is asked to go.
        dt: motion time credited [s].
        limits: of the step.
        step: the step that was cut [rad].
        kept: its share that was kept.
    """

    state: ArmState
    target: Target
    dt: float
    limits: MotionLimits
    step: Joints
    kept: float


def along(
    slides: dict[str, Slide], blocked: dict[str, tuple[Joints, ...]], settings: Settings, judge: Callable[[Pose], Verdict]
) -> dict[str, Joints]:
    """Return where the arms get when what was cut off is led along what blocks it, empty when that is not to be had.

    Args:
        slides: the arms that were to move.
        blocked: see ``Verdict``.
        settings: of the guard.
        judge: judges where they would get.
    """
    for _ in range(_TRIES):
        goals = {arm: _goal(each, blocked.get(arm, ()), settings) for arm, each in slides.items()}
        verdict = judge(goals)
        if verdict.least >= 1.0 and not verdict.floor:
            return goals
        blocked = {arm: (*blocked.get(arm, ()), *more) for arm, more in verdict.blocked.items()}
    return {}


def _goal(cut: Slide, normals: tuple[Joints, ...], settings: Settings) -> Joints:
    """Return where one arm gets: what its step kept, and for the rest a step towards the tangential part of its target.

    Each arm's own part, so that none is pushed aside by another. Both steps keep to the limits, which bound every joint's step to
    an interval, so that a mean of the two does as well.
    """
    state, limits = cut.state, cut.limits
    assert state.reference is not None
    assert state.measured is not None
    n, ref = limits.arm, state.reference
    asked = motion.clamp(cut.target.position, ref, state.measured, limits, settings.leash)[0]
    part = tangential(tuple([a - r for a, r in zip(asked[:n], ref)]), normals)
    led = (*(r + x for r, x in zip(ref, part)), *ref[n:])
    free = motion.step(led, ref, state.velocity, ref, state.measured, cut.dt, limits, settings.leash, settings.low_pass).position
    low, high = motion.allowed(limits, ref)
    mean = [r + cut.kept * (s - r) + (1.0 - cut.kept) * (f - r) for r, s, f in zip(ref, cut.step, free)]
    return (*(min(max(m, a), b) for m, a, b in zip(mean[:n], low, high)), *cut.step[n:])


def tangential(step: Joints, normals: tuple[Joints, ...]) -> Joints:
    """Return the part of ``step`` that leads along or away from each of ``normals``.

    The nearest step x with n·x ≥ 0 for every n (Dykstra's alternating projections onto half-spaces, Boyle and Dykstra 1986),
    then lifted off a little. Zero where there is none, as in a corner.

    Args:
        step: of one arm's joints [rad].
        normals: how the distance to what blocks grows with these joints; those of no length don't count.
    """
    units = []
    for normal in normals:
        length = math.sqrt(sum(n * n for n in normal))
        if length > _TINY:
            units.append([n / length for n in normal])
    x = list(step)
    if not units:
        return step
    given = [[0.0] * len(x) for _ in units]
    for _ in range(_ROUNDS):
        for unit, last in zip(units, given):
            tried = [a + b for a, b in zip(x, last)]
            depth = min(0.0, sum(n * t for n, t in zip(unit, tried)))
            x = [t - depth * n for t, n in zip(tried, unit)]
            last[:] = [depth * n for n in unit]
    length = math.sqrt(sum(a * a for a in x))
    if length < 1e-3 * math.sqrt(sum(a * a for a in step)):
        return (0.0,) * len(step)
    for unit in units:
        lack = _LIFT * length - sum(n * a for n, a in zip(unit, x))
        if lack > 0.0:
            x = [a + lack * n for a, n in zip(x, unit)]
    return tuple(x)
