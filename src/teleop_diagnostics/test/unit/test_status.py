"""The inventory: what comes over time, in any order."""

import pytest
from status_reports import HOST, NOW, OPENXR, PEDALS, S, device, devices, inventory, launched, provider, report

from teleop_common.enums import Device, DeviceState, Provider, ProviderType, StatusReason
from teleop_common.records import DeviceReport, ProviderReport
from teleop_diagnostics.status import Inventory
from teleop_diagnostics.verdict import Exit

D, P, R = DeviceState, Provider, StatusReason


def states(made, now=NOW, ident=PEDALS.id):
    return [(d.state, d.reason) for d in devices(made, now, ident)]


def test_plugin_goes_from_launch_to_reports_with_ids_of_its_root():
    made = Inventory(HOST, lambda _: PEDALS)
    made.declare(PEDALS, starting=True)
    assert (provider(made).state, states(made)) == (P.INITIALIZING, [(D.INITIALIZING, R.PROVIDER_INITIALIZING)] * 2)
    made.on_launch(PEDALS.id, 7)
    assert (provider(made).state, states(made)) == (P.AVAILABLE, [(D.UNKNOWN, R.NO_REPORT)] * 2)
    assert made.on_report(PEDALS.id, report(), NOW) == 0  # who launched it knows its end
    assert (provider(made).state, states(made)) == (P.AVAILABLE, [(D.CONNECTED, R.REPORTED)] * 2)
    assert [d.id for d in devices(made)] == ["pedals/left", "pedals/right"]
    assert provider(made).type == ProviderType.PLUGIN


def test_malformed_report_makes_every_device_unknown_until_a_valid_one_comes():
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.on_report(PEDALS.id, report(devices=[device("/left")], at=NOW + 1), NOW + S)
    assert states(made, NOW + S) == [(D.UNKNOWN, R.MALFORMED_REPORT)] * 2
    made.on_report(PEDALS.id, report(at=NOW + 2), NOW + S)
    assert states(made, NOW + S) == [(D.CONNECTED, R.REPORTED)] * 2


@pytest.mark.parametrize(
    ("fields", "reason"), [({"at": NOW + 9 * S}, R.MALFORMED_REPORT), ({"schema_version": 2}, R.UNSUPPORTED_SCHEMA_VERSION)]
)
def test_report_that_cannot_be_trusted_makes_every_device_unknown(fields, reason):
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.on_report(PEDALS.id, report(**fields), NOW + 1)
    assert states(made, NOW + 1) == [(D.UNKNOWN, reason)] * 2


def test_unknown_path_creates_no_device():
    made = launched()
    made.on_report(PEDALS.id, report(devices=[device("/left"), device("/right"), device("/third")]), NOW)
    assert [d.path for d in devices(made)] == ["/left", "/right"]


def test_provider_that_no_manifest_declares_is_not_listed_as_a_plugin():
    made = inventory()
    made.on_report("plugin/stranger", report(provider_id="plugin/stranger"), NOW)
    made.on_report("other", report(provider_id="plugin/stranger"), NOW)
    assert made.snapshot(0, NOW).providers == ()


def test_stale_report_is_unknown_and_a_fresh_one_mends_it():
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    later = NOW + 4 * S
    assert states(made, later) == [(D.UNKNOWN, R.STALE_REPORT)] * 2
    assert "runs but is silent" in provider(made, later).error
    made.on_report(PEDALS.id, report(at=later), later)
    assert states(made, later) == [(D.CONNECTED, R.REPORTED)] * 2


@pytest.mark.parametrize(
    ("how", "reason", "code", "signal"),
    [
        (Exit(0, 0), R.PROCESS_EXITED, 0, 0),
        (Exit(3, 0), R.PROCESS_EXITED, 3, 0),
        (Exit(None, 9), R.PROCESS_SIGNALED, -1, 9),
        (Exit(None, 15), R.PROCESS_SIGNALED, -1, 15),
        (Exit(), R.PROCESS_EXITED, -1, 0),
    ],
)
def test_dead_process_fails_its_provider_with_pid_code_and_signal(how, reason, code, signal):
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.on_exit(7, how, NOW + 1)
    found = provider(made)
    assert (found.state, found.reason, found.pid, found.exit_code, found.term_signal) == (P.FAILED, reason, 7, code, signal)
    assert states(made) == [(D.UNAVAILABLE, R.PROVIDER_FAILED)] * 2
    assert "7" in devices(made)[0].error


