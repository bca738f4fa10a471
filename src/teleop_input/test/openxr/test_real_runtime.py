"""The provider on a real OpenXR runtime whose headset and controllers are driven by packets."""

import ctypes
import math
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from monado import Operator

from teleop_common.enums import Device, Provider, StatusReason
from teleop_input.openxr.provider import OpenXrProvider
from teleop_input.openxr.real_runtime import HEADLESS, TIMESPEC, Handles, RealRuntime

EXACT = 1e-5  # float32 on the way


class Rig:
    """A provider stepped at 90 Hz from the test's thread."""

    def __init__(self, handles=None):
        self.provider = OpenXrProvider(RealRuntime(handles=handles), connection=7, external=handles is not None)
        self.frames = []

    def until(self, condition, timeout=10.0, what="condition"):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            ns = time.monotonic_ns()
            frame = self.provider.step(ns * 1e-9, 0, ns)
            if frame is not None:
                self.frames.append(frame)
            if condition():
                return
            time.sleep(1 / 90)
        last = self.frames[-1] if self.frames else None
        raise AssertionError(f"{what}: not within {timeout} s; {self.provider.error} {self.provider.notes}; last {last}")

    def focused(self):
        self.until(lambda: self.frames and self.frames[-1].right.grip.flags == 15, what="a tracked right hand")

    def shows(self, condition, what):
        """Wait for a frame after now that meets ``condition``; return it."""
        begin = len(self.frames)
        self.until(lambda: len(self.frames) > begin and condition(self.frames[-1]), 3.0, what)
        return self.frames[-1]


@pytest.fixture
def rig(service):
    made = Rig()
    yield made
    made.provider.stop()


@pytest.fixture
def operator(service):
    made = Operator()
    yield made
    made.close()


def near(pose, position, orientation):
    same = math.dist(pose.position, position) < EXACT
    q = pose.orientation
    return same and min(math.dist(q, orientation), math.dist([-x for x in q], orientation)) < EXACT


def test_poses_buttons_and_axes_arrive_exactly_and_in_the_right_hand(rig, operator):
    rig.focused()
    for k in range(1, 6):
        angle = 0.3 * k
        turn, tilt = (0.0, math.sin(angle), 0.0, math.cos(angle)), (math.sin(angle), 0.0, 0.0, math.cos(angle))
        operator.head = ((0.01 * k, 1.6, -0.02 * k), turn)
        operator.right.position, operator.right.orientation = (0.2 + 0.03 * k, 1.1, -0.4), turn
        operator.left.position, operator.left.orientation = (-0.2 - 0.02 * k, 1.3, -0.3), tilt
        operator.right.trigger, operator.right.squeeze, operator.right.stick = 0.1 * k, 1 - 0.1 * k, (0.1 * k, -0.15 * k)
        operator.left.trigger, operator.left.squeeze, operator.left.stick = 0.9 - 0.1 * k, 0.05 * k, (-0.1 * k, 0.12 * k)
        operator.right.on = {"active"} | ({"a", "stick_click"} if k % 2 else {"b"})
        operator.left.on = {"active"} | ({"b"} if k % 2 else {"a", "stick_click"})
        operator.send()
        frame = rig.shows(lambda f: near(f.right.grip.pose, operator.right.position, turn), f"step {k}")
        assert near(frame.head.pose, *operator.head)
        assert near(frame.left.grip.pose, operator.left.position, tilt)
        assert frame.head.flags == frame.left.grip.flags == frame.right.grip.flags == frame.right.aim.flags == 15
        for hand, driven in ((frame.right, operator.right), (frame.left, operator.left)):
            got = (hand.trigger, hand.squeeze, hand.thumbstick_x, hand.thumbstick_y)
            assert got == pytest.approx((driven.trigger, driven.squeeze, *driven.stick), abs=EXACT)
            pressed = (hand.primary, hand.secondary, hand.thumbstick_click)
            assert pressed == tuple(name in driven.on for name in ("a", "b", "stick_click"))


def test_frames_come_evenly_with_the_runtimes_time_and_the_runtime_is_named(rig, operator):
    rig.focused()
    rig.until(lambda: len(rig.frames) > 60)
    assert [f.sequence for f in rig.frames] == list(range(len(rig.frames)))
    offsets = {f.device_clock_ns - f.sample_ns for f in rig.frames}
    assert max(offsets) - min(offsets) < 1_000_000
    assert rig.frames[-1].header.frame_id == "openxr_stage"
    notes = rig.provider.take_notes()
    assert notes[0].startswith("runtime: Monado")
    assert any("index_controller" in note for note in notes), notes


def test_pulse_is_taken(rig, operator):
    rig.focused()
    rig.provider.vibrate("right", 0.8, 0.05)
    assert rig.provider.vibrations_refused == 0


def test_controller_that_is_lost_is_untracked_and_comes_back(rig, operator):
    rig.focused()
    operator.right.on = set()
    operator.send()
    frame = rig.shows(lambda f: f.right.grip.flags == 0, "the lost hand")
    assert frame.left.grip.flags == 15
    operator.right.on = {"active"}
    operator.send()
    rig.shows(lambda f: f.right.grip.flags == 15, "the hand again")


@pytest.mark.parametrize("orientation", [(0.0, 0.0, 0.0, 0.0), (math.nan,) * 4])
def test_quaternion_that_cannot_be_true_is_untracked_whatever_the_runtime_says(rig, operator, orientation):
    rig.focused()
    operator.right.orientation = orientation
    operator.send()
    frame = rig.shows(lambda f: f.right.grip.flags == 0, "no flags")
    assert frame.right.grip.pose.orientation == (0.0, 0.0, 0.0, 1.0)
    operator.right.orientation = (0.0, 0.0, 0.0, 1.0)
    operator.right.position = (math.nan, 1.0, 0.0)
    operator.send()
    rig.shows(lambda f: f.right.grip.flags == 0, "no flags")
    operator.right.position = (0.2, 1.2, -0.4)
    operator.send()
    rig.shows(lambda f: f.right.grip.flags == 15, "the hand again")


