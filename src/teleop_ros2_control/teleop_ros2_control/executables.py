"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def ros2_control_driver() -> None:
    """Run the node ``ros2_control_driver``."""
    start("teleop_ros2_control.ros2_control_driver_node", "Ros2ControlDriverNode")
