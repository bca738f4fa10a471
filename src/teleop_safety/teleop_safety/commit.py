"""One motion commit: the targets of the arms that may move become joints, under every limit, all arms together."""

from __future__ import annotations

from typing import NamedTuple

from teleop_common.enums import Counter, Reason
from teleop_safety import motion, slide
from teleop_safety.envelope import Envelope, Verdict
from teleop_safety.motion import MotionLimits
from teleop_safety.settings import Settings, ns
from teleop_safety.state import ArmState, Joints, Target

_HELD = 0.01  # share of a step below which it is a hold
_LONGEST = 0.04  # [s] between two targets, beyond which the newer one stands for too long to count on its going on


class Motion(NamedTuple):
    """One arm's part of a motion commit.

    Attributes:
        target: where it is asked to go.
        dt: motion time credited [s].
        limits: tighter ones than the robot's, None for those.
    """

    target: Target
    dt: float
    limits: MotionLimits | None = None


def hold(state: ArmState, now: int, stamp: int) -> None:
    """Stop an arm: no speed, filter on the commit, no target, and time is credited from now on only."""
    state.velocity = (0.0,) * len(state.reference or ())
    state.filtered = state.reference or ()
    state.target, state.cut = None, False
    state.requested, state.dt, state.origin, state.sequence = state.reference or (), 0.0, 0, 0
    state.moved_at = state.credit_at = now
    state.credit_stamp = stamp


def credit(state: ArmState, now: int, longest: int, stamp: int | None = None) -> float:
    """Return the motion time of a commit [s]: of a frame with ``stamp`` [ns], or of the tick (None).

    Never more than ``longest`` [ns], nor, all commits since a hold together, than the time passed since it, whatever the stamps
    say. What one commit leaves of ``longest`` the next may have: a frame that comes late loses the arm nothing.
    """
    passed = min(now - state.credit_at, longest)
    if stamp is not None:
        passed = min(passed, stamp - state.credit_stamp)
    return max(passed, 0) * 1e-9


def _spend(state: ArmState, dt: float, now: int, longest: int, stamp: int) -> None:
    """Count ``dt`` [s] as spent by the clock and by the stamp of the frame that is followed [ns], 0 for none."""
    spent = round(dt * 1e9)
    state.credit_at = max(state.credit_at, now - longest) + spent
    if stamp:
        state.credit_stamp = max(state.credit_stamp, stamp - longest) + spent


def target_speed(before: Target | None, position: Joints, stamp: int) -> Joints:
    """Return the speed [rad/s] from the target ``before`` to ``position`` at ``stamp`` [ns]; empty when it is not known."""
    passed = 0.0 if before is None else 1e-9 * (stamp - before.stamp)
    if before is None or not 0.0 < passed <= _LONGEST:
        return ()
    return tuple([(p - b) / passed for p, b in zip(position, before.position)])


def advance(
    arms: dict[str, ArmState], moves: dict[str, Motion], envelope: Envelope, limits: MotionLimits, settings: Settings, now: int
) -> Verdict:
    """Move the arms of ``moves`` by one commit and return the envelope's verdict on it.

    Each moved arm's reference and measurement must be known.
    """
    steps: dict[str, motion.Step] = {}
    for arm, (target, dt, tighter) in moves.items():
        state = arms[arm]
        assert state.reference is not None
        assert state.measured is not None
        steps[arm] = motion.step(
            target.position,
            state.reference,
            state.velocity,
            state.filtered,
            state.measured,
            dt,
            tighter or limits,
            settings.leash,
            settings.low_pass,
            target.speed,
        )
    start = {arm: state.reference for arm, state in arms.items() if state.reference is not None}
    measured = {arm: state.measured for arm, state in arms.items() if state.measured is not None}
    verdict = envelope.judge(start, {arm: step.position for arm, step in steps.items()}, measured)
    slid: dict[str, Joints] = {}
    if settings.slide and verdict.blocked:
        slides = {
            arm: slide.Slide(arms[arm], move.target, move.dt, move.limits or limits, steps[arm].position, verdict.kept(arm))
            for arm, move in moves.items()
        }
        slid = slide.along(slides, verdict.blocked, settings, lambda goal: envelope.judge(start, goal, measured))
    for arm, proposed in steps.items():
        floor, scale = verdict.floor.get(arm, 1.0), verdict.share(arm)
        _take(arms[arm], moves[arm], proposed, floor, scale, limits, slid.get(arm))
        arms[arm].moved_at = now
        _spend(arms[arm], moves[arm].dt, now, ns(settings.credit), moves[arm].target.stamp)
    return verdict


def _take(
    state: ArmState,
    move: Motion,
    proposed: motion.Step,
    floor: float,
    scale: float,
    limits: MotionLimits,
    slid: Joints | None = None,
) -> None:
    """Commit the kept share of one arm's proposed step, or where it slides to instead."""
    before: Joints = state.reference or ()
    kept = floor * scale
    position, reasons = list(proposed.position), list(proposed.reason)
    if kept < 1.0:
        why = int(Reason.FLOOR if floor < scale else Reason.COLLISION)
        low, high = motion.allowed(limits, before)
        for i in range(limits.arm):
            step = proposed.position[i] - before[i]
            position[i] = min(max(before[i] + kept * step, low[i]), high[i]) if slid is None else slid[i]
            # an arm that is held starts every step from rest, so that acceleration seems to cut more than what holds it
            if step and (kept < _HELD or (1.0 - kept) * abs(step) > proposed.cut[i]):
                reasons[i] = why
    state.reasons = tuple([own or given for own, given in zip(reasons, move.target.reason)])
    if any(reasons):
        state.count(Counter.LIMITED)
    after = tuple(position)
    if move.dt > 0.0:
        state.velocity = tuple([(a - b) / move.dt for a, b in zip(after, before)])
        state.filtered = proposed.filtered
    if kept < 1.0:
        # a hold is immediate: the arm's joints start again from rest at the commit, the gripper goes on; a slide is no hold
        n = limits.arm
        if slid is None:
            state.velocity = (0.0,) * n + state.velocity[n:]
        state.filtered = after[:n] + state.filtered[n:]
    state.reference = after
    state.cut = proposed.short
    state.requested, state.dt = move.target.position, move.dt
    state.origin, state.sequence = move.target.origin, move.target.sequence
