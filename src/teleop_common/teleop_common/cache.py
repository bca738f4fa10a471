"""Files that are made once and kept below ``$XDG_CACHE_HOME/xr-teleop``, else ``~/.cache/xr-teleop``."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")


def folder(kind: str) -> Path:
    """Return where files of one kind are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xr-teleop" / kind


def write_atomically(target: Path, data: bytes) -> None:
    """Write a file so that a reader, a second writer, or a kill in between, sees the whole of it or nothing.

    Raises:
        OSError: it cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def kept(target: Path, read: Callable[[bytes], Made], make: Callable[[], Made], dump: Callable[[Made], bytes]) -> Made:
    """Return what ``target`` keeps; where that is absent or damaged, what ``make`` makes, kept from then on.

    Args:
        target: the file.
        read: its bytes → what they stand for; may raise ValueError, KeyError or TypeError.
        make: makes it anew.
        dump: the inverse of ``read``.
    """
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return read(target.read_bytes())
    made = make()
    with contextlib.suppress(OSError):  # a home that cannot be written costs the next start some seconds, no more
        write_atomically(target, dump(made))
    return made