@pytest.mark.parametrize("told_first", [True, False])
def test_launchs_word_adds_code_and_signal_before_or_after_the_death_is_noticed(told_first):
    made = inventory()
    assert made.on_report("sim", sim(), NOW) == 12
    made.on_watched(12)
    steps = [lambda: made.on_exit_told(12, Exit(None, 9), NOW + 1), lambda: made.on_exit(12, Exit(), NOW + 2)]
    for step in steps if told_first else steps[::-1]:
        step()
    found = provider(made, NOW + 3, "sim")
    assert (found.state, found.reason, found.term_signal) == (P.FAILED, R.PROCESS_SIGNALED, 9)


def test_word_of_another_machines_launch_ends_nothing_here():
    made = inventory()
    made.on_report("sim", sim(), NOW)
    made.on_watched(12)
    made.on_exit_told(12, Exit(None, 9), NOW)
    assert provider(made, ident="sim").state == P.AVAILABLE
    made.on_exit(12, Exit(), NOW + 60 * S)  # long after: that was somebody else
    assert provider(made, NOW + 60 * S, "sim").term_signal == 0


def sim(at=NOW, pid=12, **fields):
    rows = tuple(DeviceReport(path, int(Device.CONNECTED)) for path in ("arm/left", "arm/right", "physics"))
    told = {"host": HOST, "pid": pid, "provider_id": "sim", "state": int(P.AVAILABLE), "devices": rows, **fields}
    return ProviderReport(report_time_ns=at, **told)


def test_death_of_one_provider_touches_no_other():
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.on_report("sim", sim(), NOW)
    before = devices(made, ident="sim"), provider(made, ident="sim")
    made.on_exit(7, Exit(None, 9), NOW)
    assert (devices(made, ident="sim"), provider(made, ident="sim")) == before


