"""Episodes as they are read: from ``episodes.hdf5``, by plain h5py."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from teleop_common.errors import ConfigError
from teleop_recorder.layout import Session, episode_name


@dataclass(frozen=True)
class Episode:
    """One take of an open file.

    Attributes:
        session: its session.
        index: its number.
        group: its group, ``episodes/episode_NNNNN``.
    """

    session: Session
    index: int
    group: h5py.Group

    @property
    def rows(self) -> int:
        """How many rows every data set has; a take that was not ended may have uneven ones."""
        return len(self.group["meta/commit"])

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return tuple(json.loads(self.group.attrs["arms"]))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of each arm, without the arm's prefix."""
        return tuple(json.loads(self.group.attrs["joint_names"]))

    @property
    def cameras(self) -> tuple[str, ...]:
        """Names of the recorded cameras."""
        return tuple(self.group.get("cameras", {}))

    @property
    def complete(self) -> bool:
        """Whether the take was ended."""
        return bool(self.group.attrs.get("complete", False))

    def text(self, name: str) -> str:
        """Return an attribute as text, empty where it is missing."""
        return str(self.group.attrs.get(name, ""))

    def document(self, name: str) -> dict[str, Any]:
        """Return an attribute that holds JSON, empty where it is missing."""
        found: dict[str, Any] = json.loads(self.group.attrs.get(name, "{}"))
        return found

    def column(self, path: str) -> np.ndarray:
        """Return one data set, whole."""
        values: np.ndarray = self.group[path][:]
        return values


def troubles(session: Session, found: Iterable[Episode], asked: bool = False) -> dict[str, str]:
    """Return the takes of a session that nobody should use yet: name → what is wrong, and what to do.

    Args:
        session: its file opens.
        found: the episodes of it that opened.
        asked: tell of those alone.
    """
    complete = {episode_name(episode.index): episode.complete for episode in found}
    named = set(complete)
    if not asked:
        with h5py.File(session.hdf5) as file:
            named |= {*file["episodes"], *map(episode_name, session.take_files())}
    wrong = {name: "was not ended" if name in complete else "is gone, or does not open" for name in sorted(named)}
    repair = f"./teleop episodes repair {session.folder}"
    return {name: f"{text}; {repair}" for name, text in wrong.items() if not complete.get(name, False)}


@contextmanager
def episodes(session: Session, wanted: tuple[int, ...] = ()) -> Iterator[list[Episode]]:
    """Yield the episodes of a session, those with the numbers ``wanted`` or all.

    Raises:
        ConfigError: the file does not open, or there is no such episode.
    """
    try:
        file = h5py.File(session.hdf5)
    except OSError as error:
        remedy = f"./teleop episodes repair {session.folder}"
        raise ConfigError("session", session.folder.name, str(error), "a file episodes.hdf5 that opens", remedy) from error
    with file:
        found = {}
        for name in file["episodes"]:
            try:
                found[int(name.removeprefix("episode_"))] = file[f"episodes/{name}"]
            except (KeyError, OSError):  # a link to a file that is gone or broken
                if not wanted:
                    continue
        for index in wanted:
            if index not in found:
                allowed = ", ".join(map(str, found)) or "none: the session has no episodes"
                raise ConfigError("episode", episode_name(index), index, allowed, "choose another", str(session.hdf5))
        yield [Episode(session, index, found[index]) for index in (wanted or sorted(found))]
