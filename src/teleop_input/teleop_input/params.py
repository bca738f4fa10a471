"""Parameters of the nodes ``debug_input``, ``openxr_input`` and ``replay_input``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param


@dataclass(frozen=True)
class DebugParams:
    """Parameters of ``debug_input``."""

    path: str = param("wave", "scripted path: a name in config/debug_paths, or a YAML file")
    rate: float = param(90.0, "frame rate", unit="Hz", minimum=1.0, maximum=240.0)
    wait_for_session: bool = param(True, "stand still at the path's beginning until the session runs")


@dataclass(frozen=True)
class OpenXrParams:
    """Parameters of ``openxr_input``."""

    rate: float = param(90.0, "frame rate", unit="Hz", minimum=1.0, maximum=240.0)
    environment_file: str = param("", "environment file of the runtime (NAME=value lines), loaded before connecting; empty: none")


@dataclass(frozen=True)
class ReplayParams:
    """Parameters of ``replay_input``."""

    bag: str = param("", "bag to replay: its directory, or an .mcap file; also a recording of Isaac Teleop")
    topic: str = param("", "topic to replay; empty takes the only /teleop/input/<provider>/frame of the bag")
    loop: bool = param(False, "start again at the end")
    wait_for_session: bool = param(True, "hold the first frame back until the session is connected to the provider replay")
