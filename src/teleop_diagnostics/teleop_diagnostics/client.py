"""The status of every provider and device for any node: getters that read a cache and do no I/O.

::

    status = StatusClient(node)  # any rclpy node
    left = status.get_device_status("arm/left")
"""

from __future__ import annotations

from typing import Any

from teleop_common import qos
from teleop_common.records import DeviceStatus, ProviderStatus, StatusSnapshot
from teleop_common.transport import subscribe
from teleop_diagnostics.cache import StatusCache


class StatusClient:
    """Hears ``/teleop/devices``."""

    def __init__(self, node: Any) -> None:
        """Subscribe on ``node``."""
        self._cache = StatusCache()
        subscribe(node, StatusSnapshot, "/teleop/devices", self._cache.take, qos.LATCHED)

    def get_status(self) -> StatusSnapshot:
        """Return the newest snapshot; an empty one, ``updated_at_ns`` 0, before the first."""
        return self._cache.snapshot

    def get_provider_status(self, provider_id: str) -> ProviderStatus | None:
        """Return a provider's status, None when its id is unknown."""
        return self._cache.provider(provider_id)

    def get_device_status(self, device_id: str) -> DeviceStatus | None:
        """Return a device's status, None when its id is unknown."""
        return self._cache.device(device_id)
