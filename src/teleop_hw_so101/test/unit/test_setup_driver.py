from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from teleop_common import limits
from teleop_common.errors import ConfigError
from teleop_hw_so101 import arms, setup_driver
from teleop_hw_so101.arms import Port
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration, load
from teleop_hw_so101.setup_driver import PortFinder
from teleop_hw_so101.stream import PortError, SerialStream

PORTS = (Port("/dev/ttyACM0", "SL", "USB"), Port("/dev/ttyACM1", "SR", "USB"), Port("/dev/ttyACM2", "", "USB"))
LEFT, RIGHT, NEW = (ArmCalibration((), "file", serial) for serial in ("SL", "SR", ""))


def tried(own, known, ports=PORTS, count=4, port="auto"):
    opened = []
    finder = PortFinder(port, own, known, opened.append, lambda: ports)
    for _ in range(count):
        finder()
    return opened


def test_arm_whose_adapter_is_known_is_sought_there_alone_whatever_its_name():
    known = {"left": LEFT, "right": RIGHT}
    assert tried(RIGHT, known) == ["/dev/ttyACM1"] * 4
    swapped = (PORTS[0]._replace(usb_serial="SR"), PORTS[1]._replace(usb_serial="SL"))
    assert tried(RIGHT, known, swapped) == ["/dev/ttyACM0"] * 4


def test_arm_without_a_known_adapter_is_sought_on_all_that_are_nobodys():
    assert tried(NEW, {"left": LEFT, "right": NEW}) == ["/dev/ttyACM1", "/dev/ttyACM2"] * 2


def test_named_port_is_taken_and_no_port_says_what_to_do():
    assert tried(LEFT, {}, port="/dev/ttyUSB9", count=1) == ["/dev/ttyUSB9"]
    with pytest.raises(PortError, match="plug it in"):
        tried(LEFT, {}, ports=())


def test_port_that_is_not_there_says_so():
    with pytest.raises(PortError, match=r"port '/dev/no-such-port': got No such file .* \./teleop arm find"):
        SerialStream("/dev/no-such-port")


def test_arm_without_a_calibration_of_its_own_is_refused_at_start(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"\./teleop arm calibrate"):
        setup_driver.load_calibrations(SimpleNamespace(calibration="", arm="left"))
    assert not arms.known()


def test_load_is_told_as_a_share_of_the_limit_that_the_servo_gets():
    numbers = dict.fromkeys(("first_step_time", "command_stale", "command_timeout", "sample_timeout", "suspect_after"), 0.1)
    numbers |= dict.fromkeys(("speed_bound", "park_speed", "park_time", "servo_speed", "reconnect_time", "reply_timeout"), 1.0)
    numbers |= dict.fromkeys(("loop_hz", "write_hz", "position_hz", "slow_hz"), 50.0)
    numbers |= {
        "voltage_min": 6.0,
        "voltage_max": 13.0,
        "temperature_max": 60.0,
        "torque_limit": 0.3,
        "gripper_torque_limit": 0.5,
    }
    words = {"arm": "left", "port": "auto", "estop_release": False, "baud_rate": 1_000_000}
    counts = {"degraded_misses": 10, "retries": 2, "servo_acceleration": 254}
    robot = limits.load(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")
    own = ArmCalibration(tuple(JointCalibration(n, i + 1, 0, 0, 1000, 3000) for i, n in enumerate(robot.names)), "file", "SL")
    rest = tuple(joint.home for joint in robot.all_joints)
    params = SimpleNamespace(**numbers, **words, **counts, park_positions=rest)
    arm = setup_driver.create(params, robot, own, {"left": own}, 1, None, nullcontext())
    assert arm.core.config.torque == pytest.approx((0.3,) * 5 + (0.5,))
    assert [counts["torque_limit"] for counts in arm.setup.registers] == [300] * 5 + [500]


def test_no_calibration_is_shipped():
    root = Path(__file__).resolve().parents[4]
    for path in [*root.glob("config/**/*.json"), *root.glob("src/*/config/**/*.json")]:
        with pytest.raises(ConfigError):
            load(path)
