"""Emulated arms on a clock of their own: dynamics, faults of the world, log, and equal runs."""

from pathlib import Path

import pytest

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_description.scene import build, cube_poses, model_hash
from teleop_hw_so101 import packet
from teleop_hw_so101.emulator import faults, log
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.emulator.unit import from_calibration, make_unit
from teleop_hw_so101.packet import Parser
from teleop_hw_so101.registers import MODEL_NUMBER, OVERLOAD
from teleop_hw_so101.stream import PortError
from teleop_hw_so101.units import arm_scales

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
HOME = tuple(joint.home for joint in ROBOT.all_joints)
IDS = range(1, 7)


class Arm:
    """One emulated arm and a bare client on its port."""

    def __init__(self, **options):
        self.loop, calibrations = loopback(ROBOT, CELL, **options)
        self.emulator, self.servos = self.loop.emulator, self.loop.emulator.servos["left"]
        self.scales = arm_scales(calibrations["left"], ROBOT)
        self.stream = self.loop.stream("left")
        self.parser = Parser()

    def ask(self, request, count, timeout=0.01):
        self.stream.write(request)
        found, end = [], self.stream.now() + timeout
        while len(found) < count and self.stream.now() < end:
            found += self.parser.feed(self.stream.read(end - self.stream.now()))
        return found

    def ticks(self):
        return [int.from_bytes(p.params, "little") for p in self.ask(packet.sync_read(IDS, 56, 2), 6)]

    def go(self, ticks, seconds=0.0):
        self.stream.write(packet.sync_write(42, {n: t.to_bytes(2, "little") for n, t in zip(IDS, ticks)}))
        self.loop.wait(seconds)

    def hold(self, seconds=0.5):
        ticks = self.ticks()
        self.go(ticks, seconds)
        return ticks

    def tell(self, words):
        self.emulator.tell(faults.parse(words), self.loop.time)


@pytest.fixture
def arm():
    return Arm()


def test_calibrated_positions_read_the_angles_at_which_the_joints_stand(arm):
    read = [scale.radians(ticks) for scale, ticks in zip(arm.scales, arm.ticks())]
    assert read == pytest.approx(HOME, abs=0.002)
    assert arm.emulator.position("left") == pytest.approx(HOME, abs=1e-3)


def test_cycle_of_write_and_read_takes_what_the_wire_takes(arm):
    before = arm.stream.now()
    arm.hold(0.0)
    arm.ticks()
    # two reads of 0.62 ms and a write of 0.26 ms
    assert arm.stream.now() - before == pytest.approx(2 * 0.00062 + 0.00026, abs=1e-9)


def test_held_arm_stands_droops_a_little_and_a_released_one_sinks(arm):
    ticks = arm.hold(1.0)
    droop = [b - a for a, b in zip(ticks, arm.ticks())]
    assert max(abs(d) for d in droop) <= 25
    assert droop[2] > 0  # the elbow gives way downwards
    elbow = arm.emulator.position("left")[2]
    for servo in arm.servos:
        servo.write(40, b"\x00", arm.loop.time)
    arm.loop.wait(1.0)
    assert arm.emulator.position("left")[2] > elbow + 0.2


def test_servo_at_the_arms_gain_reaches_a_goal_within_droop_and_friction(arm):
    for servo in arm.servos:
        servo.write(21, b"\x10", 0.0)
    ticks = arm.hold()
    ticks[0] += 300
    arm.go(ticks, 1.5)
    # 0.25 Nm of friction are 9.4 steps at P = 16
    assert abs(arm.ticks()[0] - ticks[0]) <= 12


def test_no_joint_outruns_the_servos_own_speed(arm):
    ticks = arm.hold()
    arm.go([ticks[0] + 1200, *ticks[1:]])
    fastest = 0.0
    for _ in range(200):
        arm.loop.wait(0.002)
        fastest = max(fastest, abs(arm.servos[0].sensed.speed))
    assert 0.6 * 3070 < fastest < 3072


def test_supply_sags_for_all_when_many_servos_pull(arm):
    calm = arm.servos[5].sensed.volts
    arm.tell("stick")
    arm.go([3000] * 6, 0.1)
    assert calm > 11.9
    assert arm.servos[5].sensed.volts == pytest.approx(12.0 - 0.15 * 6 * 2.7, abs=0.5)


