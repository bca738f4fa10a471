"""The OpenXR provider's life cycle against a runtime that does what the test tells it."""

import pytest

from teleop_common.enums import Device, Provider, StatusReason
from teleop_input.openxr.provider import OpenXrProvider
from teleop_input.openxr.runtime import HandSample, Location, LocationBits, Note, RuntimeFailure, Sample, SpaceChange, XrState
from teleop_input.openxr.scripted_runtime import ScriptedRuntime

HERE = Location((0.1, 1.2, -0.3), (0.0, 0.0, 0.0, 1.0), LocationBits.ALL)
HELD = Sample(0, HERE, HandSample(True, HERE, HERE), HandSample(True, HERE, HERE, squeeze=1.0))
TICK = 1.0 / 90.0


class Rig:
    """A provider, its runtime, and a clock that only the test moves."""

    def __init__(self, **fields):
        external = fields.pop("external", False)
        self.runtime = ScriptedRuntime(**{"sample_now": HELD, **fields})
        self.provider = OpenXrProvider(self.runtime, connection=7, external=external)
        self.now = 100.0

    def run(self, seconds=0.1):
        made = []
        for _ in range(max(1, round(seconds / TICK))):
            frame = self.provider.step(self.now, 5, round(self.now * 1e9))
            if frame is not None:
                made.append(frame)
            self.now += TICK
        return made

    def device(self, name):
        return {d.path: d.state for d in self.provider.devices()}[f"openxr/{name}"]


def lost(reason):
    return RuntimeFailure(reason, "the script took it away")


def test_absent_runtime_is_waited_for_with_a_message_and_found():
    rig = Rig(present=False)
    assert rig.run(2.5) == []
    assert (rig.provider.state, rig.provider.reason) == (Provider.INITIALIZING, StatusReason.PROVIDER_INITIALIZING)
    assert "no OpenXR runtime" in rig.provider.error
    assert rig.provider.take_notes() == [rig.provider.error]  # once, however often it was tried
    rig.runtime.present = True
    frames = rig.run(1.2)
    assert frames
    assert (rig.provider.state, rig.provider.reason) == (Provider.AVAILABLE, StatusReason.OPENXR_SESSION_READY)
    assert rig.provider.error == ""


def test_session_in_focus_gives_numbered_frames_of_one_connection():
    rig = Rig(offset_ns=1_000)
    frames = rig.run(0.5)
    assert [f.sequence for f in frames] == list(range(len(frames)))
    assert {f.connection for f in frames} == {8}
    assert frames[-1].device_clock_ns == frames[-1].sample_ns + 1_000
    assert frames[-1].header.frame_id == "openxr_stage"
    assert frames[-1].right.squeeze == 1.0
    assert rig.device("headset") == rig.device("right_controller") == Device.CONNECTED


def test_lost_focus_hides_the_hands_and_keeps_the_head():
    rig = Rig()
    rig.run()
    rig.runtime.change(XrState.VISIBLE)
    frames = rig.run()
    assert not frames[-1].right.connected
    assert frames[-1].right.squeeze == 0.0
    assert frames[-1].head.flags == 15
    assert rig.device("right_controller") == Device.UNKNOWN
    assert rig.device("headset") == Device.CONNECTED
    rig.runtime.change(XrState.FOCUSED)
    assert rig.run()[-1].right.connected


def test_stopped_session_gives_no_frames_until_it_begins_again_as_a_new_connection():
    rig = Rig()
    first = rig.run()[-1].connection
    rig.runtime.change(XrState.VISIBLE, XrState.SYNCHRONIZED, XrState.STOPPING)
    assert rig.run() == []
    assert rig.provider.state == Provider.AVAILABLE
    rig.runtime.change(XrState.READY)
    frames = rig.run()
    assert (frames[0].connection, frames[0].sequence) == (first + 1, 0)
    assert rig.runtime.calls == ["open", "start", "begin", "end", "begin"]


@pytest.mark.parametrize(
    "reason",
    [
        StatusReason.OPENXR_SESSION_LOST,
        StatusReason.OPENXR_INSTANCE_LOST,
        StatusReason.OPENXR_POLL_ERROR,
        StatusReason.RUNTIME_UPDATE_FAILED,
    ],
)
def test_lost_runtime_fails_the_provider_and_comes_back_as_a_new_connection(reason):
    rig = Rig()
    before = rig.run()[-1].connection
    rig.runtime.present, rig.runtime.failure = False, lost(reason)
    assert rig.run(3.0) == []
    # that it is still not there does not hide why it went
    assert (rig.provider.state, rig.provider.reason) == (Provider.FAILED, reason)
    assert rig.provider.error == "the script took it away"
    assert rig.device("headset") == Device.UNKNOWN
    assert rig.runtime.calls[-1] == "close"
    rig.runtime.present = True
    frames = rig.run(1.2)
    assert (frames[0].connection, frames[0].sequence) == (before + 1, 0)
    assert rig.provider.state == Provider.AVAILABLE


@pytest.mark.parametrize("state", [XrState.LOSS_PENDING, XrState.EXITING])
def test_session_that_the_runtime_takes_away_is_closed_and_asked_for_anew(state):
    rig = Rig()
    rig.run()
    rig.runtime.change(state)
    assert rig.run(0.5) == []
    assert (rig.provider.state, rig.provider.reason) == (Provider.FAILED, StatusReason.OPENXR_SESSION_LOST)
    assert rig.run(1.0)


