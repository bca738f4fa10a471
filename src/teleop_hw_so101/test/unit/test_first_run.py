"""The guided first run: its judges, its order, and that it goes on where it was left."""

import math
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits, records
from teleop_common.enums import Authority
from teleop_hw_so101 import first_run
from teleop_hw_so101.first_run import KEYS, STEPS, Clearance, Direction, Feel, Progress, Provoked
from teleop_hw_so101.tools import guide as guides
from teleop_hw_so101.tools.desk import ToolError
from teleop_hw_so101.tools.guide import Guide
from teleop_hw_so101.tools.testing import Bench

ROOT = Path(__file__).resolve().parents[4]
CONFIG = ROOT / "config"
ROBOT, CELL = limits.load(CONFIG / "limits/so101.yaml"), cell.load(CONFIG / "cell.yaml")
ARMS = ("left", "right")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


# ---- judges


def test_clearance_that_shrinks_to_touch_with_torque_off_is_good():
    judge = Clearance()
    assert judge.feed(0.3, torque_on=True) is None
    assert judge.feed(0.01, torque_on=True) is None
    assert [judge.feed(d, torque_on=False) for d in (0.044, math.nan, 0.03, 0.021)] == [None] * 4
    verdict = judge.feed(0.005, torque_on=False)
    assert verdict.good
    assert "44 mm" in verdict.text


def test_clearance_that_does_not_move_is_never_good():
    judge = Clearance()
    assert all(judge.feed(0.2 + 0.001 * (i % 3), torque_on=False) is None for i in range(100))
    assert "200 mm" in judge.rest


def directed(hand_way, tool_way, turn=0.0, other_way=(0.0, 0.0, 0.0), driven="left"):
    judge, verdict = Direction("left"), None
    for share in (0.0, 0.5, 1.0):
        hand = tuple(1.0 + share * w for w in hand_way)
        tools = {"left": tuple(0.3 + share * w for w in tool_way), "right": tuple(share * w for w in other_way)}
        verdict = judge.feed({arm: arm == driven for arm in ARMS}, hand, turn, tools)
        if verdict:
            return verdict
    return verdict


def test_tool_that_follows_its_hand_is_good_and_the_opposite_way_is_not():
    assert directed((0, 0.06, 0), (0.005, 0.05, 0)).good
    opposite = directed((0, 0.06, 0), (0, -0.05, 0))
    assert not opposite.good
    assert "parity" in opposite.text


def test_direction_is_judged_through_stance_and_heading():
    # faced: what is left for the operator is right for the arms
    assert directed((0, 0.06, 0), (0, -0.06, 0), turn=math.pi).good
    # the operator looks along world +y: left of that is world -x, the arm's left stays +y
    assert directed((-0.06, 0, 0), (0, 0.06, 0), turn=-math.pi / 2).good


def test_other_arm_moving_or_driven_is_crossed():
    assert "crossed" in directed((0, 0.06, 0), (0, 0, 0), other_way=(0, 0.05, 0)).text
    assert "'right' is driven" in directed((0, 0.06, 0), (0, 0.05, 0), driven="right").text


def test_small_move_and_open_grip_are_not_judged():
    assert directed((0, 0.02, 0), (0, 0.02, 0)) is None
    assert directed((0, 0.06, 0), (0, 0.06, 0), driven="nobody") is None


def test_gripper_through_most_of_its_range_is_good_and_the_fastest_joint_is_kept():
    judge = Feel()
    assert judge.feed(0.9, (0.1, -0.8)) is None
    assert judge.feed(0.5, (0.2, 0.0)) is None
    assert judge.feed(0.2, (0.0, 0.0)).good
    assert judge.fastest == 0.8


def test_guard_that_held_and_let_go_again_is_good():
    judge = Provoked()
    assert judge.feed(1.0, False, 0.1) is None
    assert judge.feed(0.0, True, 0.016) is None
    assert judge.feed(1.0, False, 0.03) is None
    assert judge.feed(1.0, False, 0.05).good
    assert judge.feed(1.0, False, math.inf).good


