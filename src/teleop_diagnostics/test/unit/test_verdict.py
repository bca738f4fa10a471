"""Every state, reason and precedence of providers and devices, as tables."""

import pytest
from status_reports import HOST, NOW, OPENXR, PEDALS, S, device, report

from teleop_common.enums import Device, DeviceReason, DeviceState, Provider, StatusReason
from teleop_diagnostics import verdict
from teleop_diagnostics.verdict import Evidence, Exit


def evidence(**known):
    if "report" in known:
        known = {"pid": 7, "watched": True, "arrived_ns": NOW, **known}
    return Evidence(known.pop("declaration", PEDALS), HOST, **known)


GOOD = report()
MALFORMED = (StatusReason.MALFORMED_REPORT, "why")
SCHEMA = (StatusReason.UNSUPPORTED_SCHEMA_VERSION, "why")
P, R = Provider, StatusReason
PROVIDERS = {
    "nothing heard": (evidence(), P.INITIALIZING, R.NONE),
    "being launched": (evidence(starting=True), P.INITIALIZING, R.NONE),
    "launched, silent": (evidence(pid=7, watched=True), P.AVAILABLE, R.NO_REPORT),
    "reports": (evidence(report=GOOD), P.AVAILABLE, R.REPORTED),
    "reports of the runtime": (evidence(declaration=OPENXR, report=report(OPENXR)), P.AVAILABLE, R.OPENXR_SESSION_READY),
    "says why": (evidence(report=report(reason=int(R.OPENXR_POLL_ERROR))), P.AVAILABLE, R.OPENXR_POLL_ERROR),
    "initializes": (evidence(report=report(state=P.INITIALIZING)), P.INITIALIZING, R.NONE),
    "failed": (evidence(report=report(state=P.FAILED)), P.FAILED, R.REPORTED),
    "instance lost": (
        evidence(report=report(OPENXR, state=P.FAILED, reason=int(R.OPENXR_INSTANCE_LOST))),
        P.FAILED,
        R.OPENXR_INSTANCE_LOST,
    ),
    "stopped": (evidence(report=report(state=P.STOPPED)), P.STOPPED, R.REPORTED),
    "malformed": (evidence(report=GOOD, fault=MALFORMED), P.AVAILABLE, R.MALFORMED_REPORT),
    "malformed from the first": (evidence(fault=MALFORMED), P.AVAILABLE, R.MALFORMED_REPORT),
    "other schema": (evidence(report=GOOD, fault=SCHEMA), P.AVAILABLE, R.UNSUPPORTED_SCHEMA_VERSION),
    "failed, then malformed": (evidence(report=report(state=P.FAILED), fault=MALFORMED), P.FAILED, R.REPORTED),
    "initializes, then malformed": (
        evidence(report=report(state=P.INITIALIZING), fault=MALFORMED),
        P.AVAILABLE,
        R.MALFORMED_REPORT,
    ),
    "start failed": (evidence(start_failed="no such file"), P.FAILED, R.STARTUP_FAILED),
    "exit 0": (evidence(report=GOOD, ended=Exit(0, 0)), P.FAILED, R.PROCESS_EXITED),
    "exit 3": (evidence(report=GOOD, ended=Exit(3, 0)), P.FAILED, R.PROCESS_EXITED),
    "gone": (evidence(report=GOOD, ended=Exit()), P.FAILED, R.PROCESS_EXITED),
    "killed": (evidence(report=GOOD, ended=Exit(None, 9)), P.FAILED, R.PROCESS_SIGNALED),
    "killed while stopped": (evidence(report=report(state=P.STOPPED), ended=Exit(None, 9)), P.FAILED, R.PROCESS_SIGNALED),
    "said stop, then exit 0": (evidence(report=report(state=P.STOPPED), ended=Exit(0, 0)), P.STOPPED, R.REPORTED),
    "said stop, then exit 1": (evidence(report=report(state=P.STOPPED), ended=Exit(1, 0)), P.FAILED, R.PROCESS_EXITED),
    "unobservable": (evidence(report=GOOD, unobservable="EPERM"), P.FAILED, R.PROCESS_OBSERVATION_ERROR),
    "dead outranks malformed": (evidence(report=GOOD, fault=MALFORMED, ended=Exit(1, 0)), P.FAILED, R.PROCESS_EXITED),
    "start failed outranks reports": (evidence(report=GOOD, start_failed="x"), P.FAILED, R.STARTUP_FAILED),
    "teardown": (evidence(report=GOOD, torn_down=True), P.STOPPED, R.NONE),
    "teardown outranks the exit": (evidence(report=GOOD, torn_down=True, ended=Exit(None, 15)), P.STOPPED, R.NONE),
}


