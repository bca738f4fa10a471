"""Export to a LeRobot data set, version 3.0, by pyarrow and PyAV alone.

One Parquet file and one video a camera for each episode: so an episode is added by writing new files first and the tables that
name them last, and an export that was cut off is taken up where it stopped. What a loader needs of the format was found by
trying lerobot 0.6.1: the columns below, the pandas note in ``tasks.parquet``, the statistics.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from teleop_common.cache import write_atomically
from teleop_common.errors import ConfigError
from teleop_recorder.export import grid, movie, stats
from teleop_recorder.export.grid import Grid
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode

_CHUNK = 1000  # files of a folder
_INDEX = {"timestamp": "float32", "frame_index": "int64", "episode_index": "int64", "index": "int64", "task_index": "int64"}
_OURS = "meta/xr_teleop.json"  # which take each episode is, and its pictures' statistics


@dataclass(frozen=True)
class Wish:
    """What is wanted of an export.

    Attributes:
        folder: of the data set; made, or added to.
        fps: rate [Hz].
        any_rate: export what was recorded slower than that.
        videos: export the cameras.
        task: instruction in place of an empty one.
    """

    folder: Path
    fps: int
    any_rate: bool = False
    videos: bool = True
    task: str = ""

    def grid(self, episode: Episode) -> Grid:
        """Return an episode on the grid, as wanted.

        Raises:
            ConfigError: it does not go, or its rate is too low.
        """
        made = grid.make(episode, self.fps, episode.cameras if self.videos else ())
        if not self.any_rate:
            grid.check(episode, made, self.fps)
        return made


def added(made: Grid) -> str:
    """Return what there is to say of an episode that was exported."""
    return "added" + "".join(f", {n} pictures of {c} out of order left out" for c, n in sorted(made.disordered.items()))


class DataSet:
    """A data set on disk.

    Args:
        wish: see there.

    Raises:
        ConfigError: the folder holds something else, or a set of another rate.
    """

    def __init__(self, wish: Wish) -> None:
        """Read what is there."""
        self._wish, self._folder = wish, wish.folder
        self._ours: list[dict[str, Any]] = []
        self._info: dict[str, Any] = {}
        if (self._folder / _OURS).exists():
            self._ours = json.loads((self._folder / _OURS).read_text())["episodes"]
            # without an episode that was finished nothing else in the folder counts
            self._info = json.loads((self._folder / "meta/info.json").read_text()) if self._ours else {}
            if self._ours and self._info["fps"] != wish.fps:
                raise ConfigError("fps", str(self._folder), wish.fps, f"{self._info['fps']}, that of the data set", "add --fps")
        elif self._folder.exists() and any(self._folder.iterdir()):
            remedy = "name an empty folder, or one that was exported to"
            raise ConfigError("data set", str(self._folder), "other files", "an empty folder or a data set of ours", remedy)

    def has(self, episode: Episode) -> bool:
        """Whether this take is in the set already."""
        return any(row["take"] == _identity(episode) for row in self._ours)

    def add(self, episode: Episode) -> Grid:
        """Add one episode, and return it as it was added.

        Raises:
            ConfigError: it does not fit the set, or its rate is too low.
        """
        wish = self._wish
        made = wish.grid(episode)
        cameras = {grid.CAMERAS.get(c, c): c for c in made.pictures}
        task = episode.text("task") or wish.task
        if not task:
            name = episode_name(episode.index)
            raise ConfigError("task", name, "", "an instruction", "name one: --task 'put the cubes into the zone'")
        number = len(self._ours)
        if not number:
            # before the first file, so that an export that is killed in its first episode knows its folder again
            self._name()
        shapes, pixels = {}, {}
        for key, camera in sorted(cameras.items()):
            frames = movie.pictures(episode.session.video(episode.index, camera), made.pictures[camera])
            path = self._folder / _video(key, number)
            width, height, _, pixels[key] = movie.write(path, frames, wish.fps)
            shapes[key] = [height, width, 3]
        features = _features(episode, shapes, wish.fps)
        if self._info and self._info["features"] != features:
            different = sorted(
                k for k in features.keys() | self._info["features"] if features.get(k) != self._info["features"].get(k)
            )
            raise ConfigError(
                "episode", episode_name(episode.index), different, "the features of the data set", "use another folder"
            )
        tasks = [row["task"] for row in self._ours]
        index = list(dict.fromkeys([*tasks, task])).index(task)
        first = sum(row["length"] for row in self._ours)
        table = _table(made, cameras, features, number, first, index, episode, wish.fps)
        _write_table(self._folder / _data(number), table)
        self._ours.append(
            {
                "take": _identity(episode),
                "task": task,
                "length": len(made),
                "images": {k: stats.of_pixels(p) for k, p in pixels.items()},
                "data": stats.of_columns({k: np.stack(table[k].to_numpy()) for k in table.column_names}),
            }
        )
        self._commit(features, episode)
        return made

    def _commit(self, features: dict[str, Any], episode: Episode) -> None:
        """Write the tables that name the files; the last one makes the episode part of the set."""
        fps, rows = self._wish.fps, self._ours
        total, count = sum(row["length"] for row in rows), len(rows)
        self._info = {
            "codebase_version": "v3.0",
            "robot_type": "bi_so_follower" if len(episode.arms) > 1 else "so_follower",
            "total_episodes": count,
            "total_frames": total,
            "total_tasks": len({row["task"] for row in rows}),
            "chunks_size": _CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": fps,
            "splits": {"train": f"0:{count}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "features": features,
        }
        tasks = list(dict.fromkeys(row["task"] for row in rows))
        _write_table(self._folder / "meta/tasks.parquet", _tasks(tasks))
        _write_table(self._folder / "meta/episodes/chunk-000/file-000.parquet", _episodes(rows, features, fps))
        write_atomically(self._folder / "meta/stats.json", _json(stats.together(rows)))
        write_atomically(self._folder / "meta/info.json", _json(self._info))
        self._name()

    def _name(self) -> None:
        """Write which takes the set has."""
        write_atomically(self._folder / _OURS, _json({"episodes": self._ours}))


def export(episodes: list[Episode], wish: Wish, say: Callable[[str], None]) -> int:
    """Add episodes to a data set, those that are not in it yet, and return how many were added.

    Raises:
        ConfigError: an episode does not fit; those before it are in the set.
    """
    target, count = DataSet(wish), 0
    for episode in episodes:
        name = f"{episode.session.folder.name} {episode_name(episode.index)}"
        if target.has(episode):
            say(f"{name}: is in the data set already")
            continue
        say(f"{name}: {added(target.add(episode))}")
        count += 1
    return count


def _identity(episode: Episode) -> int:
    """Return a number that stays a take's own whatever is taken out of a set: when it began [ns since the epoch]."""
    return int(episode.group.attrs["started_ns"])


