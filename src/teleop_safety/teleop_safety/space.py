"""All arms, the bench and the boxes of the cell as one Pinocchio model, and the pairs that are kept apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_common.records import Pose as RecordPose
from teleop_description.models import arm_model
from teleop_description.pinocchio_compat import coal, convex_hull, joint_of, solid
from teleop_safety.capsules import Capsule, Points
from teleop_safety.layer import Pair, Solid
from teleop_safety.pieces import Piece
from teleop_safety.reach import Reach, anchor, reach
from teleop_safety.shapes import LinkShape

BENCH, HELD = "bench", "held_object"
_STILL = 0.003  # [m], a pair whose distance changes less stands still
_SAMPLES = 200  # configurations at which that is looked for
_PRIMES = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0])  # whose roots are irrational to each other


class Body(NamedTuple):
    """One geometry.

    Attributes:
        name: ``left_wrist_link``, ``bench``, or a box's name.
        arm: its arm, empty for what is fixed in the cell.
        joint: its joint's index in the whole model, 0 for what does not move.
        hull: corners in the joint's frame, shape (n, 3) [m], empty for what is fixed in the cell, and for a held object.
        held: it is what the arm's gripper holds, when it holds something.
    """

    name: str
    arm: str
    joint: int
    hull: Points
    held: bool = False


class Space(NamedTuple):
    """The model.

    Attributes:
        model: joints of every arm, in the order of ``arms`` and of each arm's joints.
        coarse: capsules, boxes and the bench, with the pairs below as its collision pairs, in that order.
        fine: the same with convex hulls for capsules, without the bench and its pairs.
        capsules: the coarse solids, by geometry index.
        hulls: the fine ones.
        bodies: by geometry index.
        pairs: links against links and boxes, then links against the bench.
        floor: index of the first pair against the bench.
        width: joints of one arm.
        anchors: of each pair the last joint that moves both alike, 0 for none.
        reach: how joints move the pairs before ``floor``.
        fall: how joints move those from ``floor`` on.
        grasp: how far a gripper must be measured beyond its command to hold something [rad], below zero for one whose joint
            closes upwards; 0: nothing that is held counts.
    """

    model: pin.Model
    coarse: pin.GeometryModel
    fine: pin.GeometryModel
    capsules: tuple[Solid, ...]
    hulls: tuple[Solid, ...]
    bodies: tuple[Body, ...]
    pairs: tuple[tuple[int, int], ...]
    floor: int
    width: int
    anchors: tuple[int, ...]
    reach: Reach
    fall: Reach
    grasp: float

    def held(self, arm: str) -> tuple[int, ...]:
        """Return the pairs of what the gripper of ``arm`` may hold."""
        return tuple(
            k for k, pair in enumerate(self.pairs) if any(self.bodies[i].held and self.bodies[i].arm == arm for i in pair)
        )

    def alike(self) -> tuple[Pair, ...]:
        """Return the pairs of layers that have one solid for each body."""
        return tuple(Pair(k, a, b, anchor) for k, ((a, b), anchor) in enumerate(zip(self.pairs, self.anchors)))


def _se3(pose: RecordPose) -> pin.SE3:
    return pin.XYZQUATToSE3(np.array([*pose.position, *pose.orientation]))


def _in(place: pin.SE3, points: Points) -> Points:
    result: Points = points @ place.rotation.T + place.translation
    return result


def _capsule(capsule: Capsule) -> tuple[coal.Capsule, pin.SE3]:
    """Return coal's capsule, along its own z, and its placement."""
    axis = capsule.end - capsule.start
    length = float(np.linalg.norm(axis))
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis if length > 0.0 else np.array([0.0, 0.0, 1.0]))
    return coal.Capsule(capsule.radius, length), pin.SE3(turn.toRotationMatrix(), 0.5 * (capsule.start + capsule.end))


