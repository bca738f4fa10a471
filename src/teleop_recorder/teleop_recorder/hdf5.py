"""HDF5 files of takes: appended to in blocks, flushed often, readable after a kill.

Every take is written to a file of its own, in the layout that it has below ``episodes/episode_NNNNN`` of ``episodes.hdf5``, which
links to it until ``gather`` moves it in. Data sets grow by whole blocks and are written only in ``flush``: between two flushes
the file on disk is at rest, and a frame costs the same whether it is the first or the millionth.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from teleop_recorder.layout import SCHEMA_VERSION, Session, episode_name

_CHUNK = 256  # rows of a chunk
# [bytes] kept free in a file for HDF5's own book-keeping: it must never meet a full disk, of which it can crash
_SPARE = 1 << 18


class Channel(NamedTuple):
    """One data set of a table.

    Attributes:
        shape: of one row.
        dtype: NumPy's name of the element type.
        fill: value of a row that has none.
        unit: unit and frame, in words; stored as an attribute.
    """

    shape: tuple[int, ...]
    dtype: str
    fill: float = 0
    unit: str = ""


class Table:
    """Data sets of one common length, below one group.

    Args:
        group: where they go.
        channels: path below ``group`` → what it holds.
    """

    def __init__(self, group: h5py.Group, channels: Mapping[str, Channel]) -> None:
        """Create the data sets, empty."""
        self.channels = dict(channels)
        self.length = 0
        self._stored = 0
        self.chunk_bytes = sum(_CHUNK * np.dtype(c.dtype).itemsize * int(np.prod(c.shape)) for c in self.channels.values())
        self._sets: dict[str, h5py.Dataset] = {}
        self._blocks: dict[str, np.ndarray] = {}
        for path, c in self.channels.items():
            made = group.create_dataset(
                path, (0, *c.shape), c.dtype, chunks=(_CHUNK, *c.shape), maxshape=(None, *c.shape), fillvalue=c.fill
            )
            if c.unit:
                made.attrs["unit"] = c.unit
            self._sets[path] = made
            self._blocks[path] = np.full((_CHUNK, *c.shape), c.fill, c.dtype)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row; channels that it lacks get their fill value.

        Raises:
            OSError: a full block could not be written.
        """
        at = self.length - self._stored
        for path, value in row.items():
            self._blocks[path][at] = value
        self.length += 1
        if at + 1 == _CHUNK:
            self.store()

    def store(self) -> None:
        """Hand the rows that wait to HDF5."""
        count = self.length - self._stored
        if not count:
            return
        for path, target in self._sets.items():
            block, rest = self._blocks[path], self.channels[path].shape
            # the calls beneath Dataset.resize and slicing: those look at every kind of index first, and take ten times as long
            target.id.set_extent((self.length, *rest))
            place = h5py.h5s.create_simple((self.length, *rest))
            place.select_hyperslab((self._stored, *[0] * len(rest)), (count, *rest))
            target.id.write(h5py.h5s.create_simple((count, *rest)), place, block[:count])
            block[:count] = self.channels[path].fill
        self._stored = self.length

    def correct(self, path: str, values: Sequence[Any]) -> None:
        """Write the stored rows of one channel anew; call ``store`` before."""
        self._sets[path][:] = np.asarray(values[: self._stored], self.channels[path].dtype)


@contextmanager
def _as_os_error(path: Path) -> Iterator[None]:
    """Turn what HDF5 raises when a file cannot be written, RuntimeError as well, into OSError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise OSError(f"{path.name}: {reason}") from error


class TakeFile:
    """The file of one take, while it is written.

    Args:
        path: file to make; must not exist.
        channels: data sets of the rows.
        cameras: names of the recorded cameras, a table of stamps for each.
        attributes: what is known at the start.

    Raises:
        OSError: the file exists or cannot be made.
    """

    def __init__(
        self, path: Path, channels: Mapping[str, Channel], cameras: tuple[str, ...], attributes: Mapping[str, Any]
    ) -> None:
        """Create the file with everything empty."""
        self.path = path
        self._reserved = 0
        self._full = False
        _try_room(path.with_suffix(".room"), 2 * _SPARE)
        self._file = h5py.File(path, "x")
        try:
            self._set(attributes)
            self.rows = Table(self._file, channels)
            self.pictures = {name: Table(self._file.create_group(f"cameras/{name}"), PICTURE_CHANNELS) for name in cameras}
            self._reserve()
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def _reserve(self) -> None:
        """Have the disk keep room for the next chunk of every data set.

        Raises:
            OSError: it has none; then no more rows are written, only what closes the file.
        """
        tables = (self.rows, *self.pictures.values())
        needed = self._file.id.get_filesize() + sum(t.chunk_bytes for t in tables) + _SPARE
        if needed <= self._reserved:
            return
        try:
            os.posix_fallocate(self._file.id.get_vfd_handle(), 0, needed)
        except OSError:
            self._full = True
            raise
        self._reserved = needed

    def _set(self, attributes: Mapping[str, Any]) -> None:
        for name, value in attributes.items():
            self._file.attrs[name] = json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row.

        Raises:
            OSError: a full block could not be written.
        """
        with _as_os_error(self.path):
            self.rows.append(row)
            self._reserve()

    def flush(self) -> None:
        """Hand everything to the operating system.

        Raises:
            OSError: it cannot be written.
        """
        with _as_os_error(self.path):
            if not self._full:
                self._reserve()
                for table in (self.rows, *self.pictures.values()):
                    table.store()
            self._file.flush()

    def close(self, attributes: Mapping[str, Any], numbers: Mapping[str, Sequence[int]] | None = None) -> None:
        """Write the rest and what is known at the end.

        Args:
            attributes: see above.
            numbers: camera → the number in its video of every picture, where they are others than those that were told.

        Raises:
            OSError: it cannot be written; the file is closed all the same.
        """
        try:
            self.flush()
            with _as_os_error(self.path):
                for camera, found in (numbers or {}).items():
                    self.pictures[camera].correct("video_frame", found)
                self._set(attributes)
        finally:
            with _as_os_error(self.path):
                self._file.close()


