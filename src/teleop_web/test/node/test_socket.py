"""The gateway as a process: bad input on the socket is counted and answered, and the gateway lives."""

import contextlib
import json
import time

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("aiohttp")

from client import FRAME, HAND, Operator, request  # noqa: E402

from teleop_common import records  # noqa: E402
from teleop_common.enums import Device, Provider  # noqa: E402


@pytest.fixture
def frames(probe):
    return probe.listen(records.TeleopFrame, "/teleop/input/webxr/frame")


def test_frame_is_published_as_sent(probe, gateway, client, frames):
    operator = client(name="arm rig")
    operator.until("operator", lambda m: m["operator"]["name"] == "arm rig")
    probe.until(lambda: operator.say(FRAME) or time.sleep(0.02) or frames, what="frame")
    frame = frames[-1]
    assert (frame.provider, frame.convention, frame.header.frame_id) == ("webxr", 0, "webxr_local_floor")
    assert frame.right.grip.pose.position == (0.2, 1.1, -0.3)
    assert abs(probe.now_ns() - frame.header.stamp) < 5_000_000_000
    state = operator.until("state", lambda m: m["counts"]["frames"] > 0)
    assert state["operator"]["name"] == "arm rig"


def test_bad_input_of_every_kind_is_answered_and_the_gateway_lives(probe, gateway, client, frames):
    operator = client()
    operator.until("welcome")
    probe.until(lambda: operator.say(FRAME) or time.sleep(0.02) or frames, what="frame")
    operator.say(FRAME | {"seq": 100})
    cases = {
        "{not json": "malformed",
        "[" * 60_000: "malformed",
        "x" * 70_000: "oversized",
        b"\x00\xff\x80": "binary",
        json.dumps(FRAME | {"seq": 100}): "duplicate",
        json.dumps(FRAME | {"seq": 50}): "out_of_order",
        json.dumps(FRAME | {"right": {"trigger": "full"}}): "value",
        '{"ts_ms": 1, "right": {"squeeze": NaN}}': "value",
        '{"type": "drop table"}': "unknown_type",
    }
    for text, kind in cases.items():
        operator.say(text)
        answer = operator.until("refused", lambda m, kind=kind: m["kind"] == kind)
        assert "allowed" in answer["reason"]
        time.sleep(0.22)  # answers are rationed
    for broken in ([0, 0, 0, 0], [float("nan")] * 4, [0, 0, 0, 1.3]):
        operator.say(FRAME | {"right": HAND | {"orientation": broken, "trigger": 0.5}})
        probe.until(lambda: frames[-1].right.trigger == 0.5 and frames[-1].right.grip.flags == 0, what="untracked hand")
        operator.say(FRAME)
        probe.until(lambda: frames[-1].right.trigger == 0.0, what="good frame")
    counts = operator.until("state", lambda m: m["counts"].get("broken_poses", 0) >= 3)["counts"]
    assert set(cases.values()) <= set(counts)


def test_message_far_too_long_closes_only_that_socket(gateway, client):
    operator = client()
    operator.until("welcome")
    with contextlib.suppress(ConnectionError):  # the gateway hangs up in the middle of it
        operator.say("x" * 2**21)
    assert operator.closed()[0] in (1009, 1006, None)
    client().until("welcome")


def test_flood_at_1_khz_is_thinned_and_the_gateway_answers_meanwhile(probe, gateway, client, frames):
    operator = client()
    operator.until("welcome")
    for i in range(1000):
        operator.say(FRAME | {"seq": i})
        time.sleep(0.001)
    status, _ = request(gateway, "/api/state")
    assert status == 200
    assert "per second" in operator.until("refused", lambda m: m["kind"] == "rate")["reason"]
    counts = operator.until("state", lambda m: m["counts"].get("rate", 0) + m["counts"].get("frames", 0) == 1000)["counts"]
    assert counts["frames"] < 600
    probe.until(lambda: len(frames) == counts["frames"], what="frames published = frames counted")