def build(arms: tuple[str, ...], limits: RobotLimits, cell: Cell, shapes: tuple[LinkShape, ...]) -> Space:
    """Return the space of ``arms`` on their mounts in ``cell``."""
    one = arm_model(limits)
    model, coarse, fine, bodies = pin.Model(), pin.GeometryModel(), pin.GeometryModel(), []
    capsules: list[Solid] = []
    around: list[Solid] = []
    hulls = [convex_hull(shape.hull, faces=True) for shape in shapes]
    for arm in arms:
        first, mount = model.njoints - 1, _se3(cell.mount(arm))
        for joint in range(1, one.njoints):
            parent, placement = one.parents[joint], one.jointPlacements[joint]
            under = first + parent if parent else 0
            model.addJoint(under, one.joints[joint], placement if parent else mount * placement, f"{arm}_{one.names[joint]}")
        for shape, hull in zip(shapes, hulls):
            joint = first + shape.joint if shape.joint else 0
            capsule, placement = _capsule(shape.capsule)
            bodies.append(Body(f"{arm}_{shape.name}", arm, joint, shape.hull))
            base = pin.SE3.Identity() if joint else mount
            coarse.addGeometryObject(solid(bodies[-1].name, joint, base * placement, capsule))
            fine.addGeometryObject(solid(bodies[-1].name, joint, base, hull))
            index, ends = len(capsules), np.array([shape.capsule.start, shape.capsule.end])
            capsules.append(Solid(index, joint, _in(base, ends), shape.capsule.radius, drawn=True))
            around.append(Solid(index, joint, _in(base, shape.hull)))
        if cell.held_object is not None and limits.gripper is not None:
            frame, ball = one.frames[one.getFrameId(limits.tip_link)], coal.Sphere(cell.held_object.radius)
            joint, place = first + joint_of(frame), frame.placement * pin.SE3(np.eye(3), np.array(cell.held_object.centre))
            bodies.append(Body(f"{arm}_{HELD}", arm, joint, np.empty((0, 3)), held=True))
            for geometry, solids in ((coarse, capsules), (fine, around)):
                geometry.addGeometryObject(solid(bodies[-1].name, joint, place, ball))
                centre = np.array([place.translation])
                solids.append(Solid(len(solids), joint, centre, cell.held_object.radius, drawn=True))
    for box in cell.boxes:
        place = _se3(RecordPose(box.position, (0.0, 0.0, float(np.sin(box.yaw / 2)), float(np.cos(box.yaw / 2)))))
        bodies.append(Body(box.name, "", 0, np.empty((0, 3))))
        corners = _in(place, 0.5 * np.array(box.size) * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]))
        for geometry, solids in ((coarse, capsules), (fine, around)):
            geometry.addGeometryObject(solid(box.name, 0, place, coal.Box(*box.size)))
            solids.append(Solid(len(solids), 0, corners))
    bodies.append(Body(BENCH, "", 0, np.empty((0, 3))))
    level = coal.Halfspace(np.array([0.0, 0.0, 1.0]), cell.bench_height)
    coarse.addGeometryObject(solid(BENCH, 0, pin.SE3.Identity(), level))
    capsules.append(Solid(len(capsules), 0, np.zeros((1, 3))))
    joints = one.lowerPositionLimit, one.upperPositionLimit
    low, high = (np.tile(values, len(arms)) for values in joints)
    pairs, floor = _pairs(model, coarse, tuple(bodies))
    still = _still(model, fine, tuple(bodies), pairs[:floor], low, high)
    pairs = tuple(pair for k, pair in enumerate(pairs) if k not in still)
    floor -= len(still)
    for k, (a, b) in enumerate(pairs):
        coarse.addCollisionPair(pin.CollisionPair(a, b))
        if k < floor:
            fine.addCollisionPair(pin.CollisionPair(a, b))
    sides = [(bodies[a].joint, bodies[b].joint) for a, b in pairs]
    radii = [0.0] * model.njoints
    for part in (*capsules, *around):
        radii[part.joint] = max(radii[part.joint], float(np.linalg.norm(part.corners, axis=1).max()))
    return Space(
        model,
        coarse,
        fine,
        tuple(capsules),
        tuple(around),
        tuple(bodies),
        pairs,
        floor,
        one.nv,
        tuple(anchor(model, *pair) for pair in sides),
        reach(model, sides[:floor], radii),
        reach(model, sides[floor:], radii),
        _grasp(limits, cell),
    )


def _grasp(limits: RobotLimits, cell: Cell) -> float:
    if cell.held_object is None or limits.gripper is None:
        return 0.0
    return cell.held_object.slack if limits.gripper.open > limits.gripper.closed else -cell.held_object.slack


class Parts(NamedTuple):
    """The bodies of a space in convex pieces.

    Attributes:
        geometry: coal's shapes, with the pairs as its collision pairs.
        solids: by geometry index.
        pairs: by group, which is a pair of bodies of the space.
    """

    geometry: pin.GeometryModel
    solids: tuple[Solid, ...]
    pairs: tuple[Pair, ...]


def in_pieces(space: Space, pieces: tuple[Piece, ...]) -> Parts:
    """Return the bodies of ``space`` as ``pieces`` of the robot's links, which must be those of its shapes; boxes as they are."""
    geometry = pin.GeometryModel()
    solids: list[Solid] = []
    first = {body.arm: body.joint - 1 for body in reversed(space.bodies) if body.joint}
    shapes = [convex_hull(piece.corners, faces=True) for piece in pieces]
    of_body: list[list[int]] = []
    for index, body in enumerate(space.bodies[: len(space.hulls)]):
        base, of = space.fine.geometryObjects[index].placement, []
        own = [i for i, piece in enumerate(pieces) if _carries(body, piece, first)]
        for i in own:
            of.append(len(solids))
            geometry.addGeometryObject(solid(f"{body.name}_{len(of)}", body.joint, base, shapes[i]))
            solids.append(Solid(index, body.joint, _in(base, pieces[i].corners), pieces[i].radius))
        if not own:
            of.append(len(solids))
            geometry.addGeometryObject(solid(body.name, body.joint, base, space.fine.geometryObjects[index].geometry))
            solids.append(space.hulls[index])
        of_body.append(of)
    pairs = tuple(
        Pair(k, one, two, space.anchors[k])
        for k, (a, b) in enumerate(space.pairs[: space.floor])
        for one in of_body[a]
        for two in of_body[b]
    )
    for pair in pairs:
        geometry.addCollisionPair(pin.CollisionPair(pair.one, pair.two))
    return Parts(geometry, tuple(solids), pairs)