@pytest.mark.parametrize("case", PROVIDERS)
def test_provider_has_state_and_reason(case):
    known, state, reason = PROVIDERS[case]
    found = verdict.provider(known, NOW)
    assert (found.state, found.reason) == (state, reason)


@pytest.mark.parametrize("case", PROVIDERS)
def test_provider_outranks_what_its_devices_reported(case):
    known, state, reason = PROVIDERS[case]
    path = known.declaration.devices[0].path
    found = verdict.device(known, path, verdict.provider(known, NOW))
    expected = {
        P.INITIALIZING: (DeviceState.INITIALIZING, R.PROVIDER_INITIALIZING),
        P.FAILED: (DeviceState.UNAVAILABLE, R.PROVIDER_FAILED),
        P.STOPPED: (DeviceState.UNAVAILABLE, R.PROVIDER_STOPPED),
    }.get(state)
    unclear = (R.NO_REPORT, R.MALFORMED_REPORT, R.UNSUPPORTED_SCHEMA_VERSION)
    if expected is None:
        expected = (DeviceState.UNKNOWN, reason) if reason in unclear else (DeviceState.CONNECTED, R.REPORTED)
    assert (found.state, found.reason) == expected


D = DeviceState
REPORTED = {
    Device.UNKNOWN: (D.UNKNOWN, R.REPORTED),
    Device.CONNECTED: (D.CONNECTED, R.REPORTED),
    Device.DISCONNECTED: (D.DISCONNECTED, R.REPORTED),
    Device.DEGRADED: (D.DEGRADED, R.REPORTED),
    Device.FAILED: (D.FAILED, R.REPORTED),
    Device.DISABLED: (D.DISABLED, R.DISABLED_BY_CONFIGURATION),
}


@pytest.mark.parametrize("state", Device)
def test_reported_device_has_state_and_reason(state):
    known = evidence(report=report(devices=[device("/left", state), device("/right", error="fine")]))
    owner = verdict.provider(known, NOW)
    found = verdict.device(known, "/left", owner)
    assert (found.state, found.reason) == REPORTED[state]
    assert verdict.device(known, "/right", owner) == (D.CONNECTED, R.REPORTED, "fine")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (Device.UNKNOWN, R.EXTERNAL_OPENXR_HEALTH_UNKNOWN),
        (Device.DISCONNECTED, R.OPENXR_FORM_FACTOR_UNAVAILABLE),
        (Device.CONNECTED, R.REPORTED),
    ],
)
def test_headset_of_a_runtime_has_its_own_reasons(state, reason):
    rows = [device(d.path, state if d.path == "openxr/headset" else Device.CONNECTED) for d in OPENXR.devices]
    known = evidence(declaration=OPENXR, report=report(OPENXR, rows))
    owner = verdict.provider(known, NOW)
    assert owner.state == P.AVAILABLE
    assert verdict.device(known, "openxr/headset", owner).reason == reason


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        (DeviceReason.RECOVERING, "", "recovering"),
        (DeviceReason.RECOVERING, "third try", "third try"),
        (DeviceReason.PARTIAL_FUNCTIONALITY, "", "works in part"),
        (DeviceReason.DEVICE_ERROR, "", "device error"),
        (DeviceReason.NO_HARDWARE_SIGNAL, "", "no signal of the hardware"),
        (DeviceReason.NONE, "", ""),
    ],
)
def test_detail_of_a_plugin_survives_as_text(reason, error, words):
    known = evidence(report=report(devices=[device("/left", Device.DEGRADED, reason, error), device("/right")]))
    assert verdict.device(known, "/left", verdict.provider(known, NOW)).error == words


