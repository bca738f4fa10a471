"""The scene as files that open without this repository: MJCF, meshes beside it, and a JSON that says what it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_description.scene import compose, model_hash


def compiled(arms: Sequence[str], cell: Cell, limits: RobotLimits) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """Return the scene's description and model."""
    spec = compose(arms, cell, limits)
    return spec, spec.compile()


def write(folder: Path, spec: mujoco.MjSpec, model: mujoco.MjModel, about: dict[str, Any]) -> str:
    """Write a scene below ``folder``, once: a scene that is there already stays as it is.

    Args:
        folder: where scenes are kept.
        spec: the scene's description.
        model: the scene, compiled.
        about: what else the JSON says.

    Returns:
        The MJCF's path relative to the folder above ``folder``.

    Raises:
        OSError: it cannot be written.
    """
    name = model_hash(model)
    target = folder / name
    path = f"{folder.name}/{name}/scene.xml"
    if (target / "scene.json").exists():
        return path
    assets = target / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    text = spec.to_xml()
    for file in {mesh.file for mesh in spec.meshes if mesh.file}:
        shutil.copyfile(file, assets / Path(file).name)
        text = text.replace(f'file="{file}"', f'file="assets/{Path(file).name}"')
    (target / "scene.xml").write_text(text)
    bodies = [model.body(n).name for n in range(model.nbody)]
    joints = [model.joint(n).name for n in range(model.njnt)]
    document = {
        "model_hash": name,
        "mujoco": mujoco.mj_versionString(),
        "bodies": bodies,
        "joints": joints,
        "nq": model.nq,
        "nv": model.nv,
        "timestep_s": model.opt.timestep,
        **about,
    }
    # last: a scene with its JSON is whole
    (target / "scene.json").write_text(json.dumps(document, indent=1, sort_keys=True))
    return path
