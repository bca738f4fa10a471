"""The formats of a session against each other, row by row: journal, HDF5, and a data set that was exported from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from teleop_recorder.video import pictures_in

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
        _takes(session, found, report)
        _journal(session, chosen, bag, report)
        for episode in chosen:
            _video(episode, report)
        if data_set is not None:
            _data_set(chosen, data_set, report)
    return report


def _takes(session: Session, found: list[Episode], report: Report) -> None:
    """Tell which takes of the session cannot be compared."""
    wrong = reading.troubles(session, found)
    report.hold("takes", True, "", sum(episode.complete for episode in found))
    for name, text in wrong.items():
        report.hold("takes", False, f"{name}: {text}")


@dataclass
class _Told:
    """One episode beside the journal.

    Attributes:
        episode: see there.
        control: arm → name → values of ``control/<arm>/``.
        steady: commits tell the guard's steady clock; else stamps tell when they were.
        began: when the take began, by that clock [ns].
        last: its last row, by the same [ns].
        seen: arm → rows whose command was found.
        without_row: arm → numbers of the commits that have none.
    """

    episode: Episode
    control: dict[str, dict[str, np.ndarray]]
    steady: bool
    began: int
    last: int
    seen: dict[str, set[int]]
    without_row: dict[str, list[int]]

    @classmethod
    def of(cls, episode: Episode) -> _Told:
        """Read what is compared."""
        control = {arm: {key: episode.column(f"control/{arm}/{key}") for key in _CONTROL} for arm in episode.arms}
        stamps, times = episode.column("meta/time/stamp_ns"), episode.column("meta/time/monotonic_ns")
        steady = bool(times.any())
        if not steady:
            times = stamps
        # before the first row nobody sets a clock unseen; a take without rows lacks none
        began = int(times[0] - max(stamps[0] - int(episode.group.attrs["started_ns"]), 0)) if len(times) else 1
        last = int(times.max(initial=0))
        seen, lacking = {arm: set[int]() for arm in episode.arms}, {arm: list[int]() for arm in episode.arms}
        return cls(episode, control, steady, began, last, seen, lacking)

    def spans(self, record: JointCommand) -> bool:
        """Return whether a command is of the take's time."""
        return self.began <= (record.commit_time_ns if self.steady else record.header.stamp) <= self.last

    def command(self, row: int, arm: str, record: JointCommand, report: Report) -> None:
        """Compare one arm's command of a row."""
        self.seen[arm].add(row)
        name = episode_name(self.episode.index)
        for key, attribute in _CONTROL.items():
            same = _same(self.control[arm][key][row], getattr(record, attribute))
            report.hold("commands", same, f"{name}, row {row}, {arm} {key}: HDF5 and journal differ", key == "requested")

    def finish(self, report: Report) -> None:
        """Tell which rows have no command in the journal."""
        for arm, values in self.control.items():
            told = np.flatnonzero(~np.isnan(values["committed"][:, 0]))
            missing = sorted(set(told.tolist()) - self.seen[arm])
            text = f"{episode_name(self.episode.index)}, {arm}: rows {missing[:5]} have no command in the journal"
            report.hold("arms", not missing, text)
            lacking = self.without_row[arm]
            text = f"{episode_name(self.episode.index)}, {arm}: {len(lacking)} commits of the journal have no row: {lacking[:5]}"
            report.hold("arms", not lacking, text, 0)


