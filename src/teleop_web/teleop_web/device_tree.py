"""The status of providers and devices, ready for JSON: what, since when, why, what to do. Pure; times are monotonic seconds."""

from __future__ import annotations

from typing import Any

from teleop_common.enums import DeviceState, Provider, ProviderType, StatusReason
from teleop_common.records import DeviceStatus, ProviderStatus, StatusSnapshot
from teleop_diagnostics import advice


def tree(snapshot: StatusSnapshot | None, heard: float, now: float) -> list[dict[str, Any]] | None:
    """Return the providers with their devices; None before the first snapshot.

    Args:
        snapshot: the newest.
        heard: when it came [s].
        now: monotonic time [s].
    """
    if snapshot is None:
        return None

    def since(row: ProviderStatus | DeviceStatus) -> float:
        return round(max(0.0, (snapshot.updated_at_ns - row.since_ns) * 1e-9 + now - heard), 1)

    rows = []
    for provider in snapshot.providers:
        own = [d for d in snapshot.devices if d.provider_id == provider.id]
        rows.append(
            {
                "id": provider.id,
                "type": ProviderType(provider.type).name.lower(),
                "name": provider.name,
                "state": Provider(provider.state).name.lower(),
                "reason": StatusReason(provider.reason).name.lower(),
                "error": provider.error,
                "pid": provider.pid,
                "since": since(provider),
                "remedy": advice.for_provider(provider.state, provider.reason, provider.type == ProviderType.PLUGIN),
                "devices": [
                    {
                        "id": device.id,
                        "type": device.type,
                        "description": device.description,
                        "state": DeviceState(device.state).name.lower(),
                        "reason": StatusReason(device.reason).name.lower(),
                        "error": device.error,
                        "since": since(device),
                        "remedy": advice.for_device(device.state, device.reason, device.error),
                    }
                    for device in own
                ],
            }
        )
    return rows
