"""The driver's end on emulated servos: parked at rest or holding, whatever comes between."""

from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.ending import Ending
from teleop_hw_so101.testing import Bench

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
HOME = tuple(joint.home for joint in ROBOT.all_joints)


def away_from_rest(**options):
    """An arm with torque, its pan 0.8 rad from where it rests."""
    loop, calibrations = loopback(ROBOT, CELL, ("left",), seed=1)
    b = Bench(loop, ROBOT, calibrations, **options).armed()
    b.run(0.8, b.drift(speed=1.0))
    return b


def ending(b, park=True):
    return Ending(b.arm, nullcontext(), b.loop.time, park)


def finish(b, end, longest=5.0):
    """Let the driver end, and return how long that took [s]."""
    begun = b.loop.time
    while not end.over(b.loop.time):
        assert b.loop.time - begun < longest
        b.cycle()
        b.loop.until(b.loop.time + 0.005)
    return b.loop.time - begun


def test_arm_is_eased_to_rest_and_let_go_there():
    b = away_from_rest()
    end = ending(b)
    finish(b, end)
    assert end.outcome == ""
    assert b.torques == [False] * 6
    assert b.truth() == pytest.approx(HOME, abs=0.15)


@pytest.mark.parametrize("release", [False, True])
def test_estop_on_the_way_to_rest_holds_or_releases_there(release):
    b = away_from_rest(estop_release=release)
    end = ending(b)
    b.run(0.1)
    assert not end.over(b.loop.time)
    there = b.truth()[0]
    assert b.core.estop() == release
    if release:
        b.arm.ask(False, lambda _: None)
    finish(b, end, 0.2)
    assert "cut short" in end.outcome
    assert b.torques == [not release] * 6
    b.run(0.5)
    assert b.truth()[0] == pytest.approx(there, abs=0.1)


def test_arm_that_is_stopped_on_its_way_is_not_let_go():
    b = away_from_rest()
    b.loop.emulator.dynamics.stick(0, True)
    end = ending(b)
    finish(b, end)
    assert "shoulder_pan" in end.outcome
    assert b.torques == [True] * 6


def test_way_to_rest_goes_on_after_a_servo_was_not_heard_for_a_moment():
    b = away_from_rest()
    end = ending(b)
    b.run(0.2)
    b.tell("lose left id=1 for=0.15")
    took = finish(b, end)
    assert (end.outcome, b.torques) == ("", [False] * 6)
    assert took < 4.5
    assert b.truth() == pytest.approx(HOME, abs=0.15)


def test_port_pulled_on_the_way_to_rest_is_the_end_of_it():
    b = away_from_rest()
    end = ending(b)
    b.run(0.1)
    b.tell("unplug left")
    finish(b, end, 1.0)
    assert "plug it in again" in end.outcome
    assert b.torques == [True] * 6


def test_bus_that_answers_no_more_does_not_keep_the_driver():
    b = away_from_rest()
    end = ending(b)
    way = b.core.parking
    while b.loop.time < way.begun + way.duration + 0.28:
        b.run(0.01)
    b.run(0.0)
    begun = now = b.loop.time
    while not end.over(now):  # and no cycle of the bus any more
        now += 0.01
        assert now - begun < 1.0
    assert "no answer of the bus" in end.outcome


def test_driver_that_does_not_park_does_what_was_asked_and_ends():
    b = away_from_rest()
    assert ending(b, park=False).over(b.loop.time)
    answers = []
    b.arm.ask(False, answers.append)
    end = ending(b, park=False)
    assert not end.over(b.loop.time)
    finish(b, end, 0.2)
    assert (answers, b.torques) == ([""], [False] * 6)
