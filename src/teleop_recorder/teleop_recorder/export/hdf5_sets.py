"""Export to the HDF5 files that ACT/ALOHA and robomimic read.

Both get the same grid as the LeRobot export, joints in radians as measured and committed, and the pictures as they were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from teleop_common.errors import ConfigError
from teleop_recorder.export import grid, movie
from teleop_recorder.export.grid import Grid, Units
from teleop_recorder.export.lerobot import Wish, added
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode

Say = Callable[[str], None]


@contextmanager
def _new(path: Path) -> Iterator[h5py.File]:
    """Yield a file that appears at ``path`` whole or not at all.

    Raises:
        ConfigError: there is such a file.
    """
    if path.exists():
        raise ConfigError("file", str(path), "a file that is there", "a new one", "name another folder, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    with h5py.File(temporary, "w") as file:
        yield file
    os.replace(temporary, path)


def _pictures(episode: Episode, made: Grid, group: h5py.Group, suffix: str) -> None:
    """Write each camera as (T, height, width, 3), a chunk a picture."""
    for camera in made.pictures:
        target: Any = None
        frames = movie.pictures(episode.session.video(episode.index, camera), made.pictures[camera])
        for row, frame in enumerate(frames):
            image = frame.to_ndarray(format="rgb24")
            if target is None:
                name = grid.CAMERAS.get(camera, camera) + suffix
                target = group.create_dataset(name, (len(made), *image.shape), "u1", chunks=(1, *image.shape))
            target[row] = image


def _speed(joints: np.ndarray, fps: int) -> np.ndarray:
    """Return joint speeds [rad/s] of positions (T, J) on the grid, by central differences."""
    speed: np.ndarray = np.gradient(joints, 1.0 / fps, axis=0) if len(joints) > 1 else np.zeros_like(joints)
    return speed


def act(episodes: list[Episode], wish: Wish, say: Say) -> int:
    """Write ``episode_<i>.hdf5`` for each episode, numbered on from those in the folder, and return how many.

    A take that the folder has already is not written again.

    Raises:
        ConfigError: an episode does not go; those before it are written.
    """
    files = {int(path.stem.removeprefix("episode_")): path for path in wish.folder.glob("episode_[0-9]*.hdf5")}
    there = {_take(path) for path in files.values()}
    number, first = (max(files) + 1 if files else 0,) * 2
    for episode in episodes:
        name = f"{episode.session.folder.name} {episode_name(episode.index)}"
        if int(episode.group.attrs["started_ns"]) in there:
            say(f"{name}: is in the folder already")
            continue
        made, units = wish.grid(episode), grid.units(episode)
        measured, committed = units.read(made.state), units.read(made.action)
        with _new(wish.folder / f"episode_{number}.hdf5") as file:
            # with sim true the loader takes state and action of the same row for each other, as they were recorded
            file.attrs["sim"] = True
            file.attrs["fps"], file.attrs["task"] = wish.fps, episode.text("task") or wish.task
            file.attrs["joint_names"], file.attrs["unit"] = json.dumps(grid.names(episode)), "rad"
            file.attrs["take"] = int(episode.group.attrs["started_ns"])
            file.create_dataset("observations/qpos", data=measured, dtype="f4")
            file.create_dataset("observations/qvel", data=_speed(measured, wish.fps), dtype="f4")
            file.create_dataset("action", data=committed, dtype="f4")
            file.create_dataset("measured_time", data=made.row_times)
            _pictures(episode, made, file.require_group("observations/images"), "")
        say(f"{name}: episode_{number}.hdf5 {added(made)}")
        number += 1
    return number - first


def _take(path: Path) -> int:
    """Return which take a file of the folder is; 0 for one that is not ours.

    Raises:
        ConfigError: it does not open.
    """
    try:
        with h5py.File(path) as file:
            return int(file.attrs.get("take", 0))
    except OSError as error:
        raise ConfigError("file", str(path), str(error), "an HDF5 file", "remove it, or name another folder") from error


def robomimic(episodes: list[Episode], wish: Wish, say: Say) -> int:
    """Write ``dataset.hdf5`` with a ``demo_<i>`` for each episode, and return how many.

    Actions are the committed joints scaled to -1..1 over their limits (attributes ``action_lower`` and ``action_upper`` [rad]),
    as its policies want them.

    Raises:
        ConfigError: an episode does not go, or the file is there; then nothing is written.
    """
    with _new(wish.folder / "dataset.hdf5") as file:
        data, total = file.create_group("data"), 0
        for number, episode in enumerate(episodes):
            made, units = wish.grid(episode), grid.units(episode)
            demo = data.create_group(f"demo_{number}")
            count = _demo(demo, episode, made, units, wish)
            total += count
            say(f"{episode.session.folder.name} {episode_name(episode.index)}: demo_{number} {added(made)}")
        kwargs = {"fps": wish.fps, "task": wish.task}
        data.attrs["total"] = total
        data.attrs["env_args"] = json.dumps({"env_name": "xr_teleop", "env_type": 2, "env_kwargs": kwargs})
    return len(episodes)


def _demo(demo: h5py.Group, episode: Episode, made: Grid, units: Units, wish: Wish) -> int:
    measured, committed = units.read(made.state), units.read(made.action)
    ranges = json.loads(episode.group.attrs["limits"])
    lower, upper = np.array([ranges[name] for name in episode.joint_names] * len(episode.arms)).T
    scaled = np.clip(2.0 * (committed - lower) / (upper - lower) - 1.0, -1.0, 1.0)
    bodies = [p for p in _bodies(episode) if not np.isnan(episode.column(p)).any()]
    poses = {path.removeprefix("state/").replace("/", "_"): episode.column(path)[made.rows] for path in bodies}
    count = len(made)
    demo.attrs["num_samples"], demo.attrs["take"] = count, int(episode.group.attrs["started_ns"])
    demo.attrs["task"] = episode.text("task") or wish.task
    demo.attrs["action_lower"], demo.attrs["action_upper"] = lower, upper
    scene = episode.session.folder / str(episode.group.file.attrs.get("stage_snapshot", ""))
    if scene.is_file():
        demo.attrs["model_file"] = str(scene.relative_to(episode.session.folder))
    demo.create_dataset("actions", data=scaled)
    demo.create_dataset("rewards", data=np.zeros(count))
    demo.create_dataset("dones", data=np.arange(count) == count - 1, dtype="i8")
    speed = _speed(measured, wish.fps)
    demo.create_dataset("states", data=np.concatenate([measured, speed, *poses.values()], axis=1))
    low = {"joint_pos": measured, "joint_vel": speed, **poses}
    for name, values in low.items():
        demo.create_dataset(f"obs/{name}", data=values)
        demo.create_dataset(f"next_obs/{name}", data=np.concatenate([values[1:], values[-1:]]))
    _pictures(episode, made, demo["obs"], "_image")
    return count


def _bodies(episode: Episode) -> list[str]:
    """Return the paths of the free bodies' poses."""
    names = [name for name in episode.group.get("state", {}) if name not in episode.arms]
    return [f"state/{name}/{what}" for name in names for what in ("position", "orientation")]
