"""The session's state machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import Command, Provider, Session
from teleop_session.machine import PROVIDERS, Machine

PEERS = ("retargeter", "guard", "driver left", "driver right")


def machine(**fields):
    return Machine(**{"peers": PEERS, "provider": "debug", "epoch": 7, **fields})


def hear_all(m, now, *providers):
    for peer in PEERS:
        m.hear(now, peer)
    for provider in providers or (m.provider,):
        m.hear_frame(now, provider)


def connected(**fields):
    m = machine(**fields)
    hear_all(m, 0.0)
    assert m.command(0.0, Command.CONNECT).success
    return m


def test_connect_with_everyone_heard_connects():
    m = connected()
    assert (m.state, m.epoch, m.error) == (Session.CONNECTED, 7, "")


@pytest.mark.parametrize("absent", [*PEERS, "provider debug"])
def test_connect_without_one_rolls_back_and_names_it(absent):
    m = machine()
    hear_all(m, 0.0)
    m.heard.pop(absent.removeprefix("provider "))
    reply = m.command(0.0, Command.CONNECT)
    assert not reply.success
    assert absent in reply.message
    assert (m.state, m.epoch) == (Session.DISCONNECTED, 7)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_provider_that_is_not_there_is_named_with_the_way_to_start_it(provider):
    m = machine(provider=provider, autostart=True)
    hear_all(m, 0.0)
    m.heard.pop(provider)
    m.tick(0.0)
    who, _, remedy = m.error.partition("; ")
    assert provider in who
    assert "guard" not in who
    assert provider in remedy.lower() or "input:=web" in remedy


def test_connect_counts_only_who_was_heard_within_two_seconds():
    m = machine()
    hear_all(m, 0.0)
    assert not m.command(2.1, Command.CONNECT).success
    hear_all(m, 2.1)
    assert m.command(4.0, Command.CONNECT).success


def test_connect_and_start_are_idempotent():
    m = connected()
    assert m.command(0.1, Command.CONNECT).success
    assert m.command(0.1, Command.START).success
    epoch = m.epoch
    assert m.command(0.1, Command.START).success
    assert m.command(0.1, Command.CONNECT).success
    assert (m.state, m.epoch) == (Session.RUNNING, epoch)


def test_failed_change_of_provider_leaves_a_running_session_alone():
    m = connected()
    m.command(0.0, Command.START)
    epoch = m.epoch
    assert not m.command(0.1, Command.CONNECT, "replay").success
    assert (m.state, m.provider, m.epoch) == (Session.RUNNING, "debug", epoch)


def test_change_of_provider_connects_without_running():
    m = connected()
    m.command(0.0, Command.START)
    m.hear_frame(0.1, "replay")
    epoch = m.epoch
    assert m.command(0.1, Command.CONNECT, "replay").success
    assert (m.state, m.provider, m.epoch) == (Session.CONNECTED, "replay", epoch + 1)


@pytest.mark.parametrize("command", [Command.START, Command.STOP, Command.RESET])
def test_epoch_grows_by_one(command):
    m = connected()
    if command == Command.STOP:
        m.command(0.0, Command.START)
    epoch = m.epoch
    assert m.command(0.1, command).success
    assert m.epoch == epoch + 1


def test_epoch_wraps():
    m = connected(epoch=2**32 - 1)
    m.command(0.0, Command.START)
    assert m.epoch == 0


def test_start_without_connection_is_refused_and_says_what_to_do():
    reply = machine().command(0.0, Command.START)
    assert not reply.success
    assert "CONNECT first" in reply.message


@pytest.mark.parametrize(("command", "provider", "words"), [(9, "", "allowed 0"), (Command.CONNECT, "joystick", "webxr, openxr")])
def test_unknown_command_or_provider_is_refused_with_what_is_allowed(command, provider, words):
    m = connected()
    reply = m.command(0.0, command, provider)
    assert not reply.success
    assert words in reply.message
    assert m.state == Session.CONNECTED


def test_silent_provider_is_a_fault_with_its_name():
    m = connected()
    m.command(0.0, Command.START)
    m.tick(2.0)
    assert m.state == Session.RUNNING
    m.tick(2.1)
    assert m.state == Session.FAULT
    assert "'debug'" in m.error
    assert not m.flowing


@pytest.mark.parametrize("state", [Provider.FAILED, Provider.STOPPED])
def test_provider_that_reports_its_end_is_a_fault_at_once(state):
    m = connected()
    m.hear_provider(0.1, "debug", state, "cable")
    m.tick(0.1)
    assert m.state == Session.FAULT
    assert "cable" in m.error


def test_silent_peer_is_named_but_no_fault():
    m = connected()
    m.command(0.0, Command.START)
    m.hear_frame(3.0, "debug")
    m.tick(3.0)
    assert m.state == Session.RUNNING
    assert "guard" in m.error
    hear_all(m, 3.1)
    m.tick(3.1)
    assert m.error == ""


def test_autostart_runs_once_everyone_is_heard():
    m = machine(autostart=True)
    m.tick(0.0)
    assert m.state == Session.DISCONNECTED
    m.hear_provider(0.1, "debug", Provider.AVAILABLE, "")
    m.tick(0.1)
    assert m.state == Session.CONNECTING
    assert "guard" in m.error
    assert "debug" not in m.error
    assert "comes by itself" in m.error
    hear_all(m, 0.2)
    m.tick(0.2)
    assert (m.state, m.error) == (Session.RUNNING, "")


def test_initializing_provider_is_not_heard():
    m = machine(autostart=True)
    hear_all(m, 0.0, "webxr")
    m.hear_provider(0.0, "debug", Provider.INITIALIZING, "")
    m.tick(0.0)
    assert m.state == Session.DISCONNECTED


def test_autostart_returns_after_the_providers_respawn():
    m = machine(autostart=True)
    hear_all(m, 0.0)
    m.tick(0.0)
    epoch = m.epoch
    for peer in PEERS:
        m.hear(3.0, peer)
    m.tick(3.0)
    assert m.state == Session.FAULT
    hear_all(m, 4.0)
    m.tick(4.0)
    assert (m.state, m.epoch) == (Session.RUNNING, epoch + 1)


@pytest.mark.parametrize(("command", "stays"), [(Command.STOP, Session.CONNECTED), (Command.DISCONNECT, Session.DISCONNECTED)])
def test_autostart_does_not_undo_the_operators_command(command, stays):
    m = machine(autostart=True)
    hear_all(m, 0.0)
    m.tick(0.0)
    m.command(0.1, command)
    hear_all(m, 0.2)
    m.tick(0.2)
    assert m.state == stays


def test_stopped_session_reconnects_after_a_fault_but_does_not_run():
    m = machine(autostart=True)
    hear_all(m, 0.0)
    m.tick(0.0)
    m.command(0.1, Command.STOP)
    m.tick(3.0)
    assert m.state == Session.FAULT
    hear_all(m, 3.1)
    m.tick(3.1)
    assert m.state == Session.CONNECTED


steps = st.one_of(
    st.tuples(st.just("command"), st.integers(0, 5), st.sampled_from(["", *PROVIDERS, "x"])),
    st.tuples(st.just("frame"), st.sampled_from(PROVIDERS), st.none()),
    st.tuples(st.just("peer"), st.sampled_from(PEERS), st.none()),
    st.tuples(st.just("all"), st.sampled_from(PROVIDERS), st.none()),
    st.tuples(st.just("report"), st.sampled_from(PROVIDERS), st.integers(0, 3)),
    st.tuples(st.just("tick"), st.none(), st.none()),
)


@given(st.booleans(), st.lists(st.tuples(st.floats(0.0, 1.5), steps), max_size=60))
def test_any_history_keeps_the_rules(autostart, history):
    m, now = machine(autostart=autostart), 0.0
    for dt, (kind, a, b) in history:
        now += dt
        before = (m.state, m.provider, m.epoch)
        if kind == "command":
            reply = m.command(now, a, b)
            assert reply.message
            if not reply.success:
                assert (m.state, m.provider, m.epoch) == before
        elif kind == "frame":
            m.hear_frame(now, a)
        elif kind == "peer":
            m.hear(now, a)
        elif kind == "all":
            hear_all(m, now, a)
        elif kind == "report":
            m.hear_provider(now, a, b, "")
        else:
            m.tick(now)
        # running begins with a new epoch, ends with one or with a fault; a new provider is a new epoch
        if m.state == Session.RUNNING and before[0] != Session.RUNNING:
            assert m.epoch == before[2] + 1
            assert not m.missing(now, m.provider) or kind == "command"
        if before[0] == Session.RUNNING and m.state not in (Session.RUNNING, Session.FAULT):
            assert m.epoch > before[2]
        if m.provider != before[1]:
            assert m.epoch > before[2]
        assert before[2] <= m.epoch <= before[2] + 1


def test_provider_that_waits_for_its_runtime_says_for_what():
    m = connected()
    m.hear_provider(0.1, "openxr", Provider.INITIALIZING, "no OpenXR runtime; start it")
    assert "waits: no OpenXR runtime; start it" in m.command(0.2, Command.CONNECT, "openxr").message
    m.hear_provider(0.3, "openxr", Provider.AVAILABLE, "")
    assert m.command(0.4, Command.CONNECT, "openxr").success


def test_start_refused_in_a_fault_takes_no_effect_later():
    peers = ("retargeter", "guard", "driver left")
    machine = Machine(peers, "webxr", 1, autostart=True)
    for who in (*peers, "webxr"):
        machine.hear(0.0, who)
    machine.tick(0.1)
    machine.command(0.2, Command.STOP)
    machine.tick(3.0)
    assert machine.state == Session.FAULT
    assert not machine.command(3.1, Command.START).success
    for who in (*peers, "webxr"):
        machine.hear(3.2, who)
    machine.tick(3.3)
    assert machine.state == Session.CONNECTED
