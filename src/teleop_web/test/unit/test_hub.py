"""The control socket's logic, without a socket."""

import json

import pytest

from teleop_common.records import Haptics
from teleop_web.clients import Operators, Pairing
from teleop_web.graph import Answer, Clock
from teleop_web.hub import CLOSE_REPLACED, MAX_CLIENTS, Hub, Limits
from teleop_web.protocol import FrameError

CODE = "246810"
FRAME = {"ts_ms": 1, "head": None, "left": None, "right": None}


class Room:
    """A hub, what it published, and a clock that the test moves."""

    def __init__(self):
        self.published, self.log, self.stops, self.now = [], [], [], 100.0
        limits = Limits(200.0, 60.0, 5.0)
        self.hub = Hub(Pairing(CODE), Operators(41), self.published.append, limits, self.log.append, self.stop)

    def stop(self, who, told):
        self.stops.append(who)
        told(Answer(True, "latched"))

    def join(self, identity="a", **fields):
        text = json.dumps({"type": "hello", "code": CODE, "client": identity, "name": identity} | fields)
        return self.hub.hello(text, "", "10.0.0.1", self.now, lambda: None)

    def say(self, peer, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.hub.on_text(peer, text, Clock(self.now, int(self.now * 1e9), 7))
        self.now += 0.011


@pytest.fixture
def room():
    return Room()


def heard(peer, kind):
    return [m for m in map(json.loads, peer.outbox) if m["type"] == kind]


def test_operator_frames_are_published_and_numbered(room):
    peer = room.join()
    for i in range(3):
        room.say(peer, FRAME | {"seq": 10 + i})
    assert [(f.connection, f.sequence) for f in room.published] == [(42, 1), (42, 2), (42, 3)]


def test_refused_frame_leaves_no_hole_in_the_sequence(room):
    peer = room.join()
    room.say(peer, FRAME | {"seq": 1})
    room.say(peer, FRAME | {"seq": 1})
    room.say(peer, FRAME | {"seq": 2})
    assert [f.sequence for f in room.published] == [1, 2]
    assert room.hub.counts["duplicate"] == 1
    assert "again" in heard(peer, "refused")[0]["reason"]


@pytest.mark.parametrize(
    "first", ['{"type": "frame"}', "{}", "[]", "x", json.dumps({"type": "hello", "code": "000000"}), '{"type":"hello","code":7}']
)
def test_client_without_a_proper_hello_is_not_admitted(room, first):
    with pytest.raises(FrameError):
        room.hub.hello(first, "", "10.0.0.1", room.now, lambda: None)
    assert not room.hub.peers


def test_code_in_the_address_is_as_good(room):
    assert room.hub.hello('{"type":"hello"}', CODE, "10.0.0.1", room.now, lambda: None)


def test_crowd_is_limited(room):
    for i in range(MAX_CLIENTS):
        room.join(str(i))
    with pytest.raises(FrameError) as caught:
        room.join("one more")
    assert caught.value.kind == "too_many"


def test_viewer_frames_are_refused_with_the_holder_named(room):
    room.join("quest")
    viewer = room.join("pad", role="viewer")
    room.say(viewer, FRAME)
    assert not room.published
    assert "quest" in heard(viewer, "refused")[0]["reason"]


def test_take_over_is_told_to_the_loser_who_is_heard_no_more(room):
    first, second = room.join("first"), room.join("second")
    room.say(second, {"type": "claim"})
    room.say(first, FRAME)
    room.say(second, FRAME)
    assert len(room.published) == 1
    assert "'second' took over" in heard(first, "lost_control")[0]["reason"]
    assert not first.close
    assert any("second" in line for line in room.log)


def test_same_identity_replaces_its_old_socket(room):
    first, second = room.join("quest"), room.join("quest")
    assert first.close == CLOSE_REPLACED
    room.say(second, FRAME)
    assert room.published[0].connection == 43


def test_operator_who_reconnects_gets_a_new_connection(room):
    peer = room.join("quest")
    room.say(peer, FRAME | {"seq": 500})
    room.hub.bye(peer, room.now)
    again = room.join("quest")
    room.say(again, FRAME | {"seq": 1})
    assert [(f.connection, f.sequence) for f in room.published] == [(42, 1), (43, 1)]


def test_flood_is_thinned_counted_and_answered_now_and_then(room):
    peer = room.join()
    for i in range(2000):
        room.hub.on_text(peer, json.dumps(FRAME | {"seq": i}), Clock(room.now + i * 1e-3, 0, 0))
    assert 380 <= len(room.published) <= 460
    assert room.hub.counts["rate"] == 2000 - len(room.published)
    assert 1 <= len(heard(peer, "refused")) <= 21


@pytest.mark.parametrize(
    "text", ["{", "null", '{"type": 3}', '{"type": "nonsense"}', '{"type": "frame"}', '{"type":"ping","t":"x"}', "[" * 9999]
)
def test_nonsense_never_raises_and_publishes_nothing(room, text):
    peer = room.join()
    room.say(peer, text)
    assert not room.published


def test_recentre_event_marks_the_next_frame_only(room):
    peer = room.join()
    room.say(peer, {"type": "event", "event": "recentred"})
    room.say(peer, FRAME)
    room.say(peer, FRAME)
    assert [f.recentred for f in room.published] == [True, False]


def test_haptics_go_to_the_operator_alone(room):
    operator, viewer = room.join("quest"), room.join("pad", role="viewer")
    room.hub.haptics(Haptics(hand="left", amplitude=0.5, duration=0.1))
    room.hub.haptics(Haptics(hand="left", amplitude=float("nan"), duration=0.1))
    assert heard(operator, "haptic") == [{"type": "haptic", "id": 1, "hand": "left", "intensity": 0.5, "ms": 100.0}]
    assert not heard(viewer, "haptic")


def test_slow_reader_gets_only_the_newest_state(room):
    peer = room.join()
    for i in range(3):
        room.hub.broadcast_state({"n": i}, room.now, 0)
    assert json.loads(peer.state)["n"] == 2
    assert not heard(peer, "state")


def test_slow_reader_costs_bounded_memory(room):
    peer = room.join()
    for i in range(10_000):
        room.hub.broadcast({"type": "event", "n": i})
    assert len(peer.outbox) == peer.outbox.maxlen


def test_ping_is_answered_and_tells_the_round_trip(room):
    peer = room.join()
    room.say(peer, {"type": "ping", "t": 12.5, "round_trip": 0.02})
    assert heard(peer, "pong") == [{"type": "pong", "t": 12.5}]
    assert room.hub.report(room.now)["link"]["round_trip"] == 0.02


HAND = {"position": [0.2, 1.1, -0.3], "orientation": [0, 0, 0, 1], "squeeze": 1.0, "tracked": True}


def test_late_frame_tracks_nothing_but_its_open_grip_counts(room):
    peer = room.join()
    for i in range(20):
        room.say(peer, FRAME | {"ts_ms": 11 * i, "right": HAND})
    room.now += 0.3  # the frames taken meanwhile wait in a queue and now come in a burst
    for i in range(20, 50):
        room.hub.on_text(
            peer, json.dumps(FRAME | {"ts_ms": 11 * i, "right": HAND | {"squeeze": 0.0}}), Clock(room.now, int(room.now * 1e9), 7)
        )
    assert {f.right.grip.flags for f in room.published[:20]} == {15}
    assert {f.right.grip.flags for f in room.published[20:28]} == {3}
    assert room.published[-1].right.grip.flags == 15
    assert {f.right.squeeze for f in room.published[20:]} == {0.0}
    assert room.hub.counts["late_frames"] == sum(f.right.grip.flags == 3 for f in room.published)
    assert room.hub.report(room.now)["link"]["delay_max"] == pytest.approx(0.3, abs=0.02)


def test_stop_of_any_client_is_carried_out_and_answered_whatever_else_it_sends_too_much_of(room):
    room.join("driver")
    watcher = room.join("watcher", role="viewer")
    for _ in range(100):
        room.hub.on_text(watcher, '{"type": "ping"}', Clock(room.now, 0, 0))
    assert room.hub.counts["rate"] > 0
    room.say(watcher, {"type": "estop"})
    assert room.stops == ["'watcher' (10.0.0.1)"]
    assert heard(watcher, "estop") == [{"type": "estop", "success": True, "message": "latched"}]


PLACES = [
    '{"type": %s}',
    '{"ts_ms": %s}',
    '{"ts_ms": 1, "seq": %s}',
    '{"ts_ms": 1, "head": {"position": %s}}',
    '{"ts_ms": 1, "dead_man": %s}',
    '{"ts_ms": 1, "left": {"buttons": {"a": %s}}}',
    '{"ts_ms": 1, "left": {"squeeze": %s}}',
    '{"ts_ms": 1, "left": {"position": [%s, 1, 1]}}',
]
TEXTS = ['{"type": "event", "event": %s}', '{"type": "event", "event": "x", "detail": %s}', '{"type": "ping", "t": %s}']


@pytest.mark.parametrize("place", PLACES + TEXTS)
@pytest.mark.parametrize("one", ["list", "object"])
def test_nesting_of_any_depth_is_an_answer_and_never_an_exception(room, place, one):
    room.hub.limits = Limits(1e9, 1e9, 1e9)
    peer = room.join()
    kinds = ("value", "malformed", "unknown_type")
    for depth in (1, 10, 100, *range(880, 1000), 10000):  # the interpreter gives up near 1000, where exactly depends on the place
        inner, left, right = ("[]", "[", "]") if one == "list" else ("{}", '{"a":', "}")
        refused = sum(room.hub.counts[kind] for kind in kinds)
        room.say(peer, place % (left * depth + inner + right * depth))
        assert sum(room.hub.counts[kind] for kind in kinds) == refused + 1 or place in TEXTS
    assert room.published == []


def test_hello_whose_names_are_no_text_is_admitted_and_says_what_it_is(room):
    nested = "[" * 900 + "]" * 900
    text = f'{{"type": "hello", "code": "{CODE}", "client": {nested}, "name": {{"x": 1}}}}'
    peer = room.hub.hello(text, "", "10.0.0.1", room.now, lambda: None)
    assert len(peer.client.identity) <= 60
    assert peer.client.name == "{'x': 1}"


def test_frames_after_a_release_are_refused_with_who_holds_the_controls_now(room):
    peer = room.join("q")
    room.say(peer, {"type": "release"})
    room.say(peer, FRAME)
    assert "nobody holds" in heard(peer, "refused")[-1]["reason"]
    other = room.join("other")
    room.say(peer, FRAME)
    assert "'other' holds" in heard(peer, "refused")[-1]["reason"]
    room.hub.bye(other, room.now)
    room.say(peer, FRAME)
    assert "'other' left and keeps the controls for 10 s" in heard(peer, "refused")[-1]["reason"]
    room.now += 11.0
    room.say(peer, FRAME)
    assert "nobody holds" in heard(peer, "refused")[-1]["reason"]
