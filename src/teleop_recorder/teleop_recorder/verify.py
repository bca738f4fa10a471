"""The formats of a session against each other, row by row: journal, HDF5, and a data set that was exported from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from teleop_common.records import JointCommand, TeleopFrame
from teleop_recorder import pictures, reading
from teleop_recorder.export import grid
from teleop_recorder.layout import Session, episode_name
from teleop_recorder.reading import Episode
from teleop_recorder.repair import Bag
from teleop_recorder.setup_recorder import picture_topic

_MOST = 20  # differences named; the rest is counted
_CONTROL = {"requested": "requested", "committed": "position", "measured": "measured", "reason": "reason"}


@dataclass
class Report:
    """What was compared, and what differs.

    Attributes:
        compared: kind of thing → how many were compared.
        differences: how many differ.
        named: the first of them, a line each.
    """

    compared: dict[str, int] = field(default_factory=dict)
    differences: int = 0
    named: list[str] = field(default_factory=list)

    def hold(self, kind: str, same: bool, text: str, count: int = 1) -> None:
        """Note a comparison; ``text`` says what differs."""
        self.compared[kind] = self.compared.get(kind, 0) + count
        if not same:
            self.differences += 1
            if len(self.named) < _MOST:
                self.named.append(text)

    def words(self) -> list[str]:
        """Return the report, line by line."""
        lines = [f"compared: {', '.join(f'{n} {kind}' for kind, n in self.compared.items()) or 'nothing'}"]
        more = self.differences - len(self.named)
        lines += [*self.named, *([f"and {more} more"] if more else [])]
        return [*lines, f"{self.differences} differences" if self.differences else "no differences"]


def verify(session: Session, bag: Bag, data_set: Path | None = None) -> Report:
    """Compare the formats of a session.

    Args:
        session: see there.
        bag: how its bag is read.
        data_set: folder of an export; None: not compared.

    Raises:
        ConfigError: a file does not open.
    """
    report = Report()
    with reading.episodes(session) as found:
        chosen = [episode for episode in found if episode.complete]
        _totals(session, bag, report)
        for episode in chosen:
            _journal(episode, bag, report)
            _video(episode, report)
        if data_set is not None:
            _data_set(chosen, data_set, report)
    return report


def _totals(session: Session, bag: Bag, report: Report) -> None:
    """Hold what the recorder counted as written against what is in the bag."""
    with h5py.File(session.hdf5) as file:
        counted = json.loads(file.attrs.get("counts", "{}"))
    there: dict[str, int] = {}
    for topic, _, _ in bag.messages(session.journal, list(counted)):
        there[topic] = there.get(topic, 0) + 1
    for topic, count in counted.items():
        written, found = count["written"], there.get(topic, 0)
        report.hold("topics", written == found, f"journal, {topic}: {found} messages, the recorder wrote {written}")


def _journal(episode: Episode, bag: Bag, report: Report) -> None:
    name, arms = episode_name(episode.index), episode.arms
    stamps = episode.column("meta/time/stamp_ns")
    at = {int(stamp): row for row, stamp in enumerate(stamps)}
    topics: dict[str, Any] = {f"/{arm}/joint_command": arm for arm in arms}
    cameras = {picture_topic(camera): camera for camera in episode.cameras}
    command, frame = bag.decoder(JointCommand), bag.decoder(TeleopFrame)
    control = {arm: {key: episode.column(f"control/{arm}/{key}") for key in _CONTROL} for arm in arms}
    seen: dict[str, set[int]] = {arm: set() for arm in arms}
    frames: dict[tuple[int, int], TeleopFrame] = {}
    taken: dict[str, list[int]] = {camera: [] for camera in cameras.values()}
    for topic, data, _ in bag.messages(episode.session.journal, [*topics, *cameras, "/teleop/frame"]):
        if topic in topics:
            record = command(data)
            row = at.get(record.header.stamp)
            if row is not None:
                arm = topics[topic]
                seen[arm].add(row)
                for key, attribute in _CONTROL.items():
                    same = _same(control[arm][key][row], getattr(record, attribute))
                    report.hold("commands", same, f"{name}, row {row}, {arm} {key}: HDF5 and journal differ", key == "requested")
        elif topic in cameras:
            taken[cameras[topic]].append(pictures.decode(data).stamp)
        else:
            heard = frame(data)
            frames[heard.connection, heard.sequence] = heard
    for arm in arms:
        told = np.flatnonzero(~np.isnan(control[arm]["committed"][:, 0]))
        missing = sorted(set(told.tolist()) - seen[arm])
        report.hold("arms", not missing, f"{name}, {arm}: rows {missing[:5]} have no command in the journal")
    _operator(episode, frames, report)
    for camera, stamps_there in taken.items():
        known = set(stamps_there)
        lacking = sum(int(s) not in known for s in episode.column(f"cameras/{camera}/stamp_ns"))
        report.hold("cameras", not lacking, f"{name}, camera {camera}: {lacking} pictures are not in the journal")


def _operator(episode: Episode, frames: dict[tuple[int, int], TeleopFrame], report: Report) -> None:
    """Hold the operator's sample of each row against its frame in the journal."""
    name = episode_name(episode.index)
    keys = zip(episode.column("meta/frame/connection"), episode.column("meta/frame/sequence"), strict=True)
    sides = {s: (episode.column(f"teleop/{s}/trigger"), episode.column(f"teleop/{s}/grip_position")) for s in ("left", "right")}
    for row, (connection, sequence) in enumerate(keys):
        frame = frames.get((int(connection), int(sequence)))
        if frame is None:
            report.hold("samples", sequence == 0, f"{name}, row {row}: its frame is not in the journal")
            continue
        for side, (trigger, position) in sides.items():
            hand = frame.hand(side)
            same = _same(trigger[row], np.array(hand.trigger)) and _same(position[row], np.array(hand.grip.pose.position))
            report.hold("samples", same, f"{name}, row {row}, {side} hand: HDF5 and journal differ", side == "left")


