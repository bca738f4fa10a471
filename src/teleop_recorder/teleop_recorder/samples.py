"""What the recorder is handed, and what it needs from outside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol


class Sample(NamedTuple):
    """One message as it came over the wire.

    Attributes:
        topic: its topic.
        data: serialised, as received.
        received: when it reached this process [ns since the epoch].
        number: its publisher's number of it, from 1.
    """

    topic: str
    data: bytes
    received: int
    number: int


class Journal(Protocol):
    """A bag that raw messages are written to as they come."""

    def write(self, topic: str, data: bytes, received: int) -> None:
        """Append a message received at ``received`` [ns since the epoch].

        Raises:
            OSError: it cannot be written.
        """

    def flush(self) -> None:
        """Hand everything to the operating system.

        Raises:
            OSError: it cannot be written.
        """

    def close(self) -> None:
        """Write index and metadata."""


class Surroundings(Protocol):
    """What a recorder asks of the machine that it runs on."""

    def journal(self, path: Path) -> Journal:
        """Begin a bag at ``path``, which is not there yet."""

    def free(self, path: Path) -> int:
        """Return how many bytes the file system of ``path`` has left."""

    def snapshot(self, folder: Path) -> str:
        """Write the scene below ``folder``, unless it is there, and return the path of its model relative to the folder above."""

    def manifest(self) -> dict[str, str]:
        """Return texts that say with what is recorded: parameters, versions."""
