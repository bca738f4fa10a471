"""The provider through pyopenxr on a runtime that fails at will: what no real one can be made to do on demand; without Monado."""

import pytest

xr = pytest.importorskip("xr")
from fake_xr import FakeXr, event  # noqa: E402

from teleop_common.enums import Provider, StatusReason  # noqa: E402
from teleop_input.openxr import environment, real_runtime  # noqa: E402
from teleop_input.openxr.provider import OpenXrProvider  # noqa: E402
from teleop_input.openxr.real_runtime import Handles, RealRuntime  # noqa: E402
from teleop_input.openxr.runtime import RuntimeFailure  # noqa: E402

TICK = 1.0 / 90.0


def no_number(*_):
    """Return what pyopenxr raises for a number that it does not know."""
    with pytest.raises(ValueError) as caught:
        xr.Result(-1_000_999_001)
    return caught.value


class Rig:
    """A provider on pyopenxr's fake, stepped by hand."""

    def __init__(self, monkeypatch, external=False, environment_file=""):
        self.xr = FakeXr()
        monkeypatch.setattr(real_runtime, "load_bindings", lambda: self.xr)
        handles = self.handles() if external else None
        self.provider = OpenXrProvider(RealRuntime(environment_file, handles), connection=7, external=external)
        self.now = 100.0

    def handles(self):
        return Handles(self.xr.create_instance(None), self.xr.create_session(None, None))

    def run(self, seconds=0.1):
        made = []
        for _ in range(round(seconds / TICK)):
            frame = self.provider.step(self.now, 5, round(self.now * 1e9))
            made += [] if frame is None else [frame]
            self.now += TICK
        return made


@pytest.fixture(params=[False, True], ids=["own session", "session of others"])
def rig(request, monkeypatch):
    return Rig(monkeypatch, external=request.param)


@pytest.mark.parametrize("error", [xr.RuntimeFailureError(), no_number()], ids=["refused", "unknown"])
@pytest.mark.parametrize("call", ["sync_actions", "locate_space", "enumerate_reference_spaces", "create_Space"])
def test_call_refused_once_costs_a_second_and_a_new_connection(rig, call, error):
    before = rig.run()
    if call == "sync_actions":
        assert before[-1].right.squeeze == 0.75
    rig.xr.fails[call] = error
    if call in ("enumerate_reference_spaces", "create_Space"):  # asked at the next start
        rig.xr.fails["sync_actions"] = error
    rig.run(1.5)
    assert (rig.provider.state, rig.run()) == (Provider.FAILED, [])
    rig.xr.fails.clear()
    frames = rig.run(1.2)
    assert frames[-1].right.connected
    assert rig.provider.state == Provider.AVAILABLE
    assert before[-1].connection not in {f.connection for f in frames}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (xr.SessionLostError(), StatusReason.OPENXR_SESSION_LOST),
        (xr.SessionLossPending(), StatusReason.OPENXR_SESSION_LOST),
        (xr.InstanceLostError(), StatusReason.OPENXR_INSTANCE_LOST),
    ],
)
def test_lost_session_of_others_asks_for_new_handles_and_goes_on_with_them(monkeypatch, error, reason):
    rig = Rig(monkeypatch, external=True)
    before = rig.run()[-1]
    rig.xr.fails["sync_actions"] = error
    rig.run()
    rig.xr.fails.clear()
    assert rig.run(3.0) == []
    assert (rig.provider.state, rig.provider.reason) == (Provider.FAILED, reason)
    assert "new handles" in rig.provider.error
    rig.provider.runtime.renew(rig.handles())
    assert rig.run(1.2)[-1].connection == before.connection + 1


def test_stop_leaves_what_others_own_and_what_is_attached_to_it(monkeypatch):
    rig = Rig(monkeypatch, external=True)
    owned = set(rig.xr.live)
    rig.run()
    rig.provider.stop()
    assert owned < rig.xr.live
    assert len(rig.xr.live) == len(owned) + 1  # the action set
    assert rig.run(1.2)[-1].right.connected


def test_own_session_is_given_back_whole(monkeypatch):
    rig = Rig(monkeypatch)
    assert rig.run()
    rig.provider.stop()
    assert rig.xr.live == set()


def test_session_with_action_sets_of_its_owner_is_refused_in_words(monkeypatch):
    rig = Rig(monkeypatch, external=True)
    rig.xr.attached.update(rig.xr.live)
    assert rig.run(2.5) == []
    assert (rig.provider.state, rig.provider.reason) == (Provider.FAILED, StatusReason.STARTUP_FAILED)
    assert "action sets already" in rig.provider.error
    assert len(rig.xr.live) == 2  # nothing piles up


@pytest.mark.parametrize("error", [xr.ValidationFailureError(), xr.PathUnsupportedError(), no_number()])
def test_refused_profile_costs_a_line_and_none_of_the_others(monkeypatch, error):
    rig = Rig(monkeypatch)
    rig.xr.refused["/interaction_profiles/microsoft/motion_controller"] = error
    assert rig.run()[-1].right.connected
    assert [note for note in rig.provider.take_notes() if "motion_controller: not taken" in note]


def test_events_that_nobody_knows_are_passed_over(monkeypatch):
    rig = Rig(monkeypatch)
    rig.run()
    space = xr.EventDataReferenceSpaceChangePending()
    space._reference_space_type = 1_000_999_001
    state = xr.EventDataSessionStateChanged()
    state._state = 1_000_999_001
    rig.xr.events += [event(space), event(state), event(xr.EventDataBuffer(), kind=1_000_999_001)]
    frames = rig.run()
    assert len(frames) == 9
    assert not any(f.recentred for f in frames)
    assert rig.provider.state == Provider.AVAILABLE


def test_lost_events_count_as_a_moved_play_space(monkeypatch):
    rig = Rig(monkeypatch)
    rig.run()
    rig.xr.events.append(event(xr.EventDataEventsLost(lost_event_count=3)))
    assert [f.recentred for f in rig.run()][:2] == [True, False]


def test_interaction_profile_that_changes_hides_the_hand(rig):
    rig.run()
    rig.xr.profile = "/interaction_profiles/b"
    frames = rig.run(0.3)
    assert not frames[0].right.connected
    assert frames[-1].right.connected


@pytest.mark.parametrize("call", ["enumerate_instance_extension_properties", "create_Instance", "poll_event", "begin_session"])
def test_unknown_answer_at_the_start_is_told_and_tried_again(monkeypatch, call):
    rig = Rig(monkeypatch)
    rig.xr.fails[call] = no_number()
    assert rig.run(2.5) == []
    assert "1000999001" in rig.provider.error
    rig.xr.fails.clear()
    rig.xr.events.clear()
    assert rig.run(1.2)


def test_half_written_environment_file_is_told_and_read_again(monkeypatch, tmp_path):
    file = tmp_path / "runtime.env"
    file.write_bytes(b"TELEOP_TEST_RUNTIME=x\0\0\0\n")
    rig = Rig(monkeypatch, environment_file=str(file))
    assert rig.run(1.5) == []
    assert "line 1" in rig.provider.error
    file.write_text("TELEOP_TEST_RUNTIME=x\n")
    monkeypatch.setenv("TELEOP_TEST_RUNTIME", "")
    assert rig.run(1.2)
    with pytest.raises(RuntimeFailure):
        environment.parse("A=\0", "f")
