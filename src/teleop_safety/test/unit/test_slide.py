"""A reduced step goes on along what blocks it: the projection by itself, then two arms through whole commits."""

import numpy as np
import pytest
from guard_space import MARGIN, collision, scene, true_distances
from guard_world import HOME, ROBOT
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import Reason
from teleop_safety import commit, motion
from teleop_safety.commit import Motion
from teleop_safety.settings import Settings
from teleop_safety.slide import tangential
from teleop_safety.state import ArmState, Target

LIMITS = motion.motion_limits(ROBOT)
DT = 1.0 / 90.0
VECTOR = st.lists(st.floats(-1.0, 1.0), min_size=5, max_size=5).map(tuple)


@given(VECTOR, st.lists(VECTOR, max_size=4).map(tuple))
def test_tangential_part_is_no_longer_and_leads_into_nothing_that_blocks(step, normals):
    part = np.array(tangential(step, normals))
    assert np.linalg.norm(part) <= 1.1 * np.linalg.norm(step) + 1e-12
    if len(normals) == 1:
        assert np.array(normals[0]) @ part >= -1e-9


def test_tangential_part_of_a_step_that_leads_away_is_the_step():
    assert tangential((0.1, 0.2), ((1.0, 0.0),)) == pytest.approx((0.1, 0.2))


def test_corner_leaves_nothing():
    assert tangential((-0.1, -0.2), ((1.0, 0.0), (0.0, 1.0))) == (0.0, 0.0)


STRETCHED = (0.0, 0.4, -0.2, 0.3, 0.0486795, 0.0)


def drive(ask, steps, slide=True, still=(), start=None):
    """Commit ``ask(arm, k)`` at 90 Hz from arms stretched forwards, measured lagging; return the states of each commit."""
    start = start or {"left": STRETCHED, "right": STRETCHED}
    arms = {arm: ArmState(engage=1) for arm in start}
    for arm, state in arms.items():
        state.reference = state.filtered = state.measured = start[arm]
        state.velocity = (0.0,) * 6
    guard, path, lag = collision(), [], [start] * 4
    for k in range(steps):
        for arm, state in arms.items():
            state.measured = lag[0][arm]
        moves = {arm: Motion(Target(ask(arm, k), (0,) * 6, k, 1 + k), DT) for arm in arms if arm not in still}
        commit.advance(arms, moves, guard, LIMITS, Settings(slide=slide), k)
        pose = {arm: state.reference for arm, state in arms.items()}
        lag = [*lag[1:], pose]
        path.append((pose, {arm: (state.velocity, state.reasons) for arm, state in arms.items()}))
    return path


def crossing(arm, k):
    """Both hands far over to the other side, their height going up and down."""
    pan = 0.9 if arm == "left" else -0.9
    return (pan, 0.4 + 0.15 * np.sin(k / 20), -0.2 + 0.15 * np.sin(k / 20), 0.3, 0.0486795, 0.0)


def travel(path):
    """How far the left arm's lift went in all [rad]."""
    return float(np.abs(np.diff([pose["left"][1] for pose, _ in path])).sum())


def test_arms_pressed_together_go_on_sliding_and_keep_their_distance():
    path = drive(crossing, 250)
    assert travel(path[100:]) > 0.1
    least = min(min(true_distances(scene(), pose)) for pose, _ in path[::3])
    assert MARGIN - 5e-5 <= least <= MARGIN + 1e-3
    assert travel(drive(crossing, 250, slide=False)[100:]) < 0.001


def test_arms_pressed_together_at_rest_come_to_rest_and_do_not_creep():
    def still(arm, k):
        return (0.9 if arm == "left" else -0.9, *STRETCHED[1:])

    path = drive(still, 600)
    assert len({(*pose["left"], *pose["right"]) for pose, _ in path[-60:]}) == 1
    assert min(true_distances(scene(), path[-1][0])) >= MARGIN - 2e-6


def test_slide_keeps_speed_and_acceleration_and_says_what_cut():
    path = drive(crossing, 300)
    velocity = {arm: np.zeros(6) for arm in ("left", "right")}
    before, seen = {arm: np.array(STRETCHED) for arm in velocity}, set()
    for pose, told in path:
        for arm in velocity:
            now = (np.array(pose[arm]) - before[arm]) / DT
            assert (np.abs(now) <= np.array(LIMITS.velocity) + 1e-9).all()
            grown = np.abs(now) - np.where(now * velocity[arm] > 0.0, np.abs(velocity[arm]), 0.0)
            assert (grown <= np.array(LIMITS.acceleration) * DT + 1e-9).all()
            velocity[arm], before[arm] = np.array(told[arm][0]), np.array(pose[arm])
            seen.update(told[arm][1])
    assert int(Reason.COLLISION) in seen


def test_arm_that_stands_is_not_pushed_aside():
    start = {"left": STRETCHED, "right": (-0.55, *STRETCHED[1:])}
    path = drive(crossing, 200, still=("right",), start=start)
    assert {pose["right"] for pose, _ in path} == {start["right"]}
    assert min(min(true_distances(scene(), pose)) for pose, _ in path[::3]) < MARGIN + 1e-3


def test_arm_that_folds_into_itself_holds_that_arm_alone():
    """A box beside one arm, or the arm itself, is no reason to stop the other."""
    guard, pose = collision(), {"left": HOME, "right": HOME}
    for _ in range(150):
        goal = {
            "left": (HOME[0], pose["left"][1] - 0.02, pose["left"][2] + 0.02, pose["left"][3] + 0.02, *HOME[4:]),
            "right": (pose["right"][0] - 0.002, *HOME[1:]),
        }
        verdict = guard.judge(pose, goal, pose)
        if verdict.kept("left") < 0.01:
            break
        kept = {arm: verdict.kept(arm) for arm in pose}
        pose = {arm: tuple(p + kept[arm] * (g - p) for p, g in zip(pose[arm], goal[arm])) for arm in pose}
    assert verdict.kept("left") < 0.01
    assert verdict.kept("right") == 1.0
