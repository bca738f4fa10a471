"""From hulls to pieces beside a running guard: a process of low priority cuts the links, a thread waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from teleop_common.limits import RobotLimits
from teleop_safety import pieces
from teleop_safety.pieces import Piece

_AGAIN = 20.0  # [s] until a process that made nothing, or left it to another, is started again


class Refinement:
    """Waits for a robot's pieces and hands them on once.

    Args:
        robot: the robot.
        limits_file: its limits file.
        prepare: called with the pieces, in the thread that waited.
        where: folder of the cache, None for the usual one.
    """

    def __init__(
        self, robot: RobotLimits, limits_file: str, prepare: Callable[[tuple[Piece, ...]], None], where: Path | None = None
    ) -> None:
        """Begin at once."""
        self._robot, self._file, self._prepare, self._where = robot, limits_file, prepare, where
        self._closed = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._work, name="pieces", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process, should it still run, and the thread."""
        self._closed.set()
        if self._child is not None:
            self._child.terminate()
        self._thread.join(1.0)

    def _work(self) -> None:
        made = pieces.cached(self._robot, self._where)
        while made is None and not self._closed.is_set():
            self._child = subprocess.Popen(
                [sys.executable, "-m", "teleop_safety.decompose", self._file, *([str(self._where)] if self._where else [])],
                stdin=subprocess.DEVNULL,
            )
            while self._child.poll() is None and not self._closed.wait(0.2):
                pass
            made = pieces.cached(self._robot, self._where)
            if made is None:
                self._closed.wait(_AGAIN)
        if made is not None and not self._closed.is_set():
            self._prepare(made)
