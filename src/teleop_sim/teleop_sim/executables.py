"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def sim() -> None:
    """Run the node ``sim``."""
    start("teleop_sim.sim_node", "SimNode")


def sim_cameras() -> None:
    """Run the node ``sim_cameras``."""
    start("teleop_sim.cameras_node", "CamerasNode")
