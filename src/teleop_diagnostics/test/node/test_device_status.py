"""The node across processes that end or hang, and the documentation's plugin as a stranger would run it."""

import os
import platform
import shutil
import signal
import struct
import time
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Bool

from teleop_common import qos, records
from teleop_common.enums import Device, DeviceState, Provider, StatusReason
from teleop_common.testing import free_domain, probe, process
from teleop_diagnostics.client import StatusClient

EXAMPLE = Path(__file__).resolve().parents[4] / "docs/examples/foot_pedal"
# reports at 10 Hz until a file says what to do
PLUGIN = """
import os, pathlib, sys, time
import rclpy
from teleop_diagnostics.publisher import Device, DeviceReport, StatusPublisher
root = sys.argv[1].partition("=")[2]
rclpy.init(args=[], signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
status = StatusPublisher(rclpy.create_node(root), root)
while not pathlib.Path("exit").exists():
    status.publish_if_changed([DeviceReport("/it", Device.CONNECTED)], time.monotonic_ns())
    time.sleep(0.1)
os._exit(0)
"""
NAMES = ("killed", "terminated", "exits", "hangs", "untouched")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("plugins")
    for name in NAMES:
        (made / name).mkdir()
        (made / name / "plugin.py").write_text(PLUGIN)
        (made / name / "plugin.yaml").write_text(f"name: {name}\ncommand: python3 plugin.py\ndevices: [{{path: /it}}]\n")
    (made / "quiet").mkdir()
    (made / "quiet/plugin.yaml").write_text("name: quiet\ncommand: sh run.sh\n")
    (made / "quiet/run.sh").write_text("touch ran")
    (made / "absent").mkdir()
    (made / "absent/plugin.yaml").write_text("name: absent\ncommand: ./no-such-program\ndevices: [{path: /it}]\n")
    shutil.copytree(EXAMPLE, made / "foot_pedal")
    manifest = made / "foot_pedal/plugin.yaml"
    pedal = made / "pedal"
    lines = [line if "args" not in line else f"args: [--device, {pedal}]" for line in manifest.read_text().splitlines()]
    manifest.write_text("\n".join(lines))
    return made


@pytest.fixture(scope="module")
def graph(folder):
    with free_domain() as domain, probe(domain) as node:
        client = StatusClient(node)
        with process("teleop_diagnostics", "device_status", domain, {"plugins": str(folder)}) as child:
            told = [f"{name}/it" for name in NAMES]

            def up():
                found = [client.get_device_status(name) for name in told]
                return all(d is not None and d.state == DeviceState.CONNECTED for d in found)

            node.until(up, 20.0, "every plugin")
            node.domain = domain
            yield node, client, child


def test_plugins_that_are_killed_ended_or_hang_are_told_apart_and_touch_no_other(graph, folder):
    node, client, _ = graph
    before = client.get_device_status("untouched/it")
    pids = {name: client.get_provider_status(f"plugin/{name}").pid for name in NAMES}
    at = time.monotonic()
    os.kill(pids["hangs"], signal.SIGSTOP)
    os.kill(pids["killed"], signal.SIGKILL)
    os.kill(pids["terminated"], signal.SIGTERM)
    (folder / "exits/exit").touch()

    def ended(name):
        return lambda: (p := client.get_provider_status(f"plugin/{name}")).state == Provider.FAILED and p

    expected = {
        "killed": (StatusReason.PROCESS_SIGNALED, -1, 9),
        "terminated": (StatusReason.PROCESS_SIGNALED, -1, 15),
        "exits": (StatusReason.PROCESS_EXITED, 0, 0),
    }
    for name, (reason, code, number) in expected.items():
        found = node.until(ended(name), 5.0, f"{name} noticed")
        assert (found.reason, found.pid, found.exit_code, found.term_signal) == (reason, pids[name], code, number)
        device = client.get_device_status(f"{name}/it")
        assert (device.state, device.reason) == (DeviceState.UNAVAILABLE, StatusReason.PROVIDER_FAILED)
    assert time.monotonic() - at < 3.0  # a second each is promised, on a machine that is not starved
    hung = node.until(
        lambda: (d := client.get_device_status("hangs/it")).state == DeviceState.UNKNOWN and d, 8.0, "the hang noticed"
    )
    assert hung.reason == StatusReason.STALE_REPORT
    assert client.get_provider_status("plugin/hangs").state == Provider.AVAILABLE
    os.kill(pids["hangs"], signal.SIGCONT)
    node.until(lambda: client.get_device_status("hangs/it").state == DeviceState.CONNECTED, 5.0, "it goes on")
    assert client.get_device_status("untouched/it") == before


