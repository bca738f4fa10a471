"""Making the core of the ``recorder`` node from its parameters and files."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teleop_common import records
from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_recorder import scene_files
from teleop_recorder.poses import ScenePoses
from teleop_recorder.recorder import Decoders, Recorder, Settings
from teleop_recorder.rows import Rows
from teleop_recorder.samples import Journal
from teleop_recorder.take import Wanted

if TYPE_CHECKING:  # its module needs ROS, this one does not
    from teleop_recorder.recorder_params import RecorderParams

Decode = Callable[[bytes], Any]


def default_folder() -> Path:
    """Return where sessions are kept unless told otherwise."""
    return Path.home() / "xr-teleop" / "sessions"


def picture_topic(camera: str) -> str:
    """Return the topic of a camera's pictures."""
    return f"/teleop/cameras/{camera}/image/compressed"


class Files:
    """Files and disk of this machine; implements ``samples.Surroundings``.

    Args:
        params: parameters of the node.
        scene: writes the scene below a folder and returns its path.
        journal: makes a bag.
    """

    def __init__(self, params: RecorderParams, scene: Callable[[Path], str], journal: Callable[[Path], Journal]) -> None:
        """Remember how."""
        self._params, self._scene = params, scene
        self.journal = journal

    def free(self, path: Path) -> int:
        """Return how many bytes the file system of ``path`` has left."""
        return shutil.disk_usage(path).free

    def snapshot(self, folder: Path) -> str:
        """Write the scene below ``folder``."""
        return self._scene(folder)

    def manifest(self) -> dict[str, str]:
        """Return parameters, files and versions."""
        versions = {name: version(name) for name in ("h5py", "numpy", "mujoco", "av")}
        machine = {"system": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count(), **versions}
        return {"parameters": json.dumps(asdict(self._params), sort_keys=True), "machine": json.dumps(machine, sort_keys=True)}


def feeds(rows: Rows, arms: tuple[str, ...], decoder: Callable[[type], Decode]) -> dict[str, tuple[Decode, Callable[..., None]]]:
    """Return topic → (decoder, what takes the record and its time of receipt), of all that rows are made of."""
    made: dict[str, tuple[Decode, Callable[..., None]]] = {
        "/teleop/frame": (decoder(records.TeleopFrame), lambda record, _: rows.on_frame(record)),
        "/teleop/authority": (decoder(records.AuthorityState), lambda record, _: rows.on_authority(record)),
        "/teleop/guard/state": (decoder(records.GuardState), lambda record, _: rows.on_guard(record)),
        "/teleop/estop_state": (decoder(records.EstopState), lambda record, _: None),
        "/sim/state": (decoder(records.SimState), lambda record, _: rows.on_sim(record)),
    }
    command, joints = decoder(records.JointCommand), decoder(records.JointState)
    for arm in arms:
        made[f"/{arm}/joint_command"] = (command, lambda record, received, arm=arm: rows.on_command(arm, record, received))
        made[f"/{arm}/joint_states"] = (joints, lambda record, _, arm=arm: rows.on_joints(arm, record))
    return made


def create(
    params: RecorderParams,
    limits: RobotLimits,
    cell: Cell,
    cameras: Mapping[str, float],
    decoder: Callable[[type], Decode],
    journal: Callable[[Path], Journal],
) -> Recorder:
    """Return the recorder's core.

    Args:
        params: parameters of the node.
        limits: the robot.
        cell: the cell.
        cameras: recorded camera → rate it should have [Hz].
        decoder: class of a record → what decodes it.
        journal: makes a bag.

    Raises:
        ConfigError: an arm without a mount, or a robot that is not in the scene.
    """
    names = [joint.name for joint in limits.all_joints]
    spec, model = scene_files.compiled(params.arms, cell, limits)
    rows = Rows(
        params.arms,
        len(limits.all_joints),
        poses := ScenePoses(model, params.arms),
        aim=params.record_aim,
        head=params.record_head,
    )
    about = {
        "joint_names": names,
        "arms": list(params.arms),
        "robot": limits.robot,
        "links": {arm: list(n) for arm, n in poses.links.items()},
        "limits": {joint.name: [joint.lower, joint.upper] for joint in limits.all_joints},
        "gripper": limits.gripper.limits.name if limits.gripper else "",
    }
    wanted = Wanted(rows.channels, dict(cameras), params.video, about)
    settings = Settings(
        Path(params.folder).expanduser() if params.folder else default_folder(),
        params.session,
        params.overwrite,
        params.task,
        round(params.disk_margin * (1 << 30)),
        params.follow_simulation,
    )
    decoders = Decoders(feeds(rows, params.arms, decoder), {picture_topic(name): name for name in cameras})
    files = Files(params, lambda folder: scene_files.write(folder, spec, model, about), journal)
    return Recorder(settings, rows, wanted, decoders, files)
