"""What the gateway says of headsets and their controllers on ``/teleop/devices/webxr/<client>``. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from teleop_common.enums import Device, DeviceReason, PoseFlags, Provider
from teleop_common.records import DeviceReport, TeleopFrame

FRESH = 0.5  # [s]; an older frame is no sign of a device
MAX_CLIENTS = 16  # listed; whoever comes later is not
_ABSENT_TEXT = "no frames; enter the session in the headset"
_WATCHES = "its page does not hold the controls; claim them there to drive"


def _report(path: str, present: bool, tracked: bool, absent: str) -> DeviceReport:
    if not present:
        return DeviceReport(path, int(Device.DISCONNECTED), int(DeviceReason.HARDWARE_DISCONNECTED), absent)
    if not tracked:
        return DeviceReport(path, int(Device.DEGRADED), int(DeviceReason.PARTIAL_FUNCTIONALITY), "connected, not tracked")
    return DeviceReport(path, int(Device.CONNECTED), int(DeviceReason.HARDWARE_CONNECTED), "")


def reports(base: str, frame: TeleopFrame | None, age: float | None) -> tuple[DeviceReport, ...]:
    """Return the reports of the operator's headset and controllers.

    Args:
        base: provider, e.g. ``webxr/quest_3``.
        frame: the last accepted frame, None before the first.
        age: its age [s].
    """
    fresh = frame is not None and age is not None and age <= FRESH
    tracked = int(PoseFlags.ALL)
    rows = [_report(f"{base}/headset", fresh, fresh and frame is not None and frame.head.flags == tracked, _ABSENT_TEXT)]
    for side in ("left", "right"):
        hand = frame.hand(side) if fresh and frame is not None else None
        absent = _ABSENT_TEXT if hand is None else "no controller with buttons; wake it, or pick it up"
        rows.append(
            _report(f"{base}/{side}_controller", bool(hand and hand.connected), bool(hand and hand.grip.flags == tracked), absent)
        )
    return tuple(rows)


def _unknown(base: str, text: str) -> tuple[DeviceReport, ...]:
    names = ("headset", "left_controller", "right_controller")
    return tuple(DeviceReport(f"{base}/{name}", int(Device.UNKNOWN), int(DeviceReason.NONE), text) for name in names)


@dataclass
class Headsets:
    """Names every page that asked for the controls, and reports it until the end, also after it was closed."""

    _sockets: dict[str, int] = field(default_factory=dict)

    def reports(
        self, pages: Mapping[int, str], operator: int | None, frame: TeleopFrame | None, age: float | None
    ) -> dict[str, tuple[Provider, tuple[DeviceReport, ...]]]:
        """Return state and devices of each headset by its provider's id.

        Args:
            pages: socket → name of the pages that are open and asked for the controls.
            operator: socket of the one that has them.
            frame: its last accepted frame.
            age: of that [s].
        """
        for key, name in pages.items():
            if key not in self._sockets.values():
                self._name(key, name, pages)
        found: dict[str, tuple[Provider, tuple[DeviceReport, ...]]] = {}
        for ident, key in self._sockets.items():
            if key not in pages:
                found[ident] = Provider.STOPPED, _unknown(ident, "")
            elif key == operator:
                found[ident] = Provider.AVAILABLE, reports(ident, frame, age)
            else:
                found[ident] = Provider.AVAILABLE, _unknown(ident, _WATCHES)
        return found

    def _name(self, key: int, name: str, pages: Mapping[int, str]) -> None:
        """Give a page an id made of its name; one opened again gets that of the one that was closed."""
        stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:30] or "page"
        stem = stem if stem[0].isalpha() else f"h_{stem}"  # no part of a topic begins with a digit
        for number in range(1, MAX_CLIENTS + 1):
            ident = f"webxr/{stem}" if number == 1 else f"webxr/{stem}_{number}"
            if self._sockets.get(ident) not in pages and (ident in self._sockets or len(self._sockets) < MAX_CLIENTS):
                self._sockets[ident] = key
                return
