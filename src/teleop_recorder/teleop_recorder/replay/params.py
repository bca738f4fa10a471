"""Parameters of the replaying nodes."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param


@dataclass(frozen=True)
class PosesParams:
    """Parameters of the node that shows takes in the simulation; units and ranges in the fields."""

    session: str = param("", "folder of the session")
    episode: int = param(0, "number of the take", minimum=0, maximum=99999)
    loop: bool = param(False, "begin again at the end")
    still: bool = param(False, "stand at the first frame until told to play or step, and at the last until stopped")
    speed: float = param(1.0, "recorded seconds shown per second", minimum=0.01, maximum=20.0)
    start: float = param(0.0, "where to begin, from the take's first row", unit="s", minimum=0.0, maximum=86400.0)


@dataclass(frozen=True)
class ActionsParams:
    """Parameters of the node that plays takes onto arms; units and ranges in the fields."""

    limits_file: str = param("", "limits file of the robot; empty: the installed limits/so101.yaml")
    session: str = param("", "folder of the session, or of an exported LeRobot data set")
    episode: int = param(0, "number of the take", minimum=0, maximum=99999)
    arms: tuple[str, ...] = param((), "arms to lead; empty: all of the take")
    loop: bool = param(False, "begin again at the end")
    speed: float = param(1.0, "recorded seconds played per second", minimum=0.05, maximum=2.0)
    ease_speed: float = param(
        0.5, "speed of the fastest joint on the way to where the take begins", unit="rad/s", minimum=0.05, maximum=2.0
    )
    real: bool = param(False, "also lead arms that are not simulated")
