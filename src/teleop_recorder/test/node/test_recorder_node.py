"""The recorder in a graph of a probe's topics, and killed in it."""

import json
import signal
import time

import h5py
import pytest

pytest.importorskip("rclpy")

from mcap.reader import make_reader  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402

from teleop_common import enums, qos, records  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import EpisodeCommand  # noqa: E402
from teleop_recorder import cli  # noqa: E402

ARMS = ("left", "right")


def test_enumeration_equals_the_services_constants():
    for member in enums.EpisodeCommand:
        assert getattr(EpisodeCommand.Request, member.name) == member.value


def command(number, stamp, authority=enums.Authority.DRIVING):
    six = (0.1 * number,) * 6
    return records.JointCommand(
        records.Header(stamp), commit=number, authority=int(authority), requested=six, position=six, measured=six, reason=(0,) * 6
    )


class Graph:
    """Publishes what a guard and a headset would."""

    def __init__(self, node):
        self.node, self.number = node, 0
        self.commands = [node.talk(records.JointCommand, f"/{arm}/joint_command", qos.COMMAND) for arm in ARMS]
        self.raw = node.talk(records.TeleopFrame, "/teleop/input/debug/frame")
        self.estop = node.talk(records.EstopState, "/teleop/estop_state", qos.LATCHED)
        self.states = node.listen(records.RecorderState, "/teleop/recorder/state", qos.LATCHED)

    def run(self, count, authority=enums.Authority.DRIVING):
        for _ in range(count):
            self.number += 1
            now = self.node.now_ns()
            for publisher in self.commands:
                publisher.publish(command(self.number, now, authority))
            self.raw.publish(records.TeleopFrame(records.Header(now), "debug", 1, self.number))
            time.sleep(0.01)

    def do(self, kind, task=""):
        return self.node.call(EpisodeCommand, "/teleop/recorder/command", 20.0, command=int(kind), task=task)

    def heard(self):
        """Wait until the recorder listens to everything."""
        everything = [p.publisher for p in (*self.commands, self.raw)]
        self.node.until(lambda: all(p.get_subscription_count() for p in everything), 30.0, "the recorder's subscriptions")


@pytest.fixture
def graph(domain):
    with probe(domain) as node:
        yield Graph(node)


def parameters(root):
    return {"folder": str(root), "session": "s", "record_cameras": False, "disk_margin": 0.0}


def test_take_is_recorded_counted_and_opens_everywhere(graph, domain, tmp_path):
    with process("teleop_recorder", "recorder", domain, parameters(tmp_path)):
        graph.heard()
        assert graph.do(enums.EpisodeCommand.START, "wave").success
        graph.run(100)
        graph.node.until(lambda: graph.states[-1].recording, 5.0, "recording")
        time.sleep(0.2)
        assert graph.do(enums.EpisodeCommand.END).success
        # an open take is saved up to its last frame when the node ends
        assert graph.do(enums.EpisodeCommand.START).success
        graph.run(20)
        time.sleep(0.2)
    with h5py.File(tmp_path / "s/episodes.hdf5") as file:
        first, second = (file[f"episodes/episode_0000{n}"] for n in range(2))
        assert first["meta/commit"][:].tolist() == list(range(1, 101))
        assert first.attrs["task"] == "wave"
        assert second["meta/commit"][:].tolist() == list(range(101, 121))
        assert second.attrs["end_reason"] == "shutdown"
        counts = json.loads(first.attrs["counts"])
    for topic in ("/left/joint_command", "/right/joint_command", "/teleop/input/debug/frame"):
        assert counts[topic] == {"published": 100, "received": 100, "written": 100}
    with AnyReader([tmp_path / "s/journal"]) as bag:
        assert bag.topics["/teleop/input/debug/frame"].msgcount == 120
    assert "version: 9" in (tmp_path / "s/journal/metadata.yaml").read_text()
    with (tmp_path / "s/journal/journal_0.mcap").open("rb") as file:
        assert make_reader(file).get_summary().statistics.message_count > 360


def test_killed_node_leaves_files_that_open_and_that_repair_finishes(graph, domain, tmp_path, capsys):
    with process("teleop_recorder", "recorder", domain, parameters(tmp_path), expect=-signal.SIGKILL) as child:
        graph.heard()
        graph.do(enums.EpisodeCommand.START, "wave")
        graph.run(150)
        child.send_signal(signal.SIGKILL)
        child.wait(5.0)
    with h5py.File(tmp_path / "s/episodes.hdf5") as file:
        # half a second, a row's tenth of one, and a poll
        assert len(file["episodes/episode_00000/meta/commit"]) >= 150 - 75
    assert cli.main(["repair", str(tmp_path / "s")]) == 0
    assert "episode_00000: was not ended" in capsys.readouterr().out
    assert cli.main(["verify", str(tmp_path / "s")]) == 0
    assert cli.main(["repair", str(tmp_path / "s")]) == 0
    assert "nothing to repair" in capsys.readouterr().out
