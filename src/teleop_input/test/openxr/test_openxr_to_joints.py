"""The main job from a real OpenXR runtime on: its driven controllers move the simulated arms, and its troubles hold them."""

import math
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from monado import Operator, Service  # noqa: E402

from teleop_bringup import testing  # noqa: E402
from teleop_common import records  # noqa: E402
from teleop_common.enums import Authority, Provider  # noqa: E402
from teleop_common.testing import free_domain  # noqa: E402

MILLIMETRE = 1e-3
# OpenXR axes of the operator's forward, left and up, and world axes of the arms in stance `behind`
DIRECTIONS = {"forward": ((0, 0, -0.1), (0.1, 0, 0)), "left": ((-0.1, 0, 0), (0, 0.1, 0)), "up": ((0, 0.1, 0), (0, 0, 0.1))}


@pytest.fixture(scope="module")
def running(monado_here, tmp_path_factory):
    """A graph on a running Monado: graph, service, frames and reports of the provider."""
    service = Service(tmp_path_factory.mktemp("monado") / "monado.log")
    with free_domain() as domain, testing.graph(domain, "input:=openxr", *testing.QUIET) as graph:
        frames = graph.node.listen(records.TeleopFrame, "/teleop/input/openxr/frame")
        reports = graph.node.listen(records.ProviderReport, "/teleop/devices/openxr")
        graph.ready()
        graph.until(lambda: graph.session and graph.session[-1].state == 3, 30.0, "session RUNNING by itself")
        yield graph, service, frames, reports
    service.kill()


@pytest.fixture
def operator(running):
    made = Operator()
    yield made
    for side in ("left", "right"):
        made.set(side, squeeze=0.0)
    made.close()


def move(operator, seconds, **deltas):
    """Move hands by ``deltas`` [m], starting and stopping softly."""
    starts = {side: np.array(getattr(operator, side).position) for side in deltas}
    begin = time.monotonic()
    share = 0.0
    while share < 1.0:
        share = min((time.monotonic() - begin) / seconds, 1.0)
        eased = 0.5 - 0.5 * math.cos(math.pi * share)
        for side, delta in deltas.items():
            getattr(operator, side).position = tuple(starts[side] + eased * np.array(delta))
        operator.send()
        time.sleep(1 / 90)


def stands_still(graph, arm, seconds=1.0):
    """Return how far the commanded joints of ``arm`` went [rad] within ``seconds``, after a moment to brake."""
    time.sleep(0.5)
    before = np.array(graph.commands[arm][-1].position)
    time.sleep(seconds)
    return float(np.abs(np.array(graph.commands[arm][-1].position) - before).max()) < 1e-6


def test_squeeze_moves_nothing_by_itself(running, operator):
    graph = running[0]
    held, before = graph.commands["right"][-1].position, graph.tool("right")
    graph.commands["right"].clear()
    graph.engage(operator, "right")
    driving = graph.until(lambda: [c for c in graph.commands["right"] if c.authority == Authority.DRIVING])
    time.sleep(0.5)
    after = graph.tool("right")
    graph.release(operator, "right")
    assert driving[0].position == held
    assert np.linalg.norm(after - before) < 0.1 * MILLIMETRE


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hand_moving_100_mm_moves_its_tool_100_mm_the_same_way(running, operator, direction):
    graph = running[0]
    hand, world = DIRECTIONS[direction]
    graph.engage(operator, "right")
    start, still = graph.tool("right"), graph.tool("left")
    move(operator, 1.5, right=hand)
    time.sleep(1.0)
    moved, beside = graph.tool("right") - start, graph.tool("left") - still
    move(operator, 1.5, right=[-x for x in hand])
    time.sleep(0.5)
    graph.release(operator, "right")
    assert np.allclose(moved, world, atol=2 * MILLIMETRE), moved
    assert np.linalg.norm(beside) < 0.1 * MILLIMETRE


