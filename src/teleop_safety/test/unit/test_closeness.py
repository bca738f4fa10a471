"""How near two level hands may bring their fingertips: a hand-off must be possible."""

import numpy as np
import pinocchio as pin
import pytest
from guard_space import collision, fine, scene
from guard_world import ROBOT

from teleop_description.models import arm_model
from teleop_description.pinocchio_compat import joint_of
from teleop_safety import commit, motion
from teleop_safety.commit import Motion
from teleop_safety.settings import Settings
from teleop_safety.state import ArmState, Target

ARMS = ("left", "right")
LIMITS = motion.motion_limits(ROBOT)
PITCH = np.array([0.0, 1.0, 1.0, 1.0, 0.0])  # the joints that tilt the hand, by as much each


def tips():
    """Return the fixed jaw's tip in its joint's frame, the joint in one arm, and the way the hand points there."""
    one = arm_model(ROBOT)
    frame = one.frames[one.getFrameId(ROBOT.tip_link)]
    return frame.placement.translation, joint_of(frame), frame.placement.rotation


def state_of(q):
    """Return both tips in world, how they move with the joints, and by how much the hands point upwards."""
    model = scene().model
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    point, joint, turn = tips()
    where, slopes, rise = [], [], []
    for i in range(2):
        index = joint + i * scene().width
        place = data.oMi[index]
        at = place.act(point)
        jacobian = pin.getJointJacobian(model, data, index, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        lever = at - place.translation
        slopes.append(jacobian[:3] + np.cross(jacobian[3:].T, lever).T)
        where.append(at)
        rise.append((place.rotation @ turn)[2, 2])
    return where, slopes, rise


def approach(guard, steps=400):
    """Both hands drive their tips together, level; return the least distance between the tips while level [m]."""
    best = np.inf
    arms = {}
    for arm, pan in zip(ARMS, (0.35, -0.35)):
        ref = (pan, 0.2, -0.2, 0.0, 0.0486795, 0.0)
        arms[arm] = ArmState(engage=1, reference=ref, filtered=ref, measured=ref, velocity=(0.0,) * 6)
    for k in range(steps):
        q = np.array([v for arm in ARMS for v in arms[arm].reference])
        where, slopes, rise = state_of(q)
        gap = where[1] - where[0]
        if max(map(abs, rise)) < 0.05:
            best = min(best, float(np.linalg.norm(gap)))
        moves = {}
        for i, arm in enumerate(ARMS):
            state = arms[arm]
            state.measured = state.reference
            way = (gap if i == 0 else -gap) @ slopes[i][:, 6 * i : 6 * i + 5]
            way = way - PITCH * (way @ PITCH) / 3.0
            way = 0.1 * way / max(np.linalg.norm(way), 1e-9) + PITCH * rise[i] / 3.0
            target = (*(np.array(state.reference[:5]) + way), 0.0)
            moves[arm] = Motion(Target(target, (0,) * 6, k, 1 + k), 1.0 / 90.0)
        commit.advance(arms, moves, guard, LIMITS, Settings(), k)
    return best


@pytest.mark.parametrize("geometry", ["pieces", "hulls"])
def test_level_hands_bring_their_fingertips_as_near_as_a_hand_off_needs(geometry):
    assert approach(fine() if geometry == "pieces" else collision()) <= 0.035
