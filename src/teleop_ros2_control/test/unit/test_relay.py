"""One arm behind ros2_control: whose joints count, what is sent on, and what happens when the controller goes away."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.driver import DriverConfig
from teleop_common.records import Header, JointCommand, JointState
from teleop_ros2_control.relay import Relay, RelayConfig

NS = 9_000_000_000
OURS, THEIRS = ("left_a", "left_b", "left_finger"), ("a", "b", "finger")
RULES = DriverConfig("left", OURS, (-1.0, -1.0, 0.0), (1.0, 1.0, 0.04), (0.1, 0.1, 0.005))
CONFIG = RelayConfig(RULES, THEIRS)
AT = (0.3, -0.2, 0.04)


def states(positions=AT, names=THEIRS, age=0.0, **values):
    return JointState(Header(NS - round(age * 1e9)), tuple(names), tuple(positions), **values)


def command(*positions, age=0.0):
    return JointCommand(header=Header(NS - round(age * 1e9)), name=OURS, position=positions)


def relay(now=1.0, **changes):
    core = Relay(dataclasses.replace(CONFIG, **changes), 7)
    assert core.feedback(states(), NS, now) is not None
    return core


# ---- feedback
def test_joints_in_any_order_among_others_come_out_in_ours_with_our_names():
    core = Relay(CONFIG, 7)
    sample = states(
        (9.0, 0.04, -0.2, 0.3), ("other", "finger", "b", "a"), velocity=(0.0, 1.0, 2.0, 3.0), effort=(0.0, 4.0, 5.0, 6.0)
    )
    own = core.feedback(sample, NS, 1.0)
    assert own == JointState(Header(NS), OURS, AT, (3.0, 2.0, 1.0), (6.0, 5.0, 4.0))


def test_velocity_and_effort_that_the_controller_lacks_are_zero():
    own = Relay(CONFIG, 7).feedback(states(velocity=(math.nan,) * 3), NS, 1.0)
    assert own.velocity == own.effort == (0.0, 0.0, 0.0)


def test_gripper_of_another_broadcaster_joins_the_arm():
    core = Relay(CONFIG, 7)
    assert core.feedback(states((0.3, -0.2), ("a", "b")), NS, 1.0) is None
    assert "finger" in core.error(1.0)
    assert core.feedback(states((0.04,), ("finger",)), NS, 1.01) is None
    assert core.feedback(states((0.31, -0.2), ("a", "b")), NS, 1.02).position == (0.31, -0.2, 0.04)


def test_gripper_that_fell_silent_stops_the_arms_states_too():
    core = Relay(CONFIG, 7)
    core.feedback(states(), NS, 1.0)
    assert core.feedback(states((0.3, -0.2), ("a", "b")), NS, 1.3) is None
    assert "finger" in core.last_refusal
    assert "finger" in core.error(1.3)


def test_message_without_our_joints_is_nobodys_fault():
    core = Relay(CONFIG, 7)
    assert core.feedback(states((1.0,), ("wheel",)), NS, 1.0) is None
    assert core.refused == 0


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (states(age=0.3), "synchronise the clocks"),
        (states(age=-5.0), "synchronise the clocks"),
        (states((0.3, math.nan, 0.0)), "b is no number"),
        (states((0.3, -0.2)), "2 positions for 3 names"),
    ],
)
def test_bad_joint_states_are_refused_counted_and_change_nothing(sample, why):
    core = relay()
    assert core.feedback(sample, NS, 1.05) is None
    assert core.refused == 1
    assert why in core.last_refusal
    assert core.torque(False) == ""
    assert core.driver.memory.goal == AT


def test_stamp_of_zero_counts_from_arrival():
    own = Relay(CONFIG, 7).feedback(JointState(Header(0), THEIRS, AT), NS, 1.0)
    assert own.header.stamp == NS


# ---- commands
def test_before_the_first_feedback_nothing_is_sent_nor_told():
    core = Relay(CONFIG, 7)
    assert core.command(command(*AT), NS, 1.0) is None
    assert "no joint states of a, b, finger" in core.last_refusal
    assert core.state(NS, 1.0, write_hz=0.0, read_hz=0.0) is None
    assert "start the controller" in core.torque(True)


def test_goal_is_where_the_arm_stands_and_commands_near_it_are_sent_on():
    core = relay()
    assert core.state(NS, 1.0, write_hz=0.0, read_hz=0.0).goal == AT
    assert core.command(command(0.35, -0.2, 0.04), NS, 1.01) == (0.35, -0.2, 0.04)


def test_first_command_far_from_the_goal_is_refused():
    core = relay()
    assert core.command(command(0.5, -0.2, 0.04), NS, 1.01) is None
    assert "first_step" in core.last_refusal


def test_command_is_clamped_to_the_limits_as_the_last_resort():
    core = relay()
    core.command(command(*AT), NS, 1.01)
    assert core.command(command(7.0, -7.0, 0.04), NS, 1.02) == (1.0, -1.0, 0.04)


def test_stale_command_is_refused():
    core = relay()
    assert core.command(command(*AT, age=0.25), NS, 1.01) is None


def test_silence_of_the_guard_is_told_as_holding():
    core = relay()
    core.command(command(*AT), NS, 1.0)
    assert not core.driver.holding(1.1)
    assert core.driver.holding(1.3)
    assert core.state(NS, 1.3, write_hz=0.0, read_hz=0.0).command_age == pytest.approx(0.3)


def test_commands_stop_while_the_controller_tells_nothing():
    core = relay()
    assert core.command(command(*AT), NS, 1.25) is None
    assert "no joint states" in core.state(NS, 1.25, write_hz=0.0, read_hz=0.0).error


def test_controller_that_comes_back_elsewhere_is_a_new_instance_that_pulls_nothing():
    core = relay()
    core.command(command(0.35, -0.2, 0.04), NS, 1.01)
    moved = (0.9, 0.5, 0.0)
    core.feedback(states(moved), NS, 3.0)
    state = core.state(NS, 3.0, write_hz=0.0, read_hz=0.0)
    assert state.instance == 8
    assert state.goal == moved
    assert core.command(command(0.35, -0.2, 0.04), NS, 3.01) is None


# ---- e-stop and torque
def test_estop_stops_commands_until_it_is_reset():
    core = relay()
    assert core.estop() == ""
    assert core.command(command(*AT), NS, 1.01) is None
    assert core.state(NS, 1.02, write_hz=0.0, read_hz=0.0).estop
    core.reset_estop()
    assert core.command(command(*AT), NS, 1.03) == AT


def test_estop_before_the_first_feedback_is_latched_all_the_same():
    core = Relay(CONFIG, 7)
    core.estop()
    core.feedback(states(), NS, 1.0)
    assert core.state(NS, 1.0, write_hz=0.0, read_hz=0.0).estop
    assert core.command(command(*AT), NS, 1.01) is None


def test_torque_off_drops_commands_and_the_goal_follows_the_arm():
    core = relay()
    assert core.torque(False) == ""
    core.feedback(states((0.5, 0.1, 0.02)), NS, 1.05)
    assert core.command(command(0.5, 0.1, 0.02), NS, 1.06) is None
    assert core.driver.memory.goal == (0.5, 0.1, 0.02)
    assert core.torque(True) == ""
    assert core.command(command(0.5, 0.1, 0.02), NS, 1.07) == (0.5, 0.1, 0.02)


@given(st.lists(st.floats(), min_size=3, max_size=3), st.floats(), st.floats())
def test_whatever_comes_nothing_but_numbers_within_the_limits_is_sent(positions, measured, age):
    core = relay()
    sample = states((measured, -0.2, 0.04), age=age if math.isfinite(age) and abs(age) < 1e6 else 0.0)
    core.feedback(sample, NS, 1.05)
    core.command(command(*AT), NS, 1.06)
    sent = core.command(command(*positions), NS, 1.07)
    assert sent is None or all(low <= p <= high for p, low, high in zip(sent, RULES.lower, RULES.upper))
