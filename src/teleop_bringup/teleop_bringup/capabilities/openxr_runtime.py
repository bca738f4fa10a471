"""Whether an OpenXR runtime is there and up, told from its manifest (OpenXR loader specification, "Runtime Discovery")."""

from __future__ import annotations

import json
from pathlib import PurePath

from teleop_bringup.capabilities.machine import Machine

_MANIFEST = "openxr/1/active_runtime.json"
_ARCHITECTURE = "openxr/1/active_runtime.x86_64.json"


def manifest_path(machine: Machine) -> str | None:
    """Return the manifest of the runtime that a loader would take, None without one."""
    env = machine.environment
    if named := env.get("XR_RUNTIME_JSON"):
        return named
    home = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME', '')}/.config"
    folders = [home, *(env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"), "/usr/local/etc", "/etc"]
    found = (f"{folder}/{name}" for folder in folders for name in (_ARCHITECTURE, _MANIFEST))
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
    folder = machine.environment.get("XDG_RUNTIME_DIR", "")
    if "monado" in library and not machine.exists(f"{folder}/monado_comp_ipc"):
        return "Monado's service is not started: monado-service, as the same user (openxr_input waits for it)"
    return ""
