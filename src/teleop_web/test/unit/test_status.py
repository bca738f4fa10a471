"""What the pages are told of the graph."""

import json
import math

import pytest

from teleop_common import records
from teleop_common.enums import Authority, Device, DeviceState, Provider, StatusReason
from teleop_web import devices
from teleop_web.liveness import Link
from teleop_web.status import JointRange, Status

JOINTS = (JointRange("pan", -1.0, 1.0), JointRange("gripper", 0.0, 1.5))


@pytest.fixture
def status():
    return Status(("left", "right"), JOINTS)


def node(snapshot, name):
    return next(n for n in snapshot["nodes"] if n["name"] == name)


def arm(snapshot, name):
    return next(a for a in snapshot["arms"] if a["name"] == name)


def test_nothing_heard_is_json_and_says_waiting(status):
    snapshot = status.snapshot(1000.0)
    json.dumps(snapshot, allow_nan=False)
    assert {n["state"] for n in snapshot["nodes"]} == {"waiting"}
    assert arm(snapshot, "left")["authority"] == "unknown"


def test_node_that_falls_silent_is_gone_with_its_age(status):
    status.on_authority(records.AuthorityState(arms=(records.ArmAuthority("left", int(Authority.DRIVING)),)), 10.0)
    assert node(status.snapshot(10.3), "guard")["state"] == "ok"
    assert arm(status.snapshot(10.3), "left")["authority"] == "driving"
    late = status.snapshot(12.0)
    assert node(late, "guard") | {"does": ""} == node(late, "guard") | {"state": "gone", "age": 2.0, "does": ""}
    assert arm(late, "left")["authority"] == "unknown"


def test_retargeter_that_answers_no_frames_is_gone_before_its_report_is_due(status):
    for i in range(60):
        status.on_finalised(100.0 + i * 0.011)
    status.on_targets(100.0)
    status.on_provider("retargeter", records.ProviderReport(), 100.5)
    assert node(status.snapshot(100.66), "retargeter")["state"] == "gone"
    status.on_targets(100.66)
    assert node(status.snapshot(100.67), "retargeter")["state"] == "ok"


def test_joints_show_measured_committed_requested_and_reason(status):
    names = ("left_pan", "left_gripper")
    status.on_joints("left", records.JointState(name=names, position=(0.1, 0.2)), 1.0)
    status.on_command("left", records.JointCommand(name=names, requested=(0.9, 0.5), position=(0.5, 0.4), reason=(2, 0)), 1.0)
    row = arm(status.snapshot(1.0), "left")["joints"][0]
    assert row == {
        "name": "pan",
        "lower": -1.0,
        "upper": 1.0,
        "measured": 0.1,
        "committed": 0.5,
        "requested": 0.9,
        "reason": "speed_limit",
    }


def test_numbers_that_json_cannot_say_become_null(status):
    status.on_guard(records.GuardState(clearance_committed=math.inf, clearance_measured=math.nan), 1.0)
    snapshot = status.snapshot(1.0)
    json.dumps(snapshot, allow_nan=False)
    assert snapshot["guard"]["clearance_committed"] is None


def test_latency_counts_each_commit_once(status):
    for commit in (1, 2):
        for side in ("left", "right"):
            header = records.Header(1_000_000_000 + commit * 2_000_000)
            status.on_command(side, records.JointCommand(header, 1_000_000_000, commit), 1.0)
    snapshot = status.snapshot(1.1)
    assert snapshot["latency_ms"]["p95"] == 2.0
    assert snapshot["rates"]["commits"] == 1.0


def test_driver_latch_shows_as_estop_even_without_a_guard(status):
    status.on_driver("right", records.DriverState(estop=True), 1.0)
    estop = status.snapshot(1.0)["estop"]
    assert estop["latched"]
    assert estop["latched_drivers"] == ["right"]


class Beat:
    """A graph on a clock of its own: who lives tells of himself ten times a second."""

    def __init__(self, status):
        self.status, self.now, self.instance = status, 100.0, {"left": 1, "right": 2}

    def run(self, seconds, *living):
        """Let time pass and return the arms as the pages see them after each tenth of a second."""
        seen = []
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            for who in living:
                if who in self.instance:
                    self.status.on_driver(who, records.DriverState(instance=self.instance[who], torque_on=True), self.now)
                elif who == "sim":
                    self.status.on_sim(records.SimState(real_time_factor=1.0), self.now)
                else:
                    self.status.on_provider(who, records.ProviderReport(), self.now)
            seen.append([(a["sink"], bool(a["driver"] and a["driver"]["heard"])) for a in self.status.snapshot(self.now)["arms"]])
        return seen


