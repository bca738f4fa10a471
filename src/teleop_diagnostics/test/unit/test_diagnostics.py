"""/diagnostics by REP-107, the tree, the texts, what is said again, and the cache."""

import pytest
from status_reports import NOW, PEDALS, S, device, launched, report

from teleop_common.enums import Device, DeviceState, Provider, StatusReason
from teleop_common.records import DeviceStatus, ProviderStatus, StatusSnapshot
from teleop_diagnostics import advice, diagnostics
from teleop_diagnostics.cache import StatusCache
from teleop_diagnostics.diagnostics import ERROR, OK, STALE, WARN, Status
from teleop_diagnostics.repeat import Repeat
from teleop_diagnostics.verdict import Exit

QUIET = {DeviceState.CONNECTED, DeviceState.DISABLED, DeviceState.INITIALIZING}


def snapshot(state=Device.CONNECTED, now=NOW):
    made = launched()
    made.on_report(PEDALS.id, report(devices=[device("/left", state, error="why"), device("/right")]), NOW)
    return made.snapshot(0, now)


def by_name(rows):
    return {row.name: row for row in rows}


@pytest.mark.parametrize("state", DeviceState)
def test_device_of_every_state_has_a_level_names_and_text_values(state):
    row = diagnostics.of_device(DeviceStatus("pedals/left", "/left", "pedal", "", "plugin/pedals", state, 8, "why", NOW), NOW + S)
    assert row.level == {
        DeviceState.CONNECTED: OK, DeviceState.DISABLED: OK, DeviceState.INITIALIZING: OK, DeviceState.DEGRADED: WARN,
        DeviceState.DISCONNECTED: ERROR, DeviceState.FAILED: ERROR, DeviceState.UNKNOWN: STALE, DeviceState.UNAVAILABLE: STALE,
    }[state]  # fmt: skip
    assert (row.name, row.hardware_id) == ("device_status: plugin/pedals pedals/left", "pedals/left")
    assert dict(row.values)["for [s]"] == "1.0"
    assert all(isinstance(value, str) for _, value in row.values)


@pytest.mark.parametrize(
    ("state", "reason", "error", "level"),
    [
        (Provider.AVAILABLE, StatusReason.REPORTED, "", OK),
        (Provider.AVAILABLE, StatusReason.REPORTED, "two publishers", WARN),
        (Provider.AVAILABLE, StatusReason.STALE_REPORT, "silent", STALE),
        (Provider.AVAILABLE, StatusReason.NO_REPORT, "", STALE),
        (Provider.AVAILABLE, StatusReason.MALFORMED_REPORT, "why", WARN),
        (Provider.INITIALIZING, StatusReason.NONE, "", OK),
        (Provider.FAILED, StatusReason.PROCESS_EXITED, "", ERROR),
        (Provider.STOPPED, StatusReason.NONE, "", STALE),
    ],
)
def test_provider_of_every_state_has_a_level(state, reason, error, level):
    row = diagnostics.of_provider(ProviderStatus("sim", 2, "simulation", state, reason, error), NOW)
    assert (row.level, row.name) == (level, "device_status: sim")


def test_provider_with_diagnostics_of_its_own_is_left_out():
    assert len(diagnostics.statuses(snapshot(), NOW)) == 3
    assert diagnostics.statuses(snapshot(), NOW, ("plugin/",)) == ()


def test_tree_is_as_bad_as_its_worst_part_and_names_it():
    rows = by_name(diagnostics.tree(snapshot(Device.DEGRADED), NOW, {}))
    group = rows["/teleop/providers/plugin/pedals"]
    assert (group.level, rows["/teleop/providers"].level, rows["/teleop"].level) == (WARN, WARN, WARN)
    assert "pedals left" in group.message
    assert rows["/teleop/providers/plugin/pedals/pedals right"].level == OK


def test_statuses_of_other_nodes_stand_in_the_tree_and_grow_stale():
    others = {"so101_driver_left: bus": (Status(OK, "so101_driver_left: bus", "ok"), NOW)}
    fresh = by_name(diagnostics.tree(snapshot(), NOW + 5 * S, others))
    assert fresh["/teleop/nodes/so101_driver_left/bus"].level == OK
    assert fresh["/teleop/nodes"].level == OK
    old = by_name(diagnostics.tree(snapshot(), NOW + 5 * S + 1, others))
    assert old["/teleop/nodes/so101_driver_left"].level == STALE
    assert old["/teleop"].level == ERROR


@pytest.mark.parametrize("state", DeviceState)
@pytest.mark.parametrize("reason", StatusReason)
def test_there_is_something_to_do_about_a_device_exactly_when_something_is_wrong(state, reason):
    text = advice.for_device(state, reason)
    if state in QUIET or reason == StatusReason.PROVIDER_STOPPED:
        assert text == ""
    elif state != DeviceState.UNAVAILABLE or reason == StatusReason.PROVIDER_FAILED:
        assert text


@pytest.mark.parametrize("reason", StatusReason)
@pytest.mark.parametrize("plugin", [True, False])
def test_failed_provider_says_what_to_do(reason, plugin):
    assert advice.for_provider(Provider.FAILED, reason, plugin)
    assert advice.for_provider(Provider.AVAILABLE, StatusReason.REPORTED, plugin) == ""


def test_only_a_node_is_said_to_come_back_by_itself():
    for reason in (StatusReason.PROCESS_EXITED, StatusReason.PROCESS_SIGNALED):
        assert "within 1 s" in advice.for_provider(Provider.FAILED, reason, plugin=False)
        assert "start the graph again" in advice.for_provider(Provider.FAILED, reason, plugin=True)


def test_device_that_says_itself_what_to_do_is_not_talked_over():
    assert advice.for_device(DeviceState.DISCONNECTED, StatusReason.REPORTED, "not there; plug it in") == ""
    assert advice.for_device(DeviceState.DISCONNECTED, StatusReason.REPORTED, "not there") != ""


def test_unchanged_is_said_each_second_and_a_change_at_once():
    repeat = Repeat()
    said = [t for t in range(0, 3000, 100) if repeat.due("same" if t < 1250 else "other", NOW + t * 1_000_000)]
    assert said == [0, 1000, 1300, 2300]


def test_cache_answers_by_id_none_for_unknown_and_what_it_gave_stays_as_it_was():
    cache = StatusCache()
    assert cache.device("pedals/left") is None
    assert cache.snapshot == StatusSnapshot()
    first = snapshot()
    cache.take(first)
    held = cache.device("pedals/left")
    assert held == first.devices[0]
    assert cache.provider("plugin/pedals") == first.providers[0]
    made = launched()
    made.on_exit(7, Exit(None, 9), NOW)
    cache.take(made.snapshot(0, NOW))
    assert held.state == DeviceState.CONNECTED
    assert cache.device("pedals/left").state == DeviceState.UNAVAILABLE
    assert cache.provider("plugin/pedals").term_signal == 9
    with pytest.raises(AttributeError):
        held.state = 0
