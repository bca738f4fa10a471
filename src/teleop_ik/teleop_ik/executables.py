"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def retargeter() -> None:
    """Run the node ``retargeter``."""
    start("teleop_ik.retargeter_node", "RetargeterNode")
