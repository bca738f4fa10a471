from pathlib import Path
from types import SimpleNamespace

import pytest

from teleop_common.errors import ConfigError
from teleop_hw_so101 import arms, setup_driver
from teleop_hw_so101.arms import Port
from teleop_hw_so101.calibration import ArmCalibration, load
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


def test_no_calibration_is_shipped():
    root = Path(__file__).resolve().parents[4]
    for path in [*root.glob("config/**/*.json"), *root.glob("src/*/config/**/*.json")]:
        with pytest.raises(ConfigError):
            load(path)