@pytest.mark.parametrize(
    ("age", "state", "reason"),
    [(0, D.CONNECTED, R.REPORTED), (3 * S, D.CONNECTED, R.REPORTED), (3 * S + 1, D.UNKNOWN, R.STALE_REPORT)],
)
@pytest.mark.parametrize("host", [HOST, "elsewhere"])
def test_report_is_stale_after_three_seconds_by_its_stamp_here_and_by_arrival_from_elsewhere(age, state, reason, host):
    stamp = NOW - age if host == HOST else 5  # the clock of another machine means nothing here
    known = evidence(report=report(at=stamp, host=host), arrived_ns=NOW - age)
    owner = verdict.provider(known, NOW)
    assert owner.state == P.AVAILABLE
    assert verdict.device(known, "/left", owner)[:2] == (state, reason)


def test_provider_that_hangs_while_it_starts_says_so():
    known = evidence(report=report(state=P.INITIALIZING, at=NOW - 4 * S))
    assert verdict.provider(known, NOW)[:2] == (P.INITIALIZING, R.STALE_REPORT)


MALFORMED_OWN = {
    "stamp in the future": ({"at": NOW + 1}, "allowed the past"),
    "no stamp": ({"at": 0}, "allowed the past"),
    "unknown state": ({"state": 9}, "provider state: got 9"),
    "unknown reason": ({"reason": 99}, "provider reason: got 99"),
    "another's id": ({"provider_id": "plugin/gloves"}, "got 'plugin/gloves', allowed 'plugin/pedals'"),
}


@pytest.mark.parametrize("case", MALFORMED_OWN)
def test_report_whose_own_part_is_wrong_is_malformed(case):
    fields, words = MALFORMED_OWN[case]
    found = verdict.fault_of(report(**fields), PEDALS, NOW, HOST)
    assert found is not None
    assert found[0] == R.MALFORMED_REPORT
    assert words in found[1]


def test_stamp_ahead_of_another_machines_clock_is_no_fault():
    assert verdict.fault_of(report(at=NOW + S, host="elsewhere"), PEDALS, NOW, HOST) is None


@pytest.mark.parametrize("version", [0, 2])
def test_other_schema_is_unsupported(version):
    found = verdict.fault_of(report(schema_version=version, state=99), PEDALS, NOW, HOST)
    assert found is not None
    assert found[0] == R.UNSUPPORTED_SCHEMA_VERSION


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (("/left", "/right"), ""),
        (("/right", "/left"), ""),
        (("/left",), "lacks device '/right'"),
        ((), "lacks device '/left'"),
        (("/left", "/right", "/third"), "has the undeclared device '/third'"),
        (("/left", "/right", "/left"), "repeats device '/left'"),
    ],
)
def test_each_declared_path_must_stand_in_a_report_exactly_once(paths, words):
    assert words in verdict.devices_fault(tuple(map(device, paths)), PEDALS)
    assert bool(words) == bool(verdict.devices_fault(tuple(map(device, paths)), PEDALS))


@pytest.mark.parametrize(("state", "reason"), [(6, 0), (0, 8)])
def test_device_with_a_number_of_no_meaning_is_malformed(state, reason):
    assert "allowed" in verdict.devices_fault((device("/left", state, reason), device("/right")), PEDALS)


def test_every_reason_can_be_concluded_or_said():
    reached = {reason for _, _, reason in PROVIDERS.values()} | {reason for _, reason in REPORTED.values()}
    reached |= {R.PROVIDER_INITIALIZING, R.PROVIDER_FAILED, R.PROVIDER_STOPPED, R.STALE_REPORT}
    reached |= {R.EXTERNAL_OPENXR_HEALTH_UNKNOWN, R.OPENXR_FORM_FACTOR_UNAVAILABLE}
    for reason in set(R) - reached:  # what only the provider itself can know
        found = verdict.provider(evidence(report=report(state=P.FAILED, reason=int(reason))), NOW)
        assert (found.state, found.reason) == (P.FAILED, reason)
