"""One operator's frames through the simulation and through emulated servo buses: same targets, same commands, same path."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teleop_bringup import tasks
from teleop_bringup.lockstep import Hands, Lockstep, Recorded
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import forward
from teleop_ik.setup_arms import read_chain

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
ARMS = ("left", "right")
SECONDS, REST = 7.0, 1.5
ALL = int(PoseFlags.ALL)
BUS = Options(leash="hardware", solver="analytic", bus=True)


class Waving:
    """Both hands squeeze, draw figures with the triggers played, and keep still for the last moments."""

    def hands(self, now, seen):
        t = min(max(now - 1.8, 0.0), SECONDS - REST - 1.8)

        def hand(side, way):
            place = (side + 0.04 * way * math.sin(1.5 * t), 1.0 + 0.03 * (1 - math.cos(1.5 * t)), -0.3 - 0.05 * math.sin(0.7 * t))
            pose = TrackedPose(Pose(place), ALL)
            return Controller(True, pose, pose, squeeze=float(now > 0.5), trigger=0.5 - 0.5 * math.cos(2.0 * t))

        return Hands(TrackedPose(Pose((0.0, 1.6, 0.0)), ALL), hand(-0.2, 1), hand(0.2, -1))


class Kept:
    """Arms whose driver states are kept, and where they really stood."""

    def __init__(self, arms):
        self.arms, self.states, self.path = arms, {arm: [] for arm in ARMS}, {arm: [] for arm in ARMS}

    def __getattr__(self, name):
        return getattr(self.arms, name)

    def joint_state(self, arm, stamp):
        self.path[arm].append(self.arms.physics.joints(arm).position)
        return self.arms.joint_state(arm, stamp)

    def driver_state(self, arm, stamp, now):
        self.states[arm].append(self.arms.driver_state(arm, stamp, now))
        return self.states[arm][-1]


class Fed(Kept):
    """Arms that move, and beside them the feedback of others, recorded before."""

    def __init__(self, arms, joints, states):
        super().__init__(arms)
        self.joints = {arm: iter(samples) for arm, samples in joints.items()}
        self.others = {arm: iter(samples) for arm, samples in states.items()}

    def joint_state(self, arm, stamp):
        super().joint_state(arm, stamp)
        return next(self.joints[arm])

    def driver_state(self, arm, stamp, now):
        return next(self.others[arm])


@pytest.fixture(scope="module")
def played():
    """The chain on the buses, and the same frames and feedback again beside the simulation."""
    bus = Lockstep(Waving(), ROBOT, CELL, BUS)
    bus.cores.simulation = Kept(bus.cores.simulation)
    bus.run(SECONDS)
    sim = Lockstep(Recorded(bus.log.frames), ROBOT, CELL, replace(BUS, bus=False))
    sim.cores.simulation = Fed(sim.cores.simulation, bus.log.joints, bus.cores.simulation.states)
    sim.run(SECONDS)
    return bus, sim


def test_targets_and_commands_are_the_same_to_the_bit(played):
    bus, sim = played
    assert bus.authority("left") == bus.authority("right") == Authority.DRIVING
    assert len(bus.log.targets) > 600
    assert sim.log.frames == bus.log.frames
    assert sim.log.targets == bus.log.targets
    assert sim.log.commands == bus.log.commands


def test_both_drivers_execute_every_command(played):
    bus, sim = played
    for arm in ARMS:
        bench, simulated = bus.cores.simulation.benches[arm], sim.cores.simulation.drivers[arm]
        assert sum(bench.core.driver.memory.refused) == sum(simulated.memory.refused) == 0
        assert (bench.core.tally.held, bench.core.tally.clipped) == (0, 0)
        assert bench.core.driver.memory.goal == simulated.memory.goal
        wanted = [scale.goal(goal) for scale, goal in zip(bench.core.config.scales, simulated.memory.goal)]
        assert [servo.goal_position() for servo in bench.servos] == wanted


def test_tools_go_the_same_way_within_the_servos_accuracy(played):
    bus, sim = played
    chain = read_chain(urdf_path(ROBOT.urdf), ROBOT)
    for arm in ARMS:
        path = np.array([forward(chain, q[:5]).position for q in bus.cores.simulation.path[arm]])
        other = np.array([forward(chain, q[:5]).position for q in sim.cores.simulation.path[arm]])
        assert np.ptp(other, axis=0).max() > 0.08, "it went somewhere"
        off = np.array([np.linalg.norm(other - point, axis=1).min() for point in path[180:]])
        # a degree of droop and dead zone at 0.4 m
        assert off.max() < 0.008
        assert np.linalg.norm(path[-1] - other[-1]) < 0.008


def test_a_cube_goes_from_hand_to_hand_through_both_buses():
    outcome = tasks.hand_off(ROBOT, CELL, BUS, "left")
    assert outcome.success, outcome._replace(log=None)


@pytest.mark.skipif(not os.environ.get("TELEOP_NIGHTLY"), reason="nightly")
@pytest.mark.parametrize("seed", range(5))
def test_a_cube_is_picked_through_the_bus(seed):
    outcome = tasks.pick(ROBOT, CELL, replace(BUS, cubes_seed=seed))
    assert outcome.success, outcome._replace(log=None)
