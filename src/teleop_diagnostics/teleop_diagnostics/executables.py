"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def device_status() -> None:
    """Run the node ``device_status``."""
    start("teleop_diagnostics.device_status_node", "DeviceStatusNode")
