"""The robot's links as the collision filter sees them: convex hulls of the collision meshes, and a capsule around each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from teleop_common import cache
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description import hulls
from teleop_description.assets import digest
from teleop_safety import capsules, pieces
from teleop_safety.capsules import Capsule, Points

_VERSION = "v1"  # of the fit and the file; a new one makes old caches void


class LinkShape(NamedTuple):
    """All that one joint carries, rigidly.

    Attributes:
        name: name of the link, without an arm's prefix.
        joint: the joint's index in the arm's Pinocchio model, 0 for what stands on the base.
        hull: corners of the convex hull of its collision meshes, in the joint's frame, shape (n, 3) [m].
        capsule: contains the hull.
    """

    name: str
    joint: int
    hull: Points
    capsule: Capsule


def load(limits: RobotLimits, folder: Path | None = None) -> tuple[LinkShape, ...]:
    """Return the shapes of a robot's links, base first; from the cache when the model is the one cached.

    Args:
        limits: the robot.
        folder: where to cache; None means ``$XDG_CACHE_HOME/xr-teleop/guard``, else below ``~/.cache``.

    Raises:
        ConfigError: the URDF has no collision geometry, or a mesh that cannot be read.
    """
    target = (folder or pieces.folder()) / f"{limits.robot}-{digest(limits, _VERSION)}.npz"
    return cache.kept(target, _unpack, lambda: make(limits), _pack)


def make(limits: RobotLimits) -> tuple[LinkShape, ...]:
    """Return the shapes of a robot's links, computed from its collision geometry (some seconds for an SO-101).

    Raises:
        ConfigError: see ``load``.
    """
    found = hulls.clouds(limits)
    if not found.points:
        raise ConfigError("model", limits.urdf, 0, "a URDF with collision geometry", "add <collision> elements", limits.source)
    shapes = []
    for joint in sorted(found.points):
        hull = hulls.hull(found.points[joint])
        shapes.append(LinkShape(found.names[joint], joint, hull, capsules.fit(hull)))
    return tuple(shapes)


def _pack(shapes: tuple[LinkShape, ...]) -> bytes:
    arrays: dict[str, Points] = {"names": np.array([s.name for s in shapes]), "joints": np.array([s.joint for s in shapes])}
    for i, shape in enumerate(shapes):
        arrays[f"hull{i}"] = shape.hull
        arrays[f"capsule{i}"] = np.concatenate((shape.capsule.start, shape.capsule.end, [shape.capsule.radius]))
    return pieces.packed(arrays)


def _unpack(stored: bytes) -> tuple[LinkShape, ...]:
    shapes, data = [], pieces.unpacked(stored)
    for i, (name, joint) in enumerate(zip(data["names"], data["joints"])):
        c = data[f"capsule{i}"]
        shapes.append(LinkShape(str(name), int(joint), data[f"hull{i}"], Capsule(c[:3], c[3:6], float(c[6]))))
    return tuple(shapes)