def test_report_under_way_when_its_process_died_brings_nothing_back_but_a_new_process_does():
    made = inventory()
    made.on_report("sim", sim(), NOW)
    made.on_watched(12)
    made.on_exit(12, Exit(None, 9), NOW + S)
    made.on_report("sim", sim(at=NOW + S // 2), NOW + S)
    assert provider(made, NOW + S, "sim").state == P.FAILED
    assert made.on_report("sim", sim(at=NOW + 2 * S, pid=13), NOW + 2 * S) == 13
    found = provider(made, NOW + 2 * S, "sim")
    assert (found.state, found.pid, found.exit_code, found.term_signal) == (P.AVAILABLE, 13, 0, 0)


def test_number_that_a_new_process_got_again_is_alive():
    made = inventory()
    made.on_report("sim", sim(), NOW)
    made.on_exit(12, Exit(None, 9), NOW + S)
    assert made.on_report("sim", sim(at=NOW + 2 * S), NOW + 2 * S) == 12
    assert provider(made, NOW + 2 * S, "sim").state == P.AVAILABLE


def test_two_processes_that_report_as_one_provider_are_told():
    made = inventory()
    made.on_report("sim", sim(), NOW)
    made.on_watched(12)
    made.on_report("sim", sim(pid=13), NOW)
    found = provider(made, ident="sim")
    assert found.reason == R.MALFORMED_REPORT
    assert "12 and 13" in found.error


def test_process_of_another_machine_is_not_watched():
    made = inventory()
    assert made.on_report("sim", sim(host="elsewhere"), NOW) == 0
    assert provider(made, ident="sim").state == P.AVAILABLE
    assert provider(made, NOW + 4 * S, "sim").error == "it is silent"


def test_process_that_cannot_be_watched_fails_its_provider():
    made = inventory()
    made.on_report("sim", sim(), NOW)
    made.on_unobservable(12, "EPERM")
    assert (provider(made, ident="sim").state, provider(made, ident="sim").reason) == (P.FAILED, R.PROCESS_OBSERVATION_ERROR)


def test_start_that_failed_stays_listed_with_its_devices():
    made = Inventory(HOST, lambda _: PEDALS)
    made.declare(PEDALS, starting=True)
    made.on_start_failed(PEDALS.id, "no such file")
    assert (provider(made).state, provider(made).reason, provider(made).error) == (P.FAILED, R.STARTUP_FAILED, "no such file")
    assert states(made) == [(D.UNAVAILABLE, R.PROVIDER_FAILED)] * 2


def test_teardown_is_no_failure_and_forgets_none():
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.on_report("sim", sim(), NOW)
    made.on_exit(12, Exit(None, 9), NOW)
    made.on_teardown()
    made.on_exit(7, Exit(None, 15), NOW)
    made.on_report(PEDALS.id, report(at=NOW), NOW)
    assert (provider(made).state, states(made)) == (P.STOPPED, [(D.UNAVAILABLE, R.PROVIDER_STOPPED)] * 2)
    assert devices(made)[0].error == ""
    assert provider(made, ident="sim").state == P.FAILED  # that was before


def test_replay_has_no_live_providers():
    made = inventory(PEDALS, OPENXR, replay=True)
    for name in ("plugin/pedals", "openxr/runtime", "webxr", "webxr/quest"):
        made.on_report(name, report(provider_id=name), NOW)
    made.on_report("sim", sim(), NOW)
    made.on_report("replay", report(provider_id="replay", devices=[]), NOW)
    assert [p.id for p in made.snapshot(0, NOW).providers] == ["sim", "replay"]


def test_state_holds_since_it_or_its_reason_changed():
    made = launched()
    made.on_report(PEDALS.id, report(), NOW)
    made.snapshot(0, NOW)
    made.on_report(PEDALS.id, report(at=NOW + S), NOW + S)
    assert devices(made, NOW + 2 * S)[0].since_ns == NOW
    assert devices(made, NOW + 5 * S)[0].since_ns == NOW + 5 * S
    assert made.snapshot(4, NOW + 6 * S).updated_at_ns == NOW + 6 * S


def test_topic_keeps_the_first_id_and_another_topic_cannot_speak_for_it():
    made = inventory()
    made.on_report("camera_top", report(provider_id="camera/top", devices=[device("camera/top")]), NOW)
    made.on_report("forged", report(provider_id="camera/top", devices=[device("camera/top", Device.FAILED)]), NOW)
    assert states(made, ident="camera/top") == [(D.CONNECTED, R.REPORTED)]
    made.on_report("camera_top", report(provider_id="camera/side"), NOW)
    assert states(made, ident="camera/top") == [(D.UNKNOWN, R.MALFORMED_REPORT)]


@pytest.mark.parametrize(
    ("ident", "paths"),
    [
        ("openxr/runtime", ["openxr/headset", "openxr/left_controller", "openxr/right_controller"]),
        ("webxr/quest", ["webxr/quest/headset", "webxr/quest/left_controller", "webxr/quest/right_controller"]),
        ("debug", ["debug/headset", "debug/left_controller", "debug/right_controller"]),
        ("hw/left", ["arm/left", "arm/left/pan", "arm/left/gripper"]),
        ("sim", ["arm/left", "arm/right", "physics"]),
        ("camera/top", ["camera/top"]),
        ("webxr", []),
        ("node/guard", []),
        ("somebody", []),
    ],
)
def test_nodes_of_the_graph_declare_their_devices_by_id(ident, paths):
    made = inventory()
    made.on_report(ident, report(provider_id=ident, devices=map(device, paths)), NOW)
    assert [d.id for d in devices(made, ident=ident)] == paths
    assert {s for s, _ in states(made, ident=ident)} <= {D.CONNECTED}
    assert provider(made, ident=ident).state == P.AVAILABLE
