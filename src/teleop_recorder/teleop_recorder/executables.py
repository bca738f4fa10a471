"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def recorder() -> None:
    """Run the node ``recorder``."""
    start("teleop_recorder.recorder_node", "RecorderNode")
