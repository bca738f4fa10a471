"""What Pinocchio 2.7, the last for numpy 1 and so the one beside a ROS install, names otherwise than later ones.

Its collision library is hppfcl, since called coal; a frame's joint is its ``parent``; a geometry takes its arguments in another
order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

try:
    import coal
except ImportError:
    import hppfcl as coal

__all__ = ["coal", "convex_hull", "joint_of", "kept", "solid"]
_Vectors = getattr(coal, "StdVec_Vec3s", None) or coal.StdVec_Vec3f


def convex_hull(points: NDArray[np.float64], *, faces: bool) -> Any:
    """Return coal's convex shape that contains ``points``, shape (n, 3) [m].

    Args:
        points: corners, and perhaps others.
        faces: also find its triangles, without which it has corners and neighbours only.
    """
    vectors = _Vectors()
    for point in points:
        vectors.append(point)
    return coal.ConvexBase.convexHull(vectors, faces, "Qt")


def joint_of(frame: pin.Frame) -> int:
    """Return the index of the joint that carries ``frame``."""
    return int(frame.parentJoint if hasattr(frame, "parentJoint") else frame.parent)


def solid(name: str, joint: int, placement: pin.SE3, shape: Any) -> pin.GeometryObject:
    """Return the geometry ``name`` of coal's ``shape``, at ``placement`` in the frame of ``joint``."""
    return pin.GeometryObject(name=name, parent_joint=joint, placement=placement, collision_geometry=shape)


def kept(places: Any) -> Any:
    """Return the placements of ``Data.oMi`` as they are now, by joint index: what is computed later does not change them."""
    return places.copy() if hasattr(places, "copy") else [place.copy() for place in places]
