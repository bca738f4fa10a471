"""What a crash left of a session, finished: index of the bag, prefix of the takes, all in one file; and what was done."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import av
import h5py
import mujoco
import numpy as np

from teleop_common.records import RecorderState
from teleop_recorder import extent, hdf5, layout
from teleop_recorder.grade import Grade
from teleop_recorder.hdf5 import TakeFile
from teleop_recorder.layout import Session, episode_name
from teleop_recorder.lock import Lock
from teleop_recorder.pictures import decode
from teleop_recorder.poses import ScenePoses
from teleop_recorder.rows import HOLD, Rows
from teleop_recorder.setup_recorder import Decode, feeds, picture_topic
from teleop_recorder.take import iso

STATE = "/teleop/recorder/state"
_ABOUT = ("arms", "robot", "links", "joint_names", "limits", "gripper")  # attributes of a take that its scene knows
_BEFORE = 2_000_000_000  # [ns]: slow topics of before the take are in force in it
_FIRSTS = 64  # one of so many pictures is the first of the video
_SAME = 0.0005  # [s]: a video's times are kept to a 90,000th of a second
Messages = Iterator[tuple[str, bytes, int]]


class Bag(NamedTuple):
    """How the session's bag is read and mended.

    Attributes:
        messages: path, topics → (topic, data, time of receipt [ns]), in order.
        mend: path of the broken bag, path of the new one → how many messages were saved.
        decoder: class of a record → what decodes it.
    """

    messages: Callable[[Path, list[str]], Messages]
    mend: Callable[[Path, Path], int]
    decoder: Callable[[type], Decode]


def repair(session: Session, bag: Bag) -> list[str]:
    """Finish a session and return what was done, a line each; nothing where nothing was broken.

    Raises:
        ConfigError: it is being recorded.
        OSError: the disk does not let us.
    """
    lock = Lock(session.folder)
    try:
        done = _journal(session, bag)
        for left in (session.hdf5.with_suffix(".new"), session.folder / "repair"):
            if left.is_dir():
                shutil.rmtree(left)
            elif left.exists():
                left.unlink()
        if not _opens(session.hdf5):
            if session.hdf5.exists():
                session.hdf5.rename(session.hdf5.with_suffix(".broken"))
            hdf5.begin(session, _snapshot(session), {})
            done.append("episodes.hdf5: was missing or unreadable, begun anew")
        for index, path in session.take_files().items():
            done += _take(session, index, path, bag)
        if moved := hdf5.gather(session):
            done.append(f"episodes.hdf5: took in {', '.join(map(episode_name, moved))}")
        return done
    finally:
        lock.release()


def _journal(session: Session, bag: Bag) -> list[str]:
    """Give the bag its index; what is more than a torn end is kept beside it as it was."""
    left = session.folder / "journal.broken"
    if left.is_dir() and not session.journal.is_dir():
        # a repair that was killed between the two names below
        left.rename(session.journal)
    if not session.journal.is_dir() or (session.journal / "metadata.yaml").exists():
        return []
    work = session.folder / "repair"
    if work.exists():
        shutil.rmtree(work)
    work.mkdir()
    saved = bag.mend(session.journal, work / "journal")
    before = sum(f.stat().st_size for f in session.journal.iterdir())
    found = {file.name: extent.measure(file) for file in sorted(session.journal.glob("*.mcap"))}
    broken = session.folder / layout.free_name(session.folder, left.name)
    session.journal.rename(broken)
    (work / "journal").rename(session.journal)
    work.rmdir()
    done = f"journal: index and metadata written, {saved} messages saved out of {before} bytes"
    lost = [f"{name} is damaged at byte {part.end}" for name, part in found.items() if not part.torn]
    if missing := sum(part.messages for part in found.values()) - saved:
        lost.append(f"{missing} messages are there that its reader did not give")
    if not lost:
        shutil.rmtree(broken)
        return [done]
    return [f"{done}; {', '.join(lost)}; it is kept as it was as {broken.name}"]


def _by_system(error: Exception) -> bool:
    """Whether the system refused, not the file: somebody writes it, we may not, no room. HDF5 says it only in words at times."""
    return getattr(error, "errno", None) is not None or "errno = " in str(error)


def _refusal(path: Path, error: Exception) -> OSError:
    reason = " ".join(str(error).split())
    return OSError(f"{path}: {reason}; it was left as it is: end what has it open, or make room, then repair again")


def _opens(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with h5py.File(path, "r") as file:
            return "episodes" in file
    except OSError as error:
        if _by_system(error):
            raise _refusal(path, error) from error
        return False


def _snapshot(session: Session) -> dict[str, Any]:
    found = sorted(session.scenes.glob("*/scene.xml"))
    return {"stage_snapshot": str(found[-1].relative_to(session.folder))} if found else {}


def _take(session: Session, index: int, path: Path, bag: Bag) -> list[str]:
    """Finish one take's file: cut it to the rows that every data set has; rebuild it from the bag where it does not open."""
    name = episode_name(index)
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("complete"):
                return []
        with h5py.File(path, "a") as file:
            rows = _cut(file)
            for camera in file.get("cameras", {}):
                _cut_pictures(file[f"cameras/{camera}"], session.video(index, camera))
            _finish(file, rows, _note(session, index))
    except (OSError, KeyError, RuntimeError) as error:
        if _by_system(error):
            raise _refusal(path, error) from error
        # under another name until it is whole: a rebuilding that is cut off is begun again
        made = path.with_suffix(".rebuilt")
        made.unlink(missing_ok=True)
        rebuilt = _rebuild(session, index, made, bag)
        aside = path.with_name(layout.free_name(path.parent, f"{name}.broken"))
        path.rename(aside)
        if rebuilt is None:
            return [f"{name}: does not open ({error}) and is not in the journal; kept as {aside.name}"]
        made.rename(path)
        return [f"{name}: did not open, rebuilt from the journal with {rebuilt} rows; the old file is kept as {aside.name}"]
    return [f"{name}: was not ended; it has {rows} rows now"]


