"""A take as pictures: the states of the scene that its rows hold, read before the first is shown."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import h5py
import mujoco
import numpy as np

from teleop_common.errors import ConfigError
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode
from teleop_recorder.replay.cursor import Cursor


def scene(episode: Episode) -> tuple[mujoco.MjModel, str]:
    """Return the scene that a take was recorded in, and the hash of its model.

    Raises:
        ConfigError: its snapshot is not there.
    """
    file = episode.group.file
    path = episode.session.folder / str(file.attrs.get("stage_snapshot", ""))
    try:
        told = json.loads(path.with_suffix(".json").read_text())
        return mujoco.MjModel.from_xml_path(str(path)), str(told["model_hash"])
    except (OSError, ValueError, KeyError) as error:
        remedy = "put the session's folder scene/ back"
        raise ConfigError("scene", str(path), str(error), "the snapshot that was recorded", remedy) from error


def positions(episode: Episode, model: mujoco.MjModel) -> np.ndarray:
    """Return the positions (N, nq) of all joints of ``model`` from the world poses below ``state/`` of a take.

    A hinge's angle is how far its link is turned from its place on the link before it, about the hinge's axis. NaN where nothing
    was recorded.

    Raises:
        ConfigError: the take lacks a link or body of the scene.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    turned, placed = _recorded(episode)
    found = np.full((episode.rows, model.nq), np.nan)
    for number in range(model.njnt):
        joint = model.joint(number)
        body, address = int(joint.bodyid[0]), int(joint.qposadr[0])
        name = model.body(body).name
        if name not in turned:
            where = episode_name(episode.index)
            raise ConfigError(
                "episode", where, f"no poses of '{name}'", "those of all bodies of its scene", "choose another take"
            )
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            found[:, address : address + 3], found[:, address + 3 : address + 7] = placed[name], turned[name]
        elif joint.type[0] == mujoco.mjtJoint.mjJNT_HINGE:
            before = int(model.body_parentid[body])
            # what carries the first link never turns: the scene says how it stands
            parent = turned.get(model.body(before).name, data.xquat[before][None])
            turn = _times(_conjugate(model.body_quat[body][None]), _times(_conjugate(parent), turned[name]))
            angle = 2.0 * np.arctan2(turn[:, 1:] @ model.jnt_axis[number], turn[:, 0])
            found[:, address] = model.qpos0[address] + np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi
        else:
            raise ConfigError("joint", joint.name, "another kind", "hinges and free bodies", "replay its actions instead")
    return found


def _recorded(episode: Episode) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return link or body → recorded orientations (N, 4), w x y z, and positions (N, 3)."""
    turned, placed = {}, {}
    links = json.loads(episode.group.attrs["links"])
    for name, group in episode.group["state"].items() if "state" in episode.group else ():
        if name in links:
            for column, link in enumerate(links[name]):
                turned[link] = group["orientations"][: episode.rows, column]
                placed[link] = group["positions"][: episode.rows, column]
        elif isinstance(group, h5py.Group):
            turned[name], placed[name] = group["orientation"][: episode.rows], group["position"][: episode.rows]
    return turned, placed


def _conjugate(q: np.ndarray) -> np.ndarray:
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products of quaternions (N, 4), w x y z."""
    aw, av, bw, bv = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    real = aw * bw - np.sum(av * bv, axis=1, keepdims=True)
    return np.hstack([real, aw * bv + bw * av + np.cross(av, bv)])


@dataclass
class Reel:
    """Frames to show, and which is due.

    Attributes:
        times: of the frames [s from the first], ascending.
        frames: positions of all joints (N, nq); NaN: not recorded.
        cursor: where it is.
        shown: number of the frame that was due last, -1 before the first.
    """

    times: Sequence[float]
    frames: np.ndarray
    cursor: Cursor
    shown: int = -1

    def due(self, now: float) -> int | None:
        """Return the number of the frame due at ``now`` (monotonic [s]), None when it is the one that was due last."""
        number = max(bisect_right(self.times, self.cursor.advance(now)) - 1, 0)
        if number == self.shown:
            return None
        self.shown = number
        return number

    def step(self) -> int:
        """Stand, and go one frame on, or to the first from the last; return its number."""
        number = (self.shown + 1) % len(self.times)
        self.cursor.play(False)
        self.cursor.time = self.times[number]
        return number

    def positions(self, number: int, now: Sequence[float]) -> tuple[float, ...]:
        """Return frame ``number``; what was not recorded stays where it is ``now``."""
        frame = self.frames[number]
        return tuple(np.where(np.isnan(frame), now, frame).tolist())


def reel(episode: Episode, loop: bool, speed: float, still: bool) -> tuple[Reel, str]:
    """Return a take's frames, at their beginning (``still``: standing there), and the hash of the scene's model.

    Raises:
        ConfigError: the take has no rows, or its scene is missing or another.
    """
    if episode.rows == 0:
        raise ConfigError("episode", episode_name(episode.index), "no rows", "a take with rows", "choose another")
    model, told = scene(episode)
    times = np.maximum.accumulate(episode.column("meta/time/episode_time")[: episode.rows]).tolist()
    cursor = Cursor(times[-1], loop, speed, playing=not still)
    return Reel(times, positions(episode, model), cursor), told
