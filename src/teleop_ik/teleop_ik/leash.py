"""The leash: a target stays near the measured joints, so that a blocked arm stores no motion."""

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
