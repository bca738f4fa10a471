"""Where the lines of the launch and of its processes go: the screen and ``launch.log``."""

import logging
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO


class LaunchConfig:
    """The directory of this launch's logs, made when it is first needed."""

    _directory = ""
    _file: TextIO | None = None
    _failed = False

    @property
    def log_dir(self) -> str:
        """``<ROS_LOG_DIR | ROS_HOME/log | ~/.ros/log>/<date>-<host>-<pid>``; assign to it to choose another."""
        if not self._directory:
            base = os.environ.get("ROS_LOG_DIR") or (os.environ.get("ROS_HOME") or "~/.ros") + "/log"
            now = time.time()
            stamp = time.strftime("%Y-%m-%d-%H-%M-%S", time.localtime(now)) + f"-{int(now % 1 * 1e6):06d}"
            self._directory = str(Path(base).expanduser() / f"{stamp}-{socket.gethostname()}-{os.getpid()}")
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
                show(f"[WARNING] [launch]: log file in '{self.log_dir}': {error}; set ROS_LOG_DIR to a writable directory")


launch_config = LaunchConfig()


def show(line: str) -> None:
    """Write a line to the screen."""
    # Whoever read the screen may have gone; the processes must be ended properly all the same.
    with suppress(BrokenPipeError, ValueError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        line = f"[{record.levelname}] [{record.name.removeprefix('launch.')}]: {record.getMessage()}"
        show(line)
        launch_config.write(line)


_root = logging.getLogger("launch")
if not _root.handlers:
    _root.addHandler(_Handler())
    _root.setLevel(logging.INFO)
    _root.propagate = False


def get_logger(name: str = "launch") -> logging.Logger:
    """Return the logger of the launch, or of one part of it; it writes to the screen and to the log."""
    return _root if name == "launch" else _root.getChild(name)
