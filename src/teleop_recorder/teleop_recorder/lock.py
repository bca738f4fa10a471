"""Who writes a session: held by its recorder, asked for by whoever would change it. A killed process lets go by itself."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from teleop_common.errors import ConfigError


class Lock:
    """A session's folder, held until ``release``.

    Args:
        folder: the folder.

    Raises:
        ConfigError: somebody else holds it.
    """

    def __init__(self, folder: Path) -> None:
        """Take hold."""
        self._handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            remedy = "end the recording, or wait for the command that changes it"
            raise ConfigError("session", folder.name, "one that is being written", "one at rest", remedy) from error

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
