"""Where the files of a session lie, and what its takes are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from teleop_common.errors import ConfigError
from teleop_recorder.lock import Lock

SCHEMA_VERSION = "1.0"
_TAKE = re.compile(r"episode_(\d{5})\.hdf5")


def episode_name(index: int) -> str:
    """Return the name of an episode: ``episode_00000``."""
    return f"episode_{index:05d}"


@dataclass(frozen=True)
class Session:
    """A session's folder.

    ``episodes.hdf5`` is the file to open. While the session is recorded it links to one file a take, so that a process killed in
    one take can damage no other; when the session is closed, or repaired, the takes move into it.

    Attributes:
        folder: the folder.
    """

    folder: Path

    @property
    def hdf5(self) -> Path:
        """The file with all episodes."""
        return self.folder / "episodes.hdf5"

    @property
    def journal(self) -> Path:
        """The bag of the whole session."""
        return self.folder / "journal"

    @property
    def takes(self) -> Path:
        """Folder of the takes' own files."""
        return self.folder / "takes"

    @property
    def scenes(self) -> Path:
        """Folder of the scene snapshots."""
        return self.folder / "scene"

    @property
    def finished(self) -> bool:
        """Whether it was closed, or repaired: the bag has its metadata."""
        return (self.journal / "metadata.yaml").exists()

    def take(self, index: int) -> Path:
        """Return a take's own file."""
        return self.takes / f"{episode_name(index)}.hdf5"

    def note(self, index: int) -> Path:
        """Return the text beside a take's own file that tells what is in no journal: when it began and ended, its attributes."""
        return self.takes / f"{episode_name(index)}.json"

    def video(self, index: int, camera: str) -> Path:
        """Return a take's video of one camera."""
        return self.folder / "videos" / episode_name(index) / f"{camera}.mp4"

    def take_files(self) -> dict[int, Path]:
        """Return index → file of the takes that are not in ``episodes.hdf5`` yet."""
        found = {int(m[1]): path for path in self.takes.glob("*.hdf5") if (m := _TAKE.fullmatch(path.name))}
        return dict(sorted(found.items()))


def create(root: Path, name: str, overwrite: str = "") -> Session:
    """Make a new session's folder.

    Args:
        root: folder of all sessions.
        name: name of the new one.
        overwrite: name of a session that may be replaced: its folder is kept as ``<name>.replaced``.

    Raises:
        ConfigError: the name is no file name, there is such a session and ``overwrite`` does not name it, or it is being written.
        OSError: the folder cannot be made.
    """
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise ConfigError("session", name, name, "letters, digits, '_', '-' and '.'", "choose another name")
    folder = root / name
    if folder.exists():
        if overwrite != name:
            remedy = f"choose another name, or set overwrite:={name} to replace it"
            raise ConfigError("session", name, str(folder), "a folder that is not there yet", remedy)
        lock = Lock(folder)
        try:
            folder.rename(root / free_name(root, f"{name}.replaced"))
        finally:
            lock.release()
    folder.mkdir(parents=True)
    session = Session(folder)
    session.takes.mkdir()
    return session


def free_name(root: Path, name: str) -> str:
    """Return ``name``, or ``name_2`` and so on when there is such a session."""
    number, tried = 1, name
    while (root / tried).exists():
        number += 1
        tried = f"{name}_{number}"
    return tried


def find(path: str | Path) -> Session:
    """Return the session at ``path``: its folder, or a file in it.

    Raises:
        ConfigError: there is none.
    """
    folder = Path(path)
    if folder.is_file():
        folder = folder.parent
    session = Session(folder)
    if not (session.hdf5.exists() or session.takes.is_dir() or session.journal.is_dir()):
        raise ConfigError("session", str(path), str(path), "a folder with episodes.hdf5", "name the folder of a session")
    return session


def sessions(root: Path) -> list[Session]:
    """Return the sessions below ``root``, by name."""
    found = [Session(p) for p in sorted(root.iterdir()) if p.is_dir()] if root.is_dir() else []
    return [s for s in found if s.hdf5.exists() or s.takes.is_dir()]
