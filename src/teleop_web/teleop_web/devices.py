"""What the gateway says of the headset and its controllers on ``/teleop/devices/webxr``."""

from __future__ import annotations

from teleop_common.enums import Device, DeviceReason, PoseFlags
from teleop_common.records import DeviceReport, TeleopFrame

FRESH = 0.5  # [s]; an older frame is no sign of a device
_ABSENT_TEXT = "no frames; open the headset page and enter the session"


def _report(path: str, present: bool, tracked: bool, absent: str) -> DeviceReport:
    if not present:
        return DeviceReport(path, int(Device.DISCONNECTED), int(DeviceReason.HARDWARE_DISCONNECTED), absent)
    if not tracked:
        return DeviceReport(path, int(Device.DEGRADED), int(DeviceReason.PARTIAL_FUNCTIONALITY), "connected, not tracked")
    return DeviceReport(path, int(Device.CONNECTED), int(DeviceReason.HARDWARE_CONNECTED), "")


def reports(frame: TeleopFrame | None, age: float | None) -> tuple[DeviceReport, ...]:
    """Return the reports of headset and controllers.

    Args:
        frame: the last accepted frame, None before the first.
        age: its age [s].
    """
    fresh = frame is not None and age is not None and age <= FRESH
    tracked = int(PoseFlags.ALL)
    rows = [_report("webxr/headset", fresh, fresh and frame is not None and frame.head.flags == tracked, _ABSENT_TEXT)]
    for side in ("left", "right"):
        hand = frame.hand(side) if fresh and frame is not None else None
        absent = _ABSENT_TEXT if hand is None else "no controller with buttons; wake it, or pick it up"
        rows.append(
            _report(f"webxr/{side}_controller", bool(hand and hand.connected), bool(hand and hand.grip.flags == tracked), absent)
        )
    return tuple(rows)
