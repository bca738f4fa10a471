"""The servo tools on the emulated bus, in virtual time: the wire is emulated, everything above it is what runs on hardware."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_hw_so101 import arms, calibration, calibration_old
from teleop_hw_so101.registers import OVERLOAD
from teleop_hw_so101.tools import calibrating, looking, moving
from teleop_hw_so101.tools.desk import ToolError
from teleop_hw_so101.tools.testing import Bench, Person

CONFIG = Path(__file__).resolve().parents[4] / "config"
ROBOT = limits.load(CONFIG / "limits/so101.yaml")


def bench_of(*names, **how):
    return Bench(ROBOT, cell.load(CONFIG / "cell.yaml"), *names, **how)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_find_knows_arms_by_servos_and_adapters():
    bench = bench_of("left", "right")
    bench.save()
    good, result = looking.find(bench.desk, [], wiggle=False)
    assert good
    assert {p["device"]: (p["arm"], p["by"]) for p in result["ports"]} == {
        "/dev/a": ("left", "servos and adapter"),
        "/dev/b": ("right", "servos and adapter"),
    }


def test_find_tells_swapped_arms_and_a_silent_servo():
    bench = bench_of("left", "right", swapped=True)
    bench.save()
    bench.emulator.servos["left"][3].unplug(True)
    good, result = looking.find(bench.desk, [], wiggle=False)
    assert not good
    problems = {p["device"]: p["problem"] for p in result["ports"]}
    assert "swapped" in problems["/dev/a"]
    assert "wrist_flex (ID 4)" in problems["/dev/b"]


def test_find_without_a_port_says_what_to_do():
    bench = bench_of("left")
    bench.where.clear()
    with pytest.raises(ToolError, match="plug the arm in"):
        looking.find(bench.desk, [], wiggle=False)


def test_wiggle_moves_one_arm_a_little_and_lets_it_go_again():
    bench = bench_of("left")
    bench.save()
    before = bench.emulator.position("left")
    moved = []

    def watched(seconds):
        bench.loopback.wait(seconds)
        moved.append(bench.emulator.position("left")[4] - before[4])

    bench.desk.sleep = watched
    with bench.desk.servos("/dev/a") as servos:
        assert moving.nod(bench.desk, servos)
        assert servos.torque()["wrist_roll"] is False
        assert servos.bus.read(5, "torque_limit")[1]["torque_limit"] == 1000
    assert 0.04 < max(moved) < 0.12
    assert -0.12 < min(moved) < -0.04


def test_wiggle_of_a_stuck_joint_latches_no_overload_and_is_told():
    bench = bench_of("left")
    bench.emulator.dynamics.stick(4, True)
    with bench.desk.servos("/dev/a") as servos:
        assert not moving.nod(bench.desk, servos)
    assert not bench.emulator.servos["left"][4].status & OVERLOAD


def test_ping_names_a_silent_servo_and_measures_the_round_trip():
    bench = bench_of("left")
    good, result = looking.ping(bench.desk, "/dev/a", scan=False)
    assert good
    assert [s["joint"] for s in result["servos"]] == list(ROBOT.names)
    assert 0.1 < result["servos"][0]["round_trip_ms"] < 1.0
    bench.emulator.servos["left"][2].unplug(True)
    good, result = looking.ping(bench.desk, "/dev/a", scan=False)
    assert not good
    assert result["silent"] == [3]


def test_ping_shows_a_latched_overload():
    bench = bench_of("left")
    bench.emulator.servos["left"][5].protection.status |= OVERLOAD
    good, result = looking.ping(bench.desk, "/dev/a", scan=False)
    assert not good
    assert result["servos"][5]["status"] == OVERLOAD
    assert "overload" in str(bench.person.tables)


def test_check_of_a_calibrated_arm_is_good():
    bench = bench_of("left")
    bench.save()
    good, result = looking.check(bench.desk, "left", "")
    assert (good, result["wrong"]) == (True, [])


def test_check_shows_what_file_and_servos_disagree_about():
    bench = bench_of("left")
    bench.save()
    bench.emulator.servos["left"][4].burn("homing_offset", bench.units[0].calibration.joints[4].homing_offset - 65)
    good, result = looking.check(bench.desk, "left", "")
    assert not good
    assert "homing_offset" in result["wrong"][0]
    assert "-65" in result["wrong"][0]


def test_monitor_shows_heat_and_goes_on_without_a_servo():
    bench = bench_of("left")
    bench.save()
    bench.emulator.dynamics.celsius[2] = 68.0

    def pull(seconds):
        bench.loopback.wait(seconds)
        bench.emulator.servos["left"][0].unplug(True)

    bench.desk.sleep = pull
    bench.person.hand = iter([True, True])
    good, result = looking.monitor(bench.desk, "left", "/dev/a", rate=10.0, duration=0.0)
    assert good
    assert result["samples"] == 3
    first, last = bench.person.records[0]["joints"], bench.person.records[-1]["joints"]
    assert first["elbow_flex"]["celsius"] in (67, 68)
    assert last["shoulder_pan"] is None
    assert last["gripper"] is not None
    assert result["counts"]["shoulder_pan"]["given_up"] > 0


def test_torque_on_holds_where_the_arm_stands_and_off_lets_go():
    bench = bench_of("left")
    bench.save()
    before = bench.emulator.position("left")
    assert moving.torque(bench.desk, "left", "", on=True)[0]
    bench.loopback.wait(1.0)
    assert bench.emulator.position("left") == pytest.approx(before, abs=0.08)
    assert all(s.torque_on for s in bench.emulator.servos["left"])
    assert moving.torque(bench.desk, "left", "", on=False)[0]
    assert not any(s.torque_on for s in bench.emulator.servos["left"])


def test_torque_off_needs_a_yes_and_one_silent_servo_keeps_none_of_the_others_live():
    bench = bench_of("left")
    bench.save()
    moving.torque(bench.desk, "left", "", on=True)
    bench.person.answers = ["n"]
    with pytest.raises(ToolError):
        moving.torque(bench.desk, "left", "", on=False)
    assert all(s.torque_on for s in bench.emulator.servos["left"])
    bench.emulator.servos["left"][1].unplug(True)
    bench.loopback.wait(0.01)
    good, result = moving.torque(bench.desk, "left", "/dev/a", on=False)
    assert not good
    assert result["failed"] == ["shoulder_lift"]
    assert [s.torque_on for s in bench.emulator.servos["left"]].count(True) == 0


def test_torque_on_outside_the_range_is_refused():
    bench = bench_of("left")
    bench.save()
    made = bench.units[0].calibration
    outside = replace(made.joints[0], range_min=made.joints[0].range_min, range_max=made.joints[0].range_min + 50)
    calibration.save(replace(made, joints=(outside, *made.joints[1:])), arms.file("left"), overwrite=True)
    with pytest.raises(ToolError, match="by hand"):
        moving.torque(bench.desk, "left", "/dev/a", on=True)
    assert not any(s.torque_on for s in bench.emulator.servos["left"])


def test_id_is_changed_for_a_servo_that_is_alone():
    bench = bench_of("left")
    for servo in bench.emulator.servos["left"][1:]:
        servo.unplug(True)
    good, _ = moving.set_id(bench.desk, "/dev/a", 1, 9)
    assert good
    assert bench.emulator.servos["left"][0].id == 9
    assert bench.emulator.servos["left"][0].get("lock") == 1


def test_id_is_not_changed_while_other_servos_listen():
    bench = bench_of("left")
    with pytest.raises(ToolError, match="unplug the others"):
        moving.set_id(bench.desk, "/dev/a", 1, 9)
    assert bench.emulator.servos["left"][0].id == 1


def calibrate(bench, **how):
    given = {"source": "", "signs": False, "zero": False, "overwrite": False} | how
    return calibrating.calibrate(bench.desk, "left", "/dev/a", **given)


def stops(short=()):
    """Poses that take one joint after another to both stops, from the arm stretched out [rad]; ``short`` is hardly moved."""
    poses = [np.zeros(6)]
    for index, joint in enumerate(ROBOT.all_joints):
        beyond = 0.0 if joint.name == "gripper" else 0.15
        for end in (joint.lower - beyond, joint.upper + beyond, 0.0):
            pose = np.zeros(6)
            pose[index] = end / 4.0 if joint.name in short else end
            poses.append(pose)
    return poses


def test_sweep_of_a_new_arm_gives_its_calibration_to_servos_and_file():
    bench = bench_of("left", calibrated=False)
    bench.person.hand = bench.by_hand(stops())
    good, result = calibrate(bench)
    assert good, bench.person.tables[-2:]
    made = calibration.load(arms.file("left"))
    assert made.usb_serial == "SL"
    for joint, truth in zip(made.joints, bench.units[0].calibration.joints):
        servo = bench.emulator.servos["left"][joint.id - 1]
        assert servo.get("homing_offset") == joint.homing_offset
        assert (servo.get("min_position"), servo.get("max_position")) == (joint.range_min, joint.range_max)
        assert joint.homing_offset == pytest.approx(truth.homing_offset, abs=120 if joint.name == "gripper" else 20)
        assert joint.zero_offset == pytest.approx(truth.zero_offset, abs=1e-6)
    assert {f["level"] for f in result["ranges"]} == {"good"}
    assert looking.check(bench.desk, "left", "")[0]


def test_sweep_that_missed_a_joint_is_not_taken():
    bench = bench_of("left", calibrated=False)
    bench.person.hand = bench.by_hand(stops(short=("elbow_flex",)))
    bench.person.answers = ["y", "n"]
    with pytest.raises(ToolError, match="sweep the arm again"):
        calibrate(bench)
    assert not arms.file("left").exists()
    assert bench.emulator.servos["left"][2].get("homing_offset") == 0


def test_other_file_is_shown_and_replaced_only_with_a_yes(tmp_path):
    bench = bench_of("left")
    bench.save()
    other = tmp_path / "other.json"
    made = bench.units[0].calibration
    changed = replace(made.joints[1], homing_offset=made.joints[1].homing_offset - 40)
    calibration.save(replace(made, joints=(made.joints[0], changed, *made.joints[2:])), other)
    bench.person.answers = ["n"]
    with pytest.raises(ToolError, match="nothing was changed"):
        calibrate(bench, source=str(other))
    assert calibration.load(arms.file("left")).joints[1] == made.joints[1]
    assert "-40" in str(bench.person.tables)
    assert calibrate(bench, source=str(other), overwrite=True)[0]
    assert calibration.load(arms.file("left")).joints[1].homing_offset == changed.homing_offset
    assert bench.emulator.servos["left"][1].get("homing_offset") == changed.homing_offset
    # and there is a way back
    assert calibrate(bench, source=str(arms.file("left").with_suffix(".servos.bak")), overwrite=True)[0]
    assert calibration.differences(calibration.load(arms.file("left")), made) == ()
    assert calibration.load(arms.file("left")).joint("wrist_roll").zero_offset == made.joint("wrist_roll").zero_offset


def test_what_the_servos_hold_can_be_taken_as_it_is():
    bench = bench_of("left")
    assert calibrate(bench, source="servos")[0]
    made = calibration.load(arms.file("left"))
    assert calibration.differences(made, bench.units[0].calibration) == ()


def lifted(bench):
    """The arm holds itself up."""
    with bench.desk.servos("/dev/a") as servos:
        assert servos.hold() == []


def live(bench):
    return [servo.torque_on for servo in bench.emulator.servos["left"]]


def test_arm_that_holds_itself_goes_on_holding_when_nothing_is_written_to_its_servos():
    bench = bench_of("left")
    lifted(bench)
    assert calibrate(bench, source="servos")[0]
    assert "falls" not in bench.person.said()
    assert live(bench) == [True] * 6


def test_arm_that_holds_itself_is_let_go_for_other_values_only_with_a_yes(tmp_path):
    bench = bench_of("left")
    made = bench.units[0].calibration
    changed = replace(made.joints[1], homing_offset=made.joints[1].homing_offset - 40)
    calibration.save(replace(made, joints=(made.joints[0], changed, *made.joints[2:])), tmp_path / "other.json")
    lifted(bench)
    bench.person.answers = ["n"]
    with pytest.raises(ToolError, match="hold the arm"):
        calibrate(bench, source=str(tmp_path / "other.json"), overwrite=True)
    assert live(bench) == [True] * 6
    assert bench.emulator.servos["left"][1].get("homing_offset") == made.joints[1].homing_offset
    assert calibrate(bench, source=str(tmp_path / "other.json"), overwrite=True)[0]
    assert bench.emulator.servos["left"][1].get("homing_offset") == changed.homing_offset


def test_arm_whose_servos_answer_late_is_set_up_although_its_calibration_is_theirs():
    bench = bench_of("left")
    bench.emulator.servos["left"][2].burn("return_delay", 250)
    assert calibrate(bench, source="servos")[0]
    assert bench.emulator.servos["left"][2].get("return_delay") == 0


def test_older_file_is_converted_and_taken(tmp_path):
    bench = bench_of("left", calibrated=False)
    old = calibration_old.OldCalibration(
        (-2000, 3080, -1010, -2010, 1600, -2400), (0, 1, 0, 0, 1, 0), (2000, 3080, 1000, 2010, 2000, 2050),
        (3024, -2056, 2034, 3034, -576, 3450), ("DEGREE",) * 5 + ("LINEAR",), ROBOT.names,
    )  # fmt: skip
    (tmp_path / "old.json").write_text(calibration_old.dumps(old))
    assert calibrate(bench, source=str(tmp_path / "old.json"), overwrite=True)[0]
    assert bench.emulator.servos["left"][1].get("homing_offset") == calibration_old.converted(old, ROBOT).joints[1].homing_offset


@pytest.mark.parametrize("source", ["/nowhere.json", str(CONFIG / "cell.yaml")])
def test_file_that_is_none_is_refused_before_anything_is_written(source):
    bench = bench_of("left")
    with pytest.raises(ConfigError):
        calibrate(bench, source=source)
    assert not arms.file("left").exists()


def test_signs_are_confirmed_by_hand():
    bench = bench_of("left")
    bench.save()
    start = bench.emulator.dynamics.position.copy()

    def hand():
        at = start
        for index in range(6):
            target = at.copy()
            target[index] += 0.3
            yield from bench.hold(1.0)
            yield from bench.by_hand([target], 0.02)
            at = target

    bench.moving = hand()
    assert calibrate(bench, signs=True)[0]
    assert [(j.sign, j.drive_mode) for j in calibration.load(arms.file("left")).joints] == [(1, 0)] * 6


def test_zero_pose_gives_the_offsets():
    bench = bench_of("left")
    bench.save()
    made = bench.units[0].calibration
    wrong = replace(made, joints=tuple(replace(j, zero_offset=0.0) for j in made.joints))
    calibration.save(wrong, arms.file("left"), overwrite=True)
    pose = [0.03, 0.0, -0.02, 0.0, 0.0486795, 0.0]  # held nearly right

    class Holding(Person):
        def ask(self, question, choices):
            bench.emulator.dynamics.place(np.array(pose))
            return super().ask(question, choices)

    bench.desk.talk = Holding()
    assert calibrate(bench, zero=True)[0]
    after = calibration.load(arms.file("left"))
    assert after.joint("shoulder_pan").zero_offset == pytest.approx(-0.03, abs=0.003)
    assert after.joint("elbow_flex").zero_offset == pytest.approx(0.02, abs=0.003)
    assert after.joint("wrist_roll").zero_offset == pytest.approx(made.joint("wrist_roll").zero_offset, abs=0.003)


def test_refining_needs_the_arms_own_calibration_first():
    with pytest.raises(ToolError, match="sweep the arm first"):
        calibrate(bench_of("left"), zero=True)


def test_latched_overload_is_named_with_the_way_out_and_gone_after_it():
    bench = bench_of("left")
    bench.save()
    bench.emulator.servos["left"][5].protection.status |= OVERLOAD
    good, result = looking.check(bench.desk, "left", "")
    assert not good
    assert "gripper" in result["wrong"][0]
    assert "torque off" in result["wrong"][0]
    moving.torque(bench.desk, "left", "", on=True)
    moving.torque(bench.desk, "left", "", on=False)
    assert looking.check(bench.desk, "left", "")[0]
