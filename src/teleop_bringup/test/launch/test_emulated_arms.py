"""The main job on arms behind their servo buses: ``hardware.launch.py`` with emulated servos does what the simulation does."""

import time

import numpy as np
import pytest
from std_srvs.srv import SetBool

from teleop_bringup import testing
from teleop_common.enums import Authority
from teleop_common.testing import free_domain

MILLIMETRE = 1e-3
COUNT = 2 * np.pi / 4096  # one step of a servo's encoder [rad]
DROOP = 10 * MILLIMETRE  # what the servos' dead band, droop and backlash make of a way of 100 mm at the tool


@pytest.fixture(scope="module")
def driven():
    """A graph on two emulated buses with torque on, and an operator whose hands stay still."""
    arguments = ("ports:=emulated", "input:=external", "autostart:=false", *testing.QUIET)
    with free_domain() as domain, testing.graph(domain, *arguments, file="hardware.launch.py") as graph:
        for arm in graph.arms:
            graph.until(lambda arm=arm: graph.joints[arm] and graph.drivers[arm], 40.0, f"first measurement of {arm}")
            answer = graph.node.call(SetBool, f"/{arm}/torque", data=True)
            assert answer.success, answer.message
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.start_session()
        graph.bring_home()
        yield graph, operator
        operator.close()


def at_rest(graph, arm):
    time.sleep(1.0)
    return graph.tool(arm)


def test_squeeze_on_real_servos_moves_nothing_by_itself(driven):
    graph, operator = driven
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
    graph, operator = driven
    graph.engage(operator, "right")
    start, still = at_rest(graph, "right"), graph.measured("left")
    operator.move(1.5, right=(0.0, 0.1, 0.0))
    moved = at_rest(graph, "right") - start
    operator.move(1.5, right=(0.0, -0.1, 0.0))
    graph.release(operator, "right")
    assert np.allclose(moved, (0.0, 0.0, 0.1), atol=DROOP), moved
    assert np.abs(np.subtract(graph.measured("left"), still)).max() <= COUNT + 1e-9


def test_both_hands_drive_both_buses_at_once_within_the_envelope(driven):
    graph, operator = driven
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
