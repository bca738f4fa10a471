"""The robot's links as the collision filter sees them: convex hulls of the collision meshes, and a capsule around each."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description.assets import urdf_path
from teleop_description.models import arm_model
from teleop_safety import capsules
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
    urdf = urdf_path(limits.urdf)
    cache = (folder or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xr-teleop" / "guard") / (
        f"{limits.robot}-{_key(urdf, limits)}.npz"
    )
    try:
        with np.load(cache) as data:
            return _unpack(dict(data))
    except (OSError, ValueError, KeyError):
        pass  # absent or damaged: made again
    shapes = make(urdf, limits)
    _store(cache, shapes)
    return shapes


def make(urdf: Path, limits: RobotLimits) -> tuple[LinkShape, ...]:
    """Return the shapes of a robot's links, computed from its collision geometry (some seconds for an SO-101).

    Raises:
        ConfigError: see ``load``.
    """
    model = arm_model(limits)
    try:
        geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(urdf.parent)])
    except (ValueError, RuntimeError) as error:
        raise ConfigError(
            "model", limits.urdf, str(error), "a URDF whose collision meshes can be read", "mend the URDF", str(urdf)
        ) from error
    clouds: dict[int, list[Points]] = {}
    names: dict[int, str] = {}
    for part in geometry.geometryObjects:
        clouds.setdefault(part.parentJoint, []).append(_points(part, limits))
        names.setdefault(part.parentJoint, model.frames[part.parentFrame].name)
    if not clouds:
        raise ConfigError("model", limits.urdf, 0, "a URDF with collision geometry", "add <collision> elements", str(urdf))
    shapes = []
    for joint in sorted(clouds):
        hull = _hull(np.vstack(clouds[joint]))
        shapes.append(LinkShape(names[joint], joint, hull, capsules.fit(hull)))
    return tuple(shapes)


def _points(part: pin.GeometryObject, limits: RobotLimits) -> Points:
    """Return points whose convex hull contains a geometry, in the frame of its joint."""
    shape = part.geometry
    if isinstance(shape, coal.BVHModelBase):
        local = np.asarray(shape.vertices())
    elif isinstance(shape, coal.ConvexBase):
        local = np.asarray(shape.points())
    elif isinstance(shape, coal.ShapeBase):
        # a primitive: the corners of its box contain it
        shape.computeLocalAABB()
        low, high = np.asarray(shape.aabb_local.min_), np.asarray(shape.aabb_local.max_)
        local = np.array(
            [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        )
    else:
        raise ConfigError(
            "collision shape", part.name, type(shape).__name__, "a mesh or a primitive", "mend the URDF", limits.urdf
        )
    result: Points = local @ part.placement.rotation.T + part.placement.translation
    return result


def _hull(points: Points) -> Points:
    """Return the corners of the convex hull."""
    unique = np.unique(points, axis=0)
    vector = coal.StdVec_Vec3s()
    for point in unique:
        vector.append(point)
    return np.ascontiguousarray(np.asarray(coal.ConvexBase.convexHull(vector, False, "Qt").points()))


def _key(urdf: Path, limits: RobotLimits) -> str:
    """Return a digest of everything the shapes follow from: URDF, meshes, chain."""
    digest = hashlib.sha256(f"{_VERSION} {limits.base_link} {limits.names}".encode())
    text = urdf.read_bytes()
    digest.update(text)
    for name in sorted(set(re.findall(rb'filename="([^"]+)"', text))):
        path = urdf.parent / re.sub(r"^(package|file)://", "", name.decode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _store(path: Path, shapes: tuple[LinkShape, ...]) -> None:
    """Write the cache by rename, so that a second process, or a kill in between, sees the whole or nothing."""
    arrays: dict[str, Points] = {"names": np.array([s.name for s in shapes]), "joints": np.array([s.joint for s in shapes])}
    for i, shape in enumerate(shapes):
        arrays[f"hull{i}"] = shape.hull
        arrays[f"capsule{i}"] = np.concatenate((shape.capsule.start, shape.capsule.end, [shape.capsule.radius]))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(buffer.getvalue())
        os.replace(temporary, path)
    except OSError:
        pass  # a home that cannot be written costs the next start some seconds, no more


def _unpack(data: dict[str, Points]) -> tuple[LinkShape, ...]:
    shapes = []
    for i, (name, joint) in enumerate(zip(data["names"], data["joints"])):
        c = data[f"capsule{i}"]
        shapes.append(LinkShape(str(name), int(joint), data[f"hull{i}"], Capsule(c[:3], c[3:6], float(c[6]))))
    return tuple(shapes)
