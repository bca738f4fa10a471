"""Parameters of the node ``device_status``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.params import param


@dataclass(frozen=True)
class DeviceStatusParams:
    """What can be set of it."""

    arms: tuple[str, ...] = param(("left", "right"), "arms of the graph, each a namespace")
    limits_file: str = param("", "limits file of the robot; empty: the installed config/limits/so101.yaml")
    plugins: str = param("", "folders of plugins (each with a plugin.yaml, or with such folders in it), comma-separated")
    expected: tuple[str, ...] = param((), "providers that are listed before they say anything, by id, e.g. sim or hw/left")
    replay: bool = param(False, "a recording is replayed: plugins are not started, live inputs are not listed")
    own_diagnostics: tuple[str, ...] = param(
        ("hw/",), "beginnings of the ids of providers that publish on /diagnostics themselves and are left out there"
    )
    stop_patience: float = param(2.0, "time a plugin gets to end after SIGTERM", unit="s", minimum=0.1, maximum=4.0)
