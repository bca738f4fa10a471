"""When the e-stop's latch may open: after a reset was asked for, and every driver has said since then that it is reset."""

from __future__ import annotations

from teleop_safety.settings import Instant
from teleop_safety.state import ArmState, SharedState


def finished(at: Instant, shared: SharedState, arms: dict[str, ArmState]) -> bool:
    """Return whether a pending reset is complete."""
    if not shared.latched or not shared.resetting or at.mono > shared.reset_until:
        return False
    return all(state.driver_at > shared.resetting and not state.driver_estop for state in arms.values())


def blockers(at: Instant, shared: SharedState, arms: dict[str, ArmState], stale: int) -> list[str]:
    """Return what keeps the latch closed, one text an arm."""
    if not shared.latched:
        return []
    texts = []
    for arm, state in arms.items():
        if state.instance is None or at.mono - state.driver_at > stale:
            texts.append(f"driver of {arm} is silent")
        elif state.driver_estop:
            texts.append(f"driver of {arm} is still latched")
    return texts
