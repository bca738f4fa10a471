"""Nothing that happens to an arm lets a joint leap: not torque going on, a servo heard again, or an arm taken over."""

import math
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.testing import Bench, emulated

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")


bench = partial(emulated, ROBOT, CELL)


# torque going on


def test_joint_turned_limp_over_the_end_of_its_scale_gets_no_torque_until_it_is_turned_back():
    loop, calibrations = loopback(ROBOT, CELL)
    own = calibrations["left"]
    joints = tuple(replace(j, range_min=0, range_max=4095) if j.name == "wrist_roll" else j for j in own.joints)
    b = Bench(loop, ROBOT, {"left": replace(own, joints=joints)})
    for name, value in (("min_position", 0), ("max_position", 4095)):
        b.servos[4].burn(name, value)
    b.tell("seam left id=5 value=1")
    b.run(0.2)
    b.tell("push left id=5 value=0.3 for=0.4")
    b.run(0.6)
    assert b.servos[4].present_position() < 100
    answer = b.torque(True)
    assert "wrist_roll over the end of its scale" in answer
    assert b.torques == [False] * 6
    b.tell("push left id=5 value=-0.3 for=0.6")
    b.run(1.0)
    before = b.truth()[4]
    assert b.torque(True) == ""
    b.run(0.5)
    assert b.truth()[4] == pytest.approx(before, abs=0.05)


def test_joint_turned_while_its_supply_was_off_gets_torque_where_it_is():
    b = bench()
    b.run(0.3)
    b.tell("gone left id=1")
    b.run(0.1)
    # by more than half a turn, as if there were no stops
    b.core.samples.servos[0].motion = replace(b.core.samples.servos[0].motion, position=4000, raw=4000)
    b.run(0.5)
    b.tell("back left id=1")
    b.run(1.0)
    before = b.truth()
    assert b.torque(True) == ""
    b.run(0.5)
    assert b.truth() == pytest.approx(before, abs=0.03)


def test_joint_that_moves_while_torque_goes_on_is_not_caught():
    b = bench()
    b.run(0.3)
    b.tell("push left id=5 value=1.0 for=1.0")
    b.run(0.1)
    assert re.search("wrist_roll': got motion .*keep the arm still", b.torque(True))
    assert b.torques == [False] * 6


def test_published_goal_is_the_one_each_servo_got():
    b = bench().armed()
    b.run(0.1)
    told = [s.radians(servo.goal_position()) for s, servo in zip(b.core.config.scales, b.servos)]
    assert b.states[-1].goal == pytest.approx(told, abs=1e-9)


# servos heard again


@pytest.mark.parametrize("silence", [0.1, 0.3])
def test_servo_heard_again_stays_where_it_holds_however_far_commands_went_meanwhile(silence):
    b = bench().armed()
    each = b.drift(speed=2.0, obeyed=False)
    b.run(0.2, each)
    b.tell("lose left id=1")
    b.run(silence, each)
    held, before, instance = b.servos[0].goal_position(), b.truth()[0], b.states[-1].instance
    b.run(0.7)
    b.tell("calm left")
    b.run(1.0)
    assert abs(b.servos[0].goal_position() - held) <= 1
    assert abs(b.truth()[0] - before) < 0.2, "no farther than its goal of then"
    assert b.states[-1].instance != instance
    assert b.states[-1].goal[0] == pytest.approx(b.core.config.scales[0].radians(held), abs=0.002)


def test_servo_heard_again_with_the_goal_of_the_arm_changes_nothing():
    b = bench().armed()
    b.tell("lose left id=1")
    instance = b.states[-1].instance
    b.run(0.3)
    b.tell("calm left")
    b.run(1.0)
    assert b.states[-1].instance == instance
    assert b.states[-1].error == ""
    assert not b.core.samples.servos[0].suspect


def stalled(b):
    """The driver's process stands still for a second."""
    b.loop.until(b.loop.time + 1.0)


def port_pulled(b):
    b.tell("unplug left")
    b.run(0.3)
    b.tell("replug left")
    b.run(0.8)


def bus_silent(b):
    b.tell("lose left for=0.4")
    b.run(0.8)


@pytest.mark.parametrize("lost", [stalled, port_pulled, bus_silent])
def test_arm_that_was_lost_for_a_while_stays_where_it_is_until_it_is_told_to(lost):
    b = bench().armed()
    b.run(0.3, b.drift())
    lost_at, instance = b.goals, b.states[-1].instance
    # a guard that has not heard yet: a little away, well within what a joint does in a moment
    ahead = (b.core.driver.memory.goal[0] + 0.03, *b.core.driver.memory.goal[1:])
    lost(b)
    b.run(0.3, lambda: b.command(ahead))
    assert b.goals == lost_at
    assert b.torques == [True] * 6
    assert b.states[-1].instance != instance
    assert b.states[-1].error == ""
    assert "the first command must be to stay there" in b.core.last_refusal
    b.run(0.3, b.drift())
    assert b.goals[0] - lost_at[0] == pytest.approx(0.145 / 2 / math.pi * 4096, abs=4), "then it is driven on"


def test_short_silence_of_the_whole_bus_changes_nothing():
    b = bench().armed()
    b.run(0.3, b.drift())
    instance = b.states[-1].instance
    b.tell("lose left for=0.05")
    b.run(0.3)
    assert b.states[-1].instance == instance


# arms taken over with torque on


def again(b):
    """Another driver on the same arm, as after a crash."""
    return Bench(b.loop, ROBOT, {"left": b.arm.setup.calibration}, instance=8)


def test_arm_taken_over_gets_the_limits_of_this_driver():
    b = bench().armed()
    for servo in b.servos:
        for name in ("torque_limit", "goal_velocity"):
            servo.burn(name, 900)
    before = b.truth()
    other = again(b)
    other.run(0.5)
    assert [servo.get("torque_limit") for servo in b.servos] == [1000] * 5 + [500]
    assert [servo.get("goal_velocity") for servo in b.servos] == [3064] * 6
    assert other.states[-1].torque_on
    assert other.states[-1].error == ""
    assert b.truth() == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("supply left value=5.5", "supply of 'shoulder_pan': got 5.5 V"),
        ("overload left id=6", "status of 'gripper': got overload"),
    ],
)
def test_arm_taken_over_in_a_state_that_would_get_no_torque_holds_and_refuses_commands(fault, words):
    b = bench().armed()
    b.tell(fault)
    b.run(0.1)
    other = again(b)
    other.run(0.4)
    held = [servo.goal_position() for servo in b.servos]
    other.run(0.3, other.drift(obeyed=False))
    assert re.search(words, other.states[-1].error)
    assert "commands are refused" in other.core.last_refusal
    assert b.torques == [True] * 6
    assert [servo.goal_position() for servo in b.servos] == held
    other.tell("supply left value=12")
    other.run(0.2)
    assert other.torque(False) == ""
    assert other.torque(True) == ""
    assert other.core.fault == ""
