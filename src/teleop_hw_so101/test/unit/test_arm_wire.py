"""What becomes of an arm when its wire, its supply or its port fails."""

from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_common.enums import Device, Provider
from teleop_hw_so101.health import HealthRules
from teleop_hw_so101.health_report import ArmHealth
from teleop_hw_so101.testing import emulated

CONFIG = Path(__file__).resolve().parents[4] / "config"
bench = partial(emulated, limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml"))


# wire


@pytest.mark.parametrize("kind", ["lose", "corrupt", "late", "double", "cut", "garble"])
def test_two_percent_bad_replies_do_not_stop_the_arm(kind):
    b = bench().armed()
    b.tell(f"{kind} left share=0.02")
    begun, count = b.loop.time, len(b.joints)
    b.run(1.0, b.drift(speed=0.2))
    assert b.states[-1].error == ""
    assert (len(b.joints) - count) / (b.loop.time - begun) > 90.0
    assert b.joints[-1].position == pytest.approx(b.truth(), abs=0.02)


def test_lost_readings_of_one_joint_are_flagged_by_age_then_stop_the_joint_states_then_degrade():
    b = bench().armed()
    health = ArmHealth(b.core, HealthRules())
    b.tell("lose left id=4")
    b.run(0.1)
    ages = b.states[-1].sample_age
    assert ages[3] > 0.08
    assert max(ages[:3] + ages[4:]) < 0.04
    b.run(0.3)
    count = len(b.joints)
    b.run(0.3)
    assert len(b.joints) == count, "old numbers are not sent with new stamps"
    assert "wrist_flex gave no reading" in b.states[-1].error
    report = health.report(0, b.loop.time, b.arm.bus.counts, "host", 1)
    states = {device.path: device.state for device in report.devices}
    assert (states["arm/left/wrist_flex"], states["arm/left/elbow_flex"]) == (Device.FAILED, Device.CONNECTED)
    assert b.torques == [True] * 6, "the others hold, and so does it"
    b.tell("calm left")
    b.run(0.9)
    assert len(b.joints) > count + 20, "by itself"
    assert b.states[-1].error == ""


def test_servo_away_is_asked_rarely_and_does_not_slow_the_others():
    b = bench().armed()
    b.tell("gone left id=6")
    b.run(1.0)
    reads = b.core.tally.motions
    b.run(1.0)
    assert b.core.tally.motions - reads > 40


# supply and cables


def test_servo_that_lost_its_supply_is_not_woken_with_an_old_goal():
    b = bench().armed()
    b.run(0.3, b.drift())
    b.tell("gone left id=2")
    b.run(0.3)
    b.tell("back left id=2")
    b.run(1.5)
    assert b.torques == [True, False, True, True, True, True]
    assert "shoulder_lift lost torque" in b.states[-1].error
    assert not b.command(b.core.driver.memory.goal)
    assert "shoulder_lift lost torque" in b.core.last_refusal
    assert b.torque(False) == ""
    assert b.torque(True) == ""
    b.run(0.2)
    assert b.torques == [True] * 6
    assert b.states[-1].error == ""


def test_brown_out_of_the_arm_leaves_it_limp_and_says_so():
    b = bench().armed()
    b.tell("brownout left for=0.3")
    b.run(1.4)
    assert b.torques == [False] * 6
    assert not b.states[-1].torque_on
    assert "lost their torque" in b.states[-1].error
    assert b.torque(True) == ""
    b.run(0.1)
    assert b.states[-1].error == ""


def test_pulled_port_leaves_the_servos_holding_and_comes_back_as_a_new_instance():
    b = bench().armed()
    b.run(0.3, b.drift())
    held, instance = b.goals, b.states[-1].instance
    b.tell("unplug left")
    count = len(b.joints)
    b.run(0.4)
    assert (b.torques, b.goals) == ([True] * 6, held)
    assert len(b.joints) == count
    assert "plug it in again" in b.states[-1].error
    report = ArmHealth(b.core, HealthRules()).report(0, b.loop.time, {}, "host", 1)
    assert (report.state, report.devices[0].state) == (Provider.FAILED, Device.DISCONNECTED)
    assert "no connection" in b.torque(True)
    b.tell("replug left")
    b.run(1.0)
    assert b.states[-1].instance != instance
    assert b.states[-1].torque_on
    assert b.goals == held
    b.run(0.2, b.drift())
    assert b.states[-1].error == ""


def test_release_that_was_asked_while_the_port_was_away_is_done_when_it_is_back():
    b = bench().armed()
    b.tell("unplug left")
    b.run(0.1)
    assert b.torque(False) != ""
    assert b.torques == [True] * 6
    b.tell("replug left")
    b.run(1.0)
    assert b.torques == [False] * 6
    assert not b.states[-1].torque_on


def test_release_reaches_every_servo_but_the_one_that_refuses_and_that_one_later():
    b = bench().armed()
    b.tell("lose left id=1")
    b.tell("garble left for=0.001")
    b.servos[0].unplug(True)
    answer = b.torque(False)
    assert "no answer from shoulder_pan" in answer
    assert b.torques[1:] == [False] * 5
    b.tell("calm left")
    b.servos[0].unplug(False)
    b.run(1.0)
    assert b.torques == [False] * 6
