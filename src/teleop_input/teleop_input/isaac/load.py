"""A recording of Isaac Teleop as the frames of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from teleop_common.errors import ConfigError
from teleop_common.records import TeleopFrame
from teleop_input.isaac.files import CHANNELS, Timed, read
from teleop_input.isaac.frames import frame_of
from teleop_input.isaac.pairing import pair

TOPIC = "/teleop/input/isaac/frame"
START_NS = 1_000_000_000
"""ROS time at which a file starts of which nothing says when it was made; 0 would read as a time that was not set."""
_STAMPS = 2**31 * 1_000_000_000  # what a message's stamp can hold [ns]
_TIMES = 2**63


class Loaded(NamedTuple):
    """A recording.

    Attributes:
        frames: raw, one per moment.
        steps: the records of each.
        topics: channel → topic in the file.
        offset_ns: ROS time less monotonic time that the stamps have.
        report: what was found and repaired, a line each.
    """

    frames: list[TeleopFrame]
    steps: list[dict[str, Timed]]
    topics: Mapping[str, str]
    offset_ns: int
    report: list[str]


def load(path: str | Path, offset_ns: int | None = None, start_ns: int | None = None) -> Loaded:
    """Read a recording and join its channels by time.

    Args:
        path: an ``.mcap`` file.
        offset_ns: ROS time less monotonic time; without it what the file says, which only ours do.
        start_ns: instead of that, ROS time of the first record; 1 s when nothing is known.

    Raises:
        ConfigError: no readable recording, or stamps that no message can hold.
    """
    contents = read(path)
    pairing = pair(contents.records)
    first = min(timed.log_ns for timed in pairing.steps[0].values())
    known = offset_ns if offset_ns is not None else contents.offset_ns
    if start_ns is not None or known is None:
        known = (START_NS if start_ns is None else start_ns) - first
    times = [timed.log_ns for rows in contents.records.values() for timed in rows]
    if not (min(times) + known >= 0 and max(times) + known < _STAMPS and max(times) < _TIMES):
        raise ConfigError(
            "recording",
            str(path),
            f"times {min(times)} to {max(times)} ns, {known} ns added",
            "ROS times from 0 to 2^31 s",
            "give another --offset or --start",
        )
    report = pairing.lines()
    report += [f"{c}: no channel, reads as an inactive device" for c in CHANNELS if c not in contents.records]
    if contents.left_out:
        report.append("left out: " + ", ".join(contents.left_out))
    if contents.completed:
        report.append(f"{contents.completed} records lacked a time, pose or inputs, which read zero and not valid")
    if contents.problem:
        report.append(f"the file ends early ({contents.problem}); all before that is used")
    frames = [frame_of(step, i, known) for i, step in enumerate(pairing.steps)]
    return Loaded(frames, pairing.steps, contents.topics, known, report)
