"""The main job through the real graph: what the hand does, the tool does, and nothing else."""

import time

import numpy as np
import pytest
from std_srvs.srv import Trigger

from teleop_bringup import testing
from teleop_common import limits, paths
from teleop_common.enums import Authority

MILLIMETRE = 1e-3
# OpenXR axes of the operator's forward, left and up, and world axes of the arms in stance `behind`
DIRECTIONS = {"forward": ((0, 0, -1), (1, 0, 0)), "left": ((-1, 0, 0), (0, 1, 0)), "up": ((0, 1, 0), (0, 0, 1))}


def scaled(vector, factor):
    return tuple(factor * x for x in vector)


def settle(graph, arm, seconds=0.8):
    time.sleep(seconds)
    return graph.tool(arm)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_right_hand_moving_100_mm_moves_the_right_tool_100_mm_the_same_way(running, direction):
    graph, operator = running
    hand, world = DIRECTIONS[direction]
    graph.engage(operator, "right")
    start, still = graph.tool("right"), graph.tool("left")
    operator.move(1.2, right=scaled(hand, 0.1))
    moved, beside = settle(graph, "right") - start, graph.tool("left") - still
    operator.move(1.2, right=scaled(hand, -0.1))
    back = settle(graph, "right") - start
    graph.release(operator, "right")
    assert np.allclose(moved, scaled(world, 0.1), atol=2 * MILLIMETRE), moved
    assert np.linalg.norm(beside) < 0.1 * MILLIMETRE
    assert np.linalg.norm(back) < 2 * MILLIMETRE


def test_both_hands_move_both_arms_at_once(running):
    graph, operator = running
    graph.engage(operator, "left", "right")
    starts = {arm: graph.tool(arm) for arm in ("left", "right")}
    operator.move(1.2, left=(0.0, 0.06, -0.05), right=(0.0, -0.04, -0.06))
    time.sleep(0.8)
    moved = {arm: graph.tool(arm) - starts[arm] for arm in starts}
    operator.move(1.2, left=(0.0, -0.06, 0.05), right=(0.0, 0.04, 0.06))
    graph.release(operator, "left", "right")
    assert np.allclose(moved["left"], (0.05, 0.0, 0.06), atol=2 * MILLIMETRE), moved
    assert np.allclose(moved["right"], (0.06, 0.0, -0.04), atol=2 * MILLIMETRE), moved


def test_first_driving_commit_equals_the_held_command_and_nothing_creeps(running):
    graph, operator = running
    graph.release(operator, "left", "right")
    held = graph.commands["right"][-1].position
    graph.commands["right"].clear()
    graph.engage(operator, "right")
    driving = graph.until(lambda: [c for c in graph.commands["right"] if c.authority == Authority.DRIVING])
    assert driving[0].position == held
    before = graph.measured("right")
    time.sleep(1.0)
    after = graph.measured("right")
    graph.release(operator, "right")
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < np.radians(0.05)


def test_ten_squeezes_with_a_still_hand_move_the_tool_less_than_a_fifth_of_a_millimetre(running):
    graph, operator = running
    start = graph.tool("right")
    for _ in range(10):
        graph.engage(operator, "right")
        graph.release(operator, "right")
    assert np.linalg.norm(graph.tool("right") - start) < 0.2 * MILLIMETRE


def test_release_holds_and_the_next_squeeze_ratchets(running):
    graph, operator = running
    graph.engage(operator, "right")
    start = graph.tool("right")
    operator.move(0.8, right=(0.0, 0.05, 0.0))
    graph.release(operator, "right")
    held = settle(graph, "right", 0.3)
    operator.move(0.8, right=(0.0, -0.05, 0.0))
    assert np.linalg.norm(settle(graph, "right", 0.3) - held) < 0.1 * MILLIMETRE
    graph.engage(operator, "right")
    operator.move(0.8, right=(0.0, 0.05, 0.0))
    top = settle(graph, "right")
    operator.move(1.2, right=(0.0, -0.1, 0.0))
    time.sleep(0.8)
    graph.release(operator, "right")
    operator.set("right", position=(0.25, 1.2, -0.4))
    assert (top - start)[2] == pytest.approx(0.1, abs=3 * MILLIMETRE)


