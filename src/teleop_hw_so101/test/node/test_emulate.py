"""The emulator as a process on pseudo-terminals: real time, plugs, control socket, and what a kill of the host leaves."""

import subprocess
import sys
import time

import pytest

pytest.importorskip("ament_index_python")
from teleop_common.errors import ConfigError
from teleop_hw_so101 import packet
from teleop_hw_so101.emulator import cli, server
from teleop_hw_so101.emulator.testing import serving
from teleop_hw_so101.packet import Parser
from teleop_hw_so101.stream import PortError, SerialStream

IDS = range(1, 7)
# drives the pan to and fro until it is killed; says when it wrote its first goal
DRIVER = """
import sys, time
from teleop_hw_so101 import packet
from teleop_hw_so101.stream import SerialStream
stream = SerialStream(sys.argv[1])
for n in range(10000):
    stream.write(packet.sync_write(42, {1: (2047 + 20 * (n % 20)).to_bytes(2, "little")}))
    if not n:
        print("driving", flush=True)
    time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("arms")) as running:
        yield running


def ask(stream, request, count, timeout=2.0):
    parser, found, end = Parser(), [], stream.now() + timeout
    stream.write(request)
    while len(found) < count and stream.now() < end:
        found += parser.feed(stream.read(0.05))
    return found


def test_ports_answer_at_the_servos_speed_only(arms):
    for arm in ("left", "right"):
        stream = SerialStream(arms.port(arm))
        assert [p.id for p in ask(stream, packet.sync_read(IDS, 56, 2), 6)] == list(IDS)
        stream.close()
    slow = SerialStream(arms.port("left"), 115_200)
    assert ask(slow, packet.ping(1), 1, 0.2) == []
    slow.close()


def test_killed_host_leaves_servos_that_hold_the_last_goal(arms):
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, arms.port("left")], stdout=subprocess.PIPE, text=True)
    assert driver.stdout.readline() == "driving\n"
    time.sleep(0.5)
    driver.kill()
    killed = time.monotonic()
    driver.wait()
    driver.stdout.close()
    arms.until(lambda row: row.time > killed + 0.5, "left", 1)
    after = [row for row in arms.rows("left", 1) if row.time > killed + 0.1]
    assert all(row.torque for row in after)
    assert len({row.goal for row in after}) == 1
    assert abs(after[-1].position - after[-1].goal) <= 12


def test_pulled_port_hangs_up_and_a_new_one_takes_its_place(arms):
    stream = SerialStream(arms.port("right"))
    arms.tell("unplug right")
    with pytest.raises(PortError):
        ask(stream, packet.ping(1), 1)
    stream.close()
    with pytest.raises(PortError, match="plug the adapter in"):
        SerialStream(arms.port("right"))
    arms.tell("replug right")
    stream = SerialStream(arms.port("right"))
    assert [p.id for p in ask(stream, packet.ping(1), 1)] == [1]
    stream.close()
    assert [event.text for event in arms.read()[1]][-2:] == ["unplug right", "replug right"]


def test_control_socket_says_what_it_does_not_know(arms):
    good, bad, unknown = server.tell(arms.folder, ["calm left", "explode left", "gone middle"])
    assert good == "ok"
    assert "explode" in bad
    assert "left, right" in unknown


def test_scene_node_publishes_what_the_emulator_says(arms, domain):
    from teleop_common import qos, records
    from teleop_common.testing import probe, process

    arms.tell("push right id=1 value=1 for=0.3")
    with probe(domain) as watcher, process("teleop_hw_so101", "emulated_scene", domain, {"folder": str(arms.folder)}):
        seen = watcher.listen(records.SimState, "/sim/state", qos.NEWEST)
        watcher.until(lambda: len(seen) > 5, 10.0)
    assert seen[-1].sim_time > seen[0].sim_time > 0.0
    control = server.Control(arms.folder)
    scene = control.scene()
    control.close()
    assert len(seen[-1].qpos) == len(scene.qpos)
    assert seen[-1].model_hash == scene.model_hash


def test_second_emulator_in_the_same_folder_is_refused(arms):
    command = [sys.executable, "-m", "teleop_hw_so101.emulator.cli", "--folder", str(arms.folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "another emulator" in done.stderr
    assert server.tell(arms.folder, ["calm"]) == ["ok"]


def test_telling_an_emulator_that_does_not_run_says_how_to_start_it(tmp_path):
    with pytest.raises(ConfigError, match="./teleop emulate"):
        server.tell(tmp_path, ["calm"])


def test_emulator_that_is_told_to_end_stays_while_a_driver_talks_but_not_for_ever():
    assert cli.left([10.0], float("-inf"), 10.0)  # nobody has ever talked
    assert cli.left([10.0], 9.5, 10.0)
    assert not cli.left([10.0], 9.9, 10.0)
    assert not cli.left([10.0], 12.9, 13.0)
    assert cli.left([10.0], 12.9, 13.3)
    assert cli.left([10.0], 14.0, 14.1)
    assert cli.left([10.0, 10.5], 10.5, 10.5)  # told twice
