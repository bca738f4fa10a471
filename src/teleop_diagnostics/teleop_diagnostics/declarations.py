"""What a provider may report: its devices are declared, by a plugin's manifest or, for the graph's own nodes, here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teleop_common.enums import ProviderType

PLUGIN = "plugin/"
OPENXR = "openxr/runtime"
LIVE = (PLUGIN, "openxr/", "webxr")  # what a replayed session has none of
_HANDHELD = (("headset", "headset"), ("left_controller", "controller"), ("right_controller", "controller"))


class DeviceDeclaration(NamedTuple):
    """One device that a provider owns.

    Attributes:
        path: its name in the provider's reports.
        type: kind of device.
        description: for people.
    """

    path: str
    type: str = ""
    description: str = ""


class Declaration(NamedTuple):
    """One provider and all its devices.

    Attributes:
        id: provider, e.g. ``plugin/foot_pedal`` or ``hw/left``.
        type: whose process it is.
        name: for people.
        devices: what it owns, each path once.
    """

    id: str
    type: ProviderType
    name: str
    devices: tuple[DeviceDeclaration, ...] = ()

    def device_id(self, path: str) -> str:
        """Return the id of the device at ``path``: a path that begins with a slash stands below the plugin's root."""
        return f"{self.id.removeprefix(PLUGIN)}{path}" if path.startswith("/") else path


def is_live(provider_id: str) -> bool:
    """Return whether a provider is a live input, of which a replayed session has none."""
    return provider_id.startswith(LIVE)


def of_node(provider_id: str, arms: Sequence[str], joints: Sequence[str]) -> Declaration:
    """Return what a node of the graph declares by its id; without devices where it has none, or is not known.

    Args:
        provider_id: id in its reports.
        arms: names of the arms.
        joints: joints of an arm, without its prefix.
    """
    kind, _, rest = provider_id.partition("/")
    devices: list[tuple[str, str, str]] = []
    name = provider_id.removeprefix("node/").replace("_", " ").replace("/", " ")
    if provider_id == OPENXR:
        devices, name = [(f"openxr/{path}", type_, "") for path, type_ in _HANDHELD], "OpenXR runtime"
    elif provider_id == "webxr":
        name = "headset pages"
    elif kind in ("webxr", "debug", "replay"):
        devices = [(f"{provider_id}/{path}", type_, "") for path, type_ in _HANDHELD]
        name = {"debug": "scripted operator", "replay": "recording"}.get(kind, f"headset {rest.replace('_', ' ')}")
    elif kind == "hw":
        devices = [(f"arm/{rest}", "servo_bus", f"servo bus of the {rest} arm")]
        devices += [(f"arm/{rest}/{joint}", "servo", joint.replace("_", " ")) for joint in joints]
        name = f"{rest} arm"
    elif kind in ("sim", "ros2_control"):
        devices = [(f"arm/{arm}", "arm", f"{arm} arm") for arm in arms]
        devices += [("physics", "simulation", "pace of the physics")] if kind == "sim" else []
        name = {"sim": "simulation", "ros2_control": "controllers"}[kind]
    elif kind == "camera":
        devices = [(provider_id, "camera", rest.replace("_", " "))]
    elif provider_id == "node/recorder":
        devices = [("recorder", "recorder", "takes and their journal")]
    type_ = ProviderType.OPENXR_RUNTIME if provider_id == OPENXR else ProviderType.NODE
    return Declaration(provider_id, type_, name, tuple(DeviceDeclaration(*d) for d in devices))
