"""An episode on the even grid of time that data sets want, with the measured time of every sample beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teleop_common.errors import ConfigError
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode

ENOUGH = 0.9  # share of the declared rate that must have been measured
# periods of the grid: how old a picture may be, and how long after the grid's first time a camera's first may have been taken
OLD, AHEAD = 10.0, 3.0
# names of our views in data sets; views to drive by never go there
CAMERAS = {"overhead": "top"}


@dataclass(frozen=True)
class Units:
    """How joints are told in data sets: degrees, and the gripper in percent of its range, 0 closed.

    Attributes:
        lower: of every joint [rad]; NaN where it is told in degrees.
        upper: of every joint [rad].
    """

    lower: np.ndarray
    upper: np.ndarray

    def tell(self, radians: np.ndarray) -> np.ndarray:
        """Return joints (N, J) [rad] as data sets tell them."""
        percent = 100.0 * (radians - self.lower) / (self.upper - self.lower)
        told: np.ndarray = np.where(np.isnan(self.lower), np.degrees(radians), percent)
        return told

    def read(self, told: np.ndarray) -> np.ndarray:
        """Return joints [rad] of what a data set tells; the inverse of ``tell``."""
        radians: np.ndarray = np.where(
            np.isnan(self.lower), np.radians(told), self.lower + told / 100.0 * (self.upper - self.lower)
        )
        return radians


def units(episode: Episode) -> Units:
    """Return the units of an episode's joints, all arms in a row.

    Raises:
        ConfigError: the episode does not say its gripper's range.
    """
    try:
        ranges, gripper = json.loads(episode.group.attrs["limits"]), episode.text("gripper")
        rows = [ranges[name] if name == gripper else (np.nan, np.nan) for name in episode.joint_names]
    except KeyError as error:
        name = episode_name(episode.index)
        raise ConfigError("episode", name, f"no attribute {error}", "limits, gripper", "repair the session", "") from error
    lower, upper = np.array(rows * len(episode.arms)).T
    return Units(lower, upper)


def names(episode: Episode) -> list[str]:
    """Return the names of state and action: ``left_shoulder_pan.pos`` and so on; of one arm without its prefix."""
    prefixes = [f"{arm}_" for arm in episode.arms] if len(episode.arms) > 1 else [""]
    return [f"{prefix}{name}.pos" for prefix in prefixes for name in episode.joint_names]


@dataclass(frozen=True)
class Grid:
    """An episode's samples at k / fps after its first row: of each, the newest that was there.

    Attributes:
        rows: number of the row of each sample.
        row_times: its measured time [s since the first row].
        state: measured joints (N, J), in the data set's units.
        action: committed joints (N, J): what the arm was told.
        requested: joints (N, J) that the operator asked for.
        reasons: JointCommand reasons (N, J): why the two differ.
        pictures: camera → number of the picture in its video.
        picture_times: camera → its measured time [s since the first row].
        disordered: camera → pictures left out, because one before them was taken later.
    """

    rows: np.ndarray
    row_times: np.ndarray
    state: np.ndarray
    action: np.ndarray
    requested: np.ndarray
    reasons: np.ndarray
    pictures: dict[str, np.ndarray]
    picture_times: dict[str, np.ndarray]
    disordered: dict[str, int]

    def __len__(self) -> int:
        return len(self.rows)


def row_times(episode: Episode) -> np.ndarray:
    """Return the rows' times [s since the first row], by the steady clock; by the wall's where that one was begun anew.

    Raises:
        ConfigError: there are less than two rows, or neither clock went on through the take.
    """
    name = episode_name(episode.index)
    for clock in ("monotonic_ns", "stamp_ns"):
        if f"meta/time/{clock}" not in episode.group:
            continue  # a file of other hands may lack one
        stamps = episode.column(f"meta/time/{clock}")
        if len(stamps) < 2:
            raise ConfigError("episode", name, f"{len(stamps)} rows", "two and more", "leave it out, or discard it")
        if _ascend(stamps):
            seconds: np.ndarray = (stamps - stamps[0]) * 1e-9
            return seconds
    raise ConfigError(
        "episode", name, "clocks set back or missing", "a clock that goes on", "nobody knows its times; leave it out"
    )


def _ascend(stamps: np.ndarray) -> bool:
    return bool((np.diff(stamps) >= 0).all() and stamps[-1] > stamps[0])


def _pictures(episode: Episode, camera: str, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return times [s since the first row] and numbers of the pictures that are in the video, and how many were left out.

    Their stamps are of the wall's clock, the rows tell which time of the take that is.

    Raises:
        ConfigError: that clock was set back during the take.
    """
    numbers, taken = episode.column(f"cameras/{camera}/video_frame"), episode.column(f"cameras/{camera}/stamp_ns")
    rows = episode.column("meta/time/stamp_ns")
    if not _ascend(rows):
        remedy = f"leave out {episode_name(episode.index)}, or export --without-videos"
        raise ConfigError("camera", camera, "stamps of a clock that was set back", "a clock that goes on", remedy)
    there = numbers >= 0
    taken, numbers = taken[there], numbers[there]
    # one that is not above all before it would be shown in the place of another
    before = np.maximum.accumulate(np.concatenate([[np.iinfo(np.int64).min], taken]))[:-1]
    kept = taken > before
    since = (taken[kept] - rows[0]) * 1e-9
    wall = (rows - rows[0]) * 1e-9
    times = np.interp(since, wall, seconds) + np.minimum(since, 0.0) + np.maximum(since - wall[-1], 0.0)
    return times, numbers[kept], int((~kept).sum())