def test_killed_service_fails_the_provider_and_its_return_is_found_by_the_same_process(rig, service):
    operator = Operator()
    rig.focused()
    before = rig.frames[-1].connection
    service.kill()
    rig.until(lambda: rig.provider.state == Provider.FAILED, 3.0, "FAILED")
    assert rig.provider.reason in (StatusReason.OPENXR_INSTANCE_LOST, StatusReason.OPENXR_SESSION_LOST)
    count = len(rig.frames)
    with pytest.raises(AssertionError):
        rig.until(lambda: len(rig.frames) > count, 2.5)
    assert rig.provider.devices()[0].state == Device.UNKNOWN
    operator.close()
    service.start()
    operator = Operator()
    rig.until(lambda: rig.frames[-1].connection == before + 1 and rig.frames[-1].right.grip.flags == 15, 10.0, "recovery")
    assert rig.provider.state == Provider.AVAILABLE
    operator.close()


def test_service_that_starts_late_is_found(service):
    service.kill()
    rig = Rig()
    with pytest.raises(AssertionError):
        rig.until(lambda: rig.frames, 1.5)
    assert (rig.provider.state, rig.provider.reason) == (Provider.INITIALIZING, StatusReason.PROVIDER_INITIALIZING)
    assert "start the runtime" in rig.provider.error
    service.start()
    rig.until(lambda: rig.frames, 10.0, "frames")
    rig.provider.stop()


def test_second_session_beside_ours_disturbs_nothing(rig, operator):
    rig.focused()
    code = (
        "import time; from teleop_input.openxr.provider import OpenXrProvider as P;"
        "from teleop_input.openxr.real_runtime import RealRuntime as R; p = P(R(), 1); end = time.monotonic() + 5\n"
        "while time.monotonic() < end:\n"
        "    f = p.step(time.monotonic(), 0, time.monotonic_ns()); time.sleep(0.01)\n"
        "    if f and f.sequence > 50: print('frames'); break\n"
        "p.stop()\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    begin = len(rig.frames)
    rig.until(lambda: other.poll() is not None, 15.0, "end of the other")
    assert other.communicate()[0].strip() == "frames"
    ours = rig.frames[begin:]
    assert [f.sequence for f in ours] == list(range(ours[0].sequence, ours[0].sequence + len(ours)))
    assert all(f.right.grip.flags == 15 for f in ours)


def owned_by_another(xr):
    """Make instance and session as another part of a program would."""
    info = xr.InstanceCreateInfo(
        application_info=xr.ApplicationInfo(application_name="owner", api_version=xr.Version(1, 0, 0)),
        enabled_extension_names=[HEADLESS, TIMESPEC],
    )
    instance = xr.create_instance(info)
    system = xr.get_system(instance, xr.SystemGetInfo(xr.FormFactor.HEAD_MOUNTED_DISPLAY))
    return instance, xr.create_session(instance, xr.SessionCreateInfo(system_id=system))


def begin_when_ready(xr, instance, session):
    """Poll as the owner does, and begin the session once it is READY."""
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        try:
            event = xr.poll_event(instance)
        except xr.EventUnavailable:
            time.sleep(0.02)
            continue
        if xr.StructureType(event.type) == xr.StructureType.EVENT_DATA_SESSION_STATE_CHANGED:
            changed = ctypes.cast(ctypes.byref(event), ctypes.POINTER(xr.EventDataSessionStateChanged)).contents
            if xr.SessionState(changed.state) == xr.SessionState.READY:
                kind = xr.ViewConfigurationType.PRIMARY_STEREO
                xr.begin_session(session, xr.SessionBeginInfo(primary_view_configuration_type=kind))
                return
    raise AssertionError("the session does not become READY")


def test_session_of_another_owner_is_sampled_and_left_to_it(service, operator):
    import xr

    instance, session = owned_by_another(xr)
    rig = Rig(Handles(instance, session))
    with pytest.raises(AssertionError):
        rig.until(lambda: rig.frames and rig.frames[-1].right.connected, 0.3)  # nobody has begun it
    begin_when_ready(xr, instance, session)
    # the runtime gives focus in answer to the owner's polling
    end = time.monotonic() + 5.0
    while not (rig.frames and rig.frames[-1].right.grip.flags == 15) and time.monotonic() < end:
        with suppress(xr.EventUnavailable):
            xr.poll_event(instance)
        with suppress(AssertionError):
            rig.until(lambda: False, 0.02)
    rig.focused()
    assert (rig.provider.state, rig.provider.reason) == (
        Provider.AVAILABLE,
        StatusReason.EXTERNAL_OPENXR_HEALTH_UNKNOWN,
    )
    assert rig.provider.devices()[0].state == Device.UNKNOWN
    rig.provider.stop()
    # action sets attach to a session once: the same ones serve again
    count, before = len(rig.frames), rig.frames[-1].connection
    rig.until(lambda: len(rig.frames) > count and rig.frames[-1].right.grip.flags == 15, 5.0, "frames of the same session")
    assert rig.frames[-1].connection == before + 1
    rig.provider.stop()
    # what the owner made is still the owner's
    assert xr.get_instance_properties(instance).runtime_name.startswith(b"Monado")
    xr.request_exit_session(session)
    xr.destroy_session(session)
    xr.destroy_instance(instance)
