"""Acceptance of closed-loop control: a person with eyes picks and stacks cubes through the whole chain, in lockstep."""

import os
from pathlib import Path

import pytest

from teleop_bringup import tasks
from teleop_bringup.lockstep import Lockstep, Recorded
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
NIGHTLY = bool(os.environ.get("TELEOP_NIGHTLY"))
SEEDS = range(10 if NIGHTLY else 3)
SOLVERS = ("analytic", "differential")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_operator_puts_a_cube_into_the_zone(solver, seed):
    outcome = tasks.pick(ROBOT, CELL, Options(solver=solver, cubes_seed=seed))
    assert outcome.success, outcome._replace(log=None)


@pytest.mark.parametrize("seed", SEEDS if NIGHTLY else SEEDS[:1])
@pytest.mark.parametrize("solver", SOLVERS)
def test_operator_stacks_one_cube_on_another(solver, seed):
    outcome = tasks.stack(ROBOT, CELL, Options(solver=solver, cubes_seed=seed), ("left", "right")[seed % 2])
    assert outcome.success, outcome._replace(log=None)


def test_same_frames_played_again_move_the_same_joints_and_leave_the_cube_at_the_same_place():
    options = Options(solver="differential", frame_jitter=0.004)
    first = tasks.pick(ROBOT, CELL, options)
    again = Lockstep(Recorded(first.log.frames), ROBOT, CELL, options)
    again.run(first.seconds + tasks.SETTLE)
    assert again.log.frames == first.log.frames
    assert again.log.targets == first.log.targets
    assert again.log.commands == first.log.commands
    assert tasks.cube_pose(again, "cube_red") == first.cube


def test_nobody_there_moves_nothing():
    chain = Lockstep(None, ROBOT, CELL)
    chain.run(2.0)
    assert chain.running
    for arm in chain.options.arms:
        assert chain.authority(arm) == Authority.IDLE
        assert len({command.position for command in chain.log.commands[arm]}) == 1


def test_frames_that_come_late_keep_their_order_and_stamps():
    chain = Lockstep(None, ROBOT, CELL, Options(frame_jitter=0.05))
    chain.run(1.0)
    sequences = [targets.frame_sequence for targets in chain.log.targets]
    assert sequences == sorted(sequences)
    ages = [targets.header.stamp - targets.origin_stamp for targets in chain.log.targets]
    assert 0.02e9 < max(ages) <= 0.05e9
