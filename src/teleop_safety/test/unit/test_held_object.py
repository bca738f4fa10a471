"""What a closed gripper holds belongs to its arm: the other arm keeps off it, its own hand does not mind it."""

import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest
from guard_space import CELL, FLOOR, MARGIN, links, made
from guard_world import ROBOT

from teleop_common import cell
from teleop_common.cell import HeldObject
from teleop_common.errors import ConfigError
from teleop_description.models import arm_model
from teleop_safety import space
from teleop_safety.collision import CollisionFilter

HELD = HeldObject(0.035, (-0.026, 0.0, 0.0), 0.15)
CUBE = 0.6  # [rad], where a jaw that is told to close stands when it holds a cube of 40 mm
CLOSED = ROBOT.gripper.closed
REACHING = (0.0, 0.2, -0.2, 0.0, 0.0486795)
ARMS = ("left", "right")


@functools.cache
def scene():
    return space.build(ARMS, ROBOT, dataclasses.replace(CELL, held_object=HELD), links())


@functools.cache
def guard(geometry):
    hulls = CollisionFilter(ARMS, scene(), MARGIN, FLOOR, len(ROBOT.joints), "hulls")
    return hulls.in_pieces(made()) if geometry == "pieces" else hulls


def driven_together(made, told, measured=CUBE):
    """Both arms pan inwards until the filter holds them; left's jaw is told ``told``. Return the pan of left, and by what."""
    pose, pair = {arm: (*REACHING, told if arm == "left" else CUBE) for arm in ARMS}, ()
    seen = dict.fromkeys(ARMS, measured)
    for _ in range(120):
        goal = {arm: (pose[arm][0] + (0.01 if arm == "left" else -0.01), *pose[arm][1:]) for arm in ARMS}
        verdict = made.judge(pose, goal, {arm: (*pose[arm][:5], seen[arm]) for arm in ARMS})
        if verdict.least < 0.05:
            pair = verdict.pair
            break
        pose = {arm: tuple(np.array(pose[arm]) + verdict.kept(arm) * (np.array(goal[arm]) - np.array(pose[arm]))) for arm in ARMS}
    return pose, pair


@pytest.mark.parametrize("geometry", ["hulls", "pieces"])
def test_arm_keeps_off_what_the_other_holds_and_goes_nearer_when_that_holds_nothing(geometry):
    holding, pair = driven_together(guard(geometry), CLOSED)
    empty, other = driven_together(guard(geometry), CUBE)
    assert "left_held_object" in pair
    assert not any("held" in name for name in other)
    assert empty["left"][0] > holding["left"][0] + 0.02


@pytest.mark.parametrize("geometry", ["hulls", "pieces"])
def test_object_that_is_taken_up_within_the_margin_freezes_nothing(geometry):
    near, _pair = driven_together(guard(geometry), CUBE)
    near["left"] = (*near["left"][:5], CLOSED)  # the gripper closes on something here
    seen = {arm: (*near[arm][:5], CUBE) for arm in ARMS}
    apart = {arm: (near[arm][0] - (0.02 if arm == "left" else -0.02), *near[arm][1:]) for arm in ARMS}
    closer = {arm: (near[arm][0] + (0.02 if arm == "left" else -0.02), *near[arm][1:]) for arm in ARMS}
    assert guard(geometry).judge(near, apart, seen).least == 1.0
    assert guard(geometry).judge(near, closer, seen).least < 0.1


def test_own_hand_and_bench_are_no_pairs_of_a_held_object_and_everything_else_of_the_other_arm_is():
    made = scene()
    others = set()
    for k in made.held("left"):
        a, b = made.pairs[k]
        others |= {made.bodies[i].name for i in (a, b) if made.bodies[i].name != "left_held_object"}
    hand = {f"left_{name}" for name in ("gripper_link", "moving_jaw_so101_v1_link", "wrist_link")}
    assert {body.joint for body in made.bodies if body.name in hand}
    assert not hand & others
    assert space.BENCH not in others
    assert {body.name for body in made.bodies if body.arm == "right"} <= others
    assert any(name.startswith("left") for name in others)


def test_distance_shown_counts_what_is_held_and_only_then():
    pose, _pair = driven_together(guard("hulls"), CLOSED)
    shown = guard("hulls").clearance(pose, {arm: (*pose[arm][:5], CUBE) for arm in ARMS})
    opened = guard("hulls").clearance(pose, {arm: (*pose[arm][:5], CLOSED) for arm in ARMS})
    assert shown.committed == pytest.approx(MARGIN, abs=1e-3)
    assert "left_held_object" in shown.pairs[0].links
    assert opened.committed > shown.committed + 0.01
    assert np.isfinite([opened.committed, *(pair.distance for pair in opened.pairs)]).all()


def test_ball_is_where_the_fingers_meet():
    made, one = scene(), arm_model(ROBOT)
    ball = next(i for i, body in enumerate(made.bodies) if body.name == "left_held_object")
    frame = one.frames[one.getFrameId(ROBOT.tip_link)]
    assert np.allclose(made.capsules[ball].corners[0], frame.placement.act(np.array(HELD.centre)))


def test_cell_file_names_what_is_wrong_with_a_held_object(tmp_path):
    text = Path(CELL.source).read_text(encoding="utf-8")
    path = tmp_path / "cell.yaml"
    path.write_text(text + "held_object: {radius: 0.035, centre: [-0.026, 0.0, 0.0]}\n", encoding="utf-8")
    assert cell.load(path).held_object == HELD
    for wrong, key in (("{radius: 0.0}", "held_object.radius"), ("{radius: 0.03, slak: 1.0}", "held_object.slak")):
        path.write_text(text + f"held_object: {wrong}\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=key):
            cell.load(path)
    assert CELL.held_object is None
