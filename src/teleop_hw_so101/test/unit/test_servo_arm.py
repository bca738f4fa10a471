"""The driver on emulated servos, without ROS: arming, holding, e-stop, faults of servos, wire, supply and port."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_common.enums import Device, Provider
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.health import HealthRules
from teleop_hw_so101.health_report import ArmHealth
from teleop_hw_so101.testing import Bench

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
HOME = tuple(joint.home for joint in ROBOT.all_joints)


def bench(arms=("left",), *, seed=1, emulator=None, **options):
    loop, calibrations = loopback(ROBOT, CELL, arms, seed=seed, **(emulator or {}))
    return Bench(loop, ROBOT, calibrations, **options)


def goals(b):
    return [servo.goal_position() for servo in b.servos]


def torques(b):
    return [servo.torque_on for servo in b.servos]


def drift(b, joint=0, speed=0.5):
    """A command a cycle that moves one joint at ``speed`` [rad/s] from where it is held."""
    position = list(b.core.driver.memory.goal)

    def each():
        position[joint] += speed * 0.01
        assert b.command(position)

    return each


# start and torque


def test_arm_starts_as_its_servos_are_and_nothing_is_written():
    b = bench()
    b.run(0.5)
    state = b.states[-1]
    assert (state.torque_on, state.error, state.estop) == (False, "", False)
    assert b.joints[-1].position == pytest.approx(b.truth(), abs=0.01)
    assert state.goal == pytest.approx(b.joints[-1].position), "a limp arm's goal follows"
    assert torques(b) == [False] * 6
    assert all(servo.goal_written is None for servo in b.servos)


def test_torque_goes_on_where_the_arm_stands():
    b = bench()
    b.run(0.5)
    before = b.truth()
    assert b.torque(True) == ""
    b.run(1.0)
    assert torques(b) == [True] * 6
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
    b.run(0.3, drift(b))
    held = goals(b)
    again = Bench(b.loop, ROBOT, {"left": b.arm.setup.calibration}, instance=8)
    again.run(0.5)
    assert goals(again) == held
    assert again.states[-1].torque_on
    assert again.states[-1].instance == 8
    assert again.states[-1].goal == pytest.approx(b.core.driver.memory.goal, abs=0.001)


def test_arm_that_was_left_with_torque_at_some_joints_is_told_of_and_left_alone():
    b = bench()
    b.servos[2].write(42, (2048).to_bytes(2, "little"), b.loop.time)
    b.run(0.3)
    assert "torque is on at elbow_flex alone" in b.states[-1].error
    assert torques(b) == [False, False, True, False, False, False]
    assert b.torque(False) == ""
    assert torques(b) == [False] * 6
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
    assert torques(b) == [False] * 6


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
    assert torques(b) == [False] * 6


def test_estop_while_torque_goes_on_leaves_the_arm_limp():
    b = bench()
    b.run(0.3)
    registers, pressed = b.arm.setup.registers, []

    class Pressed(dict):
        """Registers of the last servo; whoever writes them presses the e-stop just then."""

        def items(self):
            pressed.append(b.core.estop())
            return super().items()

    b.arm.setup = replace(b.arm.setup, registers=(*registers[:5], Pressed(registers[5])))
    assert "e-stop is latched" in b.torque(True)
    assert pressed == [False]
    b.run(0.1)
    assert torques(b) == [False] * 6
    assert not b.states[-1].torque_on


# driving


def test_arm_follows_commands_and_tells_what_it_measures():
    b = bench().armed()
    start = b.truth()
    b.run(1.0, drift(b, speed=0.5))
    b.run(0.5)
    assert b.truth()[0] - start[0] == pytest.approx(0.5, abs=0.03)
    assert b.joints[-1].position == pytest.approx(b.truth(), abs=0.004), "encoders, not commands"
    stamps = [joint.header.stamp for joint in b.joints[-60:]]
    steps = [later - sooner for sooner, later in zip(stamps, stamps[1:])]
    assert all(0.008e9 < step < 0.012e9 for step in steps), "times of measurement, 100 Hz"


def test_silence_holds_the_last_goal_and_a_drooping_arm_does_not_sag():
    b = bench().armed()
    b.run(0.5, drift(b, joint=1, speed=0.3))
    held = goals(b)
    b.run(1.5)
    assert goals(b) == held
    errors = [b.core.samples.servos[i].motion.position - held[i] for i in range(6)]
    assert max(map(abs, errors)) > 3, "it droops, and is not chased"


def test_leap_of_the_command_is_cut_to_the_speed_bound():
    b = bench().armed()
    b.run(0.2, lambda: b.command(b.core.driver.memory.goal))
    held = b.core.driver.memory.goal[0]
    b.command((held + 3.0, *b.core.driver.memory.goal[1:]))
    assert b.core.driver.memory.goal[0] - held <= 0.1 * 4.7 + 1e-9
    assert b.core.tally.clipped == 1


def test_goal_stays_inside_the_calibrated_range_whatever_the_limits_say():
    b = bench()
    joints = list(b.arm.setup.calibration.joints)
    narrow = replace(b.core.config.scales[0], least=1900, most=2100)
    b.core.config = replace(b.core.config, scales=(narrow, *b.core.config.scales[1:]))
    assert joints[0].range_max > 2100
    b.armed()
    b.run(2.0, drift(b, speed=0.5))
    assert goals(b)[0] == 2100
    assert b.states[-1].goal[0] == pytest.approx(narrow.radians(2100), abs=1e-9), "what is told is what the servo got"


@pytest.mark.parametrize("release", [False, True])
def test_estop_holds_or_releases_within_a_cycle_and_latches(release):
    b = bench(estop_release=release).armed()
    b.run(0.3, drift(b))
    begun, before = b.loop.time, goals(b)
    if b.core.estop():
        b.arm.ask(False, lambda _: None)
    b.cycle()
    assert b.loop.time - begun < 0.01, "within one bus cycle"
    assert torques(b) == [not release] * 6
    b.run(0.5, lambda: b.command([g + 0.01 for g in b.core.driver.memory.goal]))
    assert b.states[-1].estop
    assert torques(b) == [not release] * 6
    if not release:
        assert goals(b) == pytest.approx(before, abs=10), "the last accepted goal, no further"
    b.core.reset_estop()
    b.run(0.1)
    assert torques(b) == [not release] * 6, "a reset turns no torque on"
    assert b.torque(True) == ""


# wire


@pytest.mark.parametrize("kind", ["lose", "corrupt", "late", "double", "cut", "garble"])
def test_two_percent_bad_replies_do_not_stop_the_arm(kind):
    b = bench().armed()
    b.tell(f"{kind} left share=0.02")
    begun, count = b.loop.time, len(b.joints)
    b.run(1.0, drift(b, speed=0.2))
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
    assert torques(b) == [True] * 6, "the others hold, and so does it"
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
    b.run(0.3, drift(b))
    b.tell("gone left id=2")
    b.run(0.3)
    b.tell("back left id=2")
    b.run(1.5)
    assert torques(b) == [True, False, True, True, True, True]
    assert "shoulder_lift lost torque" in b.states[-1].error
    assert not b.command(b.core.driver.memory.goal)
    assert "shoulder_lift lost torque" in b.core.last_refusal
    assert b.torque(False) == ""
    assert b.torque(True) == ""
    b.run(0.2)
    assert torques(b) == [True] * 6
    assert b.states[-1].error == ""


def test_brown_out_of_the_arm_leaves_it_limp_and_says_so():
    b = bench().armed()
    b.tell("brownout left for=0.3")
    b.run(1.4)
    assert torques(b) == [False] * 6
    assert not b.states[-1].torque_on
    assert "lost their torque" in b.states[-1].error
    assert b.torque(True) == ""
    b.run(0.1)
    assert b.states[-1].error == ""


def test_pulled_port_leaves_the_servos_holding_and_comes_back_as_a_new_instance():
    b = bench().armed()
    b.run(0.3, drift(b))
    held, instance = goals(b), b.states[-1].instance
    b.tell("unplug left")
    count = len(b.joints)
    b.run(0.4)
    assert (torques(b), goals(b)) == ([True] * 6, held)
    assert len(b.joints) == count
    assert "plug it in again" in b.states[-1].error
    report = ArmHealth(b.core, HealthRules()).report(0, b.loop.time, {}, "host", 1)
    assert (report.state, report.devices[0].state) == (Provider.FAILED, Device.DISCONNECTED)
    assert "no connection" in b.torque(True)
    b.tell("replug left")
    b.run(1.0)
    assert b.states[-1].instance != instance
    assert b.states[-1].torque_on
    assert goals(b) == held
    b.run(0.2, drift(b))
    assert b.states[-1].error == ""


def test_release_that_was_asked_while_the_port_was_away_is_done_when_it_is_back():
    b = bench().armed()
    b.tell("unplug left")
    b.run(0.1)
    assert b.torque(False) != ""
    assert torques(b) == [True] * 6
    b.tell("replug left")
    b.run(1.0)
    assert torques(b) == [False] * 6
    assert not b.states[-1].torque_on


def test_release_reaches_every_servo_but_the_one_that_refuses_and_that_one_later():
    b = bench().armed()
    b.tell("lose left id=1")
    b.tell("garble left for=0.001")
    b.servos[0].unplug(True)
    answer = b.torque(False)
    assert "no answer from shoulder_pan" in answer
    assert torques(b)[1:] == [False] * 5
    b.tell("calm left")
    b.servos[0].unplug(False)
    b.run(1.0)
    assert torques(b) == [False] * 6


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
    assert torques(b) == [False] * 6


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
    b.run(0.5, drift(b))
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
    assert torques(b) == [False] * 6


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
    assert torques(b) == [True, True, True, True, False, True]
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
    b.run(0.6, drift(b, joint=2, speed=1.0))
    assert b.servos[2].duty == pytest.approx(0.5, abs=0.01)
    assert abs(b.states[-1].load[2]) == pytest.approx(1.0, abs=0.02), "the guard's watchdog sees it"


def test_stuck_joint_shows_load_and_then_its_servo_protects_itself():
    b = bench().armed()
    b.tell("stick left id=3")
    b.run(0.6, drift(b, joint=2, speed=1.0))
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


# the end


def test_parking_starts_from_the_last_command_and_releases_at_rest():
    b = bench().armed()
    b.run(1.0, drift(b, joint=1, speed=0.4))
    last, before = b.core.driver.memory.goal, b.truth()
    assert b.core.park(b.loop.time) == ""
    begun, height = b.loop.time, []
    while not b.core.parking.over(b.loop.time):
        b.run(0.01)
        height.append(b.core.driver.memory.goal)
    assert b.loop.time - begun <= 3.0
    assert height[0] == pytest.approx(last, abs=0.01), "from the last command: from the drooping arm it would dip"
    assert before != pytest.approx(last, abs=0.003)
    speeds = [abs(q - p) / 0.01 for a, c in zip(height, height[1:]) for p, q in zip(a, c)]
    assert max(speeds) <= 2.05
    assert not b.command(last), "nobody else moves it meanwhile"
    b.run(0.3)
    assert b.core.rested(b.loop.time) == ""
    assert b.torque(False) == ""
    assert b.truth() == pytest.approx(HOME, abs=0.15)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("gone left id=6", "parking was cut short .*gripper lost torque"),
        ("lose left id=3", "nobody knows where elbow_flex is"),
        ("stick left id=1", "shoulder_pan has not come to within"),
    ],
)
def test_parking_that_does_not_bring_every_joint_to_rest_keeps_torque_on(fault, words):
    b = bench().armed()
    b.run(0.5, drift(b, joint=0, speed=1.5))
    assert b.core.park(b.loop.time) == ""
    way = b.core.parking
    b.tell(fault)
    b.run(0.12)
    if fault.startswith("gone"):
        b.tell(fault.replace("gone", "back"))
    while not way.over(b.loop.time):
        b.run(0.02)
    b.run(0.3)
    assert re.search(words, b.core.rested(b.loop.time))


def test_way_to_rest_is_not_over_before_its_end():
    b = bench().armed()
    b.run(0.5, drift(b, joint=0, speed=0.5))
    assert b.core.park(b.loop.time) == ""
    b.run(0.05)
    assert "has not come" in b.core.rested(b.loop.time)
