"""Whether an OpenXR runtime is there and up, told from its manifest (OpenXR loader specification, "Runtime Discovery")."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import NamedTuple

from teleop_bringup.capabilities.machine import Machine

_MANIFEST = "openxr/1/active_runtime.json"
_ABI = {"amd64": "x86_64", "arm64": "aarch64", "armv7l": "armv7a-vfp", "ppc64le": "ppc64el"}
"""How the loader calls an architecture where the kernel has another name for it."""


class _Service(NamedTuple):
    """A runtime whose library asks a service, told by the socket that this makes.

    Attributes:
        library: part of the library's name.
        variables: that name the socket's folder, the first that is set.
        sockets: in that folder, of this and earlier versions.
        start: what to do.
    """

    library: str
    variables: tuple[str, ...]
    sockets: tuple[str, ...]
    start: str


_SERVICES = (
    _Service("monado", ("XDG_RUNTIME_DIR",), ("monado_comp_ipc",), "Monado's service is not started: monado-service"),
    _Service("wivrn", ("XDG_RUNTIME_DIR",), ("wivrn/comp_ipc", "wivrn_comp_ipc"), "WiVRn's server is not started: wivrn-server"),
    _Service(
        "cloudxr", ("NV_CXR_RUNTIME_DIR", "XDG_RUNTIME_DIR"), ("ipc_cloudxr",), "CloudXR's runtime is not started: start it"
    ),
)


def manifest_path(machine: Machine) -> str | None:
    """Return the manifest of the runtime that a loader would take, None without one."""
    env = machine.environment
    if named := env.get("XR_RUNTIME_JSON"):
        return named
    home = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME', '')}/.config"
    folders = [home, *(env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"), "/usr/local/etc", "/etc"]
    own = f"openxr/1/active_runtime.{_ABI.get(machine.architecture, machine.architecture)}.json"
    found = (f"{folder}/{name}" for folder in folders for name in (own, _MANIFEST))
    return next((path for path in found if machine.exists(path)), None)


def unready(machine: Machine) -> str:
    """Return why no runtime would answer now and what to do, empty when one should."""
    path = manifest_path(machine)
    if path is None:
        return (
            "no OpenXR runtime is set up; install one (Debian 13: sudo apt-get install monado-service libopenxr1-monado), "
            "or name its manifest: XR_RUNTIME_JSON=/path/to/runtime.json"
        )
    text = machine.text(path)
    if text is None:
        return f"the runtime's manifest {path} cannot be read; install that runtime, or mend XR_RUNTIME_JSON"
    try:
        library = str(json.loads(text)["runtime"]["library_path"])
    except (ValueError, KeyError, TypeError):
        return f"{path} is no manifest of an OpenXR runtime; reinstall it, or name another: XR_RUNTIME_JSON=/path/to/runtime.json"
    if "/" in library and not machine.exists(str(PurePath(path).parent / library)):
        return f"the runtime's library {library}, named by {path}, is missing; reinstall it"
    name = PurePath(library).name
    for service in _SERVICES:
        if service.library in name:
            folder = next(filter(None, map(machine.environment.get, service.variables)), "")
            if not any(machine.exists(f"{folder}/{socket}") for socket in service.sockets):
                return f"{service.start}, as the same user (openxr_input waits for it)"
    return ""
