"""Pulses that every provider gives alike, so that an operator feels the same whatever is on the head. Pure."""

from __future__ import annotations

from teleop_common.records import Haptics, RecorderState


def of_take(before: RecorderState | None, now: RecorderState) -> tuple[Haptics, ...]:
    """Return what both hands feel of the recorder: one long pulse as a take starts, one short one as it ends.

    Args:
        before: the recorder's state before, None for the first that is heard: nothing started or ended then.
        now: its state now.
    """
    if before is None or before.recording == now.recording:
        return ()
    return tuple(Haptics(now.header, hand, 0.6, 0.25 if now.recording else 0.08) for hand in ("left", "right"))
