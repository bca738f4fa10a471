"""What is drawn of a take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from teleop_recorder.reading import Episode

_WINDOW = 1.0  # [s], over which a rate is counted
_LONGEST_LAG = 0.4  # [s] looked for between command and encoder
_STEP = 0.005  # [s]


class Line(NamedTuple):
    """One curve.

    Attributes:
        name: for the legend.
        colour: ``#rrggbb``.
        x: times [s since the first row].
        y: values.
    """

    name: str
    colour: str
    x: np.ndarray
    y: np.ndarray


class Panel(NamedTuple):
    """One drawing with its curves; ``title`` says the unit."""

    title: str
    lines: list[Line]


ASKED, TOLD, MEASURED, OTHER = "#d29922", "#2f81f7", "#3fb950", "#a371f7"


def panels(episode: Episode) -> list[Panel]:
    """Return joints, clearance, rates and delays of a take."""
    time = episode.column("meta/time/episode_time")
    return [*_joints(episode, time), _clearance(episode, time), _rates(episode, time), _delays(episode, time)]


def _joints(episode: Episode, time: np.ndarray) -> list[Panel]:
    made = []
    for arm in episode.arms:
        values = {what: np.degrees(episode.column(f"control/{arm}/{what}")) for what in ("requested", "committed", "measured")}
        for number, name in enumerate(episode.joint_names):
            lines = [
                Line(what, colour, time, values[what][:, number])
                for what, colour in (("requested", ASKED), ("committed", TOLD), ("measured", MEASURED))
            ]
            made.append(Panel(f"{arm} {name} [deg]", lines))
    return made


def _clearance(episode: Episode, time: np.ndarray) -> Panel:
    lines = [
        Line(name, colour, time, 1e3 * episode.column(f"guard/clearance_{name}").astype(float))
        for name, colour in (("committed", TOLD), ("measured", MEASURED))
    ]
    return Panel("clearance [mm]", lines)


def _rate(stamps: np.ndarray, began: int, time: np.ndarray) -> np.ndarray:
    """Return how many stamps [ns] lie in the second before each time, over the part of it that the take has."""
    seconds = np.sort((stamps - began) * 1e-9)
    count = np.searchsorted(seconds, time, side="right") - np.searchsorted(seconds, time - _WINDOW, side="right")
    rate: np.ndarray = count / np.clip(time, 0.1, _WINDOW)
    return rate


def _rates(episode: Episode, time: np.ndarray) -> Panel:
    stamps = episode.column("meta/time/stamp_ns")
    began = int(stamps[0])
    frames = np.unique(episode.column("meta/frame/stamp_ns"))
    lines = [
        Line("commits", TOLD, time, _rate(stamps, began, time)),
        Line("frames", ASKED, time, _rate(frames, began, time)),
    ]
    for camera, colour in zip(episode.cameras, (MEASURED, OTHER, "#f778ba", "#8b949e") * 4, strict=False):
        lines.append(Line(camera, colour, time, _rate(episode.column(f"cameras/{camera}/stamp_ns"), began, time)))
    return Panel("rates [Hz]", lines)


def _delays(episode: Episode, time: np.ndarray) -> Panel:
    stamps = episode.column("meta/time/stamp_ns")
    origin = episode.column("meta/time/origin_ns")
    caused = origin > 0
    lines = [
        Line("frame to command", TOLD, time[caused], (stamps - origin)[caused] * 1e-6),
        Line("command to recorder", OTHER, time, (episode.column("meta/time/received_ns") - stamps) * 1e-6),
    ]
    for arm in episode.arms:
        feedback = episode.column(f"control/{arm}/feedback_ns")
        there = feedback > 0
        lines.append(Line(f"{arm} age of the measurement", MEASURED, time[there], (stamps - feedback)[there] * 1e-6))
    for arm in episode.arms:
        found = lag(time, episode.column(f"control/{arm}/committed"), episode.column(f"control/{arm}/measured"))
        if found is not None:
            lines.append(Line(f"{arm} command to encoder", ASKED, time[[0, -1]], np.full(2, 1e3 * found)))
    return Panel("delays [ms]", lines)


def lag(time: np.ndarray, committed: np.ndarray, measured: np.ndarray) -> float | None:
    """Return by how much the encoders follow the commands [s]: the shift that makes their speeds alike; None where nothing moves.

    Args:
        time: of the rows [s].
        committed: joints (N, J) [rad].
        measured: joints (N, J) [rad].
    """
    good = ~(np.isnan(committed).any(1) | np.isnan(measured).any(1))
    if good.sum() < 20:
        return None
    even = np.arange(time[good][0], time[good][-1], _STEP)
    if len(even) < 4 * _LONGEST_LAG / _STEP:
        return None
    told, seen = (
        np.stack([np.diff(np.interp(even, time[good], values[good, j])) for j in range(values.shape[1])], axis=1)
        for values in (committed, measured)
    )
    if np.abs(told).max() < 1e-5:
        return None
    steps = round(_LONGEST_LAG / _STEP)
    errors = [float(((told[: len(told) - steps] - seen[k : len(seen) - steps + k]) ** 2).sum()) for k in range(steps + 1)]
    return int(np.argmin(errors)) * _STEP
