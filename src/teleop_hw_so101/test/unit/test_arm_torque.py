"""An arm on emulated servos: how it starts, and how torque goes on and off."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.testing import Bench, emulated

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
bench = partial(emulated, ROBOT, CELL)


def test_arm_starts_as_its_servos_are_and_nothing_is_written():
    b = bench()
    b.run(0.5)
    state = b.states[-1]
    assert (state.torque_on, state.error, state.estop) == (False, "", False)
    assert b.joints[-1].position == pytest.approx(b.truth(), abs=0.01)
    assert state.goal == pytest.approx(b.joints[-1].position), "a limp arm's goal follows"
    assert b.torques == [False] * 6
    assert all(servo.goal_written is None for servo in b.servos)


def test_torque_goes_on_where_the_arm_stands():
    b = bench()
    b.run(0.5)
    before = b.truth()
    assert b.torque(True) == ""
    b.run(1.0)
    assert b.torques == [True] * 6
    assert b.truth() == pytest.approx(before, abs=0.03), "droop, no leap"
    assert b.states[-1].torque_on
    assert b.states[-1].goal == pytest.approx(before, abs=0.01)


def test_commands_without_torque_write_no_goal():
    b = bench()
    b.run(0.3)
    assert not b.command(b.core.driver.memory.goal)
    assert "torque is off" in b.core.last_refusal
    b.run(0.2)
    assert all(servo.goal_written is None for servo in b.servos), "a goal write turns torque on by itself"


def test_restarted_driver_takes_over_what_the_servos_hold():
    b = bench().armed()
    b.run(0.3, b.drift())
    held = b.goals
    again = Bench(b.loop, ROBOT, {"left": b.arm.setup.calibration}, instance=8)
    again.run(0.5)
    assert again.goals == held
    assert again.states[-1].torque_on
    assert again.states[-1].instance == 8
    assert again.states[-1].goal == pytest.approx(b.core.driver.memory.goal, abs=0.001)


def test_arm_that_was_left_with_torque_at_some_joints_is_told_of_and_left_alone():
    b = bench()
    b.servos[2].write(42, (2048).to_bytes(2, "little"), b.loop.time)
    b.run(0.3)
    assert "torque is on at elbow_flex alone" in b.states[-1].error
    assert b.torques == [False, False, True, False, False, False]
    assert b.torque(False) == ""
    assert b.torques == [False] * 6
    b.run(0.1)
    assert b.states[-1].error == ""


def test_one_servo_that_does_not_take_torque_leaves_none_with_torque():
    b = bench()
    b.run(0.3)
    b.tell("lose left id=4")
    b.tell("gone left id=4")
    answer = b.torque(True)
    assert "wrist_flex" in answer
    b.run(0.2)
    assert b.torques == [False] * 6


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("gone left id=3", r"no answer from elbow_flex \(ID 3\)"),
        ("supply left value=5", "supply of 'shoulder_pan': got 5.0 V, allowed 6.0"),
        ("heat left id=2 value=66", "temperature of 'shoulder_lift': got 6"),
    ],
)
def test_arm_that_is_not_ready_gets_no_torque_and_is_told_why(fault, words):
    b = bench()
    b.run(0.3)
    b.tell(fault)
    b.run(0.3)
    answer = b.torque(True)
    assert re.search(words, answer), answer
    assert b.torques == [False] * 6


def test_estop_while_torque_goes_on_leaves_the_arm_limp():
    b = bench()
    b.run(0.3)
    registers, pressed = b.arm.setup.registers, []

    class Pressed(dict):
        """Registers of the last servo; whoever writes them presses the e-stop just then."""

        def items(self):
            pressed.append(b.core.estop())
            return super().items()

    b.arm.torque.setup = replace(b.arm.setup, registers=(*registers[:5], Pressed(registers[5])))
    assert "e-stop is latched" in b.torque(True)
    assert pressed == [False]
    b.run(0.1)
    assert b.torques == [False] * 6
    assert not b.states[-1].torque_on
