"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def web_gateway() -> None:
    """Run the node ``web_gateway``."""
    start("teleop_web.gateway_node", "GatewayNode")
