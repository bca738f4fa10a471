"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def guard() -> None:
    """Run the node ``guard``."""
    start("teleop_safety.guard_node", "GuardNode")