@pytest.fixture
def beat(status):
    return Beat(status)


def test_dead_simulation_stays_a_simulation_that_is_not_heard(beat):
    assert beat.run(1.0, "left", "right", "sim")[-1] == [("simulation", True)] * 2
    seen = beat.run(60.0)
    assert {state[0] for row in seen for state in row} == {"simulation"}
    assert {heard for row in seen[6:] for _sink, heard in row} == {False}
    assert beat.status.snapshot(beat.now)["real_time_factor"] is None
    beat.instance = {"left": 8, "right": 9}  # the process is started again; its driver states come first
    seen = beat.run(0.3, "left", "right") + beat.run(1.0, "left", "right", "sim")
    assert {sink for row in seen for sink, _heard in row} == {"unknown", "simulation"}
    assert seen[-1] == [("simulation", True)] * 2


def test_arm_that_nobody_simulates_is_a_real_one_after_a_second(beat):
    seen = beat.run(3.0, "left")
    assert seen[0] == [("unknown", True), ("none", False)]
    assert seen[-1] == [("hardware", True), ("none", False)]
    assert beat.run(30.0)[-1][0] == ("hardware", False)
    beat.instance["left"] = 7  # a real arm whose driver comes back is one at once
    assert {row[0] for row in beat.run(3.0, "left")} == {("hardware", True)}


def test_real_arm_that_takes_the_place_of_a_simulated_one_is_never_shown_as_simulated(beat):
    beat.run(1.0, "left", "right", "sim")
    beat.run(0.7)
    beat.instance["left"] = 7
    seen = beat.run(3.0, "left")
    assert {row[0][0] for row in seen} == {"unknown", "hardware"}
    assert seen[-1] == [("hardware", True), ("simulation", False)]


def test_real_arm_beside_a_simulation_is_a_real_one(beat):
    assert beat.run(2.0, "left", "right", "sim", "hw/left")[-1] == [("hardware", True), ("simulation", True)]


def test_simulation_that_follows_a_real_arm_is_shown_once_it_is_heard(beat):
    beat.run(2.0, "left", "hw/left")
    beat.run(5.0)
    beat.instance["left"] = 7
    assert beat.run(1.0, "left", "sim")[-1][0] == ("simulation", True)


def test_measured_joints_of_a_silent_driver_are_not_shown_as_if_they_were_measured_now(status):
    status.on_joints("left", records.JointState(name=("left_pan",), position=(0.5,)), 10.0)
    assert arm(status.snapshot(10.9), "left")["joints"][0]["measured"] == 0.5
    assert arm(status.snapshot(11.1), "left")["joints"][0]["measured"] is None


def test_provider_error_is_shown_until_it_is_gone(status):
    status.on_provider("camera_front", records.ProviderReport(error="GL lost"), 1.0)
    assert node(status.snapshot(1.0), "camera_front")["error"] == "GL lost"
    status.on_provider("camera_front", records.ProviderReport(), 2.0)
    assert node(status.snapshot(2.0), "camera_front")["error"] == ""


def test_link_in_bursts_has_the_right_rate_and_long_gaps():
    link = Link()
    for burst in range(12):
        for _ in range(10):
            link.frame(100.0 + burst * 0.15, 0.0)
    report = link.report(101.66)
    assert report["hz"] > 60
    assert report["gap_max"] == pytest.approx(0.15)


TRACKED = records.TrackedPose(records.Pose((0.0, 1.0, 0.0)), 15)


@pytest.mark.parametrize(
    ("frame", "age", "states"),
    [
        (None, None, (Device.DISCONNECTED,) * 3),
        (records.TeleopFrame(head=TRACKED), 5.0, (Device.DISCONNECTED,) * 3),
        (
            records.TeleopFrame(head=TRACKED, left=records.Controller(True, TRACKED), right=records.Controller(True)),
            0.1,
            (Device.CONNECTED, Device.CONNECTED, Device.DEGRADED),
        ),
        (records.TeleopFrame(), 0.1, (Device.DEGRADED, Device.DISCONNECTED, Device.DISCONNECTED)),
    ],
)
def test_devices_are_reported_from_the_last_frame(frame, age, states):
    rows = devices.reports("webxr/q", frame, age)
    assert tuple(r.path for r in rows) == ("webxr/q/headset", "webxr/q/left_controller", "webxr/q/right_controller")
    assert tuple(r.state for r in rows) == tuple(map(int, states))
    assert all(r.error or r.state == Device.CONNECTED for r in rows)


