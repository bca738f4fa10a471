"""A provider's report of itself and its devices."""

from __future__ import annotations

import os
import socket

from teleop_common.enums import Device, DeviceReason, Provider, StatusReason
from teleop_common.records import DeviceReport, Header, ProviderReport

DEVICES = ("headset", "left_controller", "right_controller")


def provider_report(provider: str, connected: bool, stamp_ns: int, monotonic_ns: int) -> ProviderReport:
    """Return the report of a provider that is available.

    Args:
        provider: its name, e.g. ``debug``.
        connected: whether its devices send.
        stamp_ns: ROS clock [ns].
        monotonic_ns: monotonic clock [ns].
    """
    state = Device.CONNECTED if connected else Device.DISCONNECTED
    reason = DeviceReason.HARDWARE_CONNECTED if connected else DeviceReason.HARDWARE_DISCONNECTED
    devices = tuple(DeviceReport(f"{provider}/{device}", state, reason) for device in DEVICES)
    return report_of(provider, Provider.AVAILABLE, StatusReason.NONE, "", devices, stamp_ns, monotonic_ns)


def report_of(
    provider: str,
    state: Provider,
    reason: StatusReason,
    error: str,
    devices: tuple[DeviceReport, ...],
    stamp_ns: int,
    monotonic_ns: int,
) -> ProviderReport:
    """Return the report of a provider in this process.

    Args:
        provider: its id, e.g. ``openxr/runtime``.
        state: its state.
        reason: why, NONE when there is nothing to say.
        error: in words, empty while all is well.
        devices: its devices.
        stamp_ns: ROS clock [ns].
        monotonic_ns: monotonic clock [ns].
    """
    return ProviderReport(
        header=Header(stamp_ns),
        schema_version=1,
        report_time_ns=monotonic_ns,
        host=socket.gethostname(),
        pid=os.getpid(),
        provider_id=provider,
        state=state,
        error=error,
        devices=devices,
        reason=reason,
    )
