"""From hulls to pieces beside a running guard: a process of low priority cuts the links, a thread waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from teleop_common.limits import RobotLimits
from teleop_safety import pieces
from teleop_safety.pieces import Piece

_AGAIN = 20.0  # [s] until a process that left the work to another, or failed once, is started again
_AGAIN_MOST = 640.0  # [s]; each failure doubles the wait: what keeps it from working is rarely gone in seconds
_WHAT = "cutting the links into pieces"
_MEANWHILE = "the guard measures the links' hulls meanwhile"


def pause(failures: int) -> float:
    """Return how long to wait after so many failures in a row [s]."""
    return min(_AGAIN_MOST, _AGAIN * 2.0 ** min(max(0, failures - 1), 16))


class Refinement:
    """Waits for a robot's pieces and hands them on once.

    Args:
        robot: the robot.
        limits_file: its limits file.
        prepare: called with the pieces, in the thread that waited.
        where: folder of the cache, None for the usual one.

    Attributes:
        trouble: why there are no pieces and what to do, empty while there are, or they are being made.
    """

    def __init__(
        self, robot: RobotLimits, limits_file: str, prepare: Callable[[tuple[Piece, ...]], None], where: Path | None = None
    ) -> None:
        """Begin at once."""
        self._robot, self._file, self._prepare, self._where = robot, limits_file, prepare, where
        self.trouble = ""
        self._closed = threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, name="pieces", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process, should it still run, and the thread."""
        self._closed.set()
        if self._child is not None:
            self._child.terminate()
        self._thread.join(1.0)

    def _work(self) -> None:
        made, failures = pieces.cached(self._robot, self._where), 0
        while made is None and not self._closed.is_set():
            trouble = self._run()
            failures = failures + 1 if trouble else 0
            made = pieces.cached(self._robot, self._where)
            if made is None:
                self.trouble = f"{trouble}; {_MEANWHILE}" if trouble else ""
                self._closed.wait(pause(failures))
        if made is not None and not self._closed.is_set():
            self._prepare(made)
            self.trouble = ""

    def _run(self) -> str:
        """Run the process to its end and return why it failed, empty when it did not."""
        command = [sys.executable, "-m", "teleop_safety.decompose", self._file, *([str(self._where)] if self._where else [])]
        try:
            self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            return f"{_WHAT}: got {error.strerror or error} on starting {command[0]}; free memory and processes"
        with self._child.stdout or nullcontext() as said:
            while self._child.poll() is None and not self._closed.wait(0.2):
                pass
            if self._closed.is_set():
                self._child.terminate()  # it may have begun after ``close`` looked for it
                return ""
            if self._child.returncode == 0:
                return ""
            lines = said.read().splitlines() if said else []
        if self._child.returncode == 2 and lines:
            return f"{_WHAT}: {lines[-1]}"
        how = f"status {self._child.returncode}" if self._child.returncode > 0 else f"signal {-self._child.returncode}"
        return f"{_WHAT}: got an end with {how}; free memory, and read its lines in the terminal"