@pytest.mark.parametrize("first", ['{"type":"frame"}', b"\x00", '{"type":"hello","code":"000000"}', '{"type":"hello"}'])
def test_client_without_the_code_sees_nothing(gateway, client, first):
    stranger = client(hello=False)
    stranger.say(first)
    code, messages = stranger.closed()
    assert code == 4401
    assert [m["type"] for m in messages] == ["refused"]


def test_sockets_that_say_nothing_are_few_and_closed_in_time_even_if_they_ping(gateway, client):
    silent = [client(hello=False) for _ in range(8)]
    with pytest.raises(Exception, match="503"):
        client()
    for _ in range(30):
        silent[0].ping()
        with contextlib.suppress(TimeoutError):
            if silent[0].receive(0.5) is None:
                break
    else:
        pytest.fail("pings keep a socket open that said nothing")
    assert [s.closed()[0] for s in silent] == [4401] * 8
    client().until("welcome")


def test_wrong_codes_lock_out_the_guesser_even_with_the_right_one(gateway, client):
    for _ in range(5):
        client(code="000000").closed()
    code, messages = client().closed()
    assert code == 4401
    assert "too many wrong tries" in messages[0]["reason"]


def test_page_of_another_site_is_refused(gateway):
    with pytest.raises(Exception, match="403"):
        Operator(gateway, origin="https://evil.example")
    assert request(gateway, "/api/estop", {}, headers={"Origin": "http://["})[0] == 403
    status, answer = request(gateway, "/api/estop", {}, headers={"Origin": "https://evil.example"})
    assert status == 403
    assert "evil.example" in answer["what"]


def test_take_over_is_told_to_both_and_counts_a_new_connection(probe, gateway, client, frames):
    first = client(name="first")
    probe.until(lambda: first.say(FRAME) or time.sleep(0.02) or frames, what="frame")
    before = frames[-1].connection
    second = client(name="second")
    second.say({"type": "claim"})
    assert "'second' took over" in first.until("lost_control")["reason"]
    second.say(FRAME)
    probe.until(lambda: frames[-1].connection == (before + 1) % 2**32, what="frame of the new operator")
    first.say(FRAME)
    assert first.until("refused")["kind"] == "not_operator"


def test_reconnect_with_the_same_identity_within_200_ms_gets_the_place_back(probe, gateway, client, frames):
    first = client(client="tab-1", name="quest")
    probe.until(lambda: first.say(FRAME) or time.sleep(0.02) or frames, what="frame")
    before = frames[-1].connection
    first.close()
    again = client(client="tab-1", name="quest")
    again.say(FRAME)
    probe.until(lambda: frames[-1].connection == (before + 1) % 2**32, what="frame after the reconnect")
    assert frames[-1].sequence == 1


def test_each_headset_is_reported_each_second_and_on_change_also_after_its_page_was_closed(probe, gateway, client):
    own = probe.listen(records.ProviderReport, "/teleop/devices/webxr")
    probe.until(lambda: own, what="report of the gateway")
    assert (own[-1].provider_id, own[-1].devices) == ("webxr", ())
    operator = client(client="tab-9", name="Quest 9")
    operator.until("welcome")
    reports = probe.listen(records.ProviderReport, "/teleop/devices/webxr/quest_9")

    def is_in(state):
        return lambda: reports and {d.state for d in reports[-1].devices} == {int(state)}

    probe.until(is_in(Device.DISCONNECTED), what="page without frames")
    probe.until(lambda: operator.say(FRAME) or time.sleep(0.02) or is_in(Device.CONNECTED)(), what="connected")
    assert reports[-1].devices[0].path == "webxr/quest_9/headset"
    operator.close()
    probe.until(lambda: reports[-1].state == Provider.STOPPED, what="stopped")


def test_haptics_reach_the_operator(probe, gateway, client):
    operator = client()
    operator.until("welcome")
    talk = probe.talk(records.Haptics, "/teleop/haptics")
    probe.until(talk.publisher.get_subscription_count, what="gateway on /teleop/haptics")
    talk.publish(records.Haptics(hand="left", amplitude=0.4, duration=0.05))
    assert operator.until("haptic") | {"id": 0} == {"type": "haptic", "id": 0, "hand": "left", "intensity": 0.4, "ms": 50.0}