def test_guard_that_let_them_touch_is_not():
    assert not Provoked().feed(0.0, True, -0.001).good
    assert Provoked().feed(1.0, False, 0.5) is None


@pytest.mark.parametrize(("measured", "good"), [(0.402, True), (0.42, False)])
def test_mounts_are_compared_with_the_cell_file(measured, good):
    assert first_run.mounts_match(measured, 0.0, 0.4, 0.0).good is good


# ---- progress


def test_progress_goes_on_at_the_first_step_that_is_missing_and_back_to_any():
    progress = Progress({key: "today" for key in KEYS if key != "side"})
    assert progress.rest[0].key == "side"
    assert len(progress.rest) == len(STEPS) - KEYS.index("side")
    progress = Progress(dict.fromkeys(KEYS, "today"))
    assert progress.rest == ()
    progress.back_to("clearance")
    assert [s.key for s in progress.rest] == list(KEYS[KEYS.index("clearance") :])
    assert Progress.loads(progress.dumps()) == progress


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"done": 3}', '{"done": {"unknown": "x"}}'])
def test_damaged_progress_has_nothing_done(text):
    assert Progress.loads(text).done == {}


def test_every_step_stands_in_the_documentation():
    text = (ROOT / "docs/hardware.md").read_text(encoding="utf-8")
    for step in STEPS:
        assert step.title in text, f"docs/hardware.md: the first run lacks '{step.title}'"


# ---- the whole of it


class Graph:
    """What a running graph says, one moment after another as time passes."""

    def __init__(self):
        self.moments, self.closed = [], False

    def get(self, topic):
        return self.moments[0].get(topic) if self.moments else None

    def go_on(self):
        if len(self.moments) > 1:
            self.moments.pop(0)

    def close(self):
        self.closed = True


def moment(distance=None, torque=True, scale=1.0, blocking=False, driving=None, hand_y=0.0, pan=0.0, gripper=0.0):
    def authority(arm):
        return records.ArmAuthority(arm=arm, state=Authority.DRIVING if arm == driving else Authority.IDLE)

    def joints(arm):
        position = (pan if arm == driving else 0.0, *[0.0] * 4, gripper)
        return records.JointState(position=position, velocity=(0.1,) * 6)

    pose = records.TrackedPose(records.Pose((0.0, hand_y, 1.0)))
    controller = records.Controller(connected=True, grip=pose)
    # arms that are far apart are not among the nearest pairs
    pairs = [records.ClearancePair(("left_base_link", "left_upper_arm_link"), 0.045)]
    if distance is not None:
        pairs.append(records.ClearancePair(("left_gripper_link", "right_gripper_link"), distance, blocking=blocking))
    return {
        "/teleop/guard/state": records.GuardState(scale=scale, pairs=tuple(pairs)),
        "/teleop/authority": records.AuthorityState(arms=tuple(authority(arm) for arm in ARMS)),
        "/teleop/frame": records.TeleopFrame(left=controller, right=controller),
        "/teleop/session/state": records.SessionState(arm=ARMS, hand=("right", "left")),
        **{f"/{arm}/driver_state": records.DriverState(torque_on=torque) for arm in ARMS},
        **{f"/{arm}/joint_states": joints(arm) for arm in ARMS},
    }


def run_through(moments, answers=(), back_to="", bench=None, cell_file=CONFIG / "cell.yaml"):
    """Lead through the first run; each step sees the moments that are listed for it."""
    bench, graph = bench or Bench(ROBOT, CELL, *ARMS), Graph()
    bench.person.answers = list(answers)
    bench.person.hand = iter([True] * 30)

    def listen():
        return graph

    def wait(seconds):
        bench.loopback.wait(seconds)
        graph.go_on()

    bench.desk.sleep = wait
    guide = Guide(bench.desk, ARMS, {}, cell_file, listen, lambda: "noon")
    say = bench.person.say

    def said(text, style=""):
        for step in STEPS:
            if step.title in text and "Do:" in text:
                graph.moments = list(moments.get(step.key, []))
        say(text, style)

    bench.person.say = said
    return *guide.run(back_to), bench, graph


