"""The collision filter with a Panda and a UR5: free motion passes, folding into itself and pushing into the bench do not."""

import functools
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from teleop_common import cell, limits
from teleop_description.testing import installed
from teleop_safety import shapes, space
from teleop_safety.collision import TOLERANCE, CollisionFilter

ROOT = Path(__file__).resolve().parents[4]
MARGIN, FLOOR, ARM = 0.015, 0.001, "left"


pytestmark = pytest.mark.skipif(not installed(), reason="example-robot-data is not installed")


@functools.cache
def robot(name):
    return limits.load(ROOT / f"config/limits/{name}.yaml")


@functools.cache
def scene(name):
    return space.build((ARM,), robot(name), cell.load(ROOT / "config/cell.yaml"), shapes.load(robot(name)))


def guard(name):
    return CollisionFilter((ARM,), scene(name), MARGIN, FLOOR, len(robot(name).joints))


def home(name):
    return tuple(j.home for j in robot(name).all_joints)


def nearest(name, joints):
    """Return the least distance of any watched pair of hulls [m]."""
    made = scene(name)
    data, placed = made.model.createData(), made.fine.createData()
    pin.computeDistances(made.model, data, made.fine, placed, np.array(joints))
    return min(result.min_distance for result in placed.distanceResults)


def lowest(name, joints):
    """Return the height of the lowest corner of any link beyond the second joint above the bench [m]."""
    made = scene(name)
    data = made.model.createData()
    pin.forwardKinematics(made.model, data, np.array(joints))
    return min(
        float((body.hull @ data.oMi[body.joint].rotation[2]).min() + data.oMi[body.joint].translation[2])
        for body in made.bodies
        if body.arm and body.joint > 2
    )


def walk(name, start, delta, steps):
    """Ask for ``delta`` at each step and keep what the filter leaves; return the path and the shares kept."""
    judge, pose, path, kept = guard(name), tuple(start), [tuple(start)], []
    for _ in range(steps):
        goal = tuple(q + d for q, d in zip(pose, delta))
        verdict = judge.judge({ARM: pose}, {ARM: goal}, {ARM: pose})
        share = verdict.kept(ARM)
        pose = tuple(q + share * (g - q) for q, g in zip(pose, goal))
        path.append(pose)
        kept.append(share)
    return path, kept


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_each_joint_turns_freely_about_home(name):
    """Also the outermost, whose link is within the margin of the one before the next whatever it does."""
    for index in range(len(robot(name).joints)):
        for way in (0.02, -0.02):
            delta = tuple(way if i == index else 0.0 for i in range(len(robot(name).names)))
            _, kept = walk(name, home(name), delta, 15)
            assert kept == [1.0] * 15, f"joint {index}"


@pytest.mark.parametrize(
    ("name", "start", "fold"),
    [
        ("panda", (0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.04), (0.0, -0.02, 0.0, -0.02, 0.0, -0.02, 0.0, 0.0)),
        ("ur5", (0.0, -1.6, 1.6, -1.6, -1.6, 0.0), (0.0, 0.0, 0.03, -0.02, 0.0, 0.0)),
    ],
)
def test_arm_that_folds_into_itself_stops_at_the_margin(name, start, fold):
    path, kept = walk(name, start, fold, 120)
    assert kept[-1] < 0.01
    assert min(nearest(name, pose) for pose in path) >= min(MARGIN, nearest(name, path[0])) - 2 * TOLERANCE
    back, kept = walk(name, path[-1], tuple(-d for d in fold), 5)
    assert kept == [1.0] * 5, "the way back is free"


@pytest.mark.parametrize(
    ("name", "lean"),
    [("panda", (0.0, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)), ("ur5", (0.0, 0.02, 0.0, 0.0, 0.0, 0.0))],
)
def test_arm_that_leans_down_stops_above_the_bench(name, lean):
    path, kept = walk(name, home(name), lean, 120)
    assert kept[-1] < 0.01
    assert min(lowest(name, pose) for pose in path) >= FLOOR - 2 * TOLERANCE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("panda", {("link5", "link7"), ("link6", "leftfinger")}),
        ("ur5", {("wrist_1_link", "wrist_3_link"), ("base_link", "upper_arm_link"), ("forearm_link", "wrist_2_link")}),
    ],
)
def test_pairs_left_out_besides_neighbours_can_never_touch_or_overlap_at_zero(name, expected):
    """Finger and link 6, wrists 1 and 3 keep their distance at any joints; the others overlap at zero.

    Of the UR5 these are three of the pairs that the vendor's SRDF leaves out, of the Panda one.
    """
    made = scene(name)
    watched = set(made.pairs[: made.floor])
    arm = [(i, body) for i, body in enumerate(made.bodies) if body.arm]
    apart = {(one.name, two.name) for i, one in arm for k, two in arm if two.joint - one.joint > 1 and (i, k) not in watched}
    found = {tuple(part.removeprefix("left_").removeprefix("panda_") for part in pair) for pair in apart}
    assert found == expected
