"""How the launched graph starts, refuses, ends, and survives the death of its processes."""

import os
import signal
import subprocess
import time

import pytest
import yaml

from teleop_bringup import testing
from teleop_bringup.testing import QUIET
from teleop_common import paths, qos, records
from teleop_common.enums import Authority, Provider, StatusReason
from teleop_common.testing import free_domain

REPORTING = {"retargeter": "node/retargeter", "guard": "node/guard", "sim": "sim"}


@pytest.mark.parametrize("executable", ["session", "retargeter", "guard", "sim"])
def test_killed_process_stops_the_arm_respawns_and_needs_a_new_squeeze(running, executable):
    graph, operator = running
    told = graph.node.listen(records.StatusSnapshot, "/teleop/devices", qos.LATCHED)
    graph.engage(operator, "right")
    operator.set("right", position=(0.25, 1.23, -0.4))
    time.sleep(0.1)
    pid = graph.pid_of(executable)
    assert pid, f"{executable} runs as a process of the launch"
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    if executable != "guard":
        graph.until(lambda: not graph.is_in("right", Authority.DRIVING), 1.0, "authority leaves DRIVING")
        assert time.monotonic() - killed < 0.35  # 0.25 s, and how often this test looks
        operator.set("right", position=(0.25, 1.3, -0.4))
        graph.commands["right"].clear()
        time.sleep(0.3)
        assert len({c.position for c in graph.commands["right"]}) <= 1
    graph.until(lambda: (new := graph.pid_of(executable)) and new != pid, 4.0, f"{executable} respawned")
    time.sleep(2.5)
    graph.commands["right"].clear()
    graph.until(lambda: len(graph.commands["right"]) > 20, 10.0, "commands after the respawn")
    assert not graph.is_in("right", Authority.DRIVING), "a grip held through a death must open first"
    assert len({c.position for c in graph.commands["right"]}) == 1
    operator.set("right", position=(0.25, 1.2, -0.4), squeeze=0.0)
    graph.until(lambda: graph.node.count_publishers("/teleop/session/state") >= 1, 5.0)
    if executable == "session":
        graph.start_session()
    graph.until(lambda: graph.is_in("right", Authority.IDLE) and not graph.authority_of("right").must_open, 8.0, "IDLE, open")
    graph.engage(operator, "right")
    graph.release(operator, "right")
    if executable in REPORTING:
        said = [p for snapshot in told for p in snapshot.providers if p.id == REPORTING[executable]]
        dead = [p for p in said if p.state == Provider.FAILED]
        # the launch adds how it ended to what its process id told
        assert (dead[-1].pid, dead[-1].reason, dead[-1].term_signal) == (pid, StatusReason.PROCESS_SIGNALED, signal.SIGKILL)
        assert (said[-1].state, said[-1].pid) == (Provider.AVAILABLE, graph.pid_of(executable))


def test_silence_of_the_provider_holds_and_frees_the_authority(running):
    graph, operator = running
    graph.engage(operator, "right")
    operator.paused = True
    began = time.monotonic()
    graph.until(lambda: not graph.is_in("right", Authority.DRIVING), 1.0, "authority leaves DRIVING")
    assert time.monotonic() - began < 0.45
    operator.paused = False
    time.sleep(1.5)
    assert graph.is_in("right", Authority.IDLE), "the grip was held through the gap"
    graph.release(operator, "right")


def test_death_of_a_node_beside_the_path_leaves_driving_alone(running):
    graph, operator = running
    graph.engage(operator, "right")
    os.kill(graph.pid_of("robot_state_publisher"), signal.SIGKILL)
    time.sleep(1.0)
    assert graph.is_in("right", Authority.DRIVING)
    graph.release(operator, "right")


