"""Sessions and takes: what the commands do, and what happens by itself. Pure but for the files that it is told to write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from teleop_common.enums import EpisodeCommand
from teleop_common.errors import ConfigError
from teleop_common.records import Header, RecorderState, SimState
from teleop_recorder import grade, hdf5, layout, pictures
from teleop_recorder.counts import Counts
from teleop_recorder.layout import Session
from teleop_recorder.lock import Lock
from teleop_recorder.rows import HOLD, Row, Rows
from teleop_recorder.samples import Journal, Sample, Surroundings
from teleop_recorder.take import Take, Wanted, iso, put_aside

FLUSH = 0.5  # [s]: what a killed recorder loses at most
_LOOK = 1.0  # [s] between two looks at the disk
_GIB = 1 << 30
_PAUSED = 0.5  # [s] without a physics step: the simulation stands still


@dataclass(frozen=True)
class Settings:
    """What a person may want to change.

    Attributes:
        root: folder of all sessions.
        session: name of the next session; empty: from the time of its opening.
        overwrite: name of a session that may be replaced, once: takes of this recorder, or of one that was killed, are not.
        task: instruction of takes that are started without one.
        margin: free space below which nothing is recorded [bytes].
        follow_simulation: start and end takes with the simulation's play and stop.
    """

    root: Path
    session: str = ""
    overwrite: str = ""
    task: str = ""
    margin: int = _GIB
    follow_simulation: bool = False


class Reply(NamedTuple):
    """Answer to a command."""

    success: bool
    message: str


class Decoders(NamedTuple):
    """How samples become records.

    Attributes:
        frames: of the topics that rows are made of: topic → (decoder, what takes the record and its time of receipt).
        cameras: topic of pictures → camera.
        sim: topic of the simulation's state; empty: none.
        estop: topic of the e-stop latch.
    """

    frames: Mapping[str, tuple[Callable[[bytes], Any], Callable[[Any, int], None]]]
    cameras: Mapping[str, str]
    sim: str = "/sim/state"
    estop: str = "/teleop/estop_state"


class Recorder:
    """The recorder's core. All times are handed in: ``now`` [s, monotonic], ``stamp`` [ns since the epoch].

    Args:
        settings: see there.
        rows: makes the rows; ``decoders`` feed it.
        wanted: what is recorded of a take.
        decoders: see there.
        surroundings: files and disk.
    """

    def __init__(self, settings: Settings, rows: Rows, wanted: Wanted, decoders: Decoders, surroundings: Surroundings) -> None:
        """Begin without a session."""
        self.settings, self._rows, self._wanted = settings, rows, wanted
        self._decoders, self._around = decoders, surroundings
        self.session: Session | None = None
        self.take: Take | None = None
        self.counts = Counts()
        self.error = self.notice = ""
        self._journal: Journal | None = None
        self._lock: Lock | None = None
        self._next = 0
        self._overwrite = settings.overwrite
        self._task = settings.task
        self._estop = False
        self._latched: int | None = None  # [ns]: when the latch was heard that ends the take
        self._refused = 0
        self._flushed = self._looked = 0.0
        self._step = -1
        self._stepped: float | None = None
        self._playing = False

    # ---- commands

    def command(self, kind: int, task: str, now: float, stamp: int) -> Reply:
        """Carry out an EpisodeCommand; hand in what was received before it first."""
        try:
            handler = _COMMANDS[EpisodeCommand(kind)]
        except ValueError:
            return Reply(False, f"command '{kind}': got {kind}, allowed 0 to {len(EpisodeCommand) - 1}; see EpisodeCommand.srv")
        try:
            return handler(self, task.strip(), now, stamp)
        except ConfigError as error:
            return Reply(False, str(error))
        except OSError as error:
            self._fail(error, stamp)
            return Reply(False, self.error)

    def _open(self, _task: str, now: float, stamp: int) -> Reply:
        if self.session is not None:
            return Reply(False, f"session '{self.session.folder.name}': is open; close it first")
        name = self.settings.session or _name(stamp)
        if name != self._overwrite or not Session(self.settings.root / name).finished:
            # a recorder that was killed goes on beside what it left
            name = layout.free_name(self.settings.root, name)
        self.settings.root.mkdir(parents=True, exist_ok=True)
        if refusal := self._full():
            return Reply(False, refusal)
        session = layout.create(self.settings.root, name, self._overwrite)
        self._overwrite = ""
        self._lock = Lock(session.folder)
        scene = self._around.snapshot(session.scenes)
        manifest = self._around.manifest()
        hdf5.begin(session, {"stage_snapshot": scene, "created_at": stamp}, manifest)
        self._journal = self._around.journal(session.journal)
        self.session, self._next, self.counts = session, 0, Counts()
        self.error = self.notice = ""
        self._flushed = self._looked = now
        return Reply(True, f"session '{session.folder}' is open")

    def _close(self, _task: str, _now: float, stamp: int) -> Reply:
        if self.session is None:
            return Reply(False, "no session is open")
        text = self.close("session closed", stamp)
        return Reply(not self.error, self.error or text)

    def _start(self, task: str, now: float, stamp: int) -> Reply:
        if self.take is not None:
            return Reply(False, f"episode {self.take.index} is being recorded; end it first")
        if self._estop:
            return Reply(False, "the e-stop is latched: a take would end at its first frame; reset it first")
        if self.session is None and not (opened := self._open("", now, stamp)).success:
            return opened
        if refusal := self._full():
            return Reply(False, refusal)
        assert self.session is not None
        self._task = task or self._task
        self._rows.begin(stamp)
        self._latched = None
        self.take = Take(self.session, self._next, self._task, stamp, self._wanted, self.counts)
        self._next += 1
        self.error = self.notice = ""
        self._flushed = now
        self._note(self.session, self.take, {})
        return Reply(True, f"episode {self.take.index} is being recorded")

    def _end(self, _task: str, _now: float, stamp: int) -> Reply:
        if self.take is None:
            return Reply(False, "no episode is being recorded; start one first")
        index = self.take.index
        self._finish("command", stamp)
        return Reply(not self.error, self.error or f"episode {index}: {self.notice}")

    def _toggle(self, task: str, now: float, stamp: int) -> Reply:
        return self._start(task, now, stamp) if self.take is None else self._end(task, now, stamp)

    def _discard(self, _task: str, _now: float, stamp: int) -> Reply:
        if self.session is None:
            return Reply(False, "no session is open, so there is no episode to discard")
        if self.take is not None:
            take, self.take = self.take, None
            take.discard(stamp)
            index = take.index
        elif files := self.session.take_files():
            index = max(files)
            put_aside(self.session, index)
        else:
            return Reply(False, "this session has no episode to discard")
        self.session.note(index).unlink(missing_ok=True)
        self.notice = f"episode {index} was put aside"
        return Reply(True, f"{self.notice}, into {self.session.folder / 'discarded'}")

    # ---- what comes in

    def hear(self, samples: Sequence[Sample], now: float, stamp: int) -> None:
        """Take what was received, in order of receipt, and do what is due.

        Args:
            samples: the messages.
            now: see above.
            stamp: everything received before this is among them, or was before. What came later may be there or not: topics
                are emptied one after the other, and a starved process may take long for it.
        """
        try:
            for sample in samples:
                self._hear(sample, now)
            self._advance(stamp)
            self._periodic(now, stamp)
        except OSError as error:
            self._fail(error, stamp)

    def _hear(self, sample: Sample, now: float) -> None:
        topic = sample.topic
        self.counts.hear(topic, sample.number)
        camera = self._decoders.cameras.get(topic)
        if camera is not None and self.take is None:
            self.counts.passed(topic)
        elif self._journal is not None:
            self._journal.write(topic, sample.data, sample.received)
            self.counts.wrote(topic)
        try:
            if camera is not None:
                if self.take is not None:
                    self.take.picture(camera, pictures.decode(sample.data), sample.received)
            elif entry := self._decoders.frames.get(topic):
                decode, take = entry
                record = decode(sample.data)
                take(record, sample.received)
                if topic == self._decoders.estop:
                    self._estop = record.latched
                    if record.latched and self.take is not None and self._latched is None:
                        self._latched = sample.received
                elif topic == self._decoders.sim:
                    self._watch(record, now)
        except ValueError as error:
            self._refused += 1
            self.notice = (
                f"topic '{topic}': {self._refused} samples do not decode ({error}); they are in the journal as they came"
            )

    def _watch(self, state: SimState, now: float) -> None:
        if state.physics_step != self._step:
            self._step, self._stepped = state.physics_step, now

    def _advance(self, stamp: int) -> None:
        rows = self._rows.ready(stamp)
        if self.take is None:
            return
        if self._write(rows):
            # nothing of after the stop
            self._finish("estop", stamp, drain=False)
        elif self._latched is not None and stamp - HOLD >= self._latched + HOLD:
            # the latch overtakes the commits of before it and the one that tells the stop; a guard that died tells none
            self._finish("estop", stamp)

    def _write(self, rows: Sequence[Row]) -> bool:
        """Write rows up to the first one under e-stop; return whether there was one."""
        assert self.take is not None
        for row in rows:
            if self._latched is not None and row.stamp > self._latched + HOLD:
                return False
            # after the first one a smaller stamp tells of a clock that was set back
            if self.take.grade.rows or row.stamp >= self.take.began:
                self.take.add(row)
                if row.stopped:
                    return True
        return False

    def _finish(self, reason: str, stamp: int, drain: bool = True) -> None:
        """End the take, with the rows up to ``stamp`` when ``drain``."""
        assert self.take is not None
        try:
            rows = self._rows.ready(stamp, stamp)
            if (drain and self._write(rows)) or self._latched is not None:
                reason = "estop"
        finally:
            take, self.take = self.take, None
            summary = take.end(reason, stamp)
        self.notice = ("ended by the e-stop; " if reason == "estop" else "") + grade.words(summary)
        if self._journal is not None:
            self._journal.flush()
        told = {"ended_ns": stamp, "end_reason": reason, "missed": take.missed, "counts": self.counts.since_mark()}
        self._note(take.session, take, told | {"grade": summary})

    def _note(self, session: Session, take: Take, told: Mapping[str, Any]) -> None:
        """Write beside the take's file what ``repair`` needs when that does not open."""
        known = {
            "task": take.task,
            "started_ns": take.began,
            "cameras": self._wanted.cameras,
            "attributes": self._wanted.attributes,
        }
        path = session.note(take.index)
        path.with_suffix(".new").write_text(_json(known | dict(told)))
        path.with_suffix(".new").replace(path)

    def _periodic(self, now: float, stamp: int) -> None:
        if now - self._flushed >= FLUSH:
            self._flushed = now
            if self._journal is not None:
                self._journal.flush()
            if self.take is not None:
                self.take.file.flush()
        if self.session is not None and now - self._looked >= _LOOK:
            self._looked = now
            if refusal := self._full():
                self.close("disk full", stamp)
                self.error = refusal
        if self.settings.follow_simulation and self._stepped is not None:
            playing = now - self._stepped < _PAUSED
            if playing != self._playing:
                self._playing = playing
                if playing and self.take is None:
                    self.command(EpisodeCommand.START, "", now, stamp)
                elif not playing and self.take is not None:
                    self._finish("simulation stopped", stamp)

    def _full(self) -> str:
        """Return why the disk has no room, or nothing."""
        free = self._around.free(self.settings.root)
        if free >= self.settings.margin:
            return ""
        place, got, margin = self.settings.root, free / _GIB, self.settings.margin / _GIB
        return f"disk '{place}': got {got:.2f} GiB free, allowed {margin:.2f} GiB and more; make room, or lower disk_margin"

    def _fail(self, error: OSError, stamp: int) -> None:
        """A file cannot be written: close what can be closed and say why; the process lives."""
        self.close("write error", stamp)
        self.error = f"recording stopped: {error}; make room or mend the disk, then open a session again"

    def close(self, reason: str, stamp: int) -> str:
        """End the take and the session, as far as the disk allows, and return what became of it."""
        session, self.session = self.session, None
        # nothing is heard between sessions; the latch tells itself when the next one opens
        self._estop = False
        if session is None:
            return "no session is open"
        trouble = ""
        with contextlib.suppress(OSError):
            if self.take is not None:
                self._finish(reason, stamp)
        journal, self._journal = self._journal, None
        try:
            if journal is not None:
                journal.close()
            hdf5.set_attributes(session, {"closed_at": stamp, "counts": _json(self.counts.totals())})
            hdf5.gather(session)
        except OSError as error:
            trouble = f"; its files are not finished ({error}): ./teleop episodes repair {session.folder} does that"
        if self._lock is not None:
            self._lock.release()
        self.error = trouble.lstrip("; ")
        return f"session '{session.folder}' is closed, {self._next} episodes{trouble}"

    def state(self, stamp: int) -> RecorderState:
        """Return what the graph is told."""
        take = self.take
        index = take.index if take is not None else max(self._next - 1, 0)
        frames, missed = (take.grade.rows, take.missed) if take is not None else (0, 0)
        path = str(self.session.folder) if self.session is not None else ""
        notice = (take.trouble(stamp) if take is not None else "") or self.notice
        return RecorderState(Header(stamp), take is not None, path, index, frames, missed, self._task, self.error, notice)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _name(stamp: int) -> str:
    """Return a session's name from the time of its opening: ``2026-11-30_20-42-08`` (UTC)."""
    return iso(stamp)[:19].replace("T", "_").replace(":", "-")


_COMMANDS: dict[EpisodeCommand, Callable[[Recorder, str, float, int], Reply]] = {
    EpisodeCommand.OPEN_SESSION: Recorder._open,  # noqa: SLF001 - the table of the class's own handlers
    EpisodeCommand.CLOSE_SESSION: Recorder._close,  # noqa: SLF001
    EpisodeCommand.START: Recorder._start,  # noqa: SLF001
    EpisodeCommand.END: Recorder._end,  # noqa: SLF001
    EpisodeCommand.TOGGLE: Recorder._toggle,  # noqa: SLF001
    EpisodeCommand.DISCARD: Recorder._discard,  # noqa: SLF001
}
