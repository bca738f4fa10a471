"""The session's core: frames, stance, buttons, state."""

import json
import math
from pathlib import Path

import pytest

from teleop_common import cell
from teleop_common.enums import Command, Convention, PoseFlags, Provider, Session
from teleop_common.errors import ConfigError
from teleop_common.records import Controller, Header, Pose, ProviderReport, TeleopFrame, TrackedPose
from teleop_session.bindings import load
from teleop_session.session import SessionCore, Settings
from teleop_session.views import view_yaws

CONFIG = Path(__file__).parents[4] / "config"
VIEWS = {"front": math.pi, "overshoulder": 0.0}
HERE = TrackedPose(Pose((0.1, 1.0, -0.3)), int(PoseFlags.ALL))


def core(**changes):
    settings = {
        "arms": ("left", "right"),
        "provider": "debug",
        "autostart": False,
        "stance": "behind",
        "view": "",
        "scale": 1.0,
        "origin": Pose((-0.4, 0.0, -0.75)),
        "profile": "default",
    } | changes
    return SessionCore(
        Settings(**settings), cell.load(CONFIG / "cell.yaml"), VIEWS, load(CONFIG / "bindings.yaml", "default"), 41
    )


def raw(provider="debug", sequence=0, **right):
    controller = Controller(True, HERE, HERE, **right)
    return TeleopFrame(Header(10**9, "x"), provider, 5, sequence, head=HERE, left=controller, right=controller)


def connected(**changes):
    c = core(**changes)
    for peer in c.machine.peers:
        c.on_peer(0.0, peer)
    c.on_frame(0.0, 10**9, c.machine.provider, raw(c.machine.provider))
    assert c.command(0.0, Command.CONNECT, "")[0].success
    return c


def send(c, now=0.01, topic="debug", **right):
    return c.on_frame(now, 10**9, topic, raw(topic, **right))


def test_frames_flow_from_connected_on_and_not_before():
    c = core()
    assert send(c)[0] is None
    assert send(connected())[0] is not None


def test_frames_stop_at_disconnect():
    c = connected()
    c.command(0.0, Command.DISCONNECT, "")
    assert send(c)[0] is None


def test_frame_is_finalised():
    frame, _ = send(connected())
    assert frame.header.frame_id == "tracking_origin"
    assert frame.convention == Convention.ROS
    assert frame.right.grip.pose.position == pytest.approx((0.3, -0.1, 1.0))
    assert frame.world_from_tracking.translation == (-0.4, 0.0, -0.75)


def test_frames_of_other_providers_are_ignored_and_counted():
    c = connected()
    assert send(c, topic="webxr") == (None, ())
    # one who publishes on another's topic
    assert c.on_frame(0.01, 10**9, "debug", raw("webxr")) == (None, ())
    assert c.ignored["other provider"] == 2


def test_frames_of_another_provider_played_on_the_external_topic_are_the_external_ones():
    c = connected(provider="external")
    frame, _ = c.on_frame(0.01, 10**9, "external", raw("webxr"))
    assert frame.provider == "external"
    assert c.on_frame(0.01, 10**9, "external", raw("webxr", secondary=True))[1] == ("estop",)


def test_unknown_convention_is_ignored_and_counted():
    c = connected()
    assert c.on_frame(0.01, 10**9, "debug", raw()._replace(convention=7)) == (None, ())
    assert c.ignored["convention"] == 1


def test_press_gives_estop_with_its_frame_also_before_connect():
    for c in (core(), connected()):
        send(c, 0.01)
        assert send(c, 0.02, secondary=True)[1] == ("estop",)


def test_other_actions_wait_for_a_connection():
    c = core()
    for i in range(100):
        assert send(c, 0.01 * i, primary=i > 0)[1] == ()


def test_buttons_are_detached_in_replay():
    c = connected(provider="replay")
    send(c, 0.01, "replay")
    frame, actions = send(c, 0.02, "replay", secondary=True)
    assert actions == ()
    assert frame.right.secondary


