from dataclasses import replace

import pytest

from teleop_hw_so101 import arming
from teleop_hw_so101.arming import ArmingRules, ServoFacts
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration
from teleop_hw_so101.registers import PHASE_MULTI_TURN, REGISTERS

NAMES = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
FILE = ArmCalibration(tuple(JointCalibration(n, i, 0, 10 * i, 1000, 3000) for i, n in enumerate(NAMES, 1)), "left.json")
OTHER = ArmCalibration(tuple(replace(j, homing_offset=-j.homing_offset) for j in FILE.joints), "right.json")
EEPROM = {r.name: r.default for r in REGISTERS.values() if r.eeprom}
NOW = 50.0


def facts(calibration=FILE, **changes):
    """Everything in order, but for registers of EEPROM changed at the gripper."""
    made = {}
    for joint in calibration.joints:
        held = {"homing_offset": joint.homing_offset, "min_position": joint.range_min, "max_position": joint.range_max}
        eeprom = EEPROM | held | (changes if joint.name == "gripper" else {})
        made[joint.name] = ServoFacts(eeprom, {}, {"present_voltage": 120, "present_temperature": 30, "status": 0}, 2000, 0, NOW)
    return made


def who(found, **more):
    return arming.identity("left", found, FILE, {"left": FILE, "right": OTHER}, **more)


def ready(found):
    return arming.readiness("left", found, FILE, ArmingRules(), NOW)


def gripper(**changes):
    found = facts()
    return found | {"gripper": replace(found["gripper"], **changes)}


def test_arm_in_order_may_have_torque():
    assert who(facts()) == []
    assert ready(facts()) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model_number": 1029}, "model of 'gripper': got 1029, allowed 777"),
        ({"firmware_minor": 9}, "gripper 3.9, allowed one version for all"),
        ({"homing_offset": 125}, "+65"),
        ({"max_position": 4095}, "range_max"),
    ],
)
def test_other_servo_than_the_files_is_named(changes, says):
    (problem,) = who(facts(**changes))
    assert says in problem


def test_another_known_arm_means_swapped_ports_and_an_unknown_one_a_table():
    (problem,) = who(facts(OTHER))
    assert "got the servos of 'right'" in problem
    assert "swapped" in problem
    (problem,) = arming.identity("left", facts(OTHER), FILE, {"left": FILE})
    assert problem.count("homing_offset") == 6
    assert "./teleop arm calibrate" in problem


def test_silent_servos_are_named_and_garbled_ones_taken_for_one_id():
    found = facts() | {"wrist_roll": None}
    (problem,) = who(found)
    assert "no answer from wrist_roll (ID 5)" in problem
    (problem,) = who(found | {"wrist_flex": None}, corrupt=["wrist_flex"])
    assert "wrist_flex (ID 4) says is garbled: two servos may have that ID" in problem


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (gripper(time=NOW - 1.5), "older than 1 s"),
        (gripper(position=964), "got 964 ticks, allowed 1000 to 3000"),
        (gripper(position=3036), "got 3036 ticks, allowed 1000 to 3000"),
        (gripper(status=0x20), "got overload latched"),
        (gripper(health={"present_voltage": 52, "present_temperature": 30, "status": 0}), "got 5.2 V, allowed 6.0 to 13.5 V"),
        (gripper(health={"present_voltage": 141, "present_temperature": 30, "status": 0}), "got 14.1 V, allowed 6.0 to 13.5 V"),
        (gripper(health={"present_voltage": 120, "present_temperature": 61, "status": 0}), "got 61 °C, allowed 60 °C"),
        (gripper(health={"present_voltage": 120, "present_temperature": 30, "status": 0x20}), "got overload latched"),
        (facts(mode=1), "got 1, allowed 0 (position)"),
        (facts(phase=12 | PHASE_MULTI_TURN), "got multi-turn feedback"),
        (facts(max_voltage=80), "allowed 6.0 to 8.0 V"),
    ],
)
def test_each_condition_that_is_not_met_is_one_line(found, says):
    (problem,) = ready(found)
    assert "gripper" in problem
    assert says in problem


@pytest.mark.parametrize("position", [965, 3035])
def test_three_degrees_outside_the_range_are_let_through(position):
    assert ready(gripper(position=position)) == []
