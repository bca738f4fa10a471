"""A drive seen, recorded and played back with the ordinary ros2 commands."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from teleop_bringup import testing
from teleop_bringup.testing import QUIET
from teleop_common.enums import Authority, Session
from teleop_common.testing import free_domain


def start(graph, *arguments):
    environment = os.environ | {"ROS_DOMAIN_ID": str(graph.node.context.get_domain_id())}
    return subprocess.Popen(["ros2", *arguments], env=environment, stdout=subprocess.PIPE, text=True)


def test_nodes_topics_and_rates_are_listed(running):
    graph, _ = running
    listed = {
        name: start(graph, *arguments)
        for name, arguments in {
            "nodes": ("node", "list"),
            "topics": ("topic", "list"),
            "echo": ("topic", "echo", "--once", "/teleop/session/state"),
            "hz": ("topic", "hz", "/right/joint_states"),
        }.items()
    }
    output = {name: listed[name].communicate(timeout=20)[0] for name in ("nodes", "topics", "echo")}
    time.sleep(5.0)
    listed["hz"].send_signal(signal.SIGINT)
    output["hz"], _ = listed["hz"].communicate(timeout=10)
    assert {"/session", "/retargeter", "/guard", "/sim", "/robot_state_publisher"} <= set(output["nodes"].split())
    topics = {"/teleop/frame", "/teleop/joint_targets", "/left/joint_command", "/right/joint_states", "/tf"}
    assert topics <= set(output["topics"].split())
    assert "provider: external" in output["echo"]
    rates = [float(line.split(":")[1]) for line in output["hz"].splitlines() if "average rate" in line]
    assert rates[-1] == pytest.approx(100.0, rel=0.1)


def drive(graph, operator):
    """A short drive of both arms."""
    graph.engage(operator, "left", "right")
    operator.move(1.0, right=(0.0, 0.05, -0.05), left=(0.03, 0.02, 0.0))
    operator.move(0.8, right=(0.02, -0.03, 0.02))
    graph.release(operator, "left", "right")


def record(bag):
    """Record the operator's input of a live drive; return the commands of that drive by frame."""
    with free_domain() as domain, testing.graph(domain, "input:=external", "autostart:=false", *QUIET) as graph:
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.start_session()
        recorder = start(graph, "bag", "record", "-o", str(bag), "/teleop/input/external/frame")
        assert any("Subscribed" in line for line in recorder.stdout)
        time.sleep(0.5)
        drive(graph, operator)
        time.sleep(0.3)
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(10) == 0
        operator.close()
        return {arm: by_frame(graph.commands[arm]) for arm in graph.arms}


def assert_follows(graph, commands):
    for arm in graph.arms:
        again = by_frame(graph.commands[arm])
        common = sorted(set(again) & set(commands[arm]))
        assert len(common) > 100
        # a joint on its way is where the stamps of its frames have it, which tell their arrival: some periods may lie between
        for s in common:
            was = commands[arm][s]
            way = np.abs(np.subtract(was, commands[arm].get(s - 4, was)))
            apart = np.abs(np.subtract(again[s], was))
            assert np.all(apart < 0.02 + way), f"{arm}: replayed commands differ by {np.max(apart):.4f} rad at frame {s}"


@pytest.fixture(scope="module")
def drives():
    return []


@pytest.fixture
def recorded(request, drives, tmp_path):
    """A bag of a live drive's operator input, and the commands of that drive by frame; made once, and anew for each rerun."""
    if not drives or getattr(request.node, "execution_count", 1) > 1:
        bag = tmp_path / "drive"
        drives.append((bag, record(bag)))
    return drives[-1]


def test_replayed_operator_input_gives_the_recorded_commands(recorded):
    bag, commands = recorded
    with free_domain() as domain, testing.graph(domain, "input:=replay", f"bag:={bag}", *QUIET) as graph:
        graph.ready()
        graph.replay_to_its_end()
        assert_follows(graph, commands)


def test_bag_played_into_a_live_graph_gives_the_recorded_commands(recorded):
    bag, commands = recorded
    with free_domain() as domain, testing.graph(domain, "input:=external", *QUIET) as graph:
        graph.ready()
        # with autostart, the session starts by itself on the first frame: well before the recorded squeeze
        played, _ = start(graph, "bag", "play", str(bag), "--delay", "3").communicate(timeout=60)
        assert graph.session[-1].state == Session.RUNNING, played
        assert_follows(graph, commands)


def by_frame(commands):
    return {c.frame_sequence: c.position for c in commands if c.authority == Authority.DRIVING and c.frame_sequence}
