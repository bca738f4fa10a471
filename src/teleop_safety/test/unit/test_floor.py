"""No link goes below the bench, not where a step ends and not between: held against dense looking along random steps."""

import numpy as np
import pinocchio as pin
from guard_space import FLOOR, collision, scene
from guard_world import ROBOT
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_safety.floor import DIP, TOLERANCE

LOW = np.array([j.lower for j in ROBOT.all_joints])
HIGH = np.array([j.upper for j in ROBOT.all_joints])
AWAY = (-1.2, -0.87, 0.7, 0.955, 0.0, 0.0)  # the other arm
GUARD = collision()


def heights(joints):
    """Lowest point of each link of the left arm that can go down."""
    space = scene()
    data = space.model.createData()
    pin.forwardKinematics(space.model, data, np.array([*joints, *AWAY]))
    found = []
    for a, _bench in space.pairs[space.floor :]:
        body = space.bodies[a]
        if body.arm == "left":
            place = data.oMi[body.joint]
            found.append((body.hull @ place.rotation.T + place.translation)[:, 2].min())
    return np.array(found)


def lowered(joints):
    """The arm let down by its shoulder until its lowest link is 2 mm above the bench, None when that is not to be had."""
    if heights(joints).min() < 0.002:
        return None
    for lift in np.arange(joints[1], HIGH[1], 0.02):
        q = np.array([joints[0], lift, *joints[2:]])
        if heights(q).min() < 0.002:
            break
        joints = q
    return joints


def kept(before, after):
    both = {"left": tuple(before), "right": AWAY}
    verdict = GUARD.judge(both, {"left": tuple(after)}, both)
    return before + verdict.floor.get("left", 1.0) * (after - before)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6),
    st.lists(st.floats(-0.5, 0.5), min_size=5, max_size=5),
)
def test_link_is_nowhere_along_a_step_below_the_floor_or_lower_than_it_was(where, step):
    before = lowered(LOW + np.array(where) * (HIGH - LOW))
    if before is None:
        return
    end = kept(before, before + np.array([*step, 0.0]))
    bounds = np.minimum(FLOOR, heights(before)) - DIP - 2 * TOLERANCE
    for share in np.linspace(0.0, 1.0, 41):
        assert np.all(heights(before + share * (end - before)) >= bounds)


def test_swing_whose_ends_are_above_the_bench_and_whose_middle_is_not_is_cut():
    # the hand hangs and swings through its lowest point, which is at the bench
    flexes = np.linspace(0.3, 1.6, 66)
    for lift in np.arange(-0.3, 1.0, 0.004):
        poses = [np.array([0.0, lift, 0.3, flex, 0.0486795, 0.0]) for flex in flexes]
        lows = [heights(pose).min() for pose in poses]
        if min(lows) < 0.0005:
            break
    down = poses[int(np.argmin(lows))]
    swing = np.array([0.0, 0.0, 0.0, 0.25, 0.0, 0.0])
    before, after = down - swing, down + swing
    assert heights(before).min() > FLOOR + DIP
    assert heights(after).min() > FLOOR + DIP
    assert heights(down).min() < FLOOR - DIP
    end = kept(before, after)
    assert end[3] < down[3]
    assert heights(end).min() >= FLOOR - 2 * TOLERANCE
