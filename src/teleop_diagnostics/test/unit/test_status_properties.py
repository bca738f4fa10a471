"""Whatever comes in whatever order: nothing raises, nothing is lost, and the provider's state outranks its devices'."""

from hypothesis import given
from hypothesis import strategies as st
from status_reports import HOST, NOW, PEDALS, S, device, inventory, report

from teleop_common.enums import DeviceState, Provider, StatusReason
from teleop_diagnostics.verdict import Exit

IDS = (PEDALS.id, "sim", "camera/top", "node/guard", "stranger")
PATHS = ("/left", "/right", "arm/left", "arm/right", "physics", "camera/top", "odd")
PIDS = st.integers(0, 3)

reports = st.builds(
    lambda ident, rows, **fields: report(provider_id=ident, devices=[device(*row) for row in rows], **fields),
    st.sampled_from(IDS),
    st.lists(st.tuples(st.sampled_from(PATHS), st.integers(0, 6), st.integers(0, 8)), max_size=4)
    | st.sampled_from([(("/left",), ("/right",)), (("arm/left",), ("arm/right",), ("physics",)), (("camera/top",),)]),
    at=st.integers(-1, 20).map(lambda s: NOW + s * S),
    host=st.sampled_from([HOST, "elsewhere"]),
    pid=PIDS,
    state=st.integers(0, 4),
    reason=st.integers(0, 21),
    schema_version=st.sampled_from([1, 1, 1, 2]),
)
exits = st.sampled_from([Exit(), Exit(0, 0), Exit(3, 0), Exit(None, 9)])
steps = st.one_of(
    st.tuples(st.just("report"), st.sampled_from(IDS), reports),
    st.tuples(st.just("exit"), PIDS, exits),
    st.tuples(st.just("told"), PIDS, exits),
    st.tuples(st.just("watched"), PIDS),
    st.tuples(st.just("unobservable"), PIDS),
    st.tuples(st.just("launch"), PIDS),
    st.tuples(st.just("start failed")),
    st.tuples(st.just("teardown"), st.sampled_from([PEDALS.id, "sim"])),
)


def play(made, step, now):
    kind, *rest = step
    if kind == "report":
        made.on_report(*rest, now)
    elif kind == "exit":
        made.on_exit(*rest, now)
    elif kind == "told":
        made.on_exit_told(*rest, now)
    elif kind == "launch":
        made.on_launch(PEDALS.id, *rest)
    elif kind == "start failed":
        made.on_start_failed(PEDALS.id, "why")
    elif kind == "unobservable":
        made.on_unobservable(*rest, "why")
    elif kind == "watched":
        made.on_watched(*rest)
    else:
        made.on_teardown(*rest)


@given(st.lists(st.tuples(st.integers(0, 4), steps), max_size=25))
def test_any_sequence_keeps_the_inventory_and_the_precedence(script):
    made, now, before = inventory(PEDALS), NOW, set()
    for wait, step in script:
        now += wait * S
        play(made, step, now)
        found = made.snapshot(0, now)
        assert found == made.snapshot(0, now)
        listed = {p.id for p in found.providers} | {d.id for d in found.devices}
        assert before <= listed
        before = listed
        owners = {p.id: p for p in found.providers}
        assert len(owners) == len(found.providers)
        for row in (*found.providers, *found.devices):
            assert row.since_ns <= now
            assert row.reason in tuple(StatusReason)
        for shown in found.devices:
            state = owners[shown.provider_id].state
            assert (state in (Provider.FAILED, Provider.STOPPED)) == (shown.state == DeviceState.UNAVAILABLE)
            assert (state == Provider.INITIALIZING) == (shown.state == DeviceState.INITIALIZING)