def _carries(body: Body, piece: Piece, first: dict[str, int]) -> bool:
    """Tell whether ``piece`` is a part of ``body``; ``first``: the model's joints before those of each arm."""
    return bool(body.arm) and not body.held and piece.joint == (body.joint and body.joint - first[body.arm])


def _pairs(model: pin.Model, geometry: pin.GeometryModel, bodies: tuple[Body, ...]) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return all pairs that can close, within an arm too, minus adjacent ones and those overlapping at zero; bench last.

    A pair of one arm is adjacent when one joint carries both, or one carries the other's. Overlapping at zero is judged
    by the capsules: it takes out neighbours but one, such as the SO-101's wrist and jaw, which stand millimetres apart
    whatever the joints do and would otherwise block each other for ever. What a gripper holds is adjacent to its hand, and is
    set down on the bench.
    """
    candidates, floor, rising = [], [], _rising(model)
    for a, one in enumerate(bodies):
        for b in range(a + 1, len(bodies)):
            two = bodies[b]
            if not one.joint and not two.joint:
                continue
            if two.name == BENCH:
                if one.joint in rising and not one.held:
                    floor.append((a, b))
            elif one.arm != two.arm or not _adjacent(model, one.joint, two.joint):
                candidates.append((a, b))
    data, placed = model.createData(), geometry.createData()
    pin.updateGeometryPlacements(model, data, geometry, placed, pin.neutral(model))
    kept = []
    for a, b in candidates:
        if bodies[a].arm == bodies[b].arm:
            result = coal.DistanceResult()
            first, second = geometry.geometryObjects[a].geometry, geometry.geometryObjects[b].geometry
            if coal.distance(first, placed.oMg[a], second, placed.oMg[b], coal.DistanceRequest(), result) <= 0.0:
                continue
        kept.append((a, b))
    return (*kept, *floor), len(kept)


def _still(
    model: pin.Model,
    geometry: pin.GeometryModel,
    bodies: tuple[Body, ...],
    pairs: tuple[tuple[int, int], ...],
    low: Points,
    high: Points,
) -> set[int]:
    """Return the pairs of one arm that nothing moves nearer: apart, and the distance the same within ``_STILL`` at any joints.

    A wrist's links may stand nearer than the margin by construction, as the UR5's first and third do at 14 mm; a joint between
    them that changes that by a tenth of a millimetre would be blocked.

    Args:
        model: all arms.
        geometry: their hulls.
        bodies: by geometry index.
        pairs: links against links.
        low: lower limits of all joints [rad].
        high: upper limits [rad].
    """
    own = [k for k, (a, b) in enumerate(pairs) if bodies[a].arm == bodies[b].arm]
    data, placed = model.createData(), geometry.createData()
    least, most = dict.fromkeys(own, np.inf), dict.fromkeys(own, -np.inf)
    for sample in range(_SAMPLES):
        # a Kronecker sequence fills the joints' ranges evenly, and the same at every start
        share = np.mod(0.5 + (sample + 1) * np.sqrt(_PRIMES[np.arange(len(low)) % len(_PRIMES)]), 1.0)
        pin.updateGeometryPlacements(model, data, geometry, placed, low + share * (high - low))
        for k in [k for k in own if most[k] - least[k] < _STILL]:
            a, b = pairs[k]
            result = coal.DistanceResult()
            first, second = geometry.geometryObjects[a].geometry, geometry.geometryObjects[b].geometry
            distance = coal.distance(first, placed.oMg[a], second, placed.oMg[b], coal.DistanceRequest(), result)
            least[k], most[k] = min(least[k], distance), max(most[k], distance)
    return {k for k in own if most[k] - least[k] < _STILL and least[k] > _STILL}


def _rising(model: pin.Model) -> set[int]:
    """Return the joints whose links can change their height: turning about the vertical (within 0.1 mm a metre) does not."""
    data, found = model.createData(), set()
    for turn in (0.3, 0.7):
        pin.forwardKinematics(model, data, pin.neutral(model))
        rest = [(place.rotation[2].copy(), place.translation[2]) for place in data.oMi]
        pin.forwardKinematics(model, data, np.full(model.nq, turn))
        for joint in range(1, model.njoints):
            place = data.oMi[joint]
            if np.abs(place.rotation[2] - rest[joint][0]).max() + abs(place.translation[2] - rest[joint][1]) > 1e-4:
                found.add(joint)
    return found


def _adjacent(model: pin.Model, one: int, two: int) -> bool:
    """Return whether one joint carries both bodies, or one is the other's parent (0 is the arm's own base)."""
    return one == two or model.parents[one] == two or model.parents[two] == one