def _data(number: int) -> str:
    return f"data/chunk-{number // _CHUNK:03d}/file-{number % _CHUNK:03d}.parquet"


def _video(key: str, number: int) -> str:
    return f"videos/observation.images.{key}/chunk-{number // _CHUNK:03d}/file-{number % _CHUNK:03d}.mp4"


def _features(episode: Episode, shapes: Mapping[str, list[int]], fps: int) -> dict[str, Any]:
    joints = grid.names(episode)

    def numbers(dtype: str, of: list[str]) -> dict[str, Any]:
        return {"dtype": dtype, "shape": [len(of)], "names": of}

    made = {
        "observation.state": numbers("float32", joints),
        "action": numbers("float32", joints),
        # not below action: loaders take every feature whose name begins so for one to learn
        "requested": numbers("float32", joints),
        "reason": numbers("int64", joints),
        "measured_time": numbers("float64", ["s since the episode began"]),
        "take": numbers("int64", ["ns since the epoch, when the take began"]),
    }
    for key, shape in shapes.items():
        made[f"measured_time.{key}"] = numbers("float64", ["s since the episode began"])
        made[f"observation.images.{key}"] = {
            "dtype": "video",
            "shape": shape,
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": shape[0],
                "video.width": shape[1],
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": fps,
                "video.channels": 3,
                "has_audio": False,
            },
        }
    return made | {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in _INDEX.items()}


def _table(
    made: Grid,
    cameras: Mapping[str, str],
    features: Mapping[str, Any],
    number: int,
    first: int,
    task: int,
    episode: Episode,
    fps: int,
) -> pa.Table:
    count = len(made)
    values: dict[str, np.ndarray] = {
        "observation.state": made.state,
        "action": made.action,
        "requested": made.requested,
        "reason": made.reasons,
        "measured_time": made.row_times,
        "take": np.full(count, _identity(episode)),
        **{f"measured_time.{key}": made.picture_times[camera] for key, camera in cameras.items()},
        "timestamp": np.arange(count) / fps,
        "frame_index": np.arange(count),
        "episode_index": np.full(count, number),
        "index": np.arange(first, first + count),
        "task_index": np.full(count, task),
    }
    columns = {}
    for name, feature in features.items():
        if name not in values:
            continue
        column = pa.array(np.ascontiguousarray(values[name], feature["dtype"]).reshape(-1))
        length = feature["shape"][0]
        columns[name] = column if length == 1 else pa.FixedSizeListArray.from_arrays(column, length)
    return pa.table(columns)


def _episodes(rows: list[dict[str, Any]], features: Mapping[str, Any], fps: int) -> pa.Table:
    found: dict[str, list[Any]] = {}
    first = 0
    for number, row in enumerate(rows):
        cells: dict[str, Any] = {
            "episode_index": number,
            "tasks": [row["task"]],
            "length": row["length"],
            "data/chunk_index": number // _CHUNK,
            "data/file_index": number % _CHUNK,
            "dataset_from_index": first,
            "dataset_to_index": first + row["length"],
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }
        for name, feature in features.items():
            if feature["dtype"] == "video":
                cells |= {
                    f"videos/{name}/chunk_index": number // _CHUNK,
                    f"videos/{name}/file_index": number % _CHUNK,
                    f"videos/{name}/from_timestamp": 0.0,
                    f"videos/{name}/to_timestamp": row["length"] / fps,
                }
        first += row["length"]
        for name, cell in cells.items():
            found.setdefault(name, []).append(cell)
    return pa.table(found)


def _tasks(tasks: list[str]) -> pa.Table:
    """Return the table of tasks with the note by which pandas finds its index again."""
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), "task": pa.array(tasks)})
    kinds = {"task_index": "int64", "task": "object"}
    columns = [
        {"name": n, "field_name": n, "pandas_type": "int64" if k == "int64" else "unicode", "numpy_type": k, "metadata": None}
        for n, k in kinds.items()
    ]
    note = {"index_columns": ["task"], "column_indexes": [], "columns": columns, "creator": {"library": "pyarrow"}}
    return table.replace_schema_metadata({"pandas": json.dumps(note)})


def _write_table(path: Path, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(path, sink.getvalue().to_pybytes())


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()
