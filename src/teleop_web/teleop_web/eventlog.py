"""A log that never makes its writer wait: a stopped terminal must not stop the frames, nor fill the memory."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

MAX_LINES = 200  # waiting at most; what comes on top is lost


class EventLog:
    """Hands lines to ``write`` from a thread of its own."""

    def __init__(self, write: Callable[[str], object]) -> None:
        """Start the thread."""
        self._write = write
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Log a line soon, or drop it when too many wait.

        Clients choose part of it: what a terminal would obey or cannot encode is replaced.
        """
        if self._lines.qsize() < MAX_LINES:
            self._lines.put(text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text))

    def close(self) -> None:
        """End the thread after what waits, or after a second."""
        self._lines.put(None)
        self._thread.join(1.0)

    def _run(self) -> None:
        while (text := self._lines.get()) is not None:
            self._write(text)
