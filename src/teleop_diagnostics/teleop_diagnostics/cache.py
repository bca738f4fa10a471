"""The newest snapshot, looked up by id. Pure; a reader of another thread sees the old or the new one, never a mixture."""

from __future__ import annotations

from teleop_common.records import DeviceStatus, ProviderStatus, StatusSnapshot


class StatusCache:
    """Keeps one snapshot and its ids."""

    def __init__(self) -> None:
        """Start with an empty snapshot."""
        self._held = (StatusSnapshot(), dict[str, ProviderStatus](), dict[str, DeviceStatus]())

    def take(self, snapshot: StatusSnapshot) -> None:
        """Keep ``snapshot`` instead of the last one."""
        self._held = (snapshot, {p.id: p for p in snapshot.providers}, {d.id: d for d in snapshot.devices})

    @property
    def snapshot(self) -> StatusSnapshot:
        """The newest snapshot."""
        return self._held[0]

    def provider(self, provider_id: str) -> ProviderStatus | None:
        """Return a provider's status, None when its id is unknown."""
        return self._held[1].get(provider_id)

    def device(self, device_id: str) -> DeviceStatus | None:
        """Return a device's status, None when its id is unknown."""
        return self._held[2].get(device_id)
