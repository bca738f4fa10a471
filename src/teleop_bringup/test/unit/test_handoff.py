"""A cube goes from one arm to the other in the air, through the whole chain with its collision filter: the margin leaves room."""

import os
from pathlib import Path

import pytest

from teleop_bringup import tasks
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
SEEDS = range(10 if os.environ.get("TELEOP_NIGHTLY") else 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_arm_gives_a_cube_to_the_other(seed):
    outcome = tasks.hand_off(ROBOT, CELL, Options(cubes_seed=seed), ("left", "right")[seed % 2])
    assert outcome.success, outcome._replace(log=None)
    # near enough to hold one cube of 40 mm, and never in touch
    assert 0.0 < outcome.nearest <= 0.035
    commands = outcome.log.commands
    assert all(any(command.dt > 0.0 for command in commands[arm]) for arm in ("left", "right"))
