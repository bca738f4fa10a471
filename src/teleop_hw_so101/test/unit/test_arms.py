"""Whose port it is: servos decide, adapters confirm, device names mean nothing."""

from dataclasses import replace

from teleop_hw_so101 import arms, calibration
from teleop_hw_so101.arms import Answer, Port
from teleop_hw_so101.calibration import ArmCalibration, JointCalibration

NAMES = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


def made(offset, serial=""):
    return ArmCalibration(
        tuple(JointCalibration(n, i, 0, offset, 800, 3200) for i, n in enumerate(NAMES, 1)), f"{offset}.json", serial
    )


LEFT, RIGHT = made(10, "SL"), made(20, "SR")
KNOWN = {"left": LEFT, "right": RIGHT}


def answer(device, serial, unit, problem=""):
    return Answer(Port(device, serial, "USB serial"), unit, problem)


def test_arms_are_found_whatever_the_system_calls_their_ports():
    for first, second in (("/dev/ttyACM0", "/dev/ttyACM1"), ("/dev/ttyACM1", "/dev/ttyACM0")):
        found = arms.bind([answer(first, "SL", LEFT), answer(second, "SR", RIGHT)], KNOWN)
        assert {b.arm: b.device for b in found} == {"left": first, "right": second}
        assert {b.by for b in found} == {"servos and adapter"}
        assert not any(b.problem for b in found)


def test_swapped_adapters_are_told_and_the_servos_name_the_arm():
    found = arms.bind([answer("/dev/a", "SR", LEFT), answer("/dev/b", "SL", RIGHT)], KNOWN)
    assert [b.arm for b in found] == ["left", "right"]
    assert all("swapped" in b.problem for b in found)


def test_new_adapter_is_no_problem():
    (found,) = arms.bind([answer("/dev/a", "new", LEFT)], KNOWN)
    assert (found.arm, found.by, found.problem) == ("left", "servos", "")


def test_servos_that_hold_other_values_are_shown_beside_the_adapters_file():
    changed = replace(LEFT, joints=(replace(LEFT.joints[0], homing_offset=75), *LEFT.joints[1:]))
    (found,) = arms.bind([answer("/dev/a", "SL", changed)], KNOWN)
    assert (found.arm, found.by) == ("left", "adapter")
    assert "shoulder_pan" in found.problem
    assert "+65" in found.problem


def test_unknown_servos_on_an_unknown_adapter_ask_for_calibration():
    (found,) = arms.bind([answer("/dev/a", "", made(30))], KNOWN)
    assert found.arm is None
    assert "calibrate" in found.problem


def test_silent_port_keeps_its_reason():
    (found,) = arms.bind([answer("/dev/a", "SL", None, "servo 4 is silent")], KNOWN)
    assert (found.arm, found.problem) == ("left", "servo 4 is silent")


def test_same_servos_at_two_ports_are_told():
    found = arms.bind([answer("/dev/a", "SL", LEFT), answer("/dev/b", "", LEFT)], KNOWN)
    assert all("another port" in b.problem for b in found)


def test_known_arms_are_those_with_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert arms.known() == {}
    calibration.save(LEFT, arms.file("left"))
    assert arms.known()["left"].usb_serial == "SL"
    assert arms.file("left") == tmp_path / "xr-teleop/arms/left.json"
