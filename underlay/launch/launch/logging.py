"""Where the lines of the launch and of its processes go: the screen and ``launch.log``."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from pathlib import Path
from typing import TextIO

from launch.subset import refuse


class LaunchConfig:
    """The directory of this launch's logs, made when it is first needed."""

    def __init__(self) -> None:
        """Start without a directory."""
        self._directory: str | None = None
        self._file: TextIO | None = None
        self._failed = False

    @property
    def log_dir(self) -> str:
        """``<ROS_LOG_DIR | ROS_HOME/log | ~/.ros/log>/<date>-<host>-<pid>``; assign to it to choose another."""
        if self._directory is None:
            home = os.environ.get("ROS_HOME") or "~/.ros"
            base = Path(os.environ.get("ROS_LOG_DIR") or f"{home}/log").expanduser()
            now = time.time()
            stamp = time.strftime("%Y-%m-%d-%H-%M-%S", time.localtime(now))
            self._directory = str(base / f"{stamp}-{int(now % 1 * 1e6):06d}-{socket.gethostname()}-{os.getpid()}")
        return self._directory

    @log_dir.setter
    def log_dir(self, directory: str) -> None:
        self._directory, self._file, self._failed = directory, None, False

    def write(self, line: str) -> None:
        """Append a line to ``launch.log``; a file that cannot be written is told once and must not end the launch."""
        try:
            if self._file is None:
                Path(self.log_dir).mkdir(parents=True, exist_ok=True)
                self._file = (Path(self.log_dir) / "launch.log").open("a", buffering=1, errors="replace")
            self._file.write(f"{time.time():.7f} {line}\n")
        except OSError as error:
            if not self._failed:
                self._failed = True
                _write_screen(
                    f"[WARNING] [launch]: log file in '{self.log_dir}': {error}; set ROS_LOG_DIR to a writable directory"
                )


launch_config = LaunchConfig()


def _write_screen(line: str) -> None:
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        pass  # whoever read the screen has gone; the processes must be ended properly all the same


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        line = f"[{record.levelname}] [{record.name.removeprefix('launch.')}]: {record.getMessage()}"
        _write_screen(line)
        launch_config.write(line)


_root = logging.getLogger("launch")
if not _root.handlers:
    _root.addHandler(_Handler())
    _root.setLevel(logging.INFO)
    _root.propagate = False


def get_logger(name: str | None = None) -> logging.Logger:
    """Return the logger of the launch, or of one part of it; it writes to the screen and to the log."""
    return _root if name is None or name == "launch" else logging.getLogger(f"launch.{name}")


class Output:
    """Sends the lines of a process where its ``output`` says."""

    def __init__(self, output: str) -> None:
        """Read ``output``: 'screen', 'log' (standard error on the screen too) or 'both'.

        Raises:
            NotImplementedError: 'own_log' or 'full'.
            ValueError: another text.
        """
        if output in ("own_log", "full"):
            raise refuse("launch", f"output '{output}'")
        if output not in ("screen", "log", "both"):
            raise ValueError(f"output: got '{output}', allowed screen, log, both")
        self._log = output != "screen"
        self._screen = {1: output != "log", 2: True}

    def write(self, stream: int, line: str) -> None:
        """Write a line of standard output (1) or standard error (2)."""
        if self._screen[stream]:
            _write_screen(line)
        if self._log:
            launch_config.write(line)
