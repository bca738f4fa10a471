"""Which arm it is, and what its servos say of themselves: other calibrations, overload, heat, the end of a scale."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_common.enums import Device
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.health import HealthRules
from teleop_hw_so101.health_report import ArmHealth
from teleop_hw_so101.testing import Bench, emulated

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
bench = partial(emulated, ROBOT, CELL)


# which arm it is


def test_other_values_in_eeprom_than_in_the_file_are_a_table_and_no_torque():
    b = bench()
    for place, off in ((1, 65), (4, 3400 - 4096)):
        servo = b.servos[place]
        servo.burn("homing_offset", servo.get("homing_offset") + off)
    b.run(0.5)
    problem = b.core.problem
    assert "hold other values" in problem
    assert "+65" in problem
    assert "homing_offset" in problem
    assert b.states == [], "nothing is published of an arm that is not known"
    assert "hold other values" in b.torque(True)
    assert b.torques == [False] * 6


def test_factory_values_and_anothers_calibration_are_refused():
    b = bench(seed=1)
    _, others = loopback(ROBOT, CELL, ("left",), seed=2)
    stranger = Bench(b.loop, ROBOT, others)
    stranger.run(0.5)
    assert "hold other values" in stranger.core.problem
    assert stranger.joints == []


def test_swapped_ports_are_named():
    b = bench(("left", "right"), port="right")
    b.run(0.5)
    assert "got the servos of 'right'" in b.core.problem
    assert "swapped" in b.core.problem
    assert "swapped" in b.torque(True)


def test_two_servos_of_one_id_are_named():
    b = bench()
    b.tell("same_id left id=5 value=4")
    b.run(1.0)
    assert "wrist_roll (ID 5)" in b.core.problem
    assert "wrist_flex" in b.core.problem or "no answer" in b.core.problem
    assert b.states == []


# servos' own faults


def test_latched_overload_is_shown_and_cleared_by_torque_off_and_on():
    b = bench().armed()
    b.tell("overload left id=6")
    b.run(0.2)
    assert b.states[-1].status[5] & 0x20
    assert "gripper reports overload" in b.states[-1].error
    b.run(0.5, b.drift())
    assert len(b.joints) > 20, "a status bit is telemetry, no failure of reading"
    assert b.torque(False) == ""
    assert b.torque(True) == ""
    b.run(0.5)
    assert b.states[-1].status[5] == 0
    assert b.states[-1].error == ""


def test_overload_that_only_the_supply_clears_says_so():
    b = bench(emulator={"overload_clears": "power"})
    b.run(0.3)
    b.tell("overload left id=6")
    answer = b.torque(True)
    assert "switch the supply off and on" in answer
    assert b.torques == [False] * 6


def whole_turn():
    """A driver whose arm's wrist roll has the whole scale, as LeRobot calibrates it, and stands at its end."""
    loop, calibrations = loopback(ROBOT, CELL)
    own = calibrations["left"]
    joints = tuple(replace(j, range_min=0, range_max=4095) if j.name == "wrist_roll" else j for j in own.joints)
    b = Bench(loop, ROBOT, {"left": replace(own, joints=joints)})
    for name, value in (("min_position", 0), ("max_position", 4095)):
        b.servos[4].burn(name, value)
    b.tell("seam left id=5 value=1")
    return b


def test_joint_pushed_over_the_seam_under_torque_is_let_go_before_it_turns_the_long_way_round():
    b = whole_turn().armed()
    before = b.truth()[4]
    b.tell("push left id=5 value=3 for=0.15")
    b.run(0.5)
    assert "wrist_roll was turned over the end of its scale" in b.states[-1].error
    assert b.torques == [True, True, True, True, False, True]
    assert not b.command(b.core.driver.memory.goal)
    assert abs(b.truth()[4] - before) < 1.0, "its goal is nearly a turn away"
    assert b.joints[-1].position[4] == pytest.approx(b.core.measured()[4])
    assert b.joints[-1].position[4] > math.pi, "told on, past the end"


def test_limp_joint_turned_by_hand_reads_on_over_the_seam():
    b = whole_turn()
    b.run(0.2)
    b.tell("push left id=5 value=0.3 for=0.4")
    b.run(0.6)
    roll = [joint.position[4] for joint in b.joints]
    assert roll[-1] > math.pi + 0.05
    assert max(abs(q - p) for p, q in zip(roll, roll[1:])) < 0.5, "no leap of a turn"


def test_joint_that_pushes_at_its_limit_shows_full_load_whatever_the_limit_is():
    b = bench(torque_limit=0.5).armed()
    b.tell("stick left id=3")
    b.run(0.6, b.drift(joint=2, speed=1.0))
    assert b.servos[2].duty == pytest.approx(0.5, abs=0.01)
    assert abs(b.states[-1].load[2]) == pytest.approx(1.0, abs=0.02), "the guard's watchdog sees it"


def test_stuck_joint_shows_load_and_then_its_servo_protects_itself():
    b = bench().armed()
    b.tell("stick left id=3")
    b.run(0.6, b.drift(joint=2, speed=1.0))
    assert abs(b.states[-1].load[2]) > 0.7
    b.run(2.6, lambda: b.command(b.core.driver.memory.goal))
    assert b.states[-1].status[2] & 0x20
    assert "elbow_flex reports overload" in b.states[-1].error


def test_temperature_supply_and_errors_of_each_joint_are_in_the_diagnostics():
    b = bench().armed()
    health = ArmHealth(b.core, HealthRules())
    b.tell("heat left id=2 value=71")
    b.tell("corrupt left id=3 share=0.2")
    b.run(1.0, lambda: health.observe(b.loop.time))
    entries = {e.name.split(": ")[1]: e for e in health.diagnostics(b.loop.time, b.arm.bus.counts, 100.0, 50.0)}
    assert list(entries) == ["bus", *ROBOT.names]
    values = dict(entries["shoulder_lift"].values)
    assert float(values["temperature [°C]"]) >= 70
    assert values["supply [V]"].startswith(("11", "12"))
    assert "the servo unloads at 70 °C" in entries["shoulder_lift"].message
    assert int(dict(entries["elbow_flex"].values)["corrupt"]) > 0
    assert entries["shoulder_pan"].level == 0
    report = health.report(0, b.loop.time, b.arm.bus.counts, "host", 1)
    states = {device.path: device for device in report.devices}
    assert states["arm/left/shoulder_lift"].state == Device.DEGRADED
    assert "without a good reply" in states["arm/left/elbow_flex"].error
    assert states["arm/left"].state == Device.DEGRADED