def test_reset_rewinds_a_replay_and_only_a_replay():
    assert connected(provider="replay").command(0.1, Command.RESET, "")[1] == ("rewind",)
    assert connected().command(0.1, Command.RESET, "")[1] == ()


@pytest.mark.parametrize(
    ("request_", "hands", "yaw"),
    [
        (("facing", "", 0.0), ("right", "left"), math.pi),
        (("camera", "front", 0.0), ("right", "left"), math.pi),
        (("camera", "overshoulder", 0.0), ("left", "right"), 0.0),
        (("", "", 2.0), ("left", "right"), 0.0),
    ],
)
def test_stance_changes_pairing_yaw_and_epoch(request_, hands, yaw):
    c = connected()
    epoch = c.machine.epoch
    assert c.set_stance(*request_).success
    state = c.session_state(5)
    assert (state.hand, state.yaw, state.epoch) == (hands, yaw, epoch + 1)
    # asked again, nothing changes
    assert c.set_stance(*request_).success
    assert c.machine.epoch == epoch + 1


def test_moved_play_space_recentres_the_next_frame_alone():
    c = connected()
    c.set_stance("facing", "", 0.0)
    frame, _ = send(c)
    assert frame.recentred
    assert frame.world_from_tracking.translation == pytest.approx((0.4, 0.0, -0.75))
    assert not send(c, 0.02)[0].recentred


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (("sideways", "", 0.0), "behind, facing, camera"),
        (("camera", "", 0.0), "front, overshoulder"),
        (("camera", "moon", 0.0), "moon"),
        (("", "", 9.0), "0.1 to 3"),
        (("", "", math.nan), "0.1 to 3"),
        (("", "", -1.0), "0.1 to 3"),
    ],
)
def test_wrong_stance_is_refused_with_what_is_allowed(request_, words):
    c = connected()
    before = c.session_state(0)
    reply = c.set_stance(*request_)
    assert not reply.success
    assert words in reply.message
    assert c.session_state(0) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arms": ("middle",)}, "middle"),
        ({"arms": ()}, "one or two"),
        ({"arms": ("left", "left")}, "one or two"),
        ({"stance": "camera"}, "view"),
        ({"scale": 5.0}, "0.1 to 3"),
    ],
)
def test_wrong_settings_stop_the_start(changes, words):
    with pytest.raises(ConfigError, match=words):
        core(**changes)


def test_state_survives_a_json_round_trip():
    c = connected(autostart=True)
    c.set_stance("facing", "", 2.0)
    send(c, 0.01, primary=True)
    other = core()
    other.restore(json.loads(json.dumps(c.state())))
    assert other.state() == c.state()
    assert other.session_state(9) == c.session_state(9)
    for i in range(60):
        assert send(c, 0.02 + 0.01 * i, primary=True) == send(other, 0.02 + 0.01 * i, primary=True)


def test_report_of_a_failure_becomes_the_sessions_error():
    c = connected()
    c.on_report(0.1, "debug", ProviderReport(provider_id="debug", state=Provider.FAILED, error="unplugged"))
    c.tick(0.1)
    state = c.session_state(1)
    assert state.state == Session.FAULT
    assert "unplugged" in state.error


def test_views_are_those_of_the_simulated_cameras():
    cameras = pytest.importorskip("teleop_description.cameras")
    yaws = view_yaws(CONFIG / "views.yaml")
    assert set(yaws) == {view.name for view in cameras.VIEWS}
    for view in cameras.VIEWS:
        x, y = (t - p for p, t in zip(view.position[:2], view.target[:2], strict=True))
        # straight down: away from the viewer is up in the picture
        x, y = (x, y) if math.hypot(x, y) > 1e-6 else view.up[:2]
        assert math.cos(yaws[view.name] - math.atan2(y, x)) == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["views: {front: {yaw: 9}}", "views: {front: {pitch: 1, yaw: 0}}", "sights: {}"])
def test_wrong_view_file_is_refused(tmp_path, text):
    (tmp_path / "views.yaml").write_text(text)
    with pytest.raises(ConfigError, match="views.yaml"):
        view_yaws(tmp_path / "views.yaml")
