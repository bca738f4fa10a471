"""One take while it is recorded: rows, pictures, videos, counts, grade."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from teleop_recorder import hdf5
from teleop_recorder.counts import Counts
from teleop_recorder.grade import Grade
from teleop_recorder.hdf5 import Channel, TakeFile
from teleop_recorder.layout import Session, episode_name
from teleop_recorder.pictures import Picture
from teleop_recorder.rows import Row
from teleop_recorder.video import Encoders

_SILENT = 2.0  # [s] without a picture: a camera is missed


@dataclass(frozen=True)
class Wanted:
    """What is recorded of a take.

    Attributes:
        channels: data sets of its rows.
        cameras: camera → rate it should have [Hz].
        video: a name of ``video.PRESETS``, or empty: no videos.
        attributes: attributes of every take.
    """

    channels: Mapping[str, Channel]
    cameras: Mapping[str, float]
    video: str
    attributes: Mapping[str, Any]


def iso(stamp: int) -> str:
    """Return a time [ns since the epoch] as ISO 8601, UTC, with microseconds."""
    return datetime.fromtimestamp(stamp * 1e-9, UTC).isoformat(timespec="microseconds")


class Take:
    """A take from its start to its end.

    Args:
        session: whose.
        index: its number.
        task: one instruction for the data set.
        began: when it was asked for [ns since the epoch].
        wanted: what is recorded.
        counts: counts of all topics; marked here.

    Raises:
        OSError: its file cannot be made.
    """

    def __init__(self, session: Session, index: int, task: str, began: int, wanted: Wanted, counts: Counts) -> None:
        """Create its file and link it into ``episodes.hdf5``."""
        self.session, self.index, self.task, self.began = session, index, task, began
        self._counts = counts
        counts.mark()
        self.grade = Grade(wanted.cameras)
        cameras = tuple(wanted.cameras)
        self._heard = dict.fromkeys(cameras, began)
        attributes = dict(wanted.attributes) | {
            "episode_index": index,
            "task": task,
            "started_at": iso(began),
            "started_ns": began,
            "complete": False,
        }
        self.file = TakeFile(session.take(index), wanted.channels, cameras, attributes)
        hdf5.link(session, index)
        paths = {name: session.video(index, name) for name in cameras}
        # camera → which of the pictures that the encoder accepted each one is
        self._accepted: dict[str, list[int]] = {name: [] for name in cameras}
        self._encoders = Encoders(paths, wanted.video) if wanted.video and paths else None

    @property
    def missed(self) -> int:
        """How many commits and messages are missing so far."""
        messages = sum(c["published"] - c["received"] for c in self._counts.since_mark().values())
        return self.grade.lost + messages

    def trouble(self, stamp: int) -> str:
        """Return what goes wrong beside at ``stamp`` [ns]: a silent camera, a video that is not encoded, or too slowly."""
        if self._encoders is not None and self._encoders.error:
            return self._encoders.error
        for camera, heard in self._heard.items():
            silent = (stamp - heard) * 1e-9
            if silent > _SILENT:
                return f"camera {camera}: no picture for {silent:.0f} s"
        late = sum(self.grade.unencoded.values())
        return f"the video encoder is too slow: {late} pictures not encoded" if late and self._encoders is not None else ""

    def add(self, row: Row) -> None:
        """Add a row.

        Raises:
            OSError: it cannot be written.
        """
        self.file.append(row)
        self.grade.add(row)

    def picture(self, camera: str, picture: Picture, received: int) -> None:
        """Add a picture of a recorded camera; one of before the take is passed over."""
        self._heard[camera] = received
        if camera not in self.file.pictures or (picture.stamp < self.began and not self._accepted[camera]):
            # after the first one a smaller stamp tells of a clock that was set back
            return
        number = self._encoders.add(camera, picture.data, picture.stamp) if self._encoders is not None else -1
        self._accepted[camera].append(number)
        self.file.pictures[camera].append({"stamp_ns": picture.stamp, "received_ns": received, "video_frame": number})
        self.grade.picture(camera, number >= 0 or self._encoders is None)

    def end(self, reason: str, ended: int) -> dict[str, Any]:
        """Finish the files and return the grade.

        Args:
            reason: why it ends, one word.
            ended: when [ns since the epoch].

        Raises:
            OSError: the rest cannot be written; the files are closed all the same.
        """
        numbers = self._numbers()
        counts = self._counts.since_mark()
        summary = self.grade.summary(counts)
        if self._encoders is not None and self._encoders.error:
            summary["remarks"].append(self._encoders.error)
        self.file.close(
            {
                "ended_at": iso(ended),
                "ended_ns": ended,
                "end_reason": reason,
                "frames": self.grade.rows,
                "missed": self.missed,
                "counts": counts,
                "grade": summary,
                "complete": True,
            },
            numbers,
        )
        return summary

    def _numbers(self) -> dict[str, list[int]]:
        """Finish the videos and return the number of each picture in them, which is known only now."""
        if self._encoders is None:
            return {}
        written = self._encoders.close()
        numbers = {camera: [written[camera][n] if n >= 0 else -1 for n in told] for camera, told in self._accepted.items()}
        for camera, found in numbers.items():
            if missing := found.count(-1):
                self.grade.unencoded[camera] = missing
        return numbers

    def discard(self, ended: int) -> None:
        """End the take and put its files aside, below ``discarded/``: nothing is deleted."""
        with contextlib.suppress(OSError):
            self.end("discarded", ended)
        put_aside(self.session, self.index)


def put_aside(session: Session, index: int) -> None:
    """Move a take's own file and its videos below ``discarded/``."""
    hdf5.unlink(session, index)
    aside = session.folder / "discarded"
    aside.mkdir(exist_ok=True)
    if session.take(index).exists():
        session.take(index).rename(aside / session.take(index).name)
    videos = session.folder / "videos" / episode_name(index)
    if videos.is_dir():
        shutil.move(videos, aside / episode_name(index))