def test_failure_in_every_call_never_leaves_the_core():
    rig = Rig()
    for method in ("open", "has_headset", "start", "events", "begin", "sample"):
        rig.provider.runtime = broken = ScriptedRuntime(sample_now=HELD)

        def fail(*_):
            raise lost(StatusReason.RUNTIME_UPDATE_FAILED)

        setattr(broken, method, fail)
        rig.provider.stop()
        assert rig.run(2.0) == [], method
        assert rig.provider.state == Provider.FAILED, method


def test_missing_headset_is_disconnected_while_the_provider_is_available():
    rig = Rig(headset=False)
    assert rig.run(2.0) == []
    assert (rig.provider.state, rig.provider.reason) == (Provider.AVAILABLE, StatusReason.OPENXR_FORM_FACTOR_UNAVAILABLE)
    assert rig.device("headset") == Device.DISCONNECTED
    rig.runtime.headset = True
    assert rig.run(1.2)
    assert rig.device("headset") == Device.CONNECTED


def test_headset_that_goes_away_stops_the_frames_and_returns_as_a_new_connection():
    rig = Rig()
    before = rig.run()[-1].connection
    rig.runtime.headset = False
    rig.run(1.1)
    assert rig.run(0.5) == []
    assert rig.provider.state == Provider.AVAILABLE
    assert rig.device("headset") == Device.DISCONNECTED
    rig.runtime.headset = True
    assert rig.run(1.5)[0].connection == before + 1
    assert rig.provider.error == ""


def test_moved_space_marks_one_frame_from_its_time_on():
    rig = Rig(offset_ns=5_000_000_000)
    rig.run()
    rig.runtime.pending.append(SpaceChange(round((rig.now + 0.5) * 1e9) + 5_000_000_000))
    frames = rig.run(1.0)
    marked = [i for i, f in enumerate(frames) if f.recentred]
    assert len(marked) == 1
    assert marked[0] == pytest.approx(45, abs=1)


def test_handles_of_others_are_sampled_but_neither_polled_nor_begun():
    rig = Rig(external=True)
    rig.runtime.headset = False  # not asked
    assert rig.run() == []  # their session does not run yet
    assert (rig.provider.state, rig.provider.reason) == (
        Provider.AVAILABLE,
        StatusReason.EXTERNAL_OPENXR_HEALTH_UNKNOWN,
    )
    assert rig.device("headset") == Device.UNKNOWN
    rig.runtime.running, rig.runtime.state = True, XrState.FOCUSED
    assert rig.run()[-1].right.squeeze == 1.0
    assert rig.runtime.calls == ["open", "start"]
    assert rig.runtime.pending  # left to who owns the session


def external_in_focus():
    rig = Rig(external=True)
    rig.run(TICK)
    rig.runtime.running, rig.runtime.state = True, XrState.FOCUSED
    return rig, rig.run()[-1]


def test_space_moved_by_the_owner_of_the_handles_marks_one_frame_from_its_time_on():
    rig, _ = external_in_focus()
    assert not any(f.recentred for f in rig.run())
    rig.provider.recentred()
    assert [f.recentred for f in rig.run()][:2] == [True, False]
    rig.provider.recentred(round((rig.now + 0.5) * 1e9))
    marked = [i for i, f in enumerate(rig.run(1.0)) if f.recentred]
    assert marked == [pytest.approx(45, abs=1)]


def test_session_of_others_that_stops_comes_back_as_a_new_connection():
    rig, before = external_in_focus()
    rig.runtime.running = False
    assert rig.run() == []
    rig.runtime.running = True
    frames = rig.run()
    assert {f.connection for f in frames} == {before.connection + 1}
    assert frames[0].sequence == 0


@pytest.mark.parametrize("external", [False, True])
def test_hand_that_becomes_another_device_is_gone_for_a_moment(external):
    rig = external_in_focus()[0] if external else Rig()
    rig.run()
    connection = rig.provider.connection
    for profile in (3, 4, 3):  # none yet; then a controller, laid down, taken up again
        rig.runtime.sample_now = HELD._replace(right=HELD.right._replace(profile=profile))
        frames = rig.run(0.5)
        rights = [f.right.connected for f in frames]
        assert not any(rights[:9])  # from the very frame on whose pose is another device's
        assert all(rights[10:])
        assert all(f.left.connected for f in frames)
    assert rig.provider.connection == connection


def test_pulse_goes_out_in_focus_only_and_is_bounded():
    rig = Rig()
    rig.provider.vibrate("right", 0.5, 0.1)
    assert rig.runtime.pulses == []
    rig.run()
    rig.provider.vibrate("right", 3.0, 0.1)
    rig.provider.vibrate("left", 0.5, 60.0)
    for hand, amplitude, duration in [("tail", 1.0, 0.1), ("left", float("nan"), 0.1), ("left", 0.0, 0.1), ("left", 1.0, -1.0)]:
        rig.provider.vibrate(hand, amplitude, duration)
    assert rig.runtime.pulses == [("right", 1.0, 100_000_000), ("left", 0.5, 1_000_000_000)]


def test_stop_closes_the_runtime_and_says_so():
    rig = Rig()
    rig.run()
    rig.provider.stop()
    assert rig.provider.state == Provider.STOPPED
    assert rig.runtime.calls[-1] == "close"


def test_notes_are_given_once_in_order():
    rig = Rig()
    rig.runtime.pending = []
    rig.run()
    rig.runtime.pending.append(Note("controllers: left none"))
    rig.run()
    assert rig.provider.take_notes() == [
        "runtime: scripted", "session IDLE", "session READY", "session SYNCHRONIZED", "session VISIBLE", "session FOCUSED",
        "controllers: left none",
    ]  # fmt: skip
    assert rig.provider.take_notes() == []
