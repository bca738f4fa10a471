"""Parameters of the node ``session``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common import spatial
from teleop_common.errors import ConfigError
from teleop_common.params import param
from teleop_common.records import Pose
from teleop_session.machine import PROVIDERS
from teleop_session.session import SCALE_RANGE, Settings
from teleop_session.stance import STANCES


@dataclass(frozen=True)
class SessionParams:
    """What a person may change; see each description."""

    arms: tuple[str, ...] = param(("left", "right"), "arms in use, names of mounts in the cell file")
    autostart: bool = param(False, "CONNECT and START once provider, retargeter, guard and drivers are heard")
    provider: str = param("webxr", "input provider at start", choices=PROVIDERS)
    stance: str = param("behind", "how the operator stands to the arms", choices=STANCES)
    view: str = param("", "camera view in use, needed for stance camera")
    scale: float = param(1.0, "hand translation gain", minimum=SCALE_RANGE[0], maximum=SCALE_RANGE[1])
    tracking_position: tuple[float, ...] = param(
        (-0.4, 0.0, -0.75), "x, y, z of the play space's origin (on its floor) in world", unit="m", minimum=-10.0, maximum=10.0
    )
    tracking_yaw: float = param(0.0, "heading of the play space in world", unit="rad", minimum=-3.15, maximum=3.15)
    bindings_file: str = param("", "button bindings; empty takes the installed config/bindings.yaml")
    bindings_preset: str = param("default", "preset of the bindings file")
    cell_file: str = param("", "cell file; empty takes the installed config/cell.yaml")
    views_file: str = param("", "camera views and their yaws; empty takes the installed config/views.yaml")
    tf_hz: float = param(30.0, "highest rate of the operator's transforms", unit="Hz", minimum=1.0, maximum=120.0)

    def settings(self) -> Settings:
        """Return what the core starts with.

        Raises:
            ConfigError: ``tracking_position`` has not three coordinates.
        """
        if len(self.tracking_position) != 3:
            raise ConfigError(
                "parameter", "tracking_position", self.tracking_position, "three coordinates x, y, z [m]", "mend it"
            )
        x, y, z = self.tracking_position
        return Settings(
            arms=self.arms,
            provider=self.provider,
            autostart=self.autostart,
            stance=self.stance,
            view=self.view,
            scale=self.scale,
            origin=Pose((x, y, z), spatial.quat_from_yaw(self.tracking_yaw)),
            profile=self.bindings_preset,
        )