@pytest.mark.parametrize("attempt", range(3 if "TELEOP_NIGHTLY" not in os.environ else 10))
def test_ctrl_c_ends_every_process_within_five_seconds_quietly(attempt):
    with (
        free_domain() as domain,
        testing.graph(domain, "input:=debug", "web:=true", "https_port:=0", "http_port:=0", "bind:=127.0.0.1") as graph,
    ):
        graph.ready()
        children = subprocess.run(["pgrep", "-P", str(graph.process.pid)], capture_output=True, text=True).stdout.split()
        assert len(children) >= 8
        began = time.monotonic()
        assert graph.stop() == 0
        assert time.monotonic() - began < 5.0
        assert "Traceback" not in graph.log
        assert not [pid for pid in children if os.path.exists(f"/proc/{pid}")]


def test_ctrl_c_while_the_nodes_start_ends_quietly():
    with free_domain() as domain, testing.graph(domain, "input:=debug", *QUIET) as graph:
        graph.until(lambda: "process started" in graph.log, 20.0, "the first node")
        assert graph.stop() == 0
        assert "Traceback" not in graph.log


def test_duration_ends_the_launch_by_itself_with_status_zero():
    with free_domain() as domain, testing.graph(domain, "input:=debug", "duration:=6", *QUIET) as graph:
        assert graph.process.wait(40) == 0


def refused(*arguments, file="sim.launch.py"):
    """Launch, expect a failure, and return what was printed."""
    with free_domain() as domain:
        done = subprocess.run(
            ["ros2", "launch", "teleop_bringup", file, *arguments], env=os.environ | {"ROS_DOMAIN_ID": str(domain)},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    output = done.stdout + done.stderr
    assert done.returncode != 0, output
    assert "Traceback" not in output, output
    return output


def edited(tmp_path, name, change):
    tree = yaml.safe_load(paths.config(name).read_text())
    change(tree)
    path = tmp_path / os.path.basename(name)
    path.write_text(yaml.safe_dump(tree))
    return path


def names(output, *parts):
    """Assert that one line holds all parts."""
    assert any(all(part in line for part in parts) for line in output.splitlines()), output


def test_unknown_arm_is_named_with_the_known_ones():
    names(refused("arms:=left,third", "input:=debug", *QUIET), "'third'", "left, right", "cell.yaml")


def test_missing_model_is_named(tmp_path):
    path = edited(tmp_path, "limits/so101.yaml", lambda t: t.update(urdf="/nowhere/robot.urdf"))
    names(refused(f"limits_file:={path}", "input:=debug", *QUIET), "/nowhere/robot.urdf")


def test_limit_with_min_above_max_is_named_with_file_and_key(tmp_path):
    path = edited(tmp_path, "limits/so101.yaml", lambda t: t["joints"]["elbow_flex"].update(lower=2.0))
    names(refused(f"limits_file:={path}", "input:=debug", *QUIET), str(path), "joints.elbow_flex.lower", "2.0", "1.69")


def test_wrong_key_of_a_parameter_file_is_named(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("guard:\n  ros__parameters:\n    count_down: 1.0\n")
    names(refused(f"params_file:={path}", "input:=debug", *QUIET), "'count_down'", str(path))


def test_port_in_use_is_named():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        output = refused(
            "input:=web", f"https_port:={port}", "http_port:=0", "bind:=127.0.0.1", "cameras:=false", "log_level:=warn"
        )
    names(output, str(port), "https_port")


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("input:=replay", "bag"),
        ("input:=mouse", "mouse"),
        ("rviz:=true", "rviz2"),
    ],
)
def test_argument_that_cannot_be_met_says_why(argument, reason):
    names(refused(argument, *QUIET), reason)


def test_hardware_launch_says_what_it_lacks():
    names(refused("ports:=left:/dev/ttyACM0", *QUIET, file="hardware.launch.py"), "ports", "left, right")


def test_one_arm_graph_runs_with_that_arm_alone():
    with free_domain() as domain, testing.graph(domain, "arms:=right", "input:=external", *QUIET, arms=("right",)) as graph:
        graph.ready()
        operator = testing.Operator(graph.node)
        graph.start_session()
        graph.engage(operator, "right")
        operator.close()
        assert graph.node.count_publishers("/left/joint_command") == 0
