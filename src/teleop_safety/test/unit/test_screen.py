"""What one plane clears stays clear wherever a kept share of a step, and the way to it, can lead."""

import numpy as np
from guard_space import MARGIN, fine, scene
from guard_world import ROBOT
from hypothesis import given, settings
from hypothesis import strategies as st

LOW = np.array([j.lower for j in ROBOT.all_joints] * 2)
HIGH = np.array([j.upper for j in ROBOT.all_joints] * 2)
SHARES = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12)


def moves(most):
    return st.lists(st.floats(-most, most), min_size=12, max_size=12)


@settings(max_examples=40, deadline=None)
@given(SHARES, moves(0.06), moves(0.25), st.randoms(use_true_random=False))
def test_pair_that_is_not_close_keeps_the_margin_for_any_shares_of_both_arms(where, step, lag, random):
    guard, space = fine(), scene()
    before = LOW + np.array(where) * (HIGH - LOW)
    before[[0, 6]] = 1.2 * where[0], -1.2 * where[6]
    after, now = before + np.array(step), before + np.array(lag)
    reach = space.reach.sway @ np.maximum(np.abs(now - after), np.abs(before - after)) + MARGIN
    capsules = guard._coarse.everything(after)
    close = set(guard._close(capsules, reach.tolist(), (after, before, now))[0])
    layer = guard._fine
    groups = {k for k in range(space.floor) if capsules[k] < reach[k]}
    for _ in range(6):
        scales = np.repeat([random.random(), random.random()], 6)
        q = before + scales * (after - before)
        layer.place(now + random.random() * (q - now))
        for k in groups:
            for i in layer.near(k, MARGIN):
                if i not in close:
                    assert layer.distance(i) >= MARGIN - 1e-6
