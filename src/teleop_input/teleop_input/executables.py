"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def debug_input() -> None:
    """Run the node ``debug_input``."""
    start("teleop_input.debug_node", "DebugInput")


def openxr_input() -> None:
    """Run the node ``openxr_input``."""
    start("teleop_input.openxr_input_node", "OpenXrInput")


def replay_input() -> None:
    """Run the node ``replay_input``."""
    start("teleop_input.replay_node", "ReplayInput")
