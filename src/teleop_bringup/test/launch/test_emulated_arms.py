"""The main job on arms behind their servo buses: ``hardware.launch.py`` with emulated servos does what the simulation does."""

import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from teleop_bringup import testing
from teleop_common.enums import Authority
from teleop_common.testing import free_domain
from teleop_hw_so101.emulator.testing import Running

MILLIMETRE = 1e-3
COUNT = 2 * np.pi / 4096  # one step of a servo's encoder [rad]
DROOP = 10 * MILLIMETRE  # what the servos' dead band, droop and backlash make of a way of 100 mm at the tool
HOLDS = 0.2  # [s], within which servos hold whatever ends
NIGHTLY = pytest.mark.skipif("TELEOP_NIGHTLY" not in os.environ, reason="nightly; the driver's own test has it too")


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """A graph on two emulated buses with torque on, and an operator whose hands stay still."""
    log = tmp_path_factory.mktemp("servos") / "log.csv"
    arguments = ("ports:=emulated", f"emulator_log:={log}", "input:=external", "autostart:=false", *testing.QUIET)
    with free_domain() as domain, testing.graph(domain, *arguments, file="hardware.launch.py") as graph:
        graph.torque_on()
        graph.ready()
        folder = re.search(r"right: (\S+)/right\b", graph.log)[1]
        operator = testing.Operator(graph.node)
        graph.start_session()
        graph.bring_home()
        yield graph, operator, Running(Path(folder), log, graph.process)
        operator.close()


def at_rest(graph, arm):
    time.sleep(1.0)
    return graph.tool(arm)


def test_squeeze_on_real_servos_moves_nothing_by_itself(driven):
    graph, operator, _ = driven
    time.sleep(1.0)
    held = graph.commands["right"][-1].position
    graph.commands["right"].clear()
    before = graph.measured("right")
    graph.engage(operator, "right")
    driving = graph.until(lambda: [c for c in graph.commands["right"] if c.authority == Authority.DRIVING])
    assert driving[0].position == held
    time.sleep(1.0)
    after = graph.measured("right")
    graph.release(operator, "right")
    assert np.abs(np.subtract(before, after)).max() <= COUNT + 1e-9


def test_hand_moving_100_mm_moves_its_tool_as_far_through_the_bus_and_the_other_not_at_all(driven):
    graph, operator, _ = driven
    graph.engage(operator, "right")
    start, still = at_rest(graph, "right"), graph.measured("left")
    operator.move(1.5, right=(0.0, 0.1, 0.0))
    moved = at_rest(graph, "right") - start
    operator.move(1.5, right=(0.0, -0.1, 0.0))
    graph.release(operator, "right")
    assert np.allclose(moved, (0.0, 0.0, 0.1), atol=DROOP), moved
    assert np.abs(np.subtract(graph.measured("left"), still)).max() <= COUNT + 1e-9


def test_both_hands_drive_both_buses_at_once_within_the_envelope(driven):
    graph, operator, _ = driven
    for arm in graph.arms:
        graph.commands[arm].clear()
    graph.engage(operator, "left", "right")
    starts = {arm: at_rest(graph, arm) for arm in graph.arms}
    operator.move(1.5, left=(0.0, 0.06, -0.05), right=(0.0, 0.04, -0.06))
    moved = {arm: at_rest(graph, arm) - starts[arm] for arm in graph.arms}
    operator.move(1.5, left=(0.0, -0.06, 0.05), right=(0.0, -0.04, 0.06))
    graph.release(operator, "left", "right")
    assert np.allclose(moved["left"], (0.05, 0.0, 0.06), atol=DROOP), moved
    assert np.allclose(moved["right"], (0.06, 0.0, 0.04), atol=DROOP), moved
    for arm in graph.arms:
        assert not testing.envelope_violations(graph.commands[arm], graph.robot.all_joints)


def drive_and_end(graph, operator, servos, what):
    """End ``what`` while the right hand moves, which goes on moving; return when. Again where a gap broke the drive off."""
    pid = graph.pid_of(what)
    for _ in range(3):
        operator.reset()
        graph.engage(operator, "right")
        hand = threading.Thread(target=operator.move, args=(1.5,), kwargs={"right": (0.0, 0.1, 0.0)})
        hand.start()
        time.sleep(0.7)
        begun = time.monotonic()
        if moving := len({c.position for c in list(graph.commands["right"])[-5:]}) > 1:
            if what == "port":
                servos.tell("unplug right")
            else:
                os.kill(pid, signal.SIGKILL)
        hand.join()
        if moving:
            return begun
        graph.release(operator, "right")
    raise AssertionError(f"the arm was not driven: {graph.state()}")


@pytest.mark.parametrize(
    "what", ["guard", pytest.param("so101_driver_right", marks=NIGHTLY), pytest.param("port", marks=NIGHTLY)]
)
def test_servos_hold_when_guard_driver_or_port_go_while_the_hand_moves_and_until_a_new_squeeze(driven, what):
    graph, operator, servos = driven
    begun = drive_and_end(graph, operator, servos, what)
    took = servos.held_after("right", begun)
    print(f"{what}: goals changed for {1e3 * took:.0f} ms")
    assert took < HOLDS
    instance = graph.drivers["right"][-1].instance
    if what == "port":
        servos.tell("replug right")
    if what != "guard":
        graph.until(lambda: graph.drivers["right"][-1].instance != instance, 10.0, "the driver's new instance")
    graph.commands["right"].clear()
    graph.until(lambda: len(graph.commands["right"]) > 20 and not graph.is_in("right", Authority.DRIVING), 15.0, "commands")
    operator.move(0.5, right=(0.0, 0.05, 0.0))
    assert servos.held_after("right", begun) == took, "nobody moves it before a new squeeze"
    operator.set("right", squeeze=0.0)
    graph.until(lambda: graph.is_in("right", Authority.IDLE) and not graph.authority_of("right").must_open, 8.0, "IDLE, open")
    graph.engage(operator, "right")
    operator.move(1.0, right=(0.0, -0.05, 0.0))
    graph.release(operator, "right")
    assert servos.held_after("right", begun) > took, "then it is driven again"
    operator.reset()
