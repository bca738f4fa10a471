"""The launch argument ``ports``."""

import pytest

pytest.importorskip("launch_ros")

from teleop_bringup import hardware
from teleop_common.errors import ConfigError


def test_each_arm_gets_its_port():
    assert hardware.ports("auto", ["left", "right"]) == {"left": "auto", "right": "auto"}
    given = "right:/dev/serial/by-id/usb-1a86:0-if00,left:/dev/ttyACM0"
    assert hardware.ports(given, ["left", "right"]) == {
        "left": "/dev/ttyACM0",
        "right": "/dev/serial/by-id/usb-1a86:0-if00",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("left:/dev/a", "a port for each of left, right; write ports:=left:/dev/ttyACM0,right:/dev/ttyACM1"),
        ("left:/dev/a,rigth:/dev/b", "a port for each of left, right"),
        ("left:/dev/a,left:/dev/b", "a port for each of left, right"),
        ("left:/dev/a,right:", "a port for each of left, right"),
        ("left:/dev/a,right:/dev/a", "another port for each arm"),
        ("", "a port for each of left, right"),
    ],
)
def test_ports_that_cannot_be_say_what_to_write(text, says):
    with pytest.raises(ConfigError, match="launch argument 'ports'") as caught:
        hardware.ports(text, ["left", "right"])
    assert says in str(caught.value)
