"""What becomes of a request for torque when something comes between: a pulled port, "off", a late bus."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.testing import Bench

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")


@pytest.fixture
def b():
    loop, calibrations = loopback(ROBOT, CELL, ("left",), seed=1)
    made = Bench(loop, ROBOT, calibrations)
    made.run(0.3)
    return made


def between(b, joint, happens):
    """Let ``happens`` be called while the servo of ``joint`` is armed."""
    registers = b.arm.setup.registers

    class Hook(dict):
        def items(self):
            happens()
            return super().items()

    hooked = (*registers[:joint], Hook(registers[joint]), *registers[joint + 1 :])
    b.arm.torque.setup = replace(b.arm.setup, registers=hooked)


@pytest.mark.parametrize("joint", [0, 3])
def test_port_pulled_while_torque_goes_on_is_answered(b, joint):
    between(b, joint, lambda: b.tell("unplug left"))
    assert "no connection" in b.torque(True)


def test_port_pulled_before_torque_goes_off_is_answered_and_it_goes_off_when_it_is_back(b):
    b.armed()
    b.tell("unplug left")
    assert "no connection" in b.torque(False)
    assert b.torques == [True] * 6
    b.tell("replug left")
    b.run(1.0)
    assert b.torques == [False] * 6


def test_torque_that_nobody_waits_for_any_more_does_not_go_on(b):
    answers = []
    b.arm.ask(True, answers.append, until=b.loop.time - 0.01)
    b.run(0.2)
    assert "ask again" in answers[0]
    assert b.torques == [False] * 6


def test_bus_too_slow_for_the_asker_leaves_no_servo_with_torque(b):
    between(b, 0, lambda: b.loop.wait(4.0))  # the pan, which does not sag meanwhile
    answers = []
    b.arm.ask(True, answers.append, until=b.loop.time + 3.0)
    b.run(0.2)
    assert "ask again" in answers[0]
    assert b.torques == [False] * 6
    assert b.servos[1].goal_written is None


def test_off_withdraws_the_on_that_is_under_way(b):
    answers = []
    between(b, 2, lambda: b.arm.ask(False, lambda text: answers.append(("off", text))))
    b.arm.ask(True, lambda text: answers.append(("on", text)))
    b.run(0.2)
    assert [what for what, _ in answers] == ["on", "off"]
    assert "then off" in answers[0][1]
    assert answers[1][1] == ""
    assert b.torques == [False] * 6
    assert b.servos[3].goal_written is None, "the rest is not armed any more"


def test_estop_withdraws_the_on_that_is_under_way(b):
    between(b, 2, b.core.estop)
    assert "e-stop is latched" in b.torque(True)
    assert b.torques == [False] * 6
    assert b.servos[3].goal_written is None


# what is said of it


def test_off_is_told_when_every_servo_has_obeyed_and_not_before(b):
    assert b.torque(True) == ""
    b.core.fail("something")
    b.tell("lose left id=2 for=0.4")
    b.tell("garble left for=0.001")
    b.servos[1].unplug(True)
    assert "no answer from shoulder_lift" in b.torque(False)
    b.run(0.05)
    assert b.states[-1].torque_on
    assert "torque still on at shoulder_lift, asked off" in b.states[-1].error
    assert "something" in b.states[-1].error
    assert not b.command(b.core.driver.memory.goal)
    b.servos[1].unplug(False)
    b.run(1.5)
    assert b.torques == [False] * 6
    assert not b.states[-1].torque_on
    assert b.states[-1].error == ""


@pytest.mark.parametrize("release", [False, True])
def test_estop_before_the_arm_is_heard_is_latched_when_it_is(b, release):
    assert b.torque(True) == ""
    other = Bench(b.loop, ROBOT, {"left": b.arm.setup.calibration}, instance=8, estop_release=release)
    assert other.core.estop() is release
    other.run(0.5)
    assert other.states[-1].estop
    assert b.torques == [not release] * 6
    assert other.states[-1].torque_on is not release
    assert not other.command(other.core.driver.memory.goal)
    assert other.core.reset_estop() == ""
    other.run(0.1)
    assert not other.states[-1].estop


def test_estop_that_was_reset_before_the_arm_is_heard_is_over(b):
    other = Bench(b.loop, ROBOT, {"left": b.arm.setup.calibration}, instance=8)
    other.core.estop()
    assert other.core.reset_estop() == ""
    other.run(0.5)
    assert not other.states[-1].estop
