"""Parameters of the ``emulated_scene`` node."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param


@dataclass(frozen=True)
class SceneParams:
    """Parameters of the ``emulated_scene`` node; units and ranges in the fields."""

    folder: str = param("", "folder of the emulator's ports; empty: where ./teleop emulate puts them")
    sim_state_hz: float = param(60.0, "rate of /sim/state, for renderers", unit="Hz", minimum=1.0, maximum=200.0)