def test_one_without_monitoring_runs_unlisted_and_one_that_cannot_start_says_why(graph, folder):
    node, client, _ = graph
    node.until((folder / "quiet/ran").exists, 5.0, "it ran")
    assert client.get_provider_status("plugin/quiet") is None
    absent = client.get_provider_status("plugin/absent")
    assert (absent.state, absent.reason) == (Provider.FAILED, StatusReason.STARTUP_FAILED)
    assert "no-such-program" in absent.error
    assert client.get_device_status("absent/it").state == DeviceState.UNAVAILABLE


def test_foot_pedal_of_the_documentation_is_found_unplugged_plugged_in_and_pressed(graph, folder):
    node, client, _ = graph
    assert len((EXAMPLE / "foot_pedal.py").read_text().splitlines()) < 40
    state = lambda: client.get_device_status("foot_pedal/pedal")  # noqa: E731
    node.until(lambda: state().state == DeviceState.DISCONNECTED, 10.0, "no pedal")
    assert "plug the pedal in" in state().error
    heard = []
    node.create_subscription(Bool, "/foot_pedal/pressed", lambda m: heard.append(m.data), 10)
    os.mkfifo(folder / "pedal")
    with open(os.open(folder / "pedal", os.O_RDWR), "wb", buffering=0) as pedal:
        node.until(lambda: state().state == DeviceState.CONNECTED, 5.0, "the pedal")
        for value in (1, 2, 0):
            pedal.write(struct.pack("llHHi", 0, 0, 1, 30, value))
        node.until(lambda: len(heard) >= 2, 5.0, "presses")
    assert heard == [True, False]
    os.unlink(folder / "pedal")
    node.until(lambda: state().state == DeviceState.DISCONNECTED, 5.0, "unplugged")


def test_node_that_dies_is_noticed_by_its_pid_and_the_launch_adds_how(graph):
    node, client, _ = graph
    exits = node.talk(records.ProcessExit, "/teleop/process_exits", qos.RECORD_LATCHED)
    debug = lambda: client.get_provider_status("debug")  # noqa: E731
    with process("teleop_input", "debug_input", node.domain, expect=None) as child:
        node.until(lambda: debug() is not None and debug().state == Provider.AVAILABLE, 10.0, "the node")
        assert debug().pid == child.pid
        assert client.get_device_status("debug/headset").state == DeviceState.CONNECTED
        child.kill()
        at = time.monotonic()
        node.until(lambda: debug().state == Provider.FAILED, 5.0, "its death")
        assert time.monotonic() - at < 2.0
        exits.publish(records.ProcessExit(records.Header(node.now_ns()), "debug_input", child.pid, -1, 9))
        node.until(lambda: debug().term_signal == 9, 5.0, "the signal")
    assert debug().reason == StatusReason.PROCESS_SIGNALED
    assert client.get_device_status("debug/headset").state == DeviceState.UNAVAILABLE


def report(provider_id, *paths, **fields):
    rows = tuple(records.DeviceReport(path, int(Device.CONNECTED)) for path in paths)
    usual = {"report_time_ns": time.monotonic_ns(), "host": platform.node(), "pid": os.getpid(), "state": int(Provider.AVAILABLE)}
    return records.ProviderReport(provider_id=provider_id, devices=rows, **usual | fields)


ALL = ("arm/left", "arm/right", "physics")
HOUR = 3_600_000_000_000
MALFORMED, SCHEMA = StatusReason.MALFORMED_REPORT, StatusReason.UNSUPPORTED_SCHEMA_VERSION
BAD = {
    "a path lacks": (ALL[1:], {}, MALFORMED),
    "an unknown path": ((*ALL, "arm/third"), {}, MALFORMED),
    "a path twice": ((*ALL, "physics"), {}, MALFORMED),
    "another provider": (ALL, {"provider_id": "camera/top"}, MALFORMED),
    "a stamp in the future": (ALL, {"report_time_ns": time.monotonic_ns() + HOUR}, MALFORMED),
    "another schema": (ALL, {"schema_version": 2}, SCHEMA),
}


