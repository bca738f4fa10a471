"""Converts recordings of Isaac Teleop to bags of operator frames, and such bags to recordings."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from teleop_common import bag as bags
from teleop_common.errors import ConfigError
from teleop_common.records import String, TeleopFrame
from teleop_common.transport import codec
from teleop_input import bag
from teleop_input.isaac.files import CHANNELS, TOPICS, Timed, write
from teleop_input.isaac.frames import CONNECTION, PROVIDER, note_of, step_of
from teleop_input.isaac.load import TOPIC, Loaded, load
from teleop_input.isaac.wire import RecordError

NOTES = "/teleop/input/isaac/notes"
"""Beside the frames: what they cannot hold, so that nothing is lost on the way back (JSON)."""


def to_bag(source: str | Path, target: str | Path, offset_ns: int | None = None, start_ns: int | None = None) -> list[str]:
    """Write a recording as a new bag; return a report.

    Args:
        source: an ``.mcap`` file of Isaac Teleop.
        target: directory to make.
        offset_ns: as of ``load``.
        start_ns: as of ``load``.

    Raises:
        ConfigError: no recording, or the target exists or cannot be written.
    """
    _must_be_new(target)
    loaded = load(source, offset_ns, start_ns)
    try:
        bags.write(target, {TOPIC: TeleopFrame, NOTES: String}, _rows(loaded))
    except (OSError, RuntimeError) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise _unwritable(target, error) from error
    return [*loaded.report, f"{len(loaded.frames)} frames on {TOPIC}, ROS time is monotonic time plus {loaded.offset_ns} ns"]


def to_recording(source: str | Path, target: str | Path, topic: str = "") -> list[str]:
    """Write a bag's frames as a new recording that Isaac Teleop replays; return a report.

    Args:
        source: a bag.
        target: the ``.mcap`` file to make.
        topic: the frames' topic; empty takes the only ``/teleop/input/<provider>/frame``.

    Raises:
        ConfigError: no such frames, numbers that the format cannot hold, or the target exists or cannot be written.
    """
    _must_be_new(target)
    recording = bag.read(source, topic)
    # another provider's frames may have the same numbers
    topics, notes = _notes(source) if recording.topic == TOPIC else (dict(TOPICS), {})
    part = Path(f"{target}.part")
    try:
        with open(part, "wb") as stream:
            steps = _steps(recording, notes, set(topics), str(source))
            first = next(steps)
            offset = recording.frame(0).header.stamp - min(timed.log_ns for timed in first.values())
            write(stream, itertools.chain([first], steps), topics, offset)
        os.replace(part, target)
    except RecordError as error:
        raise ConfigError("bag", str(source), str(error), "frames that the format holds", "mend the bag") from error
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        with suppress(OSError):  # where it could not be made it need not go
            part.unlink()
    report = [f"{len(recording.data)} frames of {recording.topic} to {', '.join(topics.values())}"]
    connections = len(set(recording.connections))
    if connections > 1:
        report.append(f"{connections} connections: the format has none, the recording runs through")
    return report


def _rows(loaded: Loaded) -> Iterator[tuple[str, TeleopFrame | String, int]]:
    yield NOTES, String(json.dumps({"topics": dict(loaded.topics)})), loaded.frames[0].header.stamp
    for frame, step in zip(loaded.frames, loaded.steps):
        yield TOPIC, frame, frame.header.stamp
        if note := note_of(step, frame):
            yield NOTES, String(f'{{"sequence": {frame.sequence}, "records": {note}}}'), frame.header.stamp


def _notes(source: str | Path) -> tuple[dict[str, str], dict[int, str]]:
    """Return the topics to write, and the notes by the sequence of their frames."""
    topics, notes = dict(TOPICS), {}
    for _, data, _ in bags.read(source, lambda kinds: [NOTES] if kinds.get(NOTES) == "std_msgs/msg/String" else []):
        text = codec(String).decode(data).data
        try:
            note = json.loads(text)
            if "topics" in note:
                topics = {c: str(note["topics"][c]) for c in CHANNELS if c in note["topics"]}
            else:
                notes[int(note["sequence"])] = json.dumps(note["records"])
            if not topics:
                raise ValueError("no topic")
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError("bag", str(source), text[:80], f"notes on {NOTES} as written", "convert again") from error
    return topics, notes


def _steps(recording: bag.Recording, notes: dict[int, str], channels: set[str], source: str) -> Iterator[dict[str, Timed]]:
    for i in range(len(recording.data)):
        frame = recording.frame(i)
        own = frame.provider == PROVIDER and frame.connection == CONNECTION
        try:
            step = step_of(frame, notes.get(frame.sequence, "") if own else "")
        except ValueError as error:
            raise ConfigError("bag", source, str(error), "frames and their notes", "convert again") from error
        yield {channel: timed for channel, timed in step.items() if channel in channels}


def _must_be_new(target: str | Path) -> None:
    try:
        there = Path(target).exists() or Path(target).is_symlink()
    except OSError as error:
        raise _unwritable(target, error) from error
    if there:
        raise ConfigError("target", str(target), "something that exists", "a new name", "name another, or move it away")


def _unwritable(target: str | Path, error: Exception) -> ConfigError:
    text = getattr(error, "strerror", None) or " ".join(str(error).split())
    return ConfigError("target", str(target), text, "where something can be written", "name another place")