def test_motor_that_pushes_for_long_grows_warm(arm):
    arm.servos[1].write(36, b"\x64", 0.0)  # overload protection out of the way
    arm.tell("stick id=2")
    arm.go(arm.ticks(), 0.0)
    arm.go([2047, 3299, 2503, 2669, 2047, 1534], 3.0)
    assert arm.servos[1].sensed.celsius > arm.servos[0].sensed.celsius + 1.0
    assert arm.ask(packet.read(2, 63, 1), 1)[0].params[0] >= 26


def test_stuck_joint_stalls_latches_overload_and_comes_free(arm):
    ticks = arm.hold()
    arm.tell("stick left id=1")
    arm.go([ticks[0] + 500, *ticks[1:]], 1.9)
    assert abs(arm.ticks()[0] - ticks[0]) <= 8
    assert arm.servos[0].status == 0
    arm.loop.wait(0.4)
    assert arm.servos[0].status == OVERLOAD
    assert arm.servos[0].duty == pytest.approx(0.2)
    assert arm.ask(packet.ping(1), 1)[0].code == OVERLOAD
    arm.tell("free left id=1")
    arm.servos[0].write(40, b"\x00", arm.loop.time)
    arm.go([ticks[0] + 100, *ticks[1:]], 1.0)
    assert abs(arm.ticks()[0] - ticks[0] - 100) <= 12


def test_servo_that_is_gone_is_silent_and_limp_and_comes_back_without_torque(arm):
    arm.hold()
    arm.tell("gone left id=3")
    arm.loop.wait(0.1)
    assert [p.id for p in arm.ask(packet.sync_read(IDS, 56, 2), 6)] == [1, 2, 4, 5, 6]
    assert not arm.servos[2].torque_on
    arm.tell("back left id=3")
    arm.loop.wait(0.2)
    assert len(arm.ticks()) == 6
    assert not arm.servos[2].torque_on


def test_brownout_reboots_every_servo_limp(arm):
    arm.hold()
    arm.tell("brownout")
    arm.loop.wait(0.1)
    assert arm.ask(packet.ping(1), 1) == []
    arm.loop.wait(0.5)
    assert len(arm.ticks()) == 6
    assert not any(servo.torque_on for servo in arm.servos)
    assert arm.servos[0].sensed.volts == pytest.approx(12.0, abs=0.01)


def test_brownout_of_one_arm_leaves_the_other_its_supply():
    arm = Arm(arms=("left", "right"))
    arm.tell("brownout right")
    arm.loop.wait(0.1)
    assert [arm.emulator.servos[name][0].alive for name in ("left", "right")] == [True, False]
    arm.loop.wait(0.4)
    assert arm.emulator.servos["right"][0].alive


def test_pulled_port_is_gone_for_its_client_while_the_servos_hold_their_goals(arm):
    ticks = arm.hold()
    arm.tell("unplug left")
    with pytest.raises(PortError, match="plug it in again"):
        arm.stream.write(packet.ping(1))
    with pytest.raises(PortError):
        arm.loop.stream("left")
    arm.loop.wait(1.0)
    assert all(servo.torque_on for servo in arm.servos)
    assert all(abs(servo.present_position() - t) <= 25 for servo, t in zip(arm.servos, ticks))
    arm.tell("replug left")
    with pytest.raises(PortError):  # the old one stays dead
        arm.stream.read(0.0)
    arm.stream = arm.loop.stream("left")
    assert len(arm.ticks()) == 6


def test_joint_at_the_seam_reads_4095_and_beyond_it_0(arm):
    arm.tell("seam left id=5 value=1")
    arm.loop.wait(0.01)
    assert arm.ticks()[4] == 4095
    arm.tell("push left id=5 value=0.4 for=0.2")
    arm.loop.wait(0.5)
    assert 0 < arm.ticks()[4] < 500
    before = arm.emulator.position("left")[4]
    arm.loop.wait(0.5)
    assert arm.emulator.position("left")[4] == pytest.approx(before, abs=1e-3)  # nobody pushes any more


