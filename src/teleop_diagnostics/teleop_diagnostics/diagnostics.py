"""The snapshot as statuses of ``/diagnostics`` and as a tree, by REP-107. Pure; docs/device_status.md has the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from teleop_common.enums import DeviceState, Provider, ProviderType, StatusReason
from teleop_common.records import DeviceStatus, ProviderStatus, StatusSnapshot
from teleop_diagnostics import advice

OK, WARN, ERROR, STALE = 0, 1, 2, 3
ROOT = "/teleop"
KEPT_NS = 5_000_000_000  # a status of another node that is older counts as stale

DEVICE_LEVELS = {
    DeviceState.INITIALIZING: OK,
    DeviceState.UNKNOWN: STALE,
    DeviceState.CONNECTED: OK,
    DeviceState.DISCONNECTED: ERROR,
    DeviceState.DEGRADED: WARN,
    DeviceState.FAILED: ERROR,
    DeviceState.UNAVAILABLE: STALE,
    DeviceState.DISABLED: OK,
}
PROVIDER_LEVELS = {Provider.INITIALIZING: OK, Provider.AVAILABLE: OK, Provider.FAILED: ERROR, Provider.STOPPED: STALE}


class Status(NamedTuple):
    """One diagnostic_msgs/DiagnosticStatus.

    Attributes:
        level: ``OK``, ``WARN``, ``ERROR`` or ``STALE``.
        name: what it is of.
        message: in words.
        hardware_id: of the device.
        values: key and value pairs.
    """

    level: int
    name: str
    message: str
    hardware_id: str = ""
    values: tuple[tuple[str, str], ...] = ()


def _words(value: str) -> str:
    return value.lower().replace("_", " ")


def _message(state: str, error: str, remedy: str) -> str:
    return "; ".join(filter(None, (f"{state}: {error}" if error else state, remedy)))


def of_provider(provider: ProviderStatus, now_ns: int) -> Status:
    """Return the status of a provider, named ``device_status: <id>``."""
    state, reason = Provider(provider.state), StatusReason(provider.reason)
    level = PROVIDER_LEVELS[state]
    if state == Provider.AVAILABLE and reason in (StatusReason.NO_REPORT, StatusReason.STALE_REPORT):
        level = STALE
    elif state == Provider.AVAILABLE and (provider.error or reason == StatusReason.UNSUPPORTED_SCHEMA_VERSION):
        level = WARN
    values = (
        ("state", state.name),
        ("reason", reason.name),
        ("pid", str(provider.pid)),
        ("exit code", str(provider.exit_code)),
        ("signal", str(provider.term_signal)),
        ("for [s]", f"{(now_ns - provider.since_ns) * 1e-9:.1f}"),
    )
    remedy = advice.for_provider(state, reason, provider.type == ProviderType.PLUGIN)
    message = _message(_words(state.name), provider.error, remedy)
    return Status(level, f"device_status: {provider.id}", message, provider.id, values)


def of_device(device: DeviceStatus, now_ns: int) -> Status:
    """Return the status of a device, named ``device_status: <provider> <id>``."""
    state, reason = DeviceState(device.state), StatusReason(device.reason)
    values = (
        ("state", state.name),
        ("reason", reason.name),
        ("type", device.type),
        ("provider", device.provider_id),
        ("for [s]", f"{(now_ns - device.since_ns) * 1e-9:.1f}"),
    )
    message = _message(_words(state.name), device.error, advice.for_device(state, reason, device.error))
    return Status(DEVICE_LEVELS[state], f"device_status: {device.provider_id} {device.id}", message, device.id, values)


def statuses(snapshot: StatusSnapshot, now_ns: int, own: Sequence[str] = ()) -> tuple[Status, ...]:
    """Return the statuses of every provider and device.

    Args:
        snapshot: conclusions.
        now_ns: monotonic clock [ns].
        own: beginnings of the ids of providers that publish diagnostics themselves, and are left out.
    """
    left_out = tuple(own)
    rows = [of_provider(p, now_ns) for p in snapshot.providers if not p.id.startswith(left_out)]
    rows += [of_device(d, now_ns) for d in snapshot.devices if not d.provider_id.startswith(left_out)]
    return tuple(rows)


def _worst(levels: Iterable[int]) -> int:
    """Return the worst level of a group: a stale part makes it an error, nothing but stale parts make it stale."""
    found = set(levels)
    if found == {STALE}:
        return STALE
    return ERROR if STALE in found else max(found, default=OK)


def tree(snapshot: StatusSnapshot, now_ns: int, others: Mapping[str, tuple[Status, int]]) -> tuple[Status, ...]:
    """Return the aggregated tree: root, then each group before its parts, each group as bad as its worst part.

    Args:
        snapshot: conclusions.
        now_ns: monotonic clock [ns].
        others: statuses that other nodes published, by name, with the time of arrival (monotonic) [ns].
    """
    groups: dict[str, list[Status]] = {}
    for provider in snapshot.providers:
        base = f"{ROOT}/providers/{provider.id}"
        parts = [of_provider(provider, now_ns)._replace(name=f"{base}/provider")]
        for device in snapshot.devices:
            if device.provider_id == provider.id:
                parts.append(of_device(device, now_ns)._replace(name=f"{base}/{device.id.replace('/', ' ').strip()}"))
        groups[base] = parts
    for name, (status, arrived_ns) in sorted(others.items()):
        node, _, part = name.partition(":")
        base = f"{ROOT}/nodes/{node.strip()}"
        old = now_ns - arrived_ns > KEPT_NS
        shown = status._replace(level=STALE, message="no longer heard") if old else status
        groups.setdefault(base, []).append(shown._replace(name=f"{base}/{part.strip() or 'status'}"))
    rows: list[Status] = []
    tops: dict[str, list[Status]] = {}
    for base, parts in groups.items():
        head = _group(base, parts)
        tops.setdefault("/".join(base.split("/")[:3]), []).append(head)
        rows += [head, *parts]
    heads = [_group(top, parts) for top, parts in tops.items()]
    return (_group(ROOT, heads), *heads, *rows)


def _group(name: str, parts: Sequence[Status]) -> Status:
    level = _worst(p.level for p in parts)
    bad = [p.name.rsplit("/", 1)[-1] for p in parts if p.level != OK]
    return Status(level, name, f"{', '.join(bad)}: see there" if bad else "ok")
