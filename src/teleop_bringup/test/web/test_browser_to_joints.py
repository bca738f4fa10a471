"""The main job from the browser on: an emulated Quest 3 in Chromium drives simulated arms, and arms behind their servo buses."""

import os
import time

import numpy as np
import pytest

from teleop_bringup import testing
from teleop_common.enums import Authority
from teleop_web import testing as web

MILLIMETRE = 1e-3
# WebXR axes of the operator's forward, left and up, and world axes of the arms in stance `behind`
DIRECTIONS = {"forward": ((0, 0, -0.1), (0.1, 0, 0)), "left": ((-0.1, 0, 0), (0, 0.1, 0)), "up": ((0, 0.1, 0), (0, 0, 0.1))}
# how near a tool comes to where it is to be, and how far one strays that is to stand still [m]: servos droop, have a dead band,
# play, and an encoder of 4096 counts a turn
NEAR, STILL = {"simulation": 2 * MILLIMETRE, "servos": 10 * MILLIMETRE}, {"simulation": 0.1 * MILLIMETRE, "servos": MILLIMETRE}
# the emulated servos take another half of a core
NIGHTLY = pytest.mark.skipif("TELEOP_NIGHTLY" not in os.environ, reason="nightly")


@pytest.fixture(scope="module", params=["simulation", pytest.param("servos", marks=NIGHTLY)])
def running(request, browser, served):
    servos = request.param == "servos"
    # a small window: every pixel is drawn in software, on the cores that the graph runs on, and the servos too
    size, hz = (200, 140), 36 if servos else 72
    with served("web", servos) as (graph, address), web.headset(browser, address, size=size, hz=hz) as quest:
        for side, x in (("left", -0.2), ("right", 0.2)):
            quest.call("ray", side, [x, 1.2, -0.4], [0, 0, 0, 1])
        graph.until(lambda: graph.session and graph.session[-1].state == 3, 20.0, "session RUNNING by itself")
        graph.kind = request.param
        graph.bring_home()
        yield graph, quest


def squeeze(quest, value, *arms):
    for arm in arms:
        quest.call("button", arm, "squeeze", value)


def engage(graph, quest, *arms):
    """Close the grips and wait out the countdown; squeeze again where a starved machine left a gap."""
    for attempt in range(3):
        squeeze(quest, 0, *arms)
        time.sleep(0.4)
        squeeze(quest, 1, *arms)
        try:
            graph.until(lambda: all(graph.is_in(arm, Authority.DRIVING) for arm in arms), 3.0, f"{arms} DRIVING")
            return
        except TimeoutError:
            if attempt == 2:
                raise


def release(graph, quest, *arms):
    squeeze(quest, 0, *arms)
    for arm in arms:
        graph.until(lambda arm=arm: graph.is_in(arm, Authority.IDLE), 3.0, f"{arm} IDLE")


def test_squeeze_in_the_browser_moves_nothing_by_itself(running):
    graph, quest = running
    held, before = graph.commands["right"][-1].position, graph.tool("right")
    graph.commands["right"].clear()
    engage(graph, quest, "right")
    driving = graph.until(lambda: [c for c in graph.commands["right"] if c.authority == Authority.DRIVING])
    time.sleep(0.5)
    after = graph.tool("right")
    release(graph, quest, "right")
    assert driving[0].position == held
    assert np.linalg.norm(after - before) < STILL[graph.kind]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hand_in_the_browser_moving_100_mm_moves_its_tool_100_mm_the_same_way(running, direction):
    graph, quest = running
    hand, world = DIRECTIONS[direction]
    engage(graph, quest, "right")
    start, still = graph.tool("right"), graph.tool("left")
    quest.move(1.5, right=hand)
    time.sleep(1.0)
    moved, beside = graph.tool("right") - start, graph.tool("left") - still
    quest.move(1.5, right=[-x for x in hand])
    time.sleep(0.5)
    release(graph, quest, "right")
    assert np.allclose(moved, world, atol=NEAR[graph.kind]), moved
    assert np.linalg.norm(beside) < STILL[graph.kind]


def test_both_hands_in_the_browser_move_both_arms_at_once(running):
    graph, quest = running
    for arm in graph.arms:
        graph.commands[arm].clear()
    engage(graph, quest, "left", "right")
    starts = {arm: graph.tool(arm) for arm in ("left", "right")}
    quest.move(1.5, left=(0, 0.06, -0.05), right=(0, -0.04, -0.06))
    time.sleep(1.0)
    moved = {arm: graph.tool(arm) - starts[arm] for arm in starts}
    quest.move(1.5, left=(0, -0.06, 0.05), right=(0, 0.04, 0.06))
    release(graph, quest, "left", "right")
    assert np.allclose(moved["left"], (0.05, 0, 0.06), atol=NEAR[graph.kind]), moved
    assert np.allclose(moved["right"], (0.06, 0, -0.04), atol=NEAR[graph.kind]), moved
    for arm in graph.arms:
        assert not testing.envelope_violations(graph.commands[arm], graph.robot.all_joints)


def test_b_in_the_browser_stops_the_arms(running):
    graph, quest = running
    engage(graph, quest, "right")
    quest.call("button", "right", "b-button", 1)
    graph.until(lambda: graph.is_in("right", Authority.ESTOP) and graph.is_in("left", Authority.ESTOP), 3.0, "e-stop")
    quest.call("button", "right", "b-button", 0)
    squeeze(quest, 0, "right")
    assert quest.errors() == []
