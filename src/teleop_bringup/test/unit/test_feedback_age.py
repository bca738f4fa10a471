"""What the age of feedback costs, and what a push does in closed and open loop, on drooping servos in lockstep."""

import numpy as np
import pytest

from bench.feedback import SERVOS, Study, pushed


@pytest.fixture(scope="module")
def study():
    return Study()


@pytest.mark.parametrize(("hz", "most"), [(30.0, 0.001), (90.0, 0.0005)])
def test_feedback_of_one_step_ago_costs_next_to_nothing(study, hz, most):
    options = {"solver": "differential", "servo": SERVOS["2 deg droop"], "frame_hz": hz}
    fresh, old = study.drive(**options), study.drive(**options, feedback_delay=1.0 / hz)
    off = np.linalg.norm(study.commanded(fresh) - study.commanded(old), axis=1)
    assert off.max() < most
    assert study.behind(old)[0] < study.behind(fresh)[0] + 0.1


@pytest.mark.parametrize("solver", ["analytic", "differential"])
def test_pushed_arm_winds_nothing_up_in_closed_loop_and_comes_back_without_overshoot(study, solver):
    target, command, back, overshoot, _ = pushed(study, solver, "closed", 4.0)
    leash = study.robot.leash_simulation
    assert target <= leash + 1e-6
    # the guard's low-pass and the age of a target at its end, while the arm is pushed at 0.8 rad/s
    assert command <= leash + 0.03
    assert back < 1.0
    assert overshoot < 0.5


@pytest.mark.parametrize("solver", ["analytic", "differential"])
def test_a_push_within_the_leash_ends_where_the_hand_is(study, solver):
    *_, overshoot, aside = pushed(study, solver, "closed", 2.0)
    assert overshoot < 0.5
    assert aside < 4.0


@pytest.mark.parametrize("solver", ["analytic", "differential"])
def test_a_push_beyond_the_leash_costs_only_what_the_hand_asked_meanwhile(study, solver):
    *_, overshoot, aside = pushed(study, solver, "closed", 4.0)
    assert overshoot < 0.5
    assert aside < 10.0  # it was 124 while all that was cut was forgiven


def test_open_loop_winds_up_against_a_push(study):
    target, *_ = pushed(study, "differential", "open", 4.0)
    assert target > 2.0 * study.robot.leash_simulation
