"""An episode on the even grid of time that data sets want, with the measured time of every sample beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from teleop_common.errors import ConfigError
from teleop_recorder.layout import episode_name
from teleop_recorder.reading import Episode

ENOUGH = 0.9  # share of the declared rate that must have been measured
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
    """

    rows: np.ndarray
    row_times: np.ndarray
    state: np.ndarray
    action: np.ndarray
    requested: np.ndarray
    reasons: np.ndarray
    pictures: dict[str, np.ndarray]
    picture_times: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.rows)


def rates(episode: Episode) -> dict[str, float]:
    """Return what was measured: ``rows`` and each camera → rate [Hz]."""
    found = {"rows": _rate(episode.column("meta/time/stamp_ns"))}
    for camera in episode.cameras:
        found[camera] = _rate(_encoded(episode, camera)[0])
    return found


def _rate(stamps: np.ndarray) -> float:
    return float((len(stamps) - 1) * 1e9 / (stamps[-1] - stamps[0])) if len(stamps) > 1 and stamps[-1] > stamps[0] else 0.0


def _encoded(episode: Episode, camera: str) -> tuple[np.ndarray, np.ndarray]:
    """Return stamps [ns] and numbers of the pictures that are in the video."""
    numbers = episode.column(f"cameras/{camera}/video_frame")
    there = numbers >= 0
    return episode.column(f"cameras/{camera}/stamp_ns")[there], numbers[there]


def best_fps(episodes: list[Episode]) -> int:
    """Return the rate that the slowest stream of all episodes has, as a whole number."""
    slowest = min((rate for episode in episodes for rate in rates(episode).values()), default=1.0)
    return max(round(slowest), 1)


def check_rates(episode: Episode, fps: int) -> None:
    """Refuse a rate that was not measured.

    Raises:
        ConfigError: a stream has less than 90 % of it.
    """
    for stream, rate in rates(episode).items():
        if rate < ENOUGH * fps:
            highest = int(rate / ENOUGH)
            raise ConfigError(
                f"{episode_name(episode.index)}, rate of",
                stream,
                round(rate, 2),
                f"at least {ENOUGH * fps:g} Hz for a data set of {fps} Hz",
                f"export with --fps {highest} or less, or --any-rate to have pictures repeated",
            )


def make(episode: Episode, fps: int) -> Grid:
    """Return an episode on the grid.

    Raises:
        ConfigError: it has no rows, an arm without torque, or a camera without pictures.
    """
    name = episode_name(episode.index)
    stamps = episode.column("meta/time/stamp_ns")
    if len(stamps) < 2:
        raise ConfigError("episode", name, f"{len(stamps)} rows", "two and more", "leave it out, or discard it")
    seconds = (stamps - stamps[0]) * 1e-9
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
    pictures, picture_times = {}, {}
    for camera in episode.cameras:
        taken, numbers = _encoded(episode, camera)
        if not len(taken):
            raise ConfigError("camera", camera, "no pictures", "one at least", f"leave out {name}, or export --without-videos")
        order = np.argsort(taken, kind="stable")
        taken, numbers = (taken[order] - stamps[0]) * 1e-9, numbers[order]
        newest = np.maximum(np.searchsorted(taken, times + 1e-9, side="right") - 1, 0)
        pictures[camera], picture_times[camera] = numbers[newest], taken[newest]
    reasons = _joined(episode, "reason")[rows]
    return Grid(rows, seconds[rows], tell["measured"], tell["committed"], tell["requested"], reasons, pictures, picture_times)


def _joined(episode: Episode, what: str) -> np.ndarray:
    return np.concatenate([episode.column(f"control/{arm}/{what}") for arm in episode.arms], axis=1)
