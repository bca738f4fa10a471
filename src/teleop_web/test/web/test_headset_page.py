"""The headset page in a browser with an emulated Quest 3: what it sends, what it shows, what it survives."""

import math
import random
import time

import pytest

from teleop_common import records
from teleop_common.enums import PoseFlags
from teleop_common.spatial import compose, quat_angle, quat_from_axis_angle, quat_normalized
from teleop_web import testing

ALL = int(PoseFlags.ALL)


def near(a, b, tolerance=1e-5):
    return math.dist(a, b) < tolerance


def newest(probe, frames, condition, timeout=8.0):
    """Wait for a frame that arrives from now on and meets the condition."""
    start = len(frames)
    return probe.until(lambda: next((f for f in reversed(frames[start:]) if condition(f)), None), timeout, "matching frame")


def test_enter_passthrough_sends_frames_with_all_flags(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        assert quest.get("isSecureContext") is True
        frame = newest(probe, frames, lambda f: f.left.connected and f.right.connected)
        assert frame.head.flags == frame.left.grip.flags == frame.right.aim.flags == ALL
        assert (frame.provider, frame.convention, frame.header.frame_id) == ("webxr", 0, "webxr_local_floor")
        assert quest.errors() == []
    sequences = [f.sequence for f in frames]
    assert sequences == list(range(sequences[0], sequences[0] + len(sequences)))


def test_poses_arrive_as_the_device_has_them(browser, probe, gateway, frames):
    dice = random.Random(7)
    with testing.headset(browser, gateway) as quest:
        for _ in range(6):
            want = {}
            for side in ("left", "right"):
                position = tuple(dice.uniform(-0.8, 0.8) + o for o in (0, 1.2, -0.3))
                axis = tuple(dice.gauss(0, 1) for _ in range(3))
                want[side] = records.Pose(position, quat_from_axis_angle(axis, dice.uniform(-3, 3)))
                quest.call("ray", side, list(position), list(want[side].orientation))
            head = (dice.uniform(-0.2, 0.2), 1.6, dice.uniform(-0.2, 0.2))
            quest.call("head", list(head), [0, 0, 0, 1])
            frame = newest(
                probe,
                frames,
                lambda f: near(f.head.pose.position, head) and near(f.right.aim.pose.position, want["right"].position),
            )
            for side, pose in want.items():
                hand = frame.hand(side)
                assert near(hand.aim.pose.position, pose.position)
                assert quat_angle(hand.aim.pose.orientation, quat_normalized(pose.orientation)) < 1e-5
                m = quest.get(f"__xr.gripOffset('{side}')")
                assert near(hand.grip.pose.position, compose(pose, records.Pose((m[12], m[13], m[14]))).position)


def test_buttons_and_axes_arrive(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        quest.call("button", "right", "trigger", 0.37)
        quest.call("button", "left", "squeeze", 0.81)
        quest.call("stick", "left", -0.5, 0.25)
        for side, button in (("right", "a-button"), ("left", "y-button")):
            quest.call("button", side, button, 1)
        frame = newest(probe, frames, lambda f: f.right.trigger > 0 and f.left.secondary)
        assert frame.right.trigger == pytest.approx(0.37, abs=1e-6)
        assert frame.left.squeeze == pytest.approx(0.81, abs=1e-6)
        assert (frame.left.thumbstick_x, frame.left.thumbstick_y) == pytest.approx((-0.5, 0.25))
        assert frame.right.primary
        assert not frame.right.secondary
        assert not frame.left.primary


def test_haptics_come_back_to_the_right_controller(browser, probe, gateway, frames):
    talk = probe.talk(records.Haptics, "/teleop/haptics")
    with testing.headset(browser, gateway) as quest:
        newest(probe, frames, lambda f: f.right.connected)
        probe.until(lambda: talk.publisher.get_subscription_count(), what="gateway on /teleop/haptics")
        talk.publish(records.Haptics(hand="right", amplitude=0.6, duration=0.08))
        probe.until(lambda: quest.get("__xr.pulses.length"), what="pulse")
        pulse = quest.get("__xr.pulses[0]")
        assert (pulse["hand"], pulse["ms"]) == ("right", 80)
        assert pulse["intensity"] == pytest.approx(0.6)


def test_tracking_loss_clears_the_flags_of_that_hand_alone(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        for how, flags in (("emulated", 3), ("null", 0), ("throw", 0)):
            quest.call("tracking", "right", how)
            frame = newest(probe, frames, lambda f: f.right.grip.flags != ALL)
            assert frame.right.grip.flags == flags
            assert frame.right.connected
            assert frame.left.grip.flags == ALL
            quest.call("tracking", "right", "ok")
            newest(probe, frames, lambda f: f.right.grip.flags == ALL)
        quest.call("connected", "left", False)
        frame = newest(probe, frames, lambda f: not f.left.connected)
        assert frame.left == records.Controller()


def test_system_menu_is_a_gap_and_hidden_stops_the_frames(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        quest.call("visibility", "visible-blurred")
        newest(probe, frames, lambda f: not f.left.connected and not f.right.connected)
        quest.call("visibility", "hidden")
        time.sleep(0.3)
        count = len(frames)
        time.sleep(0.4)
        assert len(frames) == count
        quest.call("visibility", "visible")
        newest(probe, frames, lambda f: f.left.grip.flags == ALL)


def test_recentre_is_announced_once(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        newest(probe, frames, lambda f: f.left.connected)
        quest.call("recenter")
        newest(probe, frames, lambda f: f.recentred)
        time.sleep(0.3)
        assert sum(f.recentred for f in frames) == 1


def test_broken_socket_reconnects_with_a_new_connection(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as quest:
        before = newest(probe, frames, lambda f: f.left.connected).connection
        quest.call("breakSocket")
        after = newest(probe, frames, lambda f: f.connection != before)
        assert after.connection == (before + 1) % 2**32
        assert after.sequence == 1 or frames[-1].sequence > 1


def test_wrong_code_sees_nothing_and_sends_nothing(browser, probe, gateway, frames):
    with testing.headset(browser, gateway, code="nothex", enter=False) as quest:
        quest.page.wait_for_selector("#pair:not([hidden])")
        assert quest.get("document.getElementById('enter').disabled") is True
        assert quest.get("__xr.sockets.filter((s) => s.readyState === 1).length") == 0
        quest.page.fill("#code", gateway.code)
        quest.page.click("#pair button")
        quest.enter()
        newest(probe, frames, lambda f: f.left.connected)


def test_take_over_is_visible_to_the_one_who_lost(browser, probe, gateway, frames):
    with testing.headset(browser, gateway) as first, testing.headset(browser, gateway, enter=False) as second:
        before = newest(probe, frames, lambda f: f.left.connected).connection
        second.page.wait_for_selector("#enter:not([disabled])")
        assert "Take over" in second.page.inner_text("#enter")
        second.enter()
        newest(probe, frames, lambda f: f.connection != before)
        first.page.wait_for_function("document.getElementById('log').textContent.includes('took over')")
        time.sleep(0.3)
        count = len(frames)
        time.sleep(0.3)
        assert {f.connection for f in frames[count:]} == {(before + 1) % 2**32}


def test_device_without_passthrough_falls_back_to_vr(browser, probe, gateway, frames):
    with testing.headset(browser, gateway, modes=["inline", "immersive-vr"]) as quest:
        newest(probe, frames, lambda f: f.left.connected)
        assert quest.errors() == []