def test_both_hands_move_both_arms_at_once(running, operator):
    graph = running[0]
    graph.engage(operator, "left", "right")
    starts = {arm: graph.tool(arm) for arm in ("left", "right")}
    move(operator, 1.5, left=(0, 0.06, -0.05), right=(0, -0.04, -0.06))
    time.sleep(1.0)
    moved = {arm: graph.tool(arm) - starts[arm] for arm in starts}
    move(operator, 1.5, left=(0, -0.06, 0.05), right=(0, 0.04, 0.06))
    graph.release(operator, "left", "right")
    assert np.allclose(moved["left"], (0.05, 0, 0.06), atol=2 * MILLIMETRE), moved
    assert np.allclose(moved["right"], (0.06, 0, -0.04), atol=2 * MILLIMETRE), moved
    for arm in graph.arms:
        assert not testing.envelope_violations(graph.commands[arm], graph.robot.all_joints)


@pytest.mark.parametrize("trouble", ["lost", "zero quaternion", "not a number"])
def test_hand_that_cannot_be_trusted_holds_its_arm(running, operator, trouble):
    graph, _, frames, _ = running
    graph.engage(operator, "right")
    hand = operator.right
    if trouble == "lost":
        hand.on = set()
    else:
        hand.orientation = (0.0,) * 4 if trouble == "zero quaternion" else (math.nan,) * 4
    hand.position = (0.5, 1.5, -0.8)
    operator.send()
    graph.until(lambda: frames[-1].right.grip.flags == 0, 3.0, "untracked frames")
    assert stands_still(graph, "right")
    assert not graph.is_in("right", Authority.DRIVING)
    operator.right = type(hand)((0.2, 1.2, -0.4))
    operator.send()
    graph.until(lambda: frames[-1].right.grip.flags == 15, 3.0, "tracked frames")


def test_killed_runtime_holds_the_arms_and_its_return_needs_a_new_squeeze(running):
    graph, service, frames, reports = running
    operator = Operator()
    graph.engage(operator, "right")
    pid = reports[-1].pid
    service.kill()
    graph.until(lambda: reports[-1].state == Provider.FAILED, 3.0, "provider FAILED")
    assert stands_still(graph, "right")
    count = len(frames)
    assert stands_still(graph, "right")
    assert len(frames) == count
    operator.close()
    service.start()
    again = Operator()
    again.right.squeeze, again.right.position = 1.0, (0.3, 1.4, -0.5)  # still closed, and elsewhere
    again.send()
    graph.until(lambda: len(frames) > count and frames[-1].right.squeeze == 1.0, 10.0, "frames of the same process")
    assert reports[-1].pid == pid
    graph.until(lambda: graph.session[-1].state == 3, 10.0, "session RUNNING by itself")
    assert stands_still(graph, "right")
    graph.engage(again, "right")
    graph.release(again, "right")
    again.close()


def test_hung_runtime_holds_the_arm_and_goes_on_with_a_new_squeeze(running):
    graph, service, frames, _ = running
    operator = Operator()
    graph.engage(operator, "right")
    service.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(0.3)
        count = len(frames)
        operator.right.position = (0.3, 1.4, -0.6)
        operator.send()
        assert stands_still(graph, "right")
        assert len(frames) == count
    finally:
        service.process.send_signal(signal.SIGCONT)
    graph.until(lambda: frames[-1].right.grip.pose.position[1] > 1.39, 5.0, "frames again")
    assert frames[-1].right.squeeze == 1.0
    assert stands_still(graph, "right")
    graph.engage(operator, "right")
    graph.release(operator, "right")
    operator.close()


def test_b_stops_the_arms(running):
    graph = running[0]
    operator = Operator()
    operator.right = type(operator.right)((0.2, 1.2, -0.4))
    operator.send()
    graph.engage(operator, "right")
    operator.right.on = {"active", "b"}
    operator.send()
    graph.until(lambda: graph.is_in("right", Authority.ESTOP) and graph.is_in("left", Authority.ESTOP), 3.0, "e-stop")
    operator.close()
