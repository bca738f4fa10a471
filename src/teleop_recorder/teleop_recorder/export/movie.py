"""Pictures out of a take's video, and videos on an even grid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from teleop_common.errors import ConfigError

# every second picture stands alone, so that a loader finds any one quickly
_OPTIONS = {"preset": "superfast", "crf": "18", "g": "2", "bf": "0"}


def pictures(path: Path, numbers: np.ndarray) -> Iterator[Any]:
    """Yield the pictures with these ascending numbers, as av frames; one that is asked for again comes again.

    Raises:
        ConfigError: the video does not open or ends before, or the numbers go back.
    """
    if (np.diff(numbers) < 0).any():
        raise ConfigError("video", str(path), "picture numbers that go back", "ascending ones", "repair the session")
    try:
        with av.open(str(path)) as movie:
            decoded = enumerate(movie.decode(video=0))
            number, picture = -1, None
            for wanted in numbers:
                while number < wanted:
                    number, picture = next(decoded)
                yield picture
    except (StopIteration, RuntimeError, OSError, ValueError, av.error.FFmpegError) as error:
        reason = f"{number + 1} pictures" if path.exists() and isinstance(error, StopIteration) else str(error)
        raise ConfigError("video", str(path), reason, f"picture {int(numbers.max())}", "repair the session") from error


def write(path: Path, frames: Iterable[Any], fps: int) -> tuple[int, int, int, np.ndarray]:
    """Write a video at an even rate; the file appears whole or not at all.

    Args:
        path: file to make.
        frames: pictures, av frames.
        fps: rate [Hz].

    Returns:
        Width, height, number of pictures, and pixels (K, 3) in 0..1 of some of them, for statistics.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    sample: list[np.ndarray] = []
    count = 0
    with av.open(str(temporary), "w", format="mp4") as movie:
        stream: Any = movie.add_stream("libx264", rate=fps, options=_OPTIONS)
        for count, picture in enumerate(frames, start=1):
            if count == 1:
                stream.width, stream.height, stream.pix_fmt = picture.width, picture.height, "yuv420p"
                stream.time_base = stream.codec_context.time_base = Fraction(1, fps)
                stream.codec_context.thread_count = 1
            if count % max(fps, 1) == 1 or fps == 1:
                pixels = picture.to_ndarray(format="rgb24")[::8, ::8].reshape(-1, 3)
                sample.append(pixels / 255.0)
            frame = picture.reformat(format="yuv420p", dst_color_range="MPEG")
            frame.pts, frame.time_base = count - 1, Fraction(1, fps)
            movie.mux(stream.encode(frame))
        movie.mux(stream.encode(None))
        size = (stream.width, stream.height)
    os.replace(temporary, path)
    return *size, count, np.concatenate(sample)
