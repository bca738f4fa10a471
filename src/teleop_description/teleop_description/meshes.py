"""Decimated visual meshes, made once and cached: full ones cost 160 ms a frame in software GL.

The cache is keyed by the content of the source and the settings of the decimation, so it never goes stale, and written
by rename, so that two processes starting at once, or a kill in between, leave no half file.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import fast_simplification
import numpy as np
from numpy.typing import NDArray

from teleop_common import cache
from teleop_common.cache import write_atomically
from teleop_common.errors import ConfigError

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 80


def read_stl(path: Path) -> NDArray[np.float32]:
    """Return the triangles of a binary STL file, shape (n, 3, 3), in the file's unit.

    Raises:
        ConfigError: the file is unreadable or no binary STL.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError("mesh", path.name, error.strerror, "a readable STL file", "reinstall the model", str(path)) from error
    count = int.from_bytes(data[_HEADER : _HEADER + 4], "little")
    if len(data) != _HEADER + 4 + count * _TRIANGLE.itemsize:
        raise ConfigError("mesh", path.name, f"{len(data)} bytes", "a whole binary STL file", "reinstall the model", str(path))
    return np.frombuffer(data, _TRIANGLE, count, _HEADER + 4)["corners"]


def stl_bytes(triangles: NDArray[np.floating]) -> bytes:
    """Return a binary STL of ``triangles``, shape (n, 3, 3)."""
    records = np.zeros(len(triangles), _TRIANGLE)
    records["corners"] = triangles
    edges = triangles[:, 1:] - triangles[:, :1]
    normals = np.cross(edges[:, 0], edges[:, 1])
    records["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return bytes(_HEADER) + len(triangles).to_bytes(4, "little") + records.tobytes()


def decimate(triangles: NDArray[np.floating], keep: float, grid: float) -> NDArray[np.floating]:
    """Return a mesh of fewer triangles.

    Corners are snapped to a grid first: a CAD export's slivers and hairline gaps otherwise stop the edge collapse at a
    third of the triangles.

    Args:
        triangles: shape (n, 3, 3) [m].
        keep: share of the triangles to keep, of those left after snapping.
        grid: width of the snapping grid [m].
    """
    cells = np.round(triangles.reshape(-1, 3) / grid).astype(np.int64)
    unique, inverse = np.unique(cells, axis=0, return_inverse=True)
    faces = inverse.reshape(-1, 3)
    solid = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = faces[solid]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    faces = faces[np.sort(first)]
    count = min(len(faces), max(400, int(len(faces) * keep)))
    # in grid units the library's absolute error thresholds, made for models of size 1 to 1000, fit
    points, faces = fast_simplification.simplify(unique.astype(np.float32), faces.astype(np.int32), target_count=count, agg=5)
    result: NDArray[np.floating] = (np.asarray(points, np.float64) * grid)[np.asarray(faces)]
    return result


def slabs(triangles: NDArray[np.floating], axis: int, thickness: float) -> list[NDArray[np.float64]]:
    """Return the corners of a surface cut into slabs, whose convex hulls follow it where one hull would fill its hollows.

    Args:
        triangles: shape (n, 3, 3) [m].
        axis: index of the coordinate across which to cut.
        thickness: least thickness of a slab [m].

    Returns:
        A point set a slab, each of shape (m, 3) [m].
    """
    corners = np.asarray(triangles, np.float64)
    low, high = corners[..., axis].min(), corners[..., axis].max()
    edges = np.linspace(low, high, max(1, int((high - low) / thickness)) + 1)
    starts, ends = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
    crossings = []
    for plane in edges:
        rise = ends[:, axis] - starts[:, axis]
        crossing = (starts[:, axis] - plane) * (ends[:, axis] - plane) < 0.0
        share = (plane - starts[crossing, axis]) / rise[crossing]
        points = starts[crossing] + share[:, None] * (ends[crossing] - starts[crossing])
        points[:, axis] = plane
        crossings.append(points)
    parts = []
    for index in range(len(edges) - 1):
        inside = (starts[:, axis] >= edges[index]) & (starts[:, axis] <= edges[index + 1])
        parts.append(np.unique(np.concatenate([starts[inside], crossings[index], crossings[index + 1]]), axis=0))
    return parts


def cache_dir() -> Path:
    """Return the folder of cached meshes: ``$XDG_CACHE_HOME/xr-teleop/meshes``, else below ``~/.cache``."""
    return cache.folder("meshes")


def decimated(source: Path, keep: float, grid: float, folder: Path | None = None) -> Path:
    """Return the decimated copy of an STL file, made on first use.

    Args:
        source: binary STL file [m].
        keep: see ``decimate``.
        grid: see ``decimate`` [m]; also about the largest error of the surface.
        folder: where to cache; None means ``cache_dir()``.

    Raises:
        ConfigError: the source is unreadable.
    """
    folder = folder or cache_dir()
    content = source.read_bytes() if source.is_file() else b""
    settings = f"v1 keep={keep!r} grid={grid!r} library={fast_simplification.__version__}"
    key = hashlib.sha256(content + settings.encode()).hexdigest()[:20]
    target = folder / f"{source.stem}-{key}.stl"
    if not target.exists():
        write_atomically(target, stl_bytes(decimate(read_stl(source), keep, grid)))
    return target
