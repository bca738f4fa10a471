"""False alarms of the collision filter: how often it refuses two arms that are apart, by capsules, hulls and pieces.

Random configurations of both arms, most of them in front and turned to each other. Those whose original meshes, triangle by
triangle, keep more than the margin count; the share of them that a geometry calls nearer than the margin is its false alarms.
``python -m bench.clearance [COUNT]``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from teleop_common import cell, limits
from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_description.assets import package_dirs, urdf_path
from teleop_description.models import arm_model
from teleop_description.pinocchio_compat import solid
from teleop_safety import pieces, shapes, space
from teleop_safety.collision import CollisionFilter
from teleop_safety.space import Space

ROOT = Path(__file__).resolve().parents[1]
ARMS = ("left", "right")
MARGIN, FLOOR, SEED = 0.015, 0.001, 9


def draw(rng: np.random.Generator, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return joints of both arms [rad]; four in five in front and turned to each other, where they meet."""
    q = low + rng.random(12) * (high - low)
    if rng.random() < 0.8:
        q[[0, 6]] = rng.uniform(0.0, 1.2), rng.uniform(-1.2, 0.0)
        q[[1, 7]] = rng.uniform(-0.3, 1.0, 2)
        q[[2, 8]] = rng.uniform(-0.9, 0.6, 2)
    return q


def meshes(scene: Space, robot: RobotLimits, room: Cell) -> tuple[pin.GeometryModel, list[list[int]]]:
    """Return the original meshes of both arms, and for each pair of bodies the indices of its pairs of meshes."""
    urdf = urdf_path(robot.urdf)
    folders = [str(folder) for folder in package_dirs(urdf)]
    parts = pin.buildGeomFromUrdf(arm_model(robot), str(urdf), pin.GeometryType.COLLISION, package_dirs=folders).geometryObjects
    every = pin.GeometryModel()
    of_body: dict[int, list[int]] = {}
    for arm in ARMS:
        mount = room.mount(arm)
        base = pin.XYZQUATToSE3(np.array([*mount.position, *mount.orientation]))
        first = next(body.joint for body in scene.bodies if body.arm == arm and body.joint) - 1
        for part in parts:
            joint = part.parentJoint + first if part.parentJoint else 0
            body = next(i for i, b in enumerate(scene.bodies) if b.arm == arm and b.joint == joint)
            place = part.placement if joint else base * part.placement
            of_body.setdefault(body, []).append(every.addGeometryObject(solid(f"{arm}_{part.name}", joint, place, part.geometry)))
    groups: list[list[int]] = []
    for a, b in scene.pairs[: scene.floor]:
        groups.append([])
        for one in of_body.get(a, []):
            for two in of_body.get(b, []):
                groups[-1].append(len(every.collisionPairs))
                every.addCollisionPair(pin.CollisionPair(one, two))
    return every, groups


def run(count: int) -> dict[str, Any]:
    """Return the share of false alarms of each geometry among ``count`` configurations that are clear."""
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    scene = space.build(ARMS, robot, room, shapes.load(robot))
    filters = {each: CollisionFilter(ARMS, scene, MARGIN, FLOOR, len(robot.joints), each) for each in ("capsules", "hulls")}
    filters["pieces"] = filters["hulls"].in_pieces(pieces.cached(robot) or pieces.make(robot))
    every, groups = meshes(scene, robot, room)
    data, placed = scene.model.createData(), every.createData()
    low, high = (np.array([getattr(j, side) for j in robot.all_joints] * 2) for side in ("lower", "upper"))
    rng, clear, refused = np.random.default_rng(SEED), 0, dict.fromkeys(filters, 0)
    while clear < count:
        q = draw(rng, low, high)
        # hulls contain the meshes: who is clear by hulls is clear
        by_hulls = filters["hulls"].distances(q)
        pin.updateGeometryPlacements(scene.model, data, every, placed, q)
        close = [i for k, distance in enumerate(by_hulls) if distance <= MARGIN for i in groups[k]]
        if any(pin.computeDistance(every, placed, i).min_distance <= MARGIN for i in close):
            continue
        clear += 1
        for name, each in filters.items():
            refused[name] += min(each.distances(q)) < MARGIN
    return {name: round(number / clear, 5) for name, number in refused.items()} | {"configurations": clear}


if __name__ == "__main__":
    json.dump({"false_alarms": run(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)}, sys.stdout, indent=1)
    print()
