"""Physics and the simulation core: commands move, holds hold, services do what they say, equal inputs give equal bytes."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from teleop_common import cell as cell_module
from teleop_common import limits as limits_module
from teleop_common.enums import Device
from teleop_common.errors import ConfigError
from teleop_common.records import Header, JointCommand
from teleop_description.scene import CUBES
from teleop_sim.setup_core import create, start_poses

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")
CELL = cell_module.load(REPOSITORY / "config/cell.yaml")
ARMS = ("left", "right")
HOME = tuple(j.home for j in LIMITS.all_joints)


@dataclass(frozen=True)
class Params:
    """The fields that ``create`` reads, with the node's defaults, for a machine without ROS."""

    arms: tuple[str, ...] = ARMS
    kp: float = 998.22
    kv: float = 2.731
    physics_hz: float = 500.0
    start_positions: tuple[float, ...] = ()
    first_step_time: float = 0.05
    command_stale: float = 0.2
    command_timeout: float = 0.2
    estop_release: bool = False
    max_behind: float = 0.05
    cubes_seed: int = 0
    joint_state_hz: float = 100.0


class Run:
    """A simulation with a clock of its own."""

    def __init__(self, **changes):
        self.core, self.hash = create(Params(**changes), LIMITS, CELL, (1, 2))
        self.now = 10.0
        self.core.advance(self.now)

    def pass_time(self, seconds):
        for _ in range(round(seconds / 0.005)):
            self.now += 0.005
            self.core.advance(self.now)

    def command(self, arm, position):
        stamp = round(self.now * 1e9)
        command = JointCommand(header=Header(stamp), name=LIMITS.arm_names(arm), position=tuple(position))
        return self.core.command(arm, command, stamp, self.now)

    def measured(self, arm):
        return np.array(self.core.physics.joints(arm).position)


def test_start_is_home_at_rest_with_torque_and_goal_home():
    run = Run()
    run.pass_time(1.0)
    for arm in ARMS:
        assert run.measured(arm) == pytest.approx(HOME, abs=np.radians(0.05))
        state = run.core.driver_state(arm, 0, run.now)
        assert state.goal == pytest.approx(HOME)
        assert state.torque_on
        assert state.command_age == -1.0


def test_commanded_arm_follows_and_the_other_stays():
    run = Run()
    before = run.measured("right")
    goal = np.array(HOME)
    for _ in range(100):
        goal[0] += 0.005
        assert run.command("left", goal)
        run.pass_time(0.01)
    run.pass_time(0.3)
    assert run.measured("left") == pytest.approx(goal, abs=0.005)
    assert np.abs(run.measured("right") - before).max() < 1e-3
    assert run.core.driver_state("left", 0, run.now).command_age == pytest.approx(0.31, abs=0.01)


def test_accepted_command_acts_in_the_next_step():
    run = Run()
    run.pass_time(0.1)
    before = run.core.physics.joints("left").effort[0]
    run.command("left", (HOME[0] + 0.05, *HOME[1:]))
    run.core.physics.step(1)
    assert abs(run.core.physics.joints("left").effort[0] - before) > 1.0


def test_arm_started_outside_its_limit_stays_there():
    outside = list(HOME * 2)
    outside[1] = LIMITS.joints[1].lower - np.radians(3.0)
    run = Run(start_positions=tuple(outside))
    run.pass_time(0.5)
    assert run.measured("left")[1] == pytest.approx(outside[1], abs=0.01)
    assert run.command("left", outside[:6])
    run.pass_time(0.3)
    assert run.measured("left")[1] == pytest.approx(outside[1], abs=0.01)


def test_start_positions_of_wrong_count_or_range_are_refused():
    with pytest.raises(ConfigError, match="start_positions"):
        start_poses((0.0,) * 5, ARMS, LIMITS)
    with pytest.raises(ConfigError, match="right_shoulder_pan"):
        start_poses(HOME + (3.0, *HOME[1:]), ARMS, LIMITS)


def test_same_arm_twice_is_refused():
    with pytest.raises(ConfigError, match="different names"):
        create(Params(arms=("left", "left")), LIMITS, CELL, (1, 2))


def test_estop_holds_and_commands_after_it_do_nothing():
    run = Run()
    run.core.estop("left")
    assert not run.command("left", HOME)
    run.pass_time(0.5)
    assert run.measured("left") == pytest.approx(HOME, abs=0.002)


def test_torque_off_lets_the_arm_fall_and_torque_on_catches_it_where_it_is():
    run = Run()
    run.core.torque("left", False)
    run.pass_time(0.3)
    assert np.abs(run.measured("left") - HOME).max() > 0.1
    caught = run.measured("left")
    run.core.torque("left", True)
    assert run.core.drivers["left"].memory.goal == pytest.approx(caught)
    run.pass_time(0.5)
    assert np.abs(run.measured("left") - caught).max() < 0.05
    assert run.measured("right") == pytest.approx(HOME, abs=0.002)


def test_reset_brings_arms_home_with_new_instances():
    run = Run()
    run.command("left", (0.05, *HOME[1:]))
    run.pass_time(0.3)
    run.core.reset()
    assert run.measured("left") == pytest.approx(HOME)
    assert run.core.drivers["left"].memory.instance == 2
    assert run.core.drivers["right"].memory.instance == 3
    assert run.core.drivers["left"].memory.goal == pytest.approx(HOME)


def test_pause_stops_time_refuses_commands_and_nothing_catches_up():
    run = Run()
    run.core.play(False, run.now)
    time_before = run.core.physics.time
    run.pass_time(2.0)
    assert run.core.physics.time == time_before
    assert not run.command("left", HOME)
    run.core.play(True, run.now)
    run.pass_time(0.1)
    assert run.core.physics.time == pytest.approx(time_before + 0.1, abs=0.006)
    assert run.core.drivers["left"].memory.instance == 2


