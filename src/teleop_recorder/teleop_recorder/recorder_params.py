"""Parameters of the ``recorder`` node."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param
from teleop_recorder.video import PRESETS


@dataclass(frozen=True)
class RecorderParams:
    """Parameters of the ``recorder`` node; units and ranges in the fields."""

    arms: tuple[str, ...] = param(("left", "right"), "arms of the graph")
    limits_file: str = param("", "limits file of the robot; empty: the installed limits/so101.yaml")
    cell_file: str = param("", "cell file; empty: the installed cell.yaml")
    cameras_file: str = param("", "views and which of them are recorded; empty: the installed cameras.yaml")
    folder: str = param("", "where sessions are kept; empty: ~/xr-teleop/sessions")
    session: str = param("", "name of the session; empty: from the time of its opening (UTC)")
    overwrite: str = param("", "name of a finished session that may be replaced, once; its folder is kept as NAME.replaced")
    open_at_start: bool = param(True, "open a session when the node starts")
    task: str = param("", "instruction of takes that are started without one")
    record_aim: bool = param(True, "record the aim poses of the hands in the takes")
    record_head: bool = param(True, "record the pose of the head in the takes")
    record_cameras: bool = param(True, "record the views that cameras.yaml marks with record")
    video: str = param("h264_fast", "encoder of the videos, see docs/recording.md", choices=("", *PRESETS))
    follow_simulation: bool = param(False, "start and end takes with the simulation's play and stop")
    disk_margin: float = param(1.0, "free space below which nothing is recorded", unit="GiB", minimum=0.0, maximum=1000.0)
    niceness: int = param(5, "added to the process's nice value: messages can wait, arms cannot", minimum=0, maximum=19)
    poll_hz: float = param(50.0, "rate at which messages are taken from the middleware", unit="Hz", minimum=10.0, maximum=500.0)
