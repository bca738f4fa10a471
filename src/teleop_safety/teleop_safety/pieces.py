"""The robot's links as convex pieces that contain their meshes: made once, in some minutes, and cached."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from teleop_common import cache as caching
from teleop_common.limits import RobotLimits
from teleop_description import hulls
from teleop_description.assets import digest
from teleop_safety import splitting
from teleop_safety.capsules import Points

_VERSION = "pieces-v1"  # of the cuts and the file; a new one makes old caches void
_MOST = 10  # pieces of a link
_CORNERS = 64  # of a piece
_DEVIATION = 3e-4  # that is good enough [m]


class Piece(NamedTuple):
    """A convex part of what one joint carries.

    Attributes:
        joint: the joint's index in the arm's Pinocchio model, 0 for what stands on the base.
        corners: in the joint's frame, shape (n, 3) [m].
        radius: by which it must be inflated to contain its part of the mesh [m].
    """

    joint: int
    corners: Points
    radius: float


def folder() -> Path:
    """Return where caches lie: ``$XDG_CACHE_HOME/xr-teleop/guard``, else below ``~/.cache``."""
    return caching.folder("guard")


def cache(limits: RobotLimits, where: Path | None = None) -> Path:
    """Return the file in which a robot's pieces are cached, below ``where`` (None: ``folder()``).

    Raises:
        ConfigError: the robot has no URDF.
    """
    return (where or folder()) / f"{limits.robot}-{digest(limits, _VERSION)}.npz"


def cached(limits: RobotLimits, where: Path | None = None) -> tuple[Piece, ...] | None:
    """Return a robot's pieces from the cache, None when they are not there or damaged."""
    try:
        data = unpacked(cache(limits, where).read_bytes())
        return tuple(Piece(int(j), data[f"corners{i}"], float(data["radii"][i])) for i, j in enumerate(data["joints"]))
    except (OSError, ValueError, KeyError):
        return None


def make(limits: RobotLimits) -> tuple[Piece, ...]:
    """Return the pieces of a robot's links, computed from its collision geometry: about 15 s a link.

    Raises:
        ConfigError: a mesh that cannot be read.
    """
    made = []
    for joint, triangles in sorted(hulls.surfaces(limits).items()):
        for part in splitting.split(triangles, _MOST):
            corners, radius = splitting.thin(part.reshape(-1, 3), _CORNERS, _DEVIATION)
            made.append(Piece(joint, corners, radius))
    return tuple(made)


def store(path: Path, pieces: tuple[Piece, ...]) -> None:
    """Write the cache.

    Raises:
        OSError: it cannot be written.
    """
    arrays: dict[str, Points] = {"joints": np.array([p.joint for p in pieces]), "radii": np.array([p.radius for p in pieces])}
    arrays.update({f"corners{i}": piece.corners for i, piece in enumerate(pieces)})
    caching.write_atomically(path, packed(arrays))


def packed(arrays: Mapping[str, Points]) -> bytes:
    """Return the bytes of a file that keeps ``arrays`` by name."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpacked(data: bytes) -> dict[str, Points]:
    """Undo ``packed``.

    Raises:
        ValueError: damaged; a loss of power may leave a file empty or short.
    """
    try:
        with np.load(io.BytesIO(data)) as archive:
            return dict(archive)
    except (EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"no arrays: {error}") from error
