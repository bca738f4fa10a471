"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def so101_driver() -> None:
    """Run the node ``so101_driver``."""
    start("teleop_hw_so101.so101_driver_node", "So101DriverNode")


def emulated_scene() -> None:
    """Run the node ``emulated_scene``."""
    start("teleop_hw_so101.emulator.scene_node", "SceneNode")
