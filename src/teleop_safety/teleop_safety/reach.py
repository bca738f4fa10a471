"""How far a joint's motion can carry two bodies towards each other: bounds from the chain and the bodies' corners alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from teleop_safety.capsules import Points


class Reach(NamedTuple):
    """How joints move pairs of bodies against each other at most.

    Attributes:
        sway: by distance per angle of each joint, shape (pairs, nv) [m/rad].
        bend: by second derivative of a point's coordinate, by each two joints, shape (pairs, nv * nv) [m/rad²].
    """

    sway: Points
    bend: Points


def chain(model: pin.Model, joint: int) -> list[int]:
    """Return a joint and its ancestors, up to the fixed base."""
    found = []
    while joint:
        found.append(joint)
        joint = model.parents[joint]
    return found


def anchor(model: pin.Model, one: int, two: int) -> int:
    """Return the last joint that carries both, 0 for none."""
    other = chain(model, two)
    return next((joint for joint in chain(model, one) if joint in other), 0)


def reach(model: pin.Model, ends: list[tuple[int, int]], radii: list[float]) -> Reach:
    """Return the bounds of pairs of bodies.

    A joint that carries both bodies, or neither, moves them not against each other. Else no point of the body is farther from
    its axis than r, the sum of the links between and of the farthest corner. Per angle the point moves by r at most; the second
    derivative of its position by two angles is z_i x (z_j x (p - o_j)), j the outer joint (Siciliano, Robotics, 3.1), so at
    most the outer one's r. All joints turn.

    Args:
        model: joints of every arm.
        ends: the joints of each pair's bodies, 0 for what does not move.
        radii: by joint index, the farthest corner of what it carries from its origin [m].
    """
    nv = model.nv
    sway, bend = np.zeros((len(ends), nv)), np.zeros((len(ends), nv, nv))
    for k, pair in enumerate(ends):
        for one, other in (pair, pair[::-1]):
            apart, far, outer = chain(model, other), radii[one], []
            for joint in chain(model, one):
                if joint not in apart:
                    sway[k, joint - 1] = far
                    outer.append(joint - 1)
                    # paired with itself and with each joint farther out, whose own reach is the smaller
                    for known in outer:
                        bend[k, joint - 1, known] = bend[k, known, joint - 1] = sway[k, known]
                far += float(np.linalg.norm(model.jointPlacements[joint].translation))
    return Reach(sway, bend.reshape(len(ends), nv * nv))
