"""One video a camera and take: encoded beside the recorder's thread, never holding it up."""

from __future__ import annotations

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


class Video:
    """A video file that pictures are appended to; their times are kept to a 90,000th of a second.

    Args:
        path: file to make, with its folder.
        preset: a name of ``PRESETS``.
    """

    def __init__(self, path: Path, preset: str) -> None:
        """Remember where; the file is made with the first picture, which tells the size."""
        self._path, (self._encoder, self._options) = path, PRESETS[preset]
        self._file: Any = None
        self._stream: Any = None
        self._decoder: Any = av.CodecContext.create("mjpeg", "r")
        self._first, self._last = 0, -1

    def add(self, jpeg: bytes, stamp: int) -> None:
        """Append a picture taken at ``stamp`` [ns].

        Raises:
            ValueError: it is no picture, or of another size than the first.
            OSError: it cannot be written.
        """
        frames = self._decoder.decode(av.Packet(jpeg))
        if not frames:
            raise ValueError(f"video '{self._path.name}': {len(jpeg)} bytes hold no picture")
        picture = frames[0]
        if self._file is None:
            self._open(picture)
            self._first = stamp
        if (picture.width, picture.height) != (self._stream.width, self._stream.height):
            raise ValueError(
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
            return
        frame = picture.reformat(format="yuv420p", dst_color_range="MPEG")
        frame.pts, frame.time_base = tick, _TICK
        self._file.mux(self._stream.encode(frame))

    def _open(self, picture: Any) -> None:
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
        if self._encoder != "mjpeg":
            self._file.mux(self._stream.encode(None))
        self._file.close()
        self._file = None


class Encoders:
    """The videos of one take, encoded in a thread of their own.

    A picture that finds the queue full is not encoded: it is in the journal all the same.

    Args:
        paths: camera → file.
        preset: a name of ``PRESETS``.
        depth: pictures that may wait.
    """

    def __init__(self, paths: Mapping[str, Path], preset: str, depth: int = 32) -> None:
        """Start the thread."""
        self._videos = {name: Video(path, preset) for name, path in paths.items()}
        self._numbers = dict.fromkeys(paths, 0)
        self._queue: queue.Queue[tuple[str, bytes, int] | None] = queue.Queue(depth)
        self.error = ""
        self._thread = threading.Thread(target=self._run, name="encoders", daemon=True)
        self._thread.start()

    def add(self, camera: str, jpeg: bytes, stamp: int) -> int:
        """Hand in a picture; return its number in the video, or -1 when the encoder has no time for it."""
        if self.error:
            return -1
        try:
            self._queue.put_nowait((camera, jpeg, stamp))
        except queue.Full:
            return -1
        self._numbers[camera] += 1
        return self._numbers[camera] - 1

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            camera, jpeg, stamp = item
            if self.error:
                continue
            try:
                self._videos[camera].add(jpeg, stamp)
            except (ValueError, OSError) as error:
                self.error = f"video of camera '{camera}': {error}"
        for video in self._videos.values():
            try:
                video.close()
            except (ValueError, OSError) as error:
                self.error = self.error or f"video: {error}"

    def close(self, patience: float = 20.0) -> None:
        """Encode what waits and finish the files; give up after ``patience`` [s]."""
        self._queue.put(None)
        self._thread.join(patience)
        if self._thread.is_alive():
            self.error = self.error or f"video: the encoder needs more than {patience:g} s to finish"
