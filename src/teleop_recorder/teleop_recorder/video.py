"""One video a camera and take: encoded beside the recorder's thread, never holding it up."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

# name → (encoder, its options). h264 costs about 3 ms a picture of 640x480 on one core; mjpeg copies the pictures as they are
PRESETS: dict[str, tuple[str, dict[str, str]]] = {
    "h264": ("libx264", {"preset": "superfast", "crf": "20", "g": "10", "bf": "0", "tune": "zerolatency"}),
    "h264_fast": ("libx264", {"preset": "ultrafast", "crf": "20", "g": "10", "bf": "0", "tune": "zerolatency"}),
    "mjpeg": ("mjpeg", {}),
}
_TICK = Fraction(1, 90_000)  # [s], of the time stamps in the file
# an unfinished file plays up to its last fragment
_MOVIE = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "flush_packets": "1"}


class BadPicture(ValueError):
    """Bytes that hold no picture, or one that does not go into the video; the video goes on without it."""


class Video:
    """A video file that pictures are appended to; their times are kept to a 90,000th of a second.

    Args:
        path: file to make, with its folder.
        preset: a name of ``PRESETS``.

    Attributes:
        count: pictures appended.
    """

    def __init__(self, path: Path, preset: str) -> None:
        """Remember where; the file is made with the first picture, which tells the size."""
        self._path, (self._encoder, self._options) = path, PRESETS[preset]
        self._file: Any = None
        self._stream: Any = None
        self._decoder: Any = av.CodecContext.create("mjpeg", "r")
        self._first, self._last = 0, -1
        self.count = 0

    def add(self, jpeg: bytes, stamp: int) -> None:
        """Append a picture taken at ``stamp`` [ns].

        Raises:
            BadPicture: it is no picture, or of another size than the first.
            ValueError: the encoder does not take pictures of this size.
            OSError: it cannot be written.
            av.error.FFmpegError: the encoder fails.
        """
        picture = self._read(jpeg)
        if self._file is None:
            self._open(picture)
            self._first = stamp
        if (picture.width, picture.height) != (self._stream.width, self._stream.height):
            raise BadPicture(
                f"video '{self._path.name}': got a picture of {picture.width}x{picture.height}, "
                f"allowed {self._stream.width}x{self._stream.height}"
            )
        # a repeated or backward stamp would break the file
        self._last = tick = max(round((stamp - self._first) * 90_000 / 1_000_000_000), self._last + 1)
        if self._encoder == "mjpeg":
            packet = av.Packet(jpeg)
            packet.stream, packet.time_base = self._stream, _TICK
            packet.pts = packet.dts = tick
            self._file.mux(packet)
            self.count += 1
            return
        frame = picture.reformat(format="yuv420p", dst_color_range="MPEG")
        frame.pts, frame.time_base = tick, _TICK
        self._file.mux(self._stream.encode(frame))
        self.count += 1

    def _read(self, jpeg: bytes) -> Any:
        try:
            frames = self._decoder.decode(av.Packet(jpeg))
        except (av.error.FFmpegError, ValueError) as error:
            raise BadPicture(f"video '{self._path.name}': {error}") from error
        if not frames:
            raise BadPicture(f"video '{self._path.name}': {len(jpeg)} bytes hold no picture")
        return frames[0]

    def _open(self, picture: Any) -> None:
        if self._encoder != "mjpeg" and (picture.width % 2 or picture.height % 2):
            raise ValueError(
                f"video '{self._path.name}': got pictures of {picture.width}x{picture.height}, "
                "allowed even widths and heights; set another size, or video to mjpeg"
            )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = av.open(str(self._path), "w", format="mp4", options=_MOVIE)
        self._stream = self._file.add_stream(self._encoder, rate=30, options=self._options)
        self._stream.width, self._stream.height = picture.width, picture.height
        self._stream.pix_fmt = "yuvj420p" if self._encoder == "mjpeg" else "yuv420p"
        self._stream.time_base = self._stream.codec_context.time_base = _TICK
        self._stream.codec_context.thread_count = 1

    def close(self) -> None:
        """Finish the file; without a picture there is none."""
        if self._file is None:
            return
        try:
            if self._encoder != "mjpeg":
                self._file.mux(self._stream.encode(None))
        finally:
            file, self._file = self._file, None
            file.close()


class Encoders:
    """The videos of one take, encoded in a thread of their own.

    A picture that finds the queue full is not encoded, nor is one that is no picture: both are in the journal all the same.
    A video that cannot be written ends by itself; those of the other cameras go on.

    Args:
        paths: camera → file.
        preset: a name of ``PRESETS``.
        depth: pictures that may wait.

    Attributes:
        bad: camera → pictures that could not be read.
    """

    def __init__(self, paths: Mapping[str, Path], preset: str, depth: int = 32) -> None:
        """Start the thread."""
        self._paths = dict(paths)
        self._videos = {name: Video(path, preset) for name, path in paths.items()}
        self._accepted = dict.fromkeys(paths, 0)
        self._written: dict[str, list[int]] = {name: [] for name in paths}
        self._queue: queue.Queue[tuple[str, bytes, int] | None] = queue.Queue(depth)
        self._given_up = False
        self._broken: dict[str, str] = {}
        self._late = ""
        self.bad: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, name="encoders", daemon=True)
        self._thread.start()

    @property
    def error(self) -> str:
        """What went wrong, in one line; empty when nothing did."""
        bad = [f"camera {name}: {count} pictures that cannot be read" for name, count in sorted(self.bad.copy().items())]
        broken = [f"video of camera '{name}': {text}" for name, text in sorted(self._broken.copy().items())]
        return "; ".join([*broken, *bad, *([self._late] if self._late else [])])

    def add(self, camera: str, jpeg: bytes, stamp: int) -> int:
        """Hand in a picture; return which of its camera's accepted ones it is, or -1 when the encoder has no time for it.

        Its number in the video is told by ``close``.
        """
        if camera in self._broken:
            return -1
        try:
            self._queue.put_nowait((camera, jpeg, stamp))
        except queue.Full:
            return -1
        self._accepted[camera] += 1
        return self._accepted[camera] - 1

    def _run(self) -> None:
        while not self._given_up and (item := self._queue.get()) is not None:
            camera, jpeg, stamp = item
            self._written[camera].append(self._encode(camera, jpeg, stamp))
        for camera, video in self._videos.items():
            try:
                video.close()
            except Exception as error:  # noqa: BLE001 - PyAV's errors have no common class but this one
                self._broken.setdefault(camera, str(error))

    def _encode(self, camera: str, jpeg: bytes, stamp: int) -> int:
        """Return the picture's number in the video, -1 where it is not in it."""
        if camera in self._broken:
            return -1
        video = self._videos[camera]
        try:
            video.add(jpeg, stamp)
        except BadPicture:
            self.bad[camera] = self.bad.get(camera, 0) + 1
            return -1
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread must live: somebody waits for it
            self._broken[camera] = str(error)
            return -1
        return video.count - 1

    def close(self, patience: float = 20.0) -> dict[str, list[int]]:
        """Encode what waits and finish the files; give up after ``patience`` [s].

        Returns:
            Camera → number in its video of each accepted picture, -1 for one that is not in it.
        """
        try:
            self._queue.put(None, timeout=patience if self._thread.is_alive() else 0.0)
            self._thread.join(patience)
        except queue.Full:
            pass
        if self._thread.is_alive():
            self._late = f"video: the encoder needs more than {patience:g} s to finish"
            self._given_up = True
        found = {}
        for camera, accepted in self._accepted.items():
            numbers = self._written[camera][:accepted]
            if camera in self._broken:
                # what was handed to the file when it failed may not have reached it
                there = pictures_in(self._paths[camera])
                numbers = [number if number < there else -1 for number in numbers]
            found[camera] = numbers + [-1] * (accepted - len(numbers))
        return found


def pictures_in(path: Path) -> int:
    """Return how many pictures of a video can be read; 0 where it does not open."""
    count = 0
    with contextlib.suppress(OSError, ValueError, av.error.FFmpegError), av.open(str(path)) as movie:
        for _ in movie.decode(video=0):
            count += 1
    return count