def test_cubes_of_a_seed_are_repeatable_near_their_slots_and_seeds_differ():
    run = Run()

    def places(seed):
        assert run.core.cubes(seed) == ""
        return np.array([run.core.physics.data.body(name).xpos for name in CUBES])

    first, other, again = places(5), places(6), places(5)
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    for place in first:
        assert min(np.linalg.norm(place[:2] - slot) for slot in CELL.cube_slots) < 0.02


def low_pose(physics):
    """Return a pose of the left arm whose finger tip is just above the bench, in front of it, and the tip in world."""
    generator = np.random.default_rng(3)
    while True:
        pose = np.array(HOME) + np.array([0.0, *generator.uniform(-1.5, 1.5, 3), 0.0, 0.0])
        physics.reset({"left": pose}, 0)
        tip = physics.data.site("left_gripper_frame_link").xpos
        if 0.015 < tip[2] < 0.03 and 0.2 < tip[0] < 0.4:
            return tuple(pose), tip.copy()


def test_cubes_are_refused_where_an_arm_stands_and_nothing_changes():
    run = Run()
    pose, tip = low_pose(run.core.physics)
    # every slot is used, so one at the finger tip is in the way for every seed
    run.core.physics.cell = dataclasses.replace(CELL, cube_slots=((tip[0], tip[1]), *CELL.cube_slots[1:]))
    run.core.physics.reset({"left": pose}, 0)
    before = run.core.physics.state()
    assert "left_" in run.core.cubes(4)
    assert run.core.physics.state() == before
    assert run.core.seed == 0


def test_equal_commands_give_equal_bytes():
    states = []
    for _ in range(2):
        run = Run()
        for k in range(40):
            run.command("left", (0.002 * k, *HOME[1:]))
            run.pass_time(0.02)
        states.append(run.core.physics.state())
    assert states[0] == states[1]


def test_refused_commands_show_in_the_report_once():
    run = Run()
    stamp = round(run.now * 1e9)
    run.core.command(
        "left", JointCommand(header=Header(stamp - 10**9), name=LIMITS.arm_names("left"), position=HOME), stamp, run.now
    )
    first, second = run.core.devices()[0], run.core.devices()[0]
    assert (first.path, first.state, first.error) == ("arm/left", Device.DEGRADED, "commands refused: 1 stale")
    assert second.state == Device.CONNECTED


def test_slow_machine_is_reported_with_its_factor():
    run = Run()
    for _ in range(60):
        run.now += 0.1
        run.core.advance(run.now)
    report = run.core.devices()[-1]
    assert report.state == Device.DEGRADED
    assert "real-time factor 0.50" in report.error


def shown(run, pan):
    positions = np.array(run.core.physics.state()[0])
    positions[run.core.physics.model.joint("left_shoulder_pan").qposadr[0]] = pan
    return positions


def test_recording_is_shown_without_physics_or_commands_and_the_state_before_it_comes_back_to_the_bit():
    run, plain = Run(), Run()
    for each in (run, plain):
        each.command("left", (0.05, *HOME[1:]))
        each.pass_time(0.3)  # in motion
    before, steps = run.core.physics.state(), run.core.physics.steps
    assert run.core.replay(True, run.now) == ""
    for k in range(100):
        assert run.core.show(shown(run, 0.01 * k), run.now) == ""
        run.pass_time(0.01)
        assert not run.command("left", HOME)
    assert run.measured("left")[0] == pytest.approx(0.99)
    state = run.core.driver_state("left", 0, run.now)
    assert not state.torque_on
    assert state.goal[0] == pytest.approx(0.99)
    assert run.core.physics.steps == steps
    assert run.core.devices()[-1].error == "asleep: a recording is shown"
    for refusal in (
        run.core.reset(),
        run.core.cubes(1),
        run.core.play(False, run.now),
        run.core.torque("left", False),
    ):
        assert "stop the replay first" in refusal
    instance = run.core.drivers["left"].memory.instance
    assert run.core.replay(False, run.now) == ""
    assert run.core.physics.state() == before
    after = run.core.driver_state("left", 0, run.now)
    assert after.torque_on
    assert after.goal[0] == 0.05
    assert after.instance == instance + 1
    plain.now = run.now
    plain.core.pacer.restart(plain.now)
    run.pass_time(0.5)
    plain.pass_time(0.5)
    assert run.core.physics.state() == plain.core.physics.state()


def test_replay_whose_sender_is_gone_ends_by_itself():
    run = Run()
    run.core.replay(True, run.now)
    run.core.show(shown(run, 1.0), run.now)
    run.pass_time(0.9)
    assert run.core.replaying
    run.pass_time(0.2)
    assert not run.core.replaying
    assert run.measured("left") == pytest.approx(HOME, abs=1e-3)


def test_state_of_another_scene_and_one_that_nobody_asked_for_are_not_shown():
    run = Run()
    assert "call it with true" in run.core.show(shown(run, 1.0), run.now)
    run.core.replay(True, run.now)
    assert "choose a take of this scene" in run.core.show((0.0, 0.0), run.now)
    assert "choose a take of this scene" in run.core.show(shown(run, float("nan")), run.now)
    assert run.measured("left") == pytest.approx(HOME, abs=1e-3)


def test_estop_while_a_recording_is_shown_is_latched_after_it():
    run = Run(estop_release=True)
    run.core.replay(True, run.now)
    run.core.show(shown(run, 1.0), run.now)
    run.core.estop("left")
    run.core.replay(False, run.now)
    state = run.core.driver_state("left", 0, run.now)
    assert state.estop
    assert not state.torque_on
    assert run.measured("left") == pytest.approx(HOME, abs=1e-3)
