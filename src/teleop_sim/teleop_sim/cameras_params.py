"""Parameters of the ``sim_cameras`` node."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param


@dataclass(frozen=True)
class CamerasParams:
    """Parameters of the ``sim_cameras`` node; units and ranges in the fields."""

    arms: tuple[str, ...] = param(("left", "right"), "simulated arms, as given to the node sim")
    limits_file: str = param("", "limits file of the robot; empty: the installed limits/so101.yaml")
    cell_file: str = param("", "cell file; empty: the installed cell.yaml")
    cameras_file: str = param("", "views to render; empty: the installed cameras.yaml")
    always: tuple[str, ...] = param((), "views to render without a subscriber")
    niceness: int = param(
        10, "added to the process's nice value, so that physics never waits for a picture", minimum=0, maximum=19
    )
