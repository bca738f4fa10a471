"""What a sweep calls clear is clear everywhere: held against dense looking along random ways."""

import numpy as np
import pytest
from guard_space import MARGIN, scene
from guard_world import ROBOT
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_safety import sweep
from teleop_safety.layer import Layer
from teleop_safety.sweep import SAG

LOW = np.array([j.lower for j in ROBOT.all_joints] * 2)
HIGH = np.array([j.upper for j in ROBOT.all_joints] * 2)
WHERE = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12)


def layer(geometry):
    space = scene()
    if geometry == "capsules":
        return Layer(space.model, space.model.createData(), space.coarse, space.capsules, space.alike(), len(space.pairs))
    pairs = space.alike()[: space.floor]
    return Layer(space.model, space.model.createData(), space.fine, space.hulls, pairs, len(space.pairs))


def way(where, step):
    a = LOW + np.array(where) * (HIGH - LOW)
    return a, a + np.array(step)


def ways(most):
    return st.lists(st.floats(-most, most), min_size=12, max_size=12)


@pytest.mark.parametrize("geometry", ["hulls", "capsules"])
@settings(max_examples=60, deadline=None)
@given(where=WHERE, step=ways(0.4))
def test_way_called_clear_keeps_every_pair_to_its_bound_everywhere(geometry, where, step):
    made, reach = layer(geometry), scene().reach
    a, b = way(where, step)
    chosen = list(range(scene().floor))
    start, end = sweep.sample(made, a, chosen), sweep.sample(made, b, chosen)
    bounds = {i: min(MARGIN, start.distance[i]) - 1e-6 for i in chosen}
    stopped = sweep.clear(made, reach, start, end, chosen, bounds)
    seen = [sweep.sample(made, a + s * (b - a), chosen).distance for s in np.linspace(0.0, 1.0, 41)]
    for i in chosen:
        least = min(distances[i] for distances in seen)
        if stopped < 0:
            assert least >= bounds[i] - SAG - 1e-5
    if stopped >= 0 and bounds[stopped] > SAG:
        assert min(d[stopped] for d in seen) < bounds[stopped] + 2e-3, "stopped without a cause nearby"


@settings(max_examples=60, deadline=None)
@given(WHERE, ways(0.3))
def test_separation_along_a_fixed_direction_sags_by_no_more_than_its_bound(where, step):
    """The second-order bound alone, at many places of the way."""
    made, reach = layer("hulls"), scene().reach
    a, b = way(where, step)
    chosen = list(range(scene().floor))
    start, end = sweep.sample(made, a, chosen), sweep.sample(made, b, chosen)
    delta = np.abs(b - a)
    sags = reach.bend @ np.outer(delta, delta).ravel() / 8.0
    seen = [sweep.sample(made, a + s * (b - a), chosen).distance for s in np.linspace(0.0, 1.0, 15)]
    for i in chosen:
        ends = min(start.distance[i], sweep._along(made, i, start, end))
        assert min(d[i] for d in seen) >= ends - sags[i] - 1e-5


def test_thin_obstacle_between_two_looks_is_found():
    """Both ends are free and the arms pass through each other on the way."""
    made = layer("hulls")
    left, right = (0.1, 0.4, -0.2, 0.3, 0.0486795, 0.0), (-0.75, 0.4, -0.2, 0.3, 0.0486795, 0.0)
    a, b = np.array([*left, *right]), np.array([1.8, *left[1:], *right])
    chosen = list(range(scene().floor))
    start, end = sweep.sample(made, a, chosen), sweep.sample(made, b, chosen)
    assert min(*start.distance.values(), *end.distance.values()) > MARGIN
    assert sweep.clear(made, scene().reach, start, end, chosen, dict.fromkeys(chosen, MARGIN)) >= 0
