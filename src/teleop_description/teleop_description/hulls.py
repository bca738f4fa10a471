"""Points of a robot's collision geometry, by the joint that carries them: what guard and retargeter keep off the bench."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits
from teleop_description.assets import package_dirs, urdf_path
from teleop_description.models import arm_models
from teleop_description.pinocchio_compat import coal, convex_hull

Points = NDArray[np.float64]


class Clouds(NamedTuple):
    """Collision geometry of one arm.

    Attributes:
        model: the arm's model.
        points: by joint index of the model (0 for what stands on the base), points whose convex hull contains what the
            joint carries, in the joint's frame, shape (n, 3) [m]; of a finger that mimics the gripper, its whole sweep.
        names: name of the first link that each of these joints carries.
    """

    model: pin.Model
    points: dict[int, Points]
    names: dict[int, str]


def clouds(limits: RobotLimits) -> Clouds:
    """Return the collision geometry of a robot; without any when its URDF has none.

    Raises:
        ConfigError: a mesh that cannot be read, or a shape that is neither mesh nor primitive.
    """
    models = arm_models(limits)
    parts: dict[int, list[Points]] = {}
    names: dict[int, str] = {}
    for model in models:
        for part in _geometry(model, limits).geometryObjects:
            parts.setdefault(part.parentJoint, []).append(_points(part, limits))
            names.setdefault(part.parentJoint, model.frames[part.parentFrame].name)
    return Clouds(models[0], {joint: np.vstack(parts[joint]) for joint in parts}, names)


def surfaces(limits: RobotLimits) -> dict[int, Points]:
    """Return the triangles of a robot's collision geometry by joint index, in the joint's frame, shape (n, 3, 3) [m].

    What stands still on its joint as it is; of a finger that mimics the gripper the hull of its whole sweep, of a primitive its
    box.

    Raises:
        ConfigError: see ``clouds``.
    """
    every = [_geometry(model, limits) for model in arm_models(limits)]
    found: dict[int, list[Points]] = {}
    for parts in zip(*(geometry.geometryObjects for geometry in every)):
        first = parts[0]
        swept = any(not part.placement.isApprox(first.placement) for part in parts)
        if swept or not isinstance(first.geometry, coal.BVHModelBase):
            triangles = _faces(np.vstack([_points(part, limits) for part in parts]))
        else:
            shape = first.geometry
            corners = _points(first, limits)
            order = np.array([[t[0], t[1], t[2]] for t in map(shape.tri_indices, range(shape.num_tris))])
            triangles = corners[order]
        found.setdefault(first.parentJoint, []).append(triangles)
    return {joint: np.concatenate(soup) for joint, soup in found.items()}


def _geometry(model: pin.Model, limits: RobotLimits) -> pin.GeometryModel:
    """Return the collision geometry of a robot's URDF on one of its models."""
    urdf = urdf_path(limits.urdf)
    folders = [str(folder) for folder in package_dirs(urdf)]
    try:
        return pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION, package_dirs=folders)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(
            "model", limits.urdf, str(error), "a URDF whose collision meshes can be read", "mend the URDF", str(urdf)
        ) from error


def _faces(points: Points) -> Points:
    """Return the triangles of the points' convex hull, shape (n, 3, 3)."""
    shape = convex_hull(np.unique(points, axis=0), faces=True)
    corners = np.asarray(shape.points())
    order = np.array([[t[0], t[1], t[2]] for t in map(shape.polygons, range(shape.num_polygons))])
    result: Points = corners[order]
    return result


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


def hull(points: Points) -> Points:
    """Return the corners of the convex hull."""
    return np.ascontiguousarray(np.asarray(convex_hull(np.unique(points, axis=0), faces=False).points()))