def test_trigger_drives_the_gripper_only_while_driving(running):
    graph, operator = running
    before = graph.measured("right")[-1]
    for value in (1.0, 0.0, 1.0, 0.0):
        operator.set("right", trigger=value)
        time.sleep(0.2)
    assert graph.measured("right")[-1] == pytest.approx(before, abs=1e-3)
    graph.engage(operator, "right")
    seen = []
    for value in (0.0, 1.0, 0.0, 1.0):  # passing its last command takes the gripper over
        operator.set("right", trigger=value)
        time.sleep(1.2)
        seen.append(graph.measured("right")[-1])
    graph.release(operator, "right")
    operator.set("right", trigger=0.0)
    assert abs(seen[-1] - seen[-2]) > 0.8


@pytest.mark.parametrize(("frames", "regained"), [(40, True), (90, False)])
def test_tracking_loss_holds_and_only_a_short_one_is_regained(running, frames, regained):
    graph, operator = running
    graph.engage(operator, "left", "right")
    gripper = graph.commands["right"][-1].position[-1]
    operator.set("right", tracked=False)
    time.sleep(0.05)
    graph.commands["right"].clear()
    start = graph.tool("left")
    operator.move(frames / operator.hz / 2, left=(0.0, 0.04, 0.0))
    time.sleep(frames / operator.hz / 2 - 0.05)
    gap = list(graph.commands["right"])
    assert len({c.position for c in gap}) == 1, "the command moved while the hand was untracked"
    x, y, z = operator.right.position
    graph.commands["right"].clear()
    operator.set("right", position=(x, y + 0.15, z - 0.2), tracked=True)
    time.sleep(0.5)
    state = graph.authority_of("right").state
    commands = list(graph.commands["right"])
    steps = [np.array(graph.tools["right"](c.position)) for c in commands]
    operator.move(0.6, left=(0.0, -0.04, 0.0))
    left_moved = graph.tool("left") - start
    graph.release(operator, "left", "right")
    operator.set("right", position=(0.25, 1.2, -0.4))
    assert max(np.linalg.norm(s - np.array(graph.tools["right"](gap[-1].position))) for s in steps) < 1 * MILLIMETRE
    assert {c.position[-1] for c in gap + commands} == {gripper}
    assert state == (Authority.DRIVING if regained else Authority.IDLE)
    assert graph.authority_of("left").state == Authority.IDLE
    assert np.linalg.norm(left_moved) < 5 * MILLIMETRE
    if not regained:
        assert graph.authority_of("right").must_open is False


def test_estop_stops_at_once_latches_and_needs_a_new_squeeze(running):
    graph, operator = running
    graph.engage(operator, "right")
    operator.set("right", position=(0.25, 1.4, -0.4))
    time.sleep(0.1)
    assert graph.node.call(Trigger, "/teleop/estop").success
    graph.until(lambda: graph.is_in("right", Authority.ESTOP), 1.0, "ESTOP")
    graph.until(lambda: all(graph.drivers[a][-1].estop for a in graph.arms), 2.0, "drivers latched")
    time.sleep(0.1)
    graph.commands["right"].clear()
    time.sleep(0.4)
    assert len({c.position for c in graph.commands["right"]}) == 1
    assert graph.node.call(Trigger, "/teleop/estop/reset").success
    time.sleep(1.5)
    assert graph.authority_of("right").state == Authority.IDLE
    assert graph.authority_of("right").must_open
    assert len({c.position for c in graph.commands["right"]}) == 1
    operator.set("right", position=(0.25, 1.2, -0.4))
    graph.release(operator, "right")
    graph.engage(operator, "right")
    graph.release(operator, "right")


def test_commands_stay_within_limits_and_speed(running):
    graph, operator = running
    graph.engage(operator, "right")
    graph.commands["right"].clear()
    for position in ((0.6, 1.6, -1.2), (-0.5, 0.6, 0.3), (0.25, 1.2, -0.4)):  # teleports of more than half a metre
        operator.set("right", position=position)
        time.sleep(0.7)
    commands = list(graph.commands["right"])
    graph.release(operator, "right")
    assert len(commands) > 200
    assert testing.envelope_violations(commands, limits.load(paths.config("limits/so101.yaml")).all_joints) == []
