"""Faults of the running graph: processes that stand still, a dead guard and the e-stop, a busy machine, a second retargeter."""

import os
import signal
import subprocess
import sys
import time

import pytest
from std_srvs.srv import Trigger

from teleop_common import qos, records
from teleop_common.enums import Authority

SPEED, LONGEST = 2.0, 0.025  # [rad/s] of every joint, [s] credited to one commit


def steps(commands):
    """The largest step of any joint between two commands that follow each other [rad]."""
    pairs = [(a, b) for a, b in zip(commands, commands[1:]) if b.commit == a.commit + 1]
    return max((abs(q - p) for a, b in pairs for p, q in zip(a.position, b.position)), default=0.0)


def retaken(graph, operator):
    """Open the grip and drive again."""
    operator.set("right", position=(0.25, 1.2, -0.4), squeeze=0.0)
    graph.until(lambda: graph.is_in("right", Authority.IDLE) and not graph.authority_of("right").must_open, 8.0, "IDLE, open")
    graph.engage(operator, "right")
    graph.release(operator, "right")


@pytest.mark.parametrize("executable", ["session", "retargeter", "guard", "sim"])
def test_process_that_stands_still_holds_the_arm_and_needs_a_new_squeeze_when_it_goes_on(running, executable):
    graph, operator = running
    graph.engage(operator, "right")
    pid = graph.pid_of(executable)
    os.kill(pid, signal.SIGSTOP)
    try:
        stopped = time.monotonic()
        if executable != "guard":
            graph.until(lambda: not graph.is_in("right", Authority.DRIVING), 1.0, "authority leaves DRIVING")
            assert time.monotonic() - stopped < 0.45
        time.sleep(0.3)
        graph.commands["right"].clear()
        operator.set("right", position=(0.25, 1.3, -0.4))  # while nobody may follow
        time.sleep(0.7)
        assert len({c.position for c in graph.commands["right"]}) <= 1
    finally:
        os.kill(pid, signal.SIGCONT)
    graph.commands["right"].clear()
    graph.until(lambda: len(graph.commands["right"]) > 30, 5.0, "commands")
    assert not graph.is_in("right", Authority.DRIVING), "a grip held through a gap must open first"
    assert len({c.position for c in graph.commands["right"]}) == 1
    assert graph.pid_of(executable) == pid
    retaken(graph, operator)


def test_estop_of_a_driver_works_with_the_guard_dead_and_holds_when_the_guard_is_back(running):
    graph, operator = running
    graph.engage(operator, "right")
    pid = graph.pid_of("guard")
    os.kill(pid, signal.SIGKILL)
    assert graph.node.call(Trigger, "/right/estop").success
    graph.until(lambda: (new := graph.pid_of("guard")) and new != pid, 4.0, "guard respawned")
    graph.until(lambda: graph.is_in("right", Authority.ESTOP) and graph.is_in("left", Authority.ESTOP), 8.0, "both latched")
    operator.set("right", squeeze=0.0)
    time.sleep(0.3)
    answer = graph.node.call(Trigger, "/teleop/estop/reset")
    assert answer.success, answer.message
    retaken(graph, operator)


def test_busy_machine_breaks_no_limit_and_driving_can_be_taken_up_again(running):
    graph, operator = running
    graph.engage(operator, "right")
    graph.commands["right"].clear()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 2)]
    try:
        operator.move(2.0, right=(0.08, 0.05, 0.0))
        operator.move(2.0, right=(-0.08, -0.05, 0.0))
    finally:
        for child in busy:
            child.kill()
            child.wait()
    assert graph.commands["right"]
    assert steps(graph.commands["right"]) <= SPEED * LONGEST + 1e-9
    retaken(graph, operator)


def test_second_retargeter_breaks_no_limit(running):
    graph, operator = running
    graph.engage(operator, "right")
    held = graph.commands["right"][-1]
    graph.commands["right"].clear()
    other = graph.node.talk(records.JointTargets, "/teleop/joint_targets")
    sessions = graph.node.listen(records.SessionState, "/teleop/session/state", qos.LATCHED)
    graph.until(lambda: sessions, 2.0, "the session's state")
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        asked = (held.position[0] + 1.0, *held.position[1:])
        said, frame = graph.authority_of("right"), operator.sent[-1]
        target = records.JointTarget("right", "operator", said.engage, (0,) * len(held.name), held.name, asked)
        stamp = records.Header(graph.node.now_ns())
        key = {"connection": frame.connection, "frame_sequence": frame.sequence, "session_epoch": sessions[-1].epoch}
        other.publish(records.JointTargets(stamp, stamp.stamp, **key, arms=(target,)))
        time.sleep(1 / 90)
    graph.node.destroy_publisher(other.publisher)
    assert len({c.position for c in graph.commands["right"]}) > 10, "it was heard"
    assert steps(graph.commands["right"]) <= SPEED * LONGEST + 1e-9
    graph.release(operator, "right")


@pytest.mark.parametrize("executable", ["robot_state_publisher", "device_status"])
def test_a_moving_hand_is_followed_while_a_node_beside_the_path_dies(running, executable):
    graph, operator = running
    graph.engage(operator, "right")
    engage, pid = graph.authority_of("right").engage, graph.pid_of(executable)
    assert pid, f"{executable} runs as a process of the launch"
    os.kill(pid, signal.SIGKILL)
    graph.commands["right"].clear()
    operator.move(1.0, right=(0.05, 0.0, 0.03))
    assert len({c.position for c in graph.commands["right"]}) > 30, "commands follow the hand"
    assert graph.is_in("right", Authority.DRIVING)
    assert graph.authority_of("right").engage == engage, "and never stopped doing so"
    operator.move(1.0, right=(-0.05, 0.0, -0.03))
    graph.until(lambda: (new := graph.pid_of(executable)) and new != pid, 4.0, f"{executable} respawned")
    graph.release(operator, "right")
