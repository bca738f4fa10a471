"""debug_input and replay_input as processes of their own; the test plays the session."""

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Device, Provider, Session  # noqa: E402
from teleop_common.records import Controller, Header, TeleopFrame  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_input import bag, capture  # noqa: E402
from teleop_interfaces.srv import DebugPath, ReplaySeek  # noqa: E402

RUNNING = records.SessionState(state=Session.RUNNING)


def recorded(count=45, interval_ns=11_111_111):
    return [
        TeleopFrame(
            Header(10**18 + i * interval_ns, "webxr_local_floor"),
            "webxr",
            77,
            1000 + i,
            5,
            6,
            7,
            8 + i,
            right=Controller(True, squeeze=0.5),
        )
        for i in range(count)
    ]


def states_of(p):
    heard = []
    p.create_subscription(String, "/teleop/input/replay/state", lambda m: heard.append(json.loads(m.data)), qos.LATCHED)
    return heard


def session(p, provider):
    """Publish a running session until the probe closes."""
    talk = p.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
    p.every(20.0, lambda: talk.publish(RUNNING._replace(provider=provider)))


def test_debug_input_stands_until_the_session_runs_then_walks(domain):
    with process("teleop_input", "debug_input", domain, {"path": "both"}), probe(domain) as p:
        frames = p.listen(records.TeleopFrame, "/teleop/input/debug/frame")
        reports = p.listen(records.ProviderReport, "/teleop/devices/debug")
        p.until(lambda: len(frames) > 60, 8.0, "frames")
        assert {f.right for f in frames} == {frames[0].right}
        assert frames[0].right.connected
        assert [f.sequence - frames[0].sequence for f in frames] == list(range(len(frames)))
        session(p, "debug")
        p.until(lambda: frames[-1].right.squeeze == 1.0, 5.0, "squeeze")
        p.until(lambda: reports, 5.0, "report")
        assert reports[-1].state == Provider.AVAILABLE
        assert [d.path for d in reports[-1].devices] == ["debug/headset", "debug/left_controller", "debug/right_controller"]


def test_debug_input_changes_its_path_by_service(domain):
    with process("teleop_input", "debug_input", domain, {"path": "idle"}), probe(domain) as p:
        frames = p.listen(records.TeleopFrame, "/teleop/input/debug/frame")
        answer = p.call(DebugPath, "/teleop/input/debug/path", path="dance")
        assert not answer.success
        assert "axes, both, idle" in answer.message
        p.until(lambda: frames, 5.0, "frames")
        before = frames[-1].connection
        assert p.call(DebugPath, "/teleop/input/debug/path", path="axes").success
        p.until(lambda: frames[-1].connection == (before + 1) % 2**32, 5.0, "new connection")


def test_replay_paces_keeps_ends_seeks_and_loops(domain, tmp_path):
    original = recorded()
    bag.write(tmp_path / "b", original)
    with process("teleop_input", "replay_input", domain, {"bag": tmp_path / "b"}), probe(domain) as p:
        frames = p.listen(records.TeleopFrame, "/teleop/input/replay/frame")
        reports = p.listen(records.ProviderReport, "/teleop/devices/replay")
        states = states_of(p)
        p.until(lambda: states and states[-1]["state"] == "waiting", 8.0, "state")
        assert not frames
        session(p, "replay")
        p.until(lambda: states[-1]["state"] == "ended", 8.0, "end")
        assert [f.sequence for f in frames] == [f.sequence for f in original]
        assert [f.device_clock_ns for f in frames] == [f.device_clock_ns for f in original]
        assert {f.provider for f in frames} == {"replay"}
        assert abs(frames[0].header.stamp - time.time_ns()) < 60e9
        took = (frames[-1].monotonic_ns - frames[0].monotonic_ns) * 1e-9
        assert took == pytest.approx(44 * 0.011111111, abs=0.1)
        p.until(lambda: reports and reports[-1].devices[0].state == Device.DISCONNECTED, 5.0, "report of the end")
        connection = frames[-1].connection
        assert not p.call(ReplaySeek, "/teleop/input/replay/seek", time=99.0).success
        assert p.call(SetBool, "/teleop/input/replay/loop", data=True).success
        assert p.call(ReplaySeek, "/teleop/input/replay/seek", time=0.395).success
        p.until(lambda: len({f.connection for f in frames}) >= 3, 5.0, "seek and loop")
        assert [(f.connection - connection) % 2**32 for f in frames[45:]][0] == 1
        assert frames[45].sequence == 1036


def test_replay_of_a_running_session_on_another_provider_waits(domain, tmp_path):
    bag.write(tmp_path / "b", recorded())
    with process("teleop_input", "replay_input", domain, {"bag": tmp_path / "b"}), probe(domain) as p:
        frames = p.listen(records.TeleopFrame, "/teleop/input/replay/frame")
        states = states_of(p)
        session(p, "webxr")
        p.until(lambda: len(states) >= 2, 8.0, "states")
        assert states[-1]["state"] == "waiting"
        assert not frames


@pytest.mark.parametrize(
    ("executable", "params", "words"),
    [
        ("replay_input", {}, "bag ''"),
        ("replay_input", {"bag": "/nonexistent"}, "/nonexistent"),
        ("debug_input", {"path": "dance"}, "one of axes, both"),
        ("debug_input", {"rate": 1000.0}, "rate"),
    ],
)
def test_wrong_parameter_stops_the_start_with_one_line(domain, executable, params, words):
    with process("teleop_input", executable, domain, params, expect=2) as child:
        output, _ = child.communicate(timeout=10.0)
    lines = [line for line in output.splitlines() if line.strip()]
    assert len(lines) == 1, output
    assert words in lines[0]


def test_real_quest_recording_survives_the_bag(tmp_path):
    """The recording is not part of the project: the test skips where it is not beside it."""
    file = Path(__file__).resolve().parents[5] / "shared/data/real/iwer_quest3/iwer_quest3_capture.json"
    if not file.is_file():
        pytest.skip("the Quest 3 recording is not beside the repository")
    frames = list(capture.frames(json.loads(file.read_text())))
    bag.write(tmp_path / "b", frames)
    got = bag.read(tmp_path / "b")
    assert [got.frame(i) for i in range(len(frames))] == frames
