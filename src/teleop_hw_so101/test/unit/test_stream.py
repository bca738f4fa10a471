"""The serial port on a pseudo-terminal whose other end goes away."""

import os
import pty

import pytest
import serial

from teleop_hw_so101.stream import PortError, SerialStream


@pytest.fixture
def ends():
    master, slave = pty.openpty()
    path = os.ttyname(slave)
    os.close(slave)
    pulled = []

    def pull(*_):
        if not pulled:
            pulled.append(master)
            os.close(master)

    yield path, pull
    pull()


@pytest.mark.parametrize("moment", ["_reconfigure_port", "_reset_input_buffer", "set_low_latency_mode"])
def test_port_pulled_while_it_is_opened_is_a_port_error_and_leaves_nothing_open(ends, monkeypatch, moment):
    path, pull = ends
    original, left = getattr(serial.Serial, moment), os.listdir("/proc/self/fd")

    def pulled(port, *given, **named):
        pull()
        return original(port, *given, **named)

    monkeypatch.setattr(serial.Serial, moment, pulled)
    with pytest.raises(PortError, match="plug the adapter in") as told:
        SerialStream(path)
    assert "Input/output error" in str(told.value)
    assert len(os.listdir("/proc/self/fd")) == len(left) - 1


def test_port_pulled_while_it_is_used_is_a_port_error(ends):
    path, pull = ends
    line = SerialStream(path)
    assert line.read(0.0) == b""
    pull()
    with pytest.raises(PortError):
        line.read(0.1)
    with pytest.raises(PortError):
        line.write(b"ping")
    line.close()