def test_bindings_of_the_session_reach_the_pages(status):
    binding = {"hand": "right", "button": "secondary", "event": "press", "action": "estop", "seconds": 0.0}
    assert status.snapshot(1.0)["session"]["bindings"] == []
    status.on_session_config(json.dumps({"parameters": {}, "bindings": [binding]}))
    assert status.snapshot(1.0)["session"]["bindings"] == [binding]


def test_recorder_is_shown_and_its_changes_are_felt(status):
    assert status.snapshot(0.0)["recorder"] is None
    ready = records.RecorderState(session_path="/takes/monday", notice="good, 3.0 s")
    assert not status.on_recorder(ready, 0.0)
    assert status.on_recorder(ready._replace(recording=True, frames=7), 0.1)
    assert not status.on_recorder(ready._replace(recording=True, frames=9), 0.2)
    shown = status.snapshot(0.2)["recorder"]
    assert (shown["recording"], shown["frames"], shown["notice"]) == (True, 9, "good, 3.0 s")
    assert json.loads(json.dumps(shown)) == shown
    assert status.on_recorder(ready, 0.3)


def test_every_page_that_asked_for_the_controls_stays_listed_by_its_name():
    headsets = devices.Headsets()
    frame = records.TeleopFrame(head=TRACKED)
    both = headsets.reports({1: "Quest 3", 2: "Quest 3"}, 2, frame, 0.1)
    assert {ident: state for ident, (state, _) in both.items()} == {
        "webxr/quest_3": Provider.AVAILABLE,
        "webxr/quest_3_2": Provider.AVAILABLE,
    }
    assert "claim" in both["webxr/quest_3"][1][0].error
    assert both["webxr/quest_3_2"][1][0].state == Device.CONNECTED
    alone = headsets.reports({2: "Quest 3"}, 2, frame, 0.1)
    assert alone["webxr/quest_3"][0] == Provider.STOPPED
    again = headsets.reports({2: "Quest 3", 5: "Quest 3", 6: "7"}, 5, frame, 0.1)
    assert again["webxr/quest_3"][0] == Provider.AVAILABLE
    assert again["webxr/quest_3"][1][0].state == Device.CONNECTED
    assert list(again) == ["webxr/quest_3", "webxr/quest_3_2", "webxr/h_7"]


def test_names_of_pages_fill_no_memory():
    headsets = devices.Headsets()
    for key in range(100):
        headsets.reports({key: f"name {key}"}, None, None, None)
    assert len(headsets.reports({}, None, None, None)) == devices.MAX_CLIENTS


def test_tree_of_devices_says_what_since_when_why_and_what_to_do(status):
    assert status.snapshot(1.0)["devices"] is None
    provider = records.ProviderStatus("sim", 2, "simulation", Provider.AVAILABLE, StatusReason.REPORTED, since_ns=5 * 10**9)
    device = records.DeviceStatus(
        "arm/left", "arm/left", "arm", "", "sim", DeviceState.DEGRADED, StatusReason.REPORTED, "slow", 9 * 10**9
    )
    status.on_devices(records.StatusSnapshot(records.Header(), 10 * 10**9, (provider,), (device,)), 100.0)
    (row,) = status.snapshot(102.0)["devices"]
    assert (row["state"], row["since"], row["remedy"]) == ("available", 7.0, "")
    (shown,) = row["devices"]
    assert (shown["state"], shown["since"], shown["error"]) == ("degraded", 3.0, "slow")
    assert shown["remedy"] == ""  # its own text says what is wrong
    assert node(status.snapshot(102.0), "device_status")["state"] == "ok"


def test_page_is_told_what_the_guard_measures_and_what_it_was_told_to(status):
    status.on_guard(records.GuardState(enabled=True, geometry="hulls"), 1.0)
    assert status.snapshot(1.0)["guard"]["geometry_asked"] == ""
    status.on_guard_config(json.dumps({"parameters": {"geometry": "pieces"}, "geometry": "hulls", "state": {}}))
    guard = status.snapshot(1.0)["guard"]
    assert (guard["geometry"], guard["geometry_asked"]) == ("hulls", "pieces")
