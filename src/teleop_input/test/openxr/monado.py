"""Monado with its remote driver: the service as a child, and a driver for its headset and controllers over TCP.

The driver's packets are the C structures of Monado's ``r_interface.h`` (``mndrmt3``, little endian, 376 bytes): a header, the
head with both views, two controllers. The service greets a driver with two packets: its reset state and its newest one.
"""

import os
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"mndrmt3\0"
VIEWS = struct.Struct("<24f")  # field of view, pose and padding of both eyes; not used by a session without pictures
CENTER = struct.Struct("<7f?3x")
CONTROLLER = struct.Struct("<7f 6f 5f 8f 16?")
SIZE = len(MAGIC) + VIEWS.size + CENTER.size + 2 * CONTROLLER.size
SWITCHES = (
    "hand_tracking", "active", "system", "system_touch", "a", "a_touch", "b", "b_touch", "trigger_click", "trigger_touch",
    "stick_click", "stick_touch", "trackpad_touch", "pad0", "pad1", "pad2",
)  # fmt: skip
PORT = 4242


@dataclass
class Device:
    """A controller: what its packet says."""

    position: tuple = (0.0, 1.2, -0.3)
    orientation: tuple = (0.0, 0.0, 0.0, 1.0)
    trigger: float = 0.0
    squeeze: float = 0.0
    stick: tuple = (0.0, 0.0)
    on: set = field(default_factory=lambda: {"active", "hand_tracking"})

    def packed(self):
        values = (*self.orientation, *self.position, *[0.0] * 11, self.trigger, self.squeeze, 0.0, *self.stick, 0.0, 0.0, 0.0)
        return CONTROLLER.pack(*values, *(name in self.on for name in SWITCHES))


class Operator:
    """Drives headset and controllers."""

    def __init__(self):
        self.head = ((0.0, 1.6, 0.0), (0.0, 0.0, 0.0, 1.0))
        self.left, self.right = Device((-0.2, 1.2, -0.4)), Device((0.2, 1.2, -0.4))
        end = time.monotonic() + 10.0
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", PORT), 5.0)
                break
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        greeting = b""
        while len(greeting) < 2 * SIZE:
            part = self._socket.recv(2 * SIZE - len(greeting))
            assert part, "the service closed the connection: another packet version?"
            greeting += part
        self.send()

    def send(self):
        position, orientation = self.head
        center = CENTER.pack(*orientation, *position, False)
        self._socket.sendall(MAGIC + bytes(VIEWS.size) + center + self.left.packed() + self.right.packed())

    def set(self, side, **values):
        for name, value in values.items():
            setattr(getattr(self, side), name, value)
        self.send()

    def close(self):
        self._socket.close()


class Service:
    """monado-service with the remote driver and nothing on a screen."""

    def __init__(self, log):
        self._log = Path(log)
        self.start()

    def start(self, timeout=30.0):
        run = Path(os.environ["XDG_RUNTIME_DIR"])
        for left in ("monado_comp_ipc", "monado.pid"):  # a killed service leaves them, and a new one stumbles over them
            (run / left).unlink(missing_ok=True)
        environment = os.environ | {
            "XRT_COMPOSITOR_NULL": "1",
            "XRT_NO_STDIN": "1",
            "P_OVERRIDE_ACTIVE_CONFIG": "remote",
        }
        with self._log.open("ab") as log:
            # SIGPIPE stays ignored, as Python has it: the service would die of greeting a driver that has gone
            self.process = subprocess.Popen(
                ["monado-service"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, restore_signals=False
            )
        end = time.monotonic() + timeout
        while not (run / "monado_comp_ipc").exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"the service does not start: {self._log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()
