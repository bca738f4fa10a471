"""A take as commands: what each arm was told, over time, from a session's episode or from a LeRobot data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_recorder import layout, reading
from teleop_recorder.export.grid import Units, row_times
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode

Joints = tuple[float, ...]


@dataclass(frozen=True)
class Script:
    """What arms are told.

    Attributes:
        name: which take it is, for people.
        times: of the samples [s from the first], ascending.
        joints: arm → its joints (N, J) [rad], in the limits file's order.
    """

    name: str
    times: np.ndarray
    joints: dict[str, np.ndarray]

    @property
    def duration(self) -> float:
        """Its length [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> dict[str, Joints]:
        """Return every arm's joints [rad] at ``time`` [s], straight between samples."""
        return {
            arm: tuple([float(np.interp(time, self.times, column)) for column in values.T]) for arm, values in self.joints.items()
        }


def load(path: Path, index: int, limits: RobotLimits, arms: Sequence[str]) -> Script:
    """Return a take of the session, or of the LeRobot data set, at ``path``; the rest as below.

    Raises:
        ConfigError: there is none, or it is none for these arms.
    """
    if (path / "meta/info.json").exists():
        return from_lerobot(path, index, limits, arms)
    with reading.episodes(layout.find(path), (index,)) as (episode,):
        return from_episode(episode, limits, arms)


def from_episode(episode: Episode, limits: RobotLimits, arms: Sequence[str]) -> Script:
    """Return the committed joints of a take.

    Args:
        episode: the take.
        limits: of the robot that is to do it.
        arms: which arms; empty: all that were recorded.

    Raises:
        ConfigError: the take is of another robot, lacks an arm, or an arm had no command in some row; or no clock went on in it.
    """
    name = f"{episode.session.folder.name} {episode_name(episode.index)}"
    _same("robot", name, episode.text("robot"), limits.robot)
    _same("joints", name, list(episode.joint_names), [joint.name for joint in limits.all_joints])
    chosen = _chosen(name, episode.arms, arms)
    times = row_times(episode)[: episode.rows]
    return _script(
        name,
        times,
        {arm: episode.column(f"control/{arm}/committed")[: episode.rows] for arm in chosen},
    )


def from_lerobot(folder: Path, index: int, limits: RobotLimits, arms: Sequence[str]) -> Script:
    """Return the actions of an episode of a LeRobot data set that was exported here.

    Args:
        folder: of the data set.
        index: number of the episode in it.
        limits: of the robot that is to do it.
        arms: which arms; of a set without arm names, the one that is to do it.

    Raises:
        ConfigError: no such episode, or of another robot, or of a set whose units are not known.
    """
    # not imported above: a take of a session needs no pyarrow
    import pyarrow.parquet as pq

    name = f"{folder.name} episode {index}"
    try:
        info = json.loads((folder / "meta/info.json").read_text())
        # other sets may count from other zeros, or in shares of a range that they do not tell
        count = len(json.loads((folder / "meta/xr_teleop.json").read_text())["episodes"])
        told = list(info["features"]["action"]["names"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "name a folder that ./teleop episodes export wrote"
        raise ConfigError("data set", str(folder), str(error), "a LeRobot v3.0 data set of ours", remedy) from error
    if not 0 <= index < count:
        raise ConfigError("episode", name, index, f"0 to {count - 1}" if count else "none: the set is empty", "choose another")
    joints = [joint.name for joint in limits.all_joints]
    _same("robot", name, info["robot_type"].removeprefix("bi_"), f"{limits.robot.rstrip('0123456789')}_follower")
    recorded = [told[k].removesuffix(f"{joints[0]}.pos").rstrip("_") for k in range(0, len(told), len(joints))]
    wanted = [f"{arm}_{joint}.pos" if arm else f"{joint}.pos" for arm in recorded for joint in joints]
    _same("joints", name, told, wanted)
    data = folder / str(info["data_path"]).format(
        chunk_index=index // info["chunks_size"], file_index=index % info["chunks_size"]
    )
    table = pq.read_table(data, columns=["frame_index", "action"])
    grip = limits.gripper.limits if limits.gripper else None
    ranges = [(joint.lower, joint.upper) if joint is grip else (np.nan, np.nan) for joint in limits.all_joints]
    lower, upper = np.array(ranges * len(recorded)).T
    values = Units(lower, upper).read(np.stack(table["action"].to_numpy()).astype(float))
    columns = {arm: values[:, k * len(joints) : (k + 1) * len(joints)] for k, arm in enumerate(recorded)}
    if recorded == [""]:
        if len(arms) != 1:
            raise ConfigError("arms", name, list(arms), "one: the set is of one arm and does not name it", "say which")
        columns = {arms[0]: columns[""]}
    chosen = _chosen(name, tuple(columns), arms)
    return _script(name, table["frame_index"].to_numpy() / float(info["fps"]), {arm: columns[arm] for arm in chosen})


def _same(what: str, name: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise ConfigError(f"{what} of take", name, found, str(wanted), "choose a take of this robot")


def _chosen(name: str, there: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    for arm in wanted:
        if arm not in there:
            raise ConfigError("arm of take", name, arm, ", ".join(there), "choose one that was recorded")
    return tuple(wanted or there)


def _script(name: str, times: np.ndarray, joints: dict[str, np.ndarray]) -> Script:
    """Return a script of ascending times from 0; of samples of one moment the last counts."""
    if len(times) < 2:
        raise ConfigError("take", name, f"{len(times)} samples", "two at least", "choose another")
    for arm, values in joints.items():
        if silent := int(np.sum(~np.isfinite(values).all(axis=1))):
            remedy = "leave that arm out, or choose another take"
            raise ConfigError("arm of take", f"{name} {arm}", f"no command in {silent} rows", "a command in each", remedy)
    keep = np.append(np.diff(times) > 0.0, True)
    return Script(name, times[keep] - times[keep][0], {arm: values[keep] for arm, values in joints.items()})
