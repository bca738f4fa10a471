"""The node session as a process of its own; the test plays provider, retargeter, guard and drivers."""

import itertools
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Command, PoseFlags, Provider, Session  # noqa: E402
from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402
from teleop_interfaces.srv import EpisodeCommand, ReplaySeek, SessionCommand, SetStance  # noqa: E402

ARMS = ("left", "right")


class Graph:
    """Everything that the session hears and is heard by."""

    def __init__(self, p, provider):
        self.p, self.provider = p, provider
        self.states = p.listen(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self.finalised = p.listen(records.TeleopFrame, "/teleop/frame")
        self.transforms = p.listen(records.TFMessage, "/tf", qos.EVENTS)
        self.raw = p.talk(records.TeleopFrame, f"/teleop/input/{provider}/frame")
        self.devices = p.talk(records.ProviderReport, f"/teleop/devices/{provider}")
        self.peers = [
            (p.talk(records.ProviderReport, "/teleop/devices/retargeter"), records.ProviderReport()),
            (p.talk(records.GuardState, "/teleop/guard/state"), records.GuardState()),
            *((p.talk(records.DriverState, f"/{arm}/driver_state"), records.DriverState()) for arm in ARMS),
        ]
        self.sequence = itertools.count()

    def peers_live(self):
        self.p.every(10.0, lambda: [talk.publish(sample) for talk, sample in self.peers])

    def provider_lives(self):
        self.p.every(10.0, lambda: self.devices.publish(records.ProviderReport(state=Provider.AVAILABLE)))

    def send(self, **right):
        here = TrackedPose(Pose((0.1, 1.0, -0.3)), int(PoseFlags.ALL))
        hand = Controller(True, here, here)
        frame = TeleopFrame(
            Header(self.p.now_ns(), "x"), self.provider, 5, next(self.sequence), time.monotonic_ns(),
            head=here, left=hand, right=hand._replace(**right),
        )  # fmt: skip
        self.raw.publish(frame)
        return frame

    def state_is(self, state):
        self.p.until(lambda: self.states and self.states[-1].state == state, 8.0, f"session {state.name}")
        return self.states[-1]

    def command(self, command, provider=""):
        return self.p.call(SessionCommand, "/teleop/session/command", command=int(command), provider=provider)

    def connect(self):
        self.peers_live()
        self.provider_lives()
        self.p.until(lambda: self.command(Command.CONNECT).success, 8.0, "CONNECT")
        self.state_is(Session.CONNECTED)


@contextmanager
def graph(domain, provider="debug", **params):
    with process("teleop_session", "session", domain, {"provider": provider, **params}) as child, probe(domain) as p:
        g = Graph(p, provider)
        p.until(lambda: g.states, 8.0, "the session's state")
        g.process = child
        yield g


def test_commands_walk_the_states_and_connect_rolls_back(domain):
    with graph(domain) as g:
        answer = g.command(Command.CONNECT)
        assert not answer.success
        assert "provider debug" in answer.message
        assert "driver right" in answer.message
        assert g.states[-1].state == Session.DISCONNECTED
        g.connect()
        first = g.states[-1].epoch
        assert g.command(Command.START).success
        assert g.state_is(Session.RUNNING).epoch == first + 1
        assert g.command(Command.RESET).success
        g.p.until(lambda: g.states[-1].epoch == first + 2)
        assert g.command(Command.STOP).success
        assert g.state_is(Session.CONNECTED).epoch == first + 3
        answer = g.p.call(SetStance, "/teleop/session/set_stance", stance="facing", view="", scale=0.5)
        assert answer.success
        g.p.until(lambda: g.states[-1].epoch == first + 4)
        assert (g.states[-1].hand, g.states[-1].scale) == (("right", "left"), 0.5)
        assert g.command(Command.DISCONNECT).success
        g.state_is(Session.DISCONNECTED)


def test_frames_are_finalised_and_transforms_follow(domain):
    with graph(domain) as g:
        g.connect()
        sent = g.send()
        got = g.p.until(lambda: g.finalised and g.finalised[-1])
        assert (got.sequence, got.header.stamp, got.monotonic_ns) == (sent.sequence, sent.header.stamp, sent.monotonic_ns)
        assert got.right.grip.pose.position == pytest.approx((0.3, -0.1, 1.0))
        children = g.p.until(lambda: next((t.transforms for t in g.transforms if len(t.transforms) > 1), None))
        assert [(t.header.frame_id, t.child_frame_id) for t in children] == [
            ("world", "tracking_origin"),
            ("tracking_origin", "head"),
            ("tracking_origin", "left_hand"),
            ("tracking_origin", "right_hand"),
        ]


def test_press_of_b_calls_every_estop(domain):
    with graph(domain) as g:
        called = []

        def serve(name):
            def handler(_request, response):
                called.append(name)
                response.success = True
                return response

            g.p.serve(Trigger, name, handler)

        names = ["/teleop/estop", *(f"/{arm}/estop" for arm in ARMS)]
        for name in names:
            serve(name)
        g.connect()

        # the session finds the services in its own time; each press is a new frame
        def pressed():
            g.send()
            time.sleep(0.02)
            g.send(secondary=True)
            time.sleep(0.1)
            return set(called) == set(names)

        g.p.until(pressed, 8.0, "e-stop calls")


def test_record_button_does_nothing_while_a_take_is_replayed(domain):
    with graph(domain) as g:
        called = []

        def toggle(request, response):
            called.append(request.command)
            response.success = True
            return response

        g.p.serve(EpisodeCommand, "/teleop/recorder/command", toggle)
        g.connect()

        def held():
            """Hold A for longer than half a second, and let go."""
            for pressed in (*[True] * 14, False):
                g.send(primary=pressed)
                time.sleep(0.05)
            return called

        g.p.until(held, 8.0, "a take begun by the button")
        replayer = g.p.create_publisher(String, "/teleop/replayer/state", qos.LATCHED)
        time.sleep(0.5)  # for the session to hear of it
        before = len(called)
        held()
        time.sleep(0.2)
        assert len(called) == before
        g.p.destroy_publisher(replayer)
        g.p.until(lambda: len(held()) > before, 8.0, "the button again")


def test_autostart_runs_faults_with_its_provider_and_runs_again(domain):
    with graph(domain, autostart=True) as g:
        g.peers_live()
        g.p.until(lambda: (g.send(), time.sleep(0.05), g.states[-1].state == Session.RUNNING)[-1], 8.0, "RUNNING")
        epoch = g.states[-1].epoch
        state = g.state_is(Session.FAULT)
        assert "'debug'" in state.error
        g.p.until(lambda: (g.send(), time.sleep(0.05), g.states[-1].state == Session.RUNNING)[-1], 8.0, "RUNNING again")
        assert g.states[-1].epoch == epoch + 1


def test_reset_rewinds_the_replay(domain):
    with graph(domain, "replay") as g:
        times = []

        def seek(request, response):
            times.append(request.time)
            response.success = True
            return response

        g.p.serve(ReplaySeek, "/teleop/input/replay/seek", seek)
        g.connect()
        g.p.until(lambda: (g.command(Command.RESET), times)[-1], 8.0, "seek")
        assert times[0] == 0.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"arms": ("left", "tail")}, "'tail'"),
        ({"stance": "sideways"}, "behind"),
        ({"bindings_file": "/nonexistent.yaml"}, "/nonexistent.yaml"),
        ({"colour": "red"}, "colour"),
        ({"tracking_position": (1.0, 2.0)}, "three coordinates"),
    ],
)
def test_wrong_parameter_stops_the_start_with_one_line(domain, params, words):
    with process("teleop_session", "session", domain, params, expect=2) as child:
        output, _ = child.communicate(timeout=10.0)
    lines = [line for line in output.splitlines() if line.strip()]
    assert len(lines) == 1, output
    assert words in lines[0]


def test_markers_are_published_for_who_looks(domain):
    from visualization_msgs.msg import Marker, MarkerArray

    with graph(domain) as g:
        heard = []
        g.p.create_subscription(MarkerArray, "/teleop/markers", heard.append, qos.STREAM)
        g.connect()
        g.p.until(lambda: (g.send(), time.sleep(0.05), heard)[-1], 8.0, "markers")
        assert {m.header.frame_id for m in heard[-1].markers} == {"tracking_origin"}
        assert [m.action for m in heard[-1].markers] == [Marker.ADD] * 4
        g.p.until(
            lambda: (g.send(connected=False), time.sleep(0.05), heard[-1].markers[2].action == Marker.DELETE)[-1], 8.0, "lost"
        )