def _sets(group: h5py.Group, leave: str = "") -> list[h5py.Dataset]:
    found: list[h5py.Dataset] = []
    group.visititems(
        lambda n, o: found.append(o) if isinstance(o, h5py.Dataset) and not (leave and n.startswith(leave)) else None
    )
    return found


def _cut(file: h5py.File) -> int:
    """Cut the rows to the shortest data set."""
    sets = _sets(file, "cameras/")
    rows = min((len(s) for s in sets), default=0)
    for found in sets:
        found.resize(rows, axis=0)
    return rows


def _cut_pictures(group: h5py.Group, video: Path) -> None:
    """Cut a camera's stamps to the shortest, and number the pictures anew: what was said while recording was not sure yet."""
    sets = _sets(group)
    count = min((len(s) for s in sets), default=0)
    for found in sets:
        found.resize(count, axis=0)
    group["video_frame"][:] = picture_numbers(group["stamp_ns"][:], video)


def picture_numbers(stamps: np.ndarray, video: Path) -> np.ndarray:
    """Return which picture of ``video`` was taken at each of ``stamps`` [ns], -1 for those that are not in it."""
    shown: list[float] = []
    with contextlib.suppress(OSError, ValueError, av.error.FFmpegError), av.open(str(video)) as movie:
        for frame in movie.decode(video=0):
            shown.append(frame.time or 0.0)
    best = np.full(len(stamps), -1)
    # its times count from its own first picture, which need not be the take's
    for first in stamps[:_FIRSTS] if shown else ():
        numbers = _match((stamps - first) * 1e-9, [time - shown[0] for time in shown])
        if (numbers >= 0).sum() > (best >= 0).sum():
            best = numbers
        if (best >= 0).sum() == len(shown):
            break
    return best


def _match(times: np.ndarray, shown: list[float]) -> np.ndarray:
    numbers, number = np.full(len(times), -1), 0
    for place, time in enumerate(times.tolist()):
        while number < len(shown) and shown[number] < time - _SAME:
            number += 1
        if number < len(shown) and shown[number] <= time + _SAME:
            numbers[place], number = number, number + 1
    return numbers