def test_wrong_id_twice_garbles_both_and_leaves_the_others(arm):
    arm.tell("same_id left id=3 value=2")
    assert arm.ask(packet.ping(3), 1) == []
    good = sum(len(arm.ask(packet.read(2, 56, 2), 1)) for _ in range(20))
    assert good < 4
    assert len(arm.ask(packet.read(4, 56, 2), 1)) == 1


def test_burnt_register_holds_also_over_the_power(arm):
    arm.tell("burn left id=2 register=firmware_minor value=9")
    assert arm.ask(packet.read(2, 1, 1), 1)[0].params == b"\x09"
    arm.tell("brownout")
    arm.loop.wait(0.6)
    assert arm.ask(packet.read(2, 1, 1), 1)[0].params == b"\x09"


def test_scene_is_that_of_the_simulation_cubes_included(arm):
    scene = arm.emulator.scene()
    model = build(["left"], CELL, ROBOT)
    assert scene.model_hash == model_hash(model)
    assert len(scene.qpos) == model.nq
    for name, pose in cube_poses(CELL, 0).items():
        at = int(model.joint(name).qposadr[0])
        assert scene.qpos[at : at + 3] == pytest.approx(pose[:3], abs=2e-3)


def test_heat_and_latched_overload_on_command(arm):
    arm.hold()
    arm.tell("heat left id=6 value=71")
    arm.tell("overload left id=1")
    arm.loop.wait(0.05)
    assert [servo.status for servo in arm.servos] == [OVERLOAD, 0, 0, 0, 0, 0x04]
    assert arm.ask(packet.read(6, 63, 1), 1)[0].params == b"\x47"


def test_script_happens_at_its_times(arm):
    arm = Arm(script=[faults.parse("gone id=1 at=0.5"), faults.parse("back id=1 at=1.0")])
    arm.loop.wait(0.49)
    assert arm.servos[0].alive
    arm.loop.wait(0.1)
    assert not arm.servos[0].alive
    arm.loop.wait(0.7)
    assert arm.servos[0].alive
    assert [event.text for event in arm.emulator.log.events] == ["gone all id=1", "back all id=1"]


def test_fault_of_an_arm_that_is_not_there_is_refused(arm):
    with pytest.raises(ConfigError, match="'middle'"):
        arm.tell("gone middle")


def test_equal_seeds_give_equal_runs_and_other_seeds_other_units(tmp_path):
    def run(seed):
        arm = Arm(seed=seed)
        arm.tell("corrupt share=0.3")
        read = []
        for n in range(20):
            read.append(tuple(arm.ticks()))
            arm.go([2047 + 10 * n, 1479, 2503, 2669, 2047, 1534], 0.02)
        return read, arm.emulator.log.rows

    first = run(1)
    assert run(1) == first
    assert make_unit("left", ROBOT, 1) != make_unit("left", ROBOT, 2)
    assert make_unit("left", ROBOT, 1).horn != make_unit("right", ROBOT, 1).horn


def test_log_on_file_reads_back_what_a_log_in_memory_keeps(tmp_path):
    path = tmp_path / "log.csv"
    with path.open("w") as file:
        written, kept = Arm(log=log.Log(file=file)), Arm()
        for arm in (written, kept):
            arm.tell("heat left id=2 value=50")
            arm.hold(0.2)
    rows, events = log.read(path.read_text().splitlines(keepends=True))
    assert rows == kept.emulator.log.rows
    assert len(rows) == pytest.approx(6 * 21, abs=6)
    assert [event.text for event in events] == ["heat left id=2 value=50"]
    assert log.read(["1.0,left,1,20"])[0] == []  # a line that is still being written


def test_unit_of_a_calibration_holds_it_and_stands_where_it_says(arm):
    mine = make_unit("left", ROBOT, 7)
    assert from_calibration("left", mine.calibration, ROBOT).horn == mine.horn
    bare = make_unit("left", ROBOT, 7, calibrated=False)
    assert bare.eeprom(0) == ()


def test_every_servo_says_its_model(arm):
    assert [int.from_bytes(p.params, "little") for p in arm.ask(packet.sync_read(IDS, 3, 2), 6)] == [MODEL_NUMBER] * 6
