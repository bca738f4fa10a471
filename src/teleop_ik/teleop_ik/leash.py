"""The leash: a target stays near the measured joints, so that a blocked arm stores no motion.

What the hand asks beyond it is forgiven: the arm need not make up for it. Not so where the arm was pushed away while it was on
the leash: the hand asked for nothing there, so the arm comes back when the push ends.
"""

from __future__ import annotations

from teleop_ik.kinematics import Joints


def lengths(target: Joints, measured: Joints, leash: float) -> Joints:
    """Return the leash of each joint [rad]: ``leash``, or the distance that is already there where it is longer."""
    return tuple([max(leash, abs(t - m)) for t, m in zip(target, measured)])


def shortened(before: Joints, target: Joints, measured: Joints, leash: float) -> Joints:
    """Return the leashes after the target or the arm has moved: they shrink down to ``leash`` and never grow back."""
    return tuple([max(leash, min(b, abs(t - m))) for b, t, m in zip(before, target, measured)])


def clamped(target: Joints, measured: Joints, leashes: Joints) -> Joints:
    """Return ``target`` with each joint within its leash of the measured one."""
    return tuple([min(max(t, m - s), m + s) for t, m, s in zip(target, measured, leashes)])


def come_to(before: Joints, target: Joints, measured: Joints, cut: tuple[bool, ...]) -> Joints:
    """Return where each joint had come to by itself [rad]: the measured one, on the leash the nearest to the target so far.

    Args:
        before: what this returned in the last frame [rad].
        target: on the leash [rad].
        measured: measured joints [rad].
        cut: which joints are on the leash.
    """
    return tuple([(max(b, m) if t > m else min(b, m)) if c else m for b, t, m, c in zip(before, target, measured, cut)])


def forgiven(asked: Joints, target: Joints, measured: Joints, held: Joints, cut: tuple[bool, ...]) -> Joints:
    """Return what stays of ``asked``: where a joint is cut, the target and as much beyond it as the arm was pushed away.

    Args:
        asked: joints that the hand asks for [rad].
        target: on the leash [rad].
        measured: measured joints [rad].
        held: see ``come_to`` [rad].
        cut: which joints are on the leash.
    """
    ways = [abs(h - m) for h, m in zip(held, measured)]
    return tuple([min(max(a, t - w), t + w) if c else a for a, t, w, c in zip(asked, target, ways, cut)])
