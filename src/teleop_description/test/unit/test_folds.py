"""Folds: the border at which two links of one arm would meet, held to the convex hulls' own distance."""

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import limits
from teleop_description import folds, hulls
from teleop_description.pinocchio_compat import coal, convex_hull
from teleop_description.testing import installed

ROOT = Path(__file__).resolve().parents[4]
MARGIN = 0.015


def needs_examples():
    if not installed():
        pytest.skip("example-robot-data is not installed")


@pytest.fixture(scope="module", params=["so101", "ur5"])
def robot(request):
    if request.param == "ur5":
        needs_examples()
    return limits.load(ROOT / f"config/limits/{request.param}.yaml")


@pytest.fixture(scope="module")
def made(robot):
    return folds.make(robot, MARGIN)


@pytest.fixture(scope="module")
def distance(robot):
    """Distance [m] of a fold's two links at given positions of its two joints."""
    found = hulls.clouds(robot)
    model = found.model
    data = model.createData()
    shapes = {joint: convex_hull(hulls.hull(points), faces=True) for joint, points in found.points.items()}

    def measure(fold, inner, outer):
        q = pin.neutral(model)
        q[fold.inner], q[fold.inner + 1] = inner, outer
        pin.forwardKinematics(model, data, q)
        base, tip = fold.inner, fold.inner + 2
        placed = data.oMi[base] if base else pin.SE3.Identity()
        result = coal.DistanceResult()
        return coal.distance(shapes[base], placed, shapes[tip], data.oMi[tip], coal.DistanceRequest(), result)

    return measure


def at(fold, inner):
    knots = fold.first + fold.step * np.arange(len(fold.lower))
    return float(np.interp(inner, knots, fold.lower)), float(np.interp(inner, knots, fold.upper))


def test_links_between_knots_keep_the_margin_everywhere_inside_and_on_the_slack(robot, made, distance):
    rng = np.random.default_rng(1)
    for fold in made:
        inner, outer = robot.joints[fold.inner], robot.joints[fold.inner + 1]
        for share in (0.0, 1.0, *rng.uniform(0.0, 1.0, 4)):
            for u in rng.uniform(max(inner.lower, fold.range[0]), min(inner.upper, fold.range[1]), 100):
                low, high = at(fold, u)
                v = low - fold.slack + share * (high - low + 2.0 * fold.slack)
                if outer.lower <= v <= outer.upper:
                    assert distance(fold, u, v) >= MARGIN


def test_no_more_than_needed_is_fenced_off(robot, made, distance):
    rng = np.random.default_rng(2)
    for fold in made:
        inner, outer = robot.joints[fold.inner], robot.joints[fold.inner + 1]
        for u in rng.uniform(max(inner.lower, fold.range[0]), min(inner.upper, fold.range[1]), 100):
            low, high = at(fold, u)
            for v in (low - 0.03, high + 0.03):  # 4 mm of a lower arm
                if outer.lower < v < outer.upper:
                    assert distance(fold, u, v) < MARGIN + folds.RESERVE


def test_elbow_and_wrist_fold_and_home_is_clear_of_it(robot, made):
    links = {
        "so101": [("shoulder_link", "lower_arm_link"), ("upper_arm_link", "wrist_link")],
        "ur5": [("shoulder_link", "forearm_link"), ("upper_arm_link", "wrist_1_link")],
    }
    assert [fold.links for fold in made] == links[robot.robot]
    assert [fold.inner for fold in made] == [1, 2]
    for fold in made:
        low, high = at(fold, robot.joints[fold.inner].home)
        assert low < robot.joints[fold.inner + 1].home < high


def test_a_greater_margin_leaves_less(robot, made):
    wider = {fold.links: fold for fold in folds.make(robot, 0.025)}
    for fold in made:
        more = wider[fold.links]
        for u in np.linspace(max(fold.range[0], -1.0), min(fold.range[1], 1.0), 9):
            assert at(more, u)[1] <= at(fold, u)[1] + 1e-3


def test_what_was_cached_is_what_was_made(robot, made, tmp_path):
    assert folds.load(robot, MARGIN, tmp_path) == made
    (cache,) = tmp_path.iterdir()
    assert folds.from_json(json.loads(cache.read_text())) == made
    assert folds.load(robot, MARGIN, tmp_path) == made


def test_a_damaged_cache_is_made_again_and_another_margin_is_another_file(tmp_path):
    needs_examples()
    robot = limits.load(ROOT / "config/limits/ur5.yaml")
    made = folds.make(robot, MARGIN)
    folds.load(robot, MARGIN, tmp_path)
    (cache,) = tmp_path.iterdir()
    cache.write_text('[{"inner": 1}]')
    assert folds.load(robot, MARGIN, tmp_path) == made
    folds.load(robot, 0.02, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_panda_folds_nowhere_within_its_limits():
    needs_examples()
    assert folds.make(limits.load(ROOT / "config/limits/panda.yaml"), MARGIN) == ()