def _same(stored: Any, told: Any) -> bool:
    """Whether two values are equal to the bit; what was not told is NaN or zero in the file."""
    a, b = np.asarray(stored), np.asarray(told)
    if b.size == 0:
        return bool(np.isnan(a).all()) if a.dtype.kind == "f" else not a.any()
    return a.shape == b.shape and bool(np.array_equal(a, b.astype(a.dtype), equal_nan=a.dtype.kind == "f"))


def _frames(path: Path) -> int:
    try:
        with av.open(str(path)) as movie:
            return sum(1 for _ in movie.decode(video=0))
    except (OSError, ValueError):
        return 0


def _video(episode: Episode, report: Report) -> None:
    for camera in episode.cameras:
        numbers = episode.column(f"cameras/{camera}/video_frame")
        wanted = int(numbers.max()) + 1 if len(numbers) else 0
        if wanted <= 0:
            continue
        there = _frames(episode.session.video(episode.index, camera))
        text = f"{episode_name(episode.index)}, camera {camera}: the video has {there} pictures, HDF5 names {wanted}"
        report.hold("videos", there == wanted, text)


def _data_set(episodes: list[Episode], folder: Path, report: Report) -> None:
    info = json.loads((folder / "meta/info.json").read_text())
    table = pa.concat_tables([pq.read_table(file) for file in sorted((folder / "data").rglob("*.parquet"))])
    takes = table["take"].to_numpy()
    for episode in episodes:
        name = episode_name(episode.index)
        rows = np.flatnonzero(takes == int(episode.group.attrs["started_ns"]))
        if not len(rows):
            report.hold("exported episodes", False, f"{name}: is not in the data set")
            continue
        made = grid.make(episode, info["fps"])
        report.hold(
            "exported episodes", len(rows) == len(made), f"{name}: {len(rows)} rows in the data set, {len(made)} expected"
        )
        part = table.slice(int(rows[0]), len(rows))
        columns = {
            "observation.state": made.state,
            "action": made.action,
            "requested": made.requested,
            "reason": made.reasons,
            "measured_time": made.row_times,
        }
        columns |= {f"measured_time.{grid.CAMERAS.get(c, c)}": t for c, t in made.picture_times.items()}
        for column, values in columns.items():
            if column not in part.column_names or len(rows) != len(made):
                continue
            stored = np.stack(part[column].to_numpy())
            differ = (stored != values.astype(stored.dtype)).reshape(len(stored), -1).any(1)
            report.hold("exported columns", not differ.any(), f"{name}, {column}: {int(differ.sum())} rows differ from HDF5")
        number = int(part["episode_index"][0].as_py())
        for camera in made.pictures:
            key = f"observation.images.{grid.CAMERAS.get(camera, camera)}"
            if key in info["features"]:
                size = info["chunks_size"]
                path = folder / info["video_path"].format(video_key=key, chunk_index=number // size, file_index=number % size)
                there = _frames(path)
                report.hold("exported videos", there == len(made), f"{name}, {key}: {there} pictures for {len(made)} rows")
