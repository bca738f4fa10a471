"""An arm on emulated servos, driven, stopped, and parked."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.testing import emulated

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
bench = partial(emulated, ROBOT, CELL)
HOME = tuple(joint.home for joint in ROBOT.all_joints)


# driving


def test_arm_follows_commands_and_tells_what_it_measures():
    b = bench().armed()
    start = b.truth()
    b.run(1.0, b.drift(speed=0.5))
    b.run(0.5)
    assert b.truth()[0] - start[0] == pytest.approx(0.5, abs=0.03)
    assert b.joints[-1].position == pytest.approx(b.truth(), abs=0.004), "encoders, not commands"
    stamps = [joint.header.stamp for joint in b.joints[-60:]]
    steps = [later - sooner for sooner, later in zip(stamps, stamps[1:])]
    assert all(0.008e9 < step < 0.012e9 for step in steps), "times of measurement, 100 Hz"


def test_silence_holds_the_last_goal_and_a_drooping_arm_does_not_sag():
    b = bench().armed()
    b.run(0.5, b.drift(joint=1, speed=0.3))
    held = b.goals
    b.run(1.5)
    assert b.goals == held
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
    b.run(2.0, b.drift(speed=0.5))
    assert b.goals[0] == 2100
    assert b.states[-1].goal[0] == pytest.approx(narrow.radians(2100), abs=1e-9), "what is told is what the servo got"


@pytest.mark.parametrize("release", [False, True])
def test_estop_holds_or_releases_within_a_cycle_and_latches(release):
    b = bench(estop_release=release).armed()
    b.run(0.3, b.drift())
    begun, before = b.loop.time, b.goals
    if b.core.estop():
        b.arm.ask(False, lambda _: None)
    b.cycle()
    assert b.loop.time - begun < 0.01, "within one bus cycle"
    assert b.torques == [not release] * 6
    b.run(0.5, lambda: b.command([g + 0.01 for g in b.core.driver.memory.goal]))
    assert b.states[-1].estop
    assert b.torques == [not release] * 6
    if not release:
        assert b.goals == pytest.approx(before, abs=10), "the last accepted goal, no further"
    b.core.reset_estop()
    b.run(0.1)
    assert b.torques == [not release] * 6, "a reset turns no torque on"
    assert b.torque(True) == ""


# the end


def test_parking_starts_from_the_last_command_and_releases_at_rest():
    b = bench().armed()
    b.run(1.0, b.drift(joint=1, speed=0.4))
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
    b.run(0.5, b.drift(joint=0, speed=1.5))
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
    b.run(0.5, b.drift(joint=0, speed=0.5))
    assert b.core.park(b.loop.time) == ""
    b.run(0.05)
    assert "has not come" in b.core.rested(b.loop.time)
