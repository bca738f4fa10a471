"""What is concluded of a provider and its devices: the order in which causes outrank each other. Pure.

The vocabulary, the precedence and the numbers (a report each second, stale after three) are those of Isaac Teleop's device
provider monitoring, so that a consumer of one understands the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from teleop_common.enums import Device, DeviceReason, DeviceState, Provider, ProviderType, StatusReason
from teleop_common.records import DeviceReport, ProviderReport
from teleop_diagnostics.declarations import Declaration

SCHEMA_VERSION = 1
STALE_NS = 3_000_000_000


class Verdict(NamedTuple):
    """A state, its cause and details in words."""

    state: int
    reason: StatusReason
    error: str = ""


class Exit(NamedTuple):
    """How a process ended; both are zero after ``exit(0)``, None when nobody could tell."""

    code: int | None = None
    signal: int | None = None

    def text(self, pid: int) -> str:
        """Return it in words."""
        if self.signal:
            return f"process {pid} was ended by signal {self.signal}"
        return f"process {pid} is gone" if self.code is None else f"process {pid} exited with status {self.code}"


@dataclass
class Evidence:
    """All that is known of one provider.

    Attributes:
        declaration: what it is and owns.
        host: this machine's name; process ids and monotonic stamps of other machines mean nothing here.
        starting: it is being launched.
        pid: its process, 0 while unknown.
        watched: the end of its process would be noticed.
        ended: how its process ended, None while it runs.
        ended_ns: when that was noticed (monotonic) [ns].
        torn_down: it was ended on purpose.
        start_failed: why it could not be launched, or empty.
        unobservable: why its process cannot be watched, or empty.
        report: newest report whose own part is in order.
        arrived_ns: when that came (monotonic) [ns].
        fault: what is wrong with the newest report of all, None when nothing is.
    """

    declaration: Declaration
    host: str
    starting: bool = False
    pid: int = 0
    watched: bool = False
    ended: Exit | None = None
    ended_ns: int = 0
    torn_down: bool = False
    start_failed: str = ""
    unobservable: str = ""
    report: ProviderReport | None = None
    arrived_ns: int = 0
    fault: tuple[StatusReason, str] | None = None

    def age_ns(self, now_ns: int) -> int:
        """Return the age of the newest good report [ns]: by its own stamp on this machine, else since it arrived."""
        if self.report is None:
            return 0
        return now_ns - (self.report.report_time_ns if self.report.host == self.host else self.arrived_ns)


def fault_of(report: ProviderReport, declaration: Declaration, now_ns: int, host: str) -> tuple[StatusReason, str] | None:
    """Return what is wrong with a provider's own part of a report, None when nothing is.

    Args:
        report: what came.
        declaration: what the provider may report.
        now_ns: monotonic clock [ns].
        host: this machine's name.
    """
    if report.schema_version != SCHEMA_VERSION:
        text = f"schema version: got {report.schema_version}, allowed {SCHEMA_VERSION}; update the older side"
        return StatusReason.UNSUPPORTED_SCHEMA_VERSION, text
    text = ""
    if report.provider_id != declaration.id:
        text = f"provider: got '{report.provider_id}', allowed '{declaration.id}' on this topic"
    elif report.state not in tuple(Provider):
        text = f"provider state: got {report.state}, allowed 0 to {max(Provider)}"
    elif report.reason not in tuple(StatusReason):
        text = f"provider reason: got {report.reason}, allowed 0 to {max(StatusReason)}"
    elif report.report_time_ns <= 0 or (report.host == host and report.report_time_ns > now_ns):
        ahead = (report.report_time_ns - now_ns) * 1e-9
        text = f"report time: got {ahead:+.3f} s from now, allowed the past; stamp it with CLOCK_MONOTONIC"
    return (StatusReason.MALFORMED_REPORT, text) if text else None


def devices_fault(devices: tuple[DeviceReport, ...], declaration: Declaration) -> str:
    """Return what is wrong with the devices of a report, empty when each declared path stands in it exactly once."""
    if not declaration.devices:
        return ""
    counts, declared = Counter(d.path for d in devices), [d.path for d in declaration.devices]
    for what, paths in (
        ("lacks", [p for p in declared if p not in counts]),
        ("has the undeclared", [p for p in counts if p not in declared]),
        ("repeats", [p for p, n in counts.items() if n > 1]),
    ):
        if paths:
            return f"report {what} device '{paths[0]}'; allowed each declared device exactly once"
    for device in devices:
        if device.state not in tuple(Device) or device.reason not in tuple(DeviceReason):
            return (
                f"device '{device.path}': got state {device.state}, reason {device.reason}; allowed the numbers of DeviceReport"
            )
    return ""


def _running(e: Evidence, now_ns: int) -> Verdict:
    """Return the verdict on a provider whose process is not known to be in trouble."""
    report = e.report
    if report is not None:
        said = StatusReason(report.reason)
        if report.state == Provider.FAILED:
            return Verdict(Provider.FAILED, said or StatusReason.REPORTED, report.error)
        if report.state == Provider.STOPPED:
            return Verdict(Provider.STOPPED, said or StatusReason.REPORTED, report.error)
        if report.state == Provider.INITIALIZING and e.fault is None:
            # one that hangs while it starts is told by its age, not by another state
            late = e.age_ns(now_ns) > STALE_NS
            return Verdict(Provider.INITIALIZING, StatusReason.STALE_REPORT if late else said, report.error)
    elif e.fault is None and (e.starting or not e.pid):
        return Verdict(Provider.INITIALIZING, StatusReason.NONE)
    if e.fault is not None:
        return Verdict(Provider.AVAILABLE, *e.fault)
    if report is None:
        return Verdict(Provider.AVAILABLE, StatusReason.NO_REPORT, "its process runs and has not reported yet")
    if e.age_ns(now_ns) > STALE_NS:
        runs = f"process {e.pid} runs but is silent" if e.watched else "it is silent"
        return Verdict(Provider.AVAILABLE, StatusReason.STALE_REPORT, runs)
    ready = e.declaration.type == ProviderType.OPENXR_RUNTIME
    usual = StatusReason.OPENXR_SESSION_READY if ready else StatusReason.REPORTED
    return Verdict(Provider.AVAILABLE, StatusReason(report.reason) or usual, report.error)


def provider(e: Evidence, now_ns: int) -> Verdict:
    """Return state and reason of a provider: teardown, then its process, then what it reports.

    Args:
        e: what is known.
        now_ns: monotonic clock [ns].
    """
    if e.torn_down:
        return Verdict(Provider.STOPPED, StatusReason.NONE)
    if e.start_failed:
        return Verdict(Provider.FAILED, StatusReason.STARTUP_FAILED, e.start_failed)
    if e.ended is not None:
        if e.report is not None and e.report.state == Provider.STOPPED and not e.ended.code and not e.ended.signal:
            return Verdict(Provider.STOPPED, StatusReason.REPORTED, e.report.error)
        reason = StatusReason.PROCESS_SIGNALED if e.ended.signal else StatusReason.PROCESS_EXITED
        return Verdict(Provider.FAILED, reason, e.ended.text(e.pid))
    if e.unobservable:
        return Verdict(Provider.FAILED, StatusReason.PROCESS_OBSERVATION_ERROR, e.unobservable)
    return _running(e, now_ns)


_OVERRIDDEN = {
    Provider.INITIALIZING: (DeviceState.INITIALIZING, StatusReason.PROVIDER_INITIALIZING),
    Provider.FAILED: (DeviceState.UNAVAILABLE, StatusReason.PROVIDER_FAILED),
    Provider.STOPPED: (DeviceState.UNAVAILABLE, StatusReason.PROVIDER_STOPPED),
}
_UNCLEAR = {
    StatusReason.NO_REPORT,
    StatusReason.STALE_REPORT,
    StatusReason.MALFORMED_REPORT,
    StatusReason.UNSUPPORTED_SCHEMA_VERSION,
}
# what an OpenXR runtime's headset means by the same states
_OPENXR = {
    Device.DISCONNECTED: StatusReason.OPENXR_FORM_FACTOR_UNAVAILABLE,
    Device.UNKNOWN: StatusReason.EXTERNAL_OPENXR_HEALTH_UNKNOWN,
}
_DETAILS = {
    DeviceReason.NO_HARDWARE_SIGNAL: "no signal of the hardware",
    DeviceReason.RECOVERING: "recovering",
    DeviceReason.PARTIAL_FUNCTIONALITY: "works in part",
    DeviceReason.DEVICE_ERROR: "device error",
}


def device(e: Evidence, path: str, owner: Verdict) -> Verdict:
    """Return state and reason of one declared device.

    Args:
        e: what is known of its provider.
        path: of the device.
        owner: verdict on the provider, which outranks what the device reported.
    """
    if owner.state in _OVERRIDDEN:
        return Verdict(*_OVERRIDDEN[Provider(owner.state)], owner.error if owner.state == Provider.FAILED else "")
    if owner.reason in _UNCLEAR or e.report is None:
        return Verdict(DeviceState.UNKNOWN, owner.reason, owner.error)
    reported = next(d for d in e.report.devices if d.path == path)
    state = Device(reported.state)
    reason = StatusReason.REPORTED
    if state == Device.DISABLED:
        reason = StatusReason.DISABLED_BY_CONFIGURATION
    elif path == "openxr/headset":
        reason = _OPENXR.get(state, reason)
    detail = "" if state == Device.CONNECTED else _DETAILS.get(DeviceReason(reported.reason), "")
    return Verdict(DeviceState[state.name], reason, reported.error or detail)