GOOD = {
    "graph": [moment()],
    "clearance": [moment(torque=False), moment(0.04, torque=False), moment(0.005, torque=False)],
    # pan counts clockwise, and the tool is 0.4 m from its axis
    "direction": [
        moment(), moment(driving="left"), moment(driving="left", hand_y=0.06, pan=-0.16),
        moment(), moment(driving="right"), moment(driving="right", hand_y=-0.06, pan=0.16),
    ],
    "feel": [moment(gripper=1.7), moment(gripper=0.0), moment(gripper=1.7), moment(gripper=0.0)],
    "guard": [moment(), moment(0.016, scale=0.2, blocking=True), moment()],
}  # fmt: skip
MOUNTS = ("400", "0")


def behind(key):
    """Let all steps before ``key`` be done."""
    kept = guides.progress_file()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(Progress(dict.fromkeys(KEYS[: KEYS.index(key)], "before")).dumps())


def test_whole_first_run_is_led_through_and_kept():
    bench = Bench(ROBOT, CELL, *ARMS)
    bench.save()
    good, result, bench, graph = run_through(GOOD, ("y", "left", "right", *MOUNTS), bench=bench)
    assert good, bench.person.said()
    assert result["done"] == list(KEYS)
    assert graph.closed
    assert "16 mm" in result["seen"]["guard"]
    again, result, *_ = run_through({}, bench=bench)
    assert again
    assert result["seen"] == {}


def test_first_run_stops_where_something_is_wrong_and_goes_on_there():
    bench = Bench(ROBOT, CELL, *ARMS)
    bench.save()
    behind("mounts")
    good, result, *_ = run_through({}, ("350", "0"), bench=bench)
    assert not good
    assert result["stopped_at"] == "mounts"
    assert "350 mm" in bench.person.said()
    good, result, *_ = run_through({"graph": GOOD["graph"]}, MOUNTS, bench=bench)
    assert result["stopped_at"] == "clearance"  # nobody moved the arms, and Enter gave up
    assert "given up" in result["seen"]["clearance"]
    assert list(result["seen"]) == ["mounts", "graph", "clearance"]


def test_arm_without_calibration_stops_the_first_run_at_its_port():
    good, result, bench, _ = run_through({}, ("y",))
    assert not good
    assert result["stopped_at"] == "ports"
    assert "./teleop arm calibrate" in bench.person.said()


def test_crossed_names_stop_at_the_side():
    bench = Bench(ROBOT, CELL, *ARMS)
    bench.save()
    good, result, *_ = run_through({}, ("y", "right"), bench=bench)
    assert (good, result["stopped_at"]) == (False, "side")
    assert "'right' moved where 'left' was told to" in result["seen"]["side"]


def test_drivers_error_stops_at_the_graph_with_its_words():
    bench = Bench(ROBOT, CELL, *ARMS)
    bench.save()
    behind("graph")
    broken = moment() | {"/left/driver_state": records.DriverState(error="servo 3 is silent")}
    good, result, *_ = run_through({"graph": [broken]}, bench=bench)
    assert (good, result["stopped_at"]) == (False, "graph")
    assert "servo 3 is silent" in result["seen"]["graph"]


def test_ports_are_given_as_to_the_launch_file():
    assert guides.devices_of("left:/dev/a,right:/dev/b", ARMS) == {"left": "/dev/a", "right": "/dev/b"}
    assert guides.devices_of("auto", ARMS) == {}
    with pytest.raises(ToolError, match="left:/dev"):
        guides.devices_of("/dev/a", ARMS)