def test_report_that_breaks_a_rule_makes_all_devices_of_its_provider_unknown_until_a_good_one_comes(graph):
    node, client, _ = graph
    talk = node.talk(records.ProviderReport, "/teleop/devices/sim")
    others = lambda: [d for d in client.get_status().devices if d.provider_id != "sim"]  # noqa: E731
    before = others()

    def told(state, reason):
        rows = [d for d in client.get_status().devices if d.provider_id == "sim"]
        return rows and {(d.state, d.reason) for d in rows} == {(state, reason)} and rows

    for what, (paths, fields, reason) in BAD.items():
        good = lambda: talk.publish(report("sim", *ALL)) or told(DeviceState.CONNECTED, StatusReason.REPORTED)  # noqa: E731
        node.until(good, 5.0, f"a good report before {what}")
        talk.publish(report("sim", *paths)._replace(**fields))
        rows = node.until(lambda r=reason: told(DeviceState.UNKNOWN, r), 3.0, what)
        assert {d.id for d in rows} == set(ALL), what
        assert all(d.error for d in rows), what
    talk.publish(report("sim", state=int(Provider.STOPPED)))
    node.until(lambda: told(DeviceState.UNAVAILABLE, StatusReason.PROVIDER_STOPPED), 3.0, "a good one of one that stopped")
    assert others() == before


def test_replay_lists_no_live_provider_and_starts_no_plugin(tmp_path):
    (tmp_path / "plugin.yaml").write_text("name: live\ncommand: touch started\ndevices: [{path: /it}]\n")
    given = {"plugins": str(tmp_path), "replay": True}
    with free_domain() as domain, probe(domain) as node, process("teleop_diagnostics", "device_status", domain, given):
        client = StatusClient(node)
        talks = {i: node.talk(records.ProviderReport, f"/teleop/devices/{i}") for i in ("openxr", "webxr", "plugin/live", "sim")}

        def listed():
            for topic, talk in talks.items():
                talk.publish(report("openxr/runtime" if topic == "openxr" else topic, *(ALL if topic == "sim" else ())))
            return client.get_provider_status("sim")

        node.until(listed, 10.0, "the simulation, which a replay has")
        end = time.monotonic() + 1.0  # the others have been heard by now, were they listened to
        node.until(lambda: listed() and time.monotonic() > end, 5.0, "a second more")
        assert {p.id for p in client.get_status().providers} == {"sim"}
    assert not (tmp_path / "started").exists()


def test_client_serves_a_plain_node_and_answers_none_before_it_heard_anything(graph):
    node, _, _ = graph
    plain = rclpy.create_node("plain", context=node.context)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(plain)
    client = StatusClient(plain)
    assert client.get_device_status("untouched/it") is None
    assert client.get_status().updated_at_ns == 0
    node.until(lambda: executor.spin_once(timeout_sec=0.1) or client.get_device_status("untouched/it"), 5.0, "the status")
    executor.remove_node(plain)
    plain.destroy_node()


def test_diagnostics_and_the_tree_are_published_once_a_second(graph):
    node, _, _ = graph
    heard, trees = [], []
    node.create_subscription(DiagnosticArray, "/diagnostics", heard.append, qos.STREAM)
    node.create_subscription(DiagnosticArray, "/diagnostics_agg", trees.append, qos.STREAM)
    node.until(lambda: len(heard) >= 2 and trees, 6.0, "diagnostics")
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in heard[:2]]
    assert 0.5 < stamps[1] - stamps[0] < 1.6
    names = {status.name for status in heard[-1].status}
    assert {"device_status: plugin/untouched", "device_status: plugin/untouched untouched/it"} <= names
    assert trees[-1].status[0].name == "/teleop"


def test_end_of_the_session_ends_the_plugins_and_is_no_failure(graph):
    node, client, child = graph
    pid = client.get_provider_status("plugin/untouched").pid
    child.send_signal(signal.SIGINT)
    stopped = node.until(
        lambda: (p := client.get_provider_status("plugin/untouched")).state == Provider.STOPPED and p, 5.0, "teardown told"
    )
    assert stopped.exit_code == 0
    assert client.get_device_status("untouched/it").reason == StatusReason.PROVIDER_STOPPED
    assert client.get_provider_status("plugin/killed").state == Provider.FAILED
    child.wait(6.0)
    assert not Path(f"/proc/{pid}").exists()
