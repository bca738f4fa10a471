"""Entry points of the package's executables."""

from __future__ import annotations

from teleop_common.start import start


def recorder() -> None:
    """Run the node ``recorder``."""
    start("teleop_recorder.recorder_node", "RecorderNode")


def replay_poses() -> None:
    """Run the node ``replayer`` that shows a take in the simulation."""
    start("teleop_recorder.replay.poses_node", "PosesNode")


def replay_actions() -> None:
    """Run the node ``replayer`` that plays a take onto arms."""
    start("teleop_recorder.replay.actions_node", "ActionsNode")