def rates(episode: Episode, cameras: Sequence[str]) -> dict[str, float]:
    """Return what was measured from its first to its last: ``rows`` and each camera → rate [Hz]."""
    seconds = row_times(episode)
    found = {"rows": _rate(seconds, seconds)}
    for camera in cameras:
        taken = _pictures(episode, camera, seconds)[0]
        found[camera] = _rate(taken, taken)
    return found


def _rate(times: np.ndarray, span: np.ndarray) -> float:
    """Return how many times there are in a second of ``span`` [Hz]."""
    return float((len(times) - 1) / (span[-1] - span[0])) if len(times) > 1 and span[-1] > span[0] else 0.0


def best_fps(episodes: list[Episode], videos: bool = True) -> int:
    """Return the rate that the slowest stream of all episodes has, as a whole number; without ``videos`` cameras do not count."""
    slowest = min((r for episode in episodes for r in rates(episode, episode.cameras if videos else ()).values()), default=1.0)
    return max(round(slowest), 1)


def check(episode: Episode, made: Grid, fps: int) -> None:
    """Refuse a rate that was not measured, all through the episode.

    Args:
        episode: see there.
        made: the episode on the grid.
        fps: rate of the grid [Hz].

    Raises:
        ConfigError: a stream has less than 90 % of it, or a camera stood still or began late.
    """
    name = episode_name(episode.index)
    seconds = row_times(episode)
    for stream in ("rows", *made.pictures):
        times = seconds if stream == "rows" else _pictures(episode, stream, seconds)[0]
        rate = _rate(times[(times >= -AHEAD / fps) & (times <= seconds[-1])], seconds)
        if rate < ENOUGH * fps:
            raise ConfigError(
                f"{name}, rate of",
                stream,
                round(rate, 2),
                f"at least {ENOUGH * fps:g} Hz for a data set of {fps} Hz",
                f"export with --fps {int(rate / ENOUGH)} or less, or --any-rate to have pictures repeated",
            )
    for camera, taken in made.picture_times.items():
        age = (np.arange(len(made)) / fps - taken) * fps
        for wrong, word in ((age > OLD, "old"), (age < -AHEAD, "ahead of it")):
            if wrong.any():
                worst = int(np.argmax(np.where(wrong, np.abs(age), 0.0)))
                raise ConfigError(
                    f"{name}, camera",
                    camera,
                    f"at {worst / fps:.2f} s a picture {abs(age[worst]) / fps:.2f} s {word}",
                    f"{OLD / fps:.2f} s old, {AHEAD / fps:.2f} s ahead",
                    "leave the episode out, export --without-videos, or --any-rate to have pictures repeated",
                )


def make(episode: Episode, fps: int, cameras: Sequence[str]) -> Grid:
    """Return an episode on the grid, with the pictures of ``cameras``.

    Raises:
        ConfigError: it has no rows, no clock that goes on, an arm without torque, or a camera without pictures.
    """
    name = episode_name(episode.index)
    seconds = row_times(episode)
    times = np.arange(int(seconds[-1] * fps + 1e-6) + 1) / fps
    rows = np.searchsorted(seconds, times + 1e-9, side="right") - 1
    unit = units(episode)
    tell = {n: unit.tell(_joined(episode, n)[rows]) for n in ("measured", "committed", "requested")}
    # where nothing was asked for, the commit stands
    tell["requested"] = np.where(np.isnan(tell["requested"]), tell["committed"], tell["requested"])
    for what, values in tell.items():
        if np.isnan(values).any():
            raise ConfigError(
                "episode", name, f"rows without {what} joints", "joints in every row", "an arm had no torque; leave it out"
            )
    pictures, picture_times, disordered = {}, {}, {}
    for camera in cameras:
        taken, numbers, left_out = _pictures(episode, camera, seconds)
        if not len(taken):
            raise ConfigError("camera", camera, "no pictures", "one at least", f"leave out {name}, or export --without-videos")
        newest = np.maximum(np.searchsorted(taken, times + 1e-9, side="right") - 1, 0)
        pictures[camera], picture_times[camera] = numbers[newest], taken[newest]
        if left_out:
            disordered[camera] = left_out
    return Grid(
        rows,
        seconds[rows],
        tell["measured"],
        tell["committed"],
        tell["requested"],
        _joined(episode, "reason")[rows],
        pictures,
        picture_times,
        disordered,
    )


def _joined(episode: Episode, what: str) -> np.ndarray:
    return np.concatenate([episode.column(f"control/{arm}/{what}") for arm in episode.arms], axis=1)
