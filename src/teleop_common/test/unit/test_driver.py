"""The driver core: which commands are executed, torque, e-stop, instances."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.driver import REFUSALS, Driver, DriverConfig
from teleop_common.records import Header, JointCommand

NOW_NS, NOW = 5_000_000_000, 100.0
CONFIG = DriverConfig("left", ("left_a", "left_b"), (-1.0, -1.0), (1.0, 1.0), (0.1, 0.1))


def command(*position, age=0.0, names=CONFIG.names):
    return JointCommand(header=Header(NOW_NS - round(age * 1e9)), name=names, position=position)


def driver(goal=(0.0, 0.0), **changes):
    return Driver(dataclasses.replace(CONFIG, **changes), 7, goal)


def refused(core, kind):
    return core.memory.refused[REFUSALS.index(kind)]


def test_fresh_command_becomes_the_goal_and_its_age_is_told():
    core = driver()
    assert core.command(command(0.05, -0.05), NOW_NS, NOW)
    assert core.memory.goal == (0.05, -0.05)
    assert core.state(NOW_NS, NOW + 0.15, load=(0.0, 0.0), write_hz=0.0, read_hz=0.0).command_age == pytest.approx(0.15)


@pytest.mark.parametrize("age", [0.201, -0.201, 1e6])
def test_stale_or_future_command_is_refused_and_counted(age):
    core = driver()
    assert not core.command(command(0.05, 0.0, age=age), NOW_NS, NOW)
    assert core.memory.goal == (0.0, 0.0)
    assert refused(core, "stale") == 1
    assert "allowed ±0.2" in core.last_refusal


@pytest.mark.parametrize("age", [0.199, -0.199])
def test_command_just_inside_the_stale_bound_is_executed(age):
    assert driver().command(command(0.05, 0.0, age=age), NOW_NS, NOW)


@pytest.mark.parametrize(
    "bad",
    [
        command(math.nan, 0.0),
        command(math.inf, 0.0),
        command(0.0),
        command(0.0, 0.0, 0.0),
        command(0.0, 0.0, names=("left_b", "left_a")),
        command(0.0, 0.0, names=("right_a", "right_b")),
        command(0.0, 0.0, names=()),
    ],
)
def test_malformed_command_is_refused_and_changes_nothing(bad):
    core = driver()
    assert not core.command(bad, NOW_NS, NOW)
    assert core.memory.goal == (0.0, 0.0)
    assert refused(core, "malformed") == 1


def test_first_command_far_from_the_goal_is_refused_until_one_comes_near():
    core = driver()
    assert not core.command(command(0.11, 0.0), NOW_NS, NOW)
    assert refused(core, "first_step") == 1
    assert "left_a" in core.last_refusal
    assert core.command(command(0.09, 0.0), NOW_NS, NOW)
    assert core.command(command(0.5, 0.0), NOW_NS, NOW)


@pytest.mark.parametrize("again", ["torque", "restart", "estop"])
def test_after_torque_on_restart_or_estop_the_step_bound_holds_again(again):
    core = driver()
    core.command(command(0.05, 0.0), NOW_NS, NOW)
    if again == "torque":
        core.torque(False, (0.05, 0.0))
        core.torque(True, (0.05, 0.0))
    elif again == "restart":
        core.restart((0.05, 0.0))
    else:
        core.latch_estop((0.05, 0.0))
        core.reset_estop()
    assert not core.command(command(0.4, 0.0), NOW_NS, NOW)
    assert core.command(command(0.06, 0.0), NOW_NS, NOW)


def test_command_beyond_a_limit_is_clamped_to_it():
    core = driver(goal=(0.95, 0.0))
    core.command(command(1.04, 0.0), NOW_NS, NOW)
    assert core.memory.goal == (1.0, 0.0)


def test_joint_outside_its_limit_is_held_there_and_may_only_come_back():
    core = driver(goal=(1.05, 0.0))
    core.command(command(1.05, 0.0), NOW_NS, NOW)
    assert core.memory.goal[0] == 1.05
    core.command(command(1.09, 0.0), NOW_NS, NOW)
    assert core.memory.goal[0] == 1.05
    core.command(command(1.02, 0.0), NOW_NS, NOW)
    core.command(command(1.05, 0.0), NOW_NS, NOW)
    assert core.memory.goal[0] == 1.02


def test_torque_off_drops_commands_and_the_goal_follows_measured():
    core = driver()
    core.torque(False, (0.1, 0.2))
    assert not core.command(command(0.1, 0.2), NOW_NS, NOW)
    assert refused(core, "torque_off") == 1
    core.follow((0.3, 0.4))
    assert core.memory.goal == (0.3, 0.4)


def test_torque_on_holds_where_the_arm_is():
    core = driver()
    core.torque(False, (0.1, 0.2))
    assert core.torque(True, (0.3, 0.4)) == ""
    assert core.memory.goal == (0.3, 0.4)
    core.follow((0.9, 0.9))
    assert core.memory.goal == (0.3, 0.4)


def test_torque_on_while_on_does_not_let_a_drooping_arm_sag():
    core = driver()
    core.torque(True, (-0.05, 0.0))
    assert core.memory.goal == (0.0, 0.0)


def test_estop_holds_refuses_commands_and_reset_never_turns_torque_on():
    core = driver()
    core.latch_estop((0.02, 0.0))
    assert core.memory.goal == (0.0, 0.0)
    assert core.memory.torque_on
    assert not core.command(command(0.0, 0.0), NOW_NS, NOW)
    assert refused(core, "estop") == 1
    core.torque(False, (0.0, 0.0))
    assert "reset the e-stop" in core.torque(True, (0.0, 0.0))
    core.reset_estop()
    assert not core.memory.torque_on


def test_estop_releases_when_so_configured():
    core = driver(estop_release=True)
    core.latch_estop((0.02, 0.0))
    assert not core.memory.torque_on
    assert core.memory.estop


def test_restart_is_a_new_instance_that_keeps_latch_and_torque():
    core = driver()
    core.latch_estop((0.0, 0.0))
    core.restart((0.5, 0.5))
    assert core.memory.instance == 8
    assert core.memory.estop
    assert core.memory.goal == (0.5, 0.5)


def test_instance_wraps_as_32_bits():
    core = Driver(CONFIG, 0xFFFFFFFF, (0.0, 0.0))
    core.restart((0.0, 0.0))
    assert core.memory.instance == 0


def test_silence_longer_than_the_timeout_counts_as_holding():
    core = driver()
    assert core.holding(NOW)
    core.command(command(0.0, 0.0), NOW_NS, NOW)
    assert not core.holding(NOW + 0.19)
    assert core.holding(NOW + 0.21)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), max_size=30), st.floats(-1.2, 1.2))
def test_goal_never_leaves_the_hull_of_limits_and_start_and_never_turns_outwards(asked, start):
    core = driver(goal=(start, 0.0), step_bound=(10.0, 10.0))
    low, high = min(-1.0, start), max(1.0, start)
    for position in asked:
        core.command(command(*position), NOW_NS, NOW)
        goal = core.memory.goal[0]
        assert low <= goal <= high
        low, high = min(-1.0, goal), max(1.0, goal)


@given(st.lists(st.tuples(st.floats(allow_nan=True, allow_infinity=True), st.floats(-1, 1), st.floats(-1, 1)), max_size=20))
def test_every_command_is_either_executed_or_counted(stream):
    core = driver()
    for first, second, age in stream:
        core.command(command(first, second, age=age), NOW_NS, NOW)
    assert core.memory.executed + sum(core.memory.refused) == len(stream)
    assert all(map(math.isfinite, core.memory.goal))
