"""The SO-101's shapes and spaces, made once for all tests."""

import fcntl
import functools
from pathlib import Path

import numpy as np
import pinocchio as pin
from guard_world import ROBOT

from teleop_common import cell
from teleop_description.pinocchio_compat import coal
from teleop_safety import pieces, shapes, space
from teleop_safety.collision import CollisionFilter

CELL = cell.load(Path(__file__).parents[4] / "config" / "cell.yaml")
MARGIN, FLOOR = 0.015, 0.001


@functools.cache
def links():
    return shapes.load(ROBOT)


@functools.cache
def scene(arms=("left", "right")):
    return space.build(arms, ROBOT, CELL, links())


def collision(arms=("left", "right"), geometry="hulls"):
    return CollisionFilter(arms, scene(arms), MARGIN, FLOOR, len(ROBOT.joints), geometry)


def true_distances(space, pose):
    """Distances of the convex hulls, each pair by itself: the judge's judge."""
    q = np.array([v for arm in ("left", "right") for v in pose[arm]])
    data, placed = space.model.createData(), space.fine.createData()
    pin.updateGeometryPlacements(space.model, data, space.fine, placed, q)
    shapes = [g.geometry for g in space.fine.geometryObjects]
    result = []
    for a, b in space.pairs[: space.floor]:
        answer = coal.DistanceResult()
        result.append(coal.distance(shapes[a], placed.oMg[a], shapes[b], placed.oMg[b], coal.DistanceRequest(), answer))
    return result


@functools.cache
def made():
    """The SO-101's pieces; the first test of a machine makes them, for all to come."""
    found = pieces.cached(ROBOT)
    if found is None:
        pieces.cache(ROBOT).parent.mkdir(parents=True, exist_ok=True)
        with open(pieces.cache(ROBOT).with_suffix(".test"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = pieces.cached(ROBOT)
            if found is None:
                found = pieces.make(ROBOT)
                pieces.store(pieces.cache(ROBOT), found)
    return found


@functools.cache
def fine():
    """The two arms' filter on pieces."""
    return collision().in_pieces(made())
