"""The SO-101's shapes and spaces, made once for all tests."""

import functools
import tempfile
from pathlib import Path

from guard_world import ROBOT

from teleop_common import cell
from teleop_safety import shapes, space
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


@functools.cache
def scratch():
    return Path(tempfile.mkdtemp())