def _finish(file: h5py.File, rows: int, told: Mapping[str, Any]) -> None:
    """Write the attributes of a take's end: as the recorder told them, else of its last row."""
    ended = int(told.get("ended_ns", file["meta/time/stamp_ns"][-1] if rows else file.attrs["started_ns"]))
    for name, value in {
        "ended_at": iso(ended),
        "ended_ns": ended,
        "end_reason": told.get("end_reason", "crash"),
        "frames": rows,
        "complete": True,
        "repaired": True,
        **{name: json.dumps(told[name], sort_keys=True) for name in ("counts", "grade") if name in told},
        **({"missed": told["missed"]} if "missed" in told else {}),
    }.items():
        file.attrs[name] = value


def _note(session: Session, index: int) -> dict[str, Any]:
    """Return what the recorder told beside the take's file; empty where that is gone, too."""
    try:
        found: dict[str, Any] = json.loads(session.note(index).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found


def _rebuild(session: Session, index: int, path: Path, bag: Bag) -> int | None:
    """Make a take's file again out of the journal; None when neither that nor the recorder's note knows it."""
    with h5py.File(session.hdf5, "r") as file:
        manifest = {k: json.loads(v[()]) for k, v in file.get("manifest", {}).items()}
        scene = session.folder / str(file.attrs.get("stage_snapshot", ""))
    scenes = scene if scene.is_file() else next(iter(sorted(session.scenes.glob("*/scene.xml"))), None)
    note = _note(session, index)
    span = (note["started_ns"], note.get("ended_ns"), note["task"]) if note else _span(session, index, bag)
    if scenes is None or span is None or not session.journal.is_dir():
        return None
    scene_about = json.loads(scenes.with_name("scene.json").read_text())
    about = note.get("attributes") or {name: scene_about[name] for name in _ABOUT if name in scene_about}
    began, ended, task = span
    given = manifest.get("parameters", {})
    arms = tuple(about["arms"])
    rows = Rows(
        arms,
        len(about["joint_names"]),
        ScenePoses(mujoco.MjModel.from_xml_path(str(scenes)), arms),
        aim=given.get("record_aim", True),
        head=given.get("record_head", True),
    )
    table = feeds(rows, arms, bag.decoder)
    videos = session.folder / "videos" / episode_name(index)
    rates: dict[str, float] = note.get("cameras") or dict.fromkeys(sorted(p.stem for p in videos.glob("*.mp4")), 0.0)
    topics = {picture_topic(name): name for name in rates}
    attributes = {"episode_index": index, "task": task, "started_at": iso(began), "started_ns": began, "complete": False}
    made, grade = TakeFile(path, rows.channels, tuple(rates), attributes | about), Grade(rates)
    last = 0
    for topic, data, received in bag.messages(session.journal, [*table, *topics]):
        if received < began - _BEFORE or (ended is not None and received > ended + HOLD):
            continue
        last = max(last, received)
        # what does not decode was told when it was recorded
        with contextlib.suppress(ValueError):
            if topic not in topics:
                read, take = table[topic]
                take(read(data), received)
            elif began <= (picture := decode(data)).stamp and (ended is None or received <= ended):
                made.pictures[topics[topic]].append({"stamp_ns": picture.stamp, "received_ns": received})
                grade.picture(topics[topic], True)
    for row in rows.ready(last, last if ended is None else ended):
        if grade.rows or row.stamp >= began:
            made.append(row)
            grade.add(row)
            if row.stopped:
                break
    made.close({})
    with h5py.File(path, "a") as file:
        for camera in rates:
            _cut_pictures(file[f"cameras/{camera}"], session.video(index, camera))
        _finish(file, grade.rows, {"grade": grade.summary({}), **note})
    return grade.rows


def _span(session: Session, index: int, bag: Bag) -> tuple[int, int, str] | None:
    """Return when a take began and ended [ns] and its task, as the recorder said it."""
    read = bag.decoder(RecorderState)
    began, ended, task = None, 0, ""
    for _, data, received in bag.messages(session.journal, [STATE]):
        state = read(data)
        if state.recording and state.episode == index:
            began = state.header.stamp if began is None else began
            ended, task = received, state.task
        elif began is not None and ended:
            return began, state.header.stamp, task
    # the recorder said nothing of the end: what was heard last counts
    return (began, ended + 500_000_000, task) if began is not None else None