PICTURE_CHANNELS = {
    "stamp_ns": Channel((), "i8", 0, "ns since the epoch, when the picture was taken"),
    "received_ns": Channel((), "i8", 0, "ns since the epoch, when it reached the recorder"),
    "video_frame": Channel((), "i8", -1, "its number in the take's video, -1 where it is not in it"),
}


def begin(session: Session, attributes: Mapping[str, Any], manifest: Mapping[str, str]) -> None:
    """Write ``episodes.hdf5`` of a new session, without episodes.

    Args:
        session: whose.
        attributes: of the file; ``schema_version`` comes by itself.
        manifest: what was recorded with what: texts below ``manifest/``.
    """
    temporary = session.hdf5.with_suffix(".new")
    with h5py.File(temporary, "w") as file:
        file.attrs["schema_version"] = SCHEMA_VERSION
        for name, value in attributes.items():
            file.attrs[name] = value
        for name, text in manifest.items():
            file.create_dataset(f"manifest/{name}", data=text, dtype=h5py.string_dtype())
        file.create_group("episodes")
    _replace(temporary, session.hdf5)


def link(session: Session, index: int) -> None:
    """Let ``episodes.hdf5`` link to a take's own file; a kill in between leaves the old file or the new."""
    temporary = _copy(session)
    with h5py.File(temporary, "a") as file:
        file[f"episodes/{episode_name(index)}"] = h5py.ExternalLink(f"takes/{session.take(index).name}", "/")
    _replace(temporary, session.hdf5)


def unlink(session: Session, index: int) -> None:
    """Take a discarded take out of ``episodes.hdf5``."""
    temporary = _copy(session)
    with h5py.File(temporary, "a") as file:
        file["episodes"].pop(episode_name(index), None)
    _replace(temporary, session.hdf5)


def gather(session: Session) -> list[int]:
    """Move the takes' own files into ``episodes.hdf5`` and return which.

    Raises:
        OSError: a file cannot be read or written; then everything is as it was.
    """
    files = session.take_files()
    if not files:
        return []
    temporary = _copy(session, sum(path.stat().st_size for path in files.values()))
    with h5py.File(temporary, "a") as target:
        episodes = target.require_group("episodes")
        for index, path in files.items():
            name = episode_name(index)
            if name in episodes:
                del episodes[name]
            with h5py.File(path, "r") as take:
                group = episodes.create_group(name)
                for key, value in take.attrs.items():
                    group.attrs[key] = value
                for key in take:
                    take.copy(key, group)
    _replace(temporary, session.hdf5)
    for index, path in files.items():
        path.unlink()
        session.note(index).unlink(missing_ok=True)
    return list(files)


def set_attributes(session: Session, attributes: Mapping[str, Any]) -> None:
    """Set attributes of ``episodes.hdf5`` itself."""
    temporary = _copy(session)
    with h5py.File(temporary, "a") as file:
        for name, value in attributes.items():
            file.attrs[name] = value
    _replace(temporary, session.hdf5)


def _copy(session: Session, more: int = 0) -> Path:
    """Return a copy to work in, with room for ``more`` [bytes].

    Raises:
        OSError: the disk has no room.
    """
    temporary = session.hdf5.with_suffix(".new")
    try:
        shutil.copyfile(session.hdf5, temporary)
        with temporary.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size + more + _SPARE)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _try_room(path: Path, size: int) -> None:
    """Raise OSError when the disk has no room for ``size`` [bytes]."""
    try:
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    finally:
        path.unlink(missing_ok=True)


def _replace(temporary: Path, target: Path) -> None:
    """Put a finished file in place of the old, whole or not at all."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, target)