def _journal(session: Session, chosen: list[Episode], bag: Bag, report: Report) -> None:
    """Read the bag once and hold every episode against it, and what the recorder counted as written against what is there."""
    with h5py.File(session.hdf5) as file:
        counted = json.loads(file.attrs.get("counts", "{}"))
    tolds = [_Told.of(episode) for episode in chosen]
    # stamps alone are no key: a clock may be set back, and numbers begin anew with each guard
    at = {key: (told, row) for told in tolds for row, key in enumerate(_commits(told.episode))}
    arms = {f"/{arm}/joint_command": arm for told in tolds for arm in told.control}
    cameras = {picture_topic(camera): camera for told in tolds for camera in told.episode.cameras}
    wanted = {tuple(key) for told in tolds for key in _frame_keys(told.episode)}
    command, frame = bag.decoder(JointCommand), bag.decoder(TeleopFrame)
    frames: dict[tuple[int, int], TeleopFrame] = {}
    taken: dict[str, set[int]] = {camera: set() for camera in cameras.values()}
    there = dict.fromkeys(counted, 0)
    for topic, data, _ in bag.messages(session.journal, list({*counted, *arms, *cameras, "/teleop/frame"})):
        if topic in there:
            there[topic] += 1
        if topic in arms:
            record = command(data)
            if (found := at.get((record.header.stamp, record.commit))) is not None:
                found[0].command(found[1], arms[topic], record, report)
                continue
            for told in tolds:
                if told.spans(record) and arms[topic] in told.without_row:
                    told.without_row[arms[topic]].append(record.commit)
        elif topic in cameras:
            taken[cameras[topic]].add(pictures.decode(data).stamp)
        elif topic == "/teleop/frame":
            heard = frame(data)
            if (heard.connection, heard.sequence) in wanted:
                frames[heard.connection, heard.sequence] = heard
    for topic, count in counted.items():
        written = count["written"]
        text = f"journal, {topic}: {there[topic]} messages, the recorder wrote {written}"
        report.hold("topics", written == there[topic], text)
    for told in tolds:
        told.finish(report)
        _operator(told.episode, frames, report)
        for camera in told.episode.cameras:
            lacking = sum(int(s) not in taken[camera] for s in told.episode.column(f"cameras/{camera}/stamp_ns"))
            text = f"{episode_name(told.episode.index)}, camera {camera}: {lacking} pictures are not in the journal"
            report.hold("cameras", not lacking, text)


def _commits(episode: Episode) -> list[tuple[int, int]]:
    """Return stamp [ns] and number of each row's commit."""
    stamps, numbers = episode.column("meta/time/stamp_ns").tolist(), episode.column("meta/commit").tolist()
    return list(zip(stamps, numbers))


def _frame_keys(episode: Episode) -> list[list[int]]:
    """Return connection and sequence of each row's frame."""
    keys: list[list[int]] = np.stack(
        [episode.column("meta/frame/connection"), episode.column("meta/frame/sequence")], axis=1
    ).tolist()
    return keys


def _operator(episode: Episode, frames: dict[tuple[int, int], TeleopFrame], report: Report) -> None:
    """Hold the operator's sample of each row against its frame in the journal."""
    name = episode_name(episode.index)
    keys = _frame_keys(episode)
    sides = {s: (episode.column(f"teleop/{s}/trigger"), episode.column(f"teleop/{s}/grip_position")) for s in ("left", "right")}
    for row, (connection, sequence) in enumerate(keys):
        frame = frames.get((connection, sequence))
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


def _video(episode: Episode, report: Report) -> None:
    for camera in episode.cameras:
        numbers = episode.column(f"cameras/{camera}/video_frame")
        wanted = int(numbers.max()) + 1 if len(numbers) else 0
        if wanted <= 0:
            continue
        there = pictures_in(episode.session.video(episode.index, camera))
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
        shown = [c for c in episode.cameras if f"measured_time.{grid.CAMERAS.get(c, c)}" in info["features"]]
        made = grid.make(episode, info["fps"], shown)
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
            if len(rows) != len(made):
                continue
            stored = np.stack(part[column].to_numpy())
            differ = (stored != values.astype(stored.dtype)).reshape(len(stored), -1).any(1)
            report.hold("exported columns", not differ.any(), f"{name}, {column}: {int(differ.sum())} rows differ from HDF5")
        number = int(part["episode_index"][0].as_py())
        for camera in made.pictures:
            key = f"observation.images.{grid.CAMERAS.get(camera, camera)}"
            size = info["chunks_size"]
            path = folder / info["video_path"].format(video_key=key, chunk_index=number // size, file_index=number % size)
            there = pictures_in(path)
            report.hold("exported videos", there == len(made), f"{name}, {key}: {there} pictures for {len(made)} rows")
