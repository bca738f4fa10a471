"""LeRobot's own bus against an emulated arm: what its follower does, from the first connection to a calibration.

Run with the interpreter of the clients' environment: FOLDER of a running emulator, arm "left". Prints one line of JSON.
"""

import json
import socket
import sys
import time
import types

# of this module LeRobot's bus takes the two helpers of its interactive sweep alone; the rest of it wants torch
helpers = types.ModuleType("lerobot.utils.utils")
helpers.move_cursor_up = lambda lines: None
helpers.enter_pressed = lambda: True
sys.modules["lerobot.utils.utils"] = helpers

from lerobot.motors import Motor, MotorNormMode  # noqa: E402
from lerobot.motors.feetech import FeetechMotorsBus, OperatingMode  # noqa: E402

NAMES = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
FOLDER = sys.argv[1]


def make_bus():
    modes = [MotorNormMode.DEGREES] * 5 + [MotorNormMode.RANGE_0_100]
    bus = FeetechMotorsBus(f"{FOLDER}/left", {n: Motor(i, "sts3215", m) for i, (n, m) in enumerate(zip(NAMES, modes), 1)})

    def patient(length):
        """Wait for seconds: the machine of a test may have more to do than to answer."""
        bus.port_handler.packet_start_time = bus.port_handler.getCurrentTime()
        bus.port_handler.packet_timeout = 4000.0 + length

    bus.port_handler.setPacketTimeout = patient
    return bus


def settled(bus):
    """Return the positions [ticks] once they have stood still for 0.3 s: on a busy machine emulated time is slow."""
    since, last = time.monotonic(), None
    while time.monotonic() - since < 0.3:
        now = bus.sync_read("Present_Position", normalize=False)
        if now != last:
            since, last = time.monotonic(), now
    return last


def push(torque):
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(f"{FOLDER}/control")
        control.sendall(f"push left id=1 value={torque}\n".encode())
        assert control.recv(100) == b"ok\n"


def sweep(bus):
    """Let LeRobot record the pan's range while somebody pushes it to one stop and then to the other."""
    torques, seen = [2.5, -2.5, 0.0], [(0.0, -1)]

    def done():
        now, place = time.monotonic(), bus.read("Present_Position", "shoulder_pan", normalize=False)
        if place != seen[-1][1]:
            seen.append((now, place))
        elif now - seen[-1][0] > 0.5:  # at a stop
            if torques:
                push(torques.pop(0))
            seen.append((now, -1))
        return not torques

    sys.modules["lerobot.motors.motors_bus"].enter_pressed = done
    least, most = bus.record_ranges_of_motion(["shoulder_pan"], display_values=False)
    return least["shoulder_pan"], most["shoulder_pan"]


def main():
    told = {}
    bus = make_bus()
    bus.connect()  # checks IDs, models and firmware
    told["broadcast"] = bus.broadcast_ping()
    told["ticks"] = bus.sync_read("Present_Position", normalize=False)
    bus.calibration = bus.read_calibration()
    told["calibration"] = {name: vars(c) for name, c in bus.calibration.items()}
    with bus.torque_disabled():
        bus.configure_motors()
        for name in NAMES:
            bus.write("Operating_Mode", name, OperatingMode.POSITION.value)
            bus.write("P_Coefficient", name, 16)
            bus.write("Goal_Position", name, bus.read("Present_Position", name, normalize=False), normalize=False)
    held = bus.sync_read("Present_Position")
    goal = held | {"shoulder_pan": held["shoulder_pan"] + 20.0, "wrist_roll": held["wrist_roll"] - 30.0}
    bus.sync_write("Goal_Position", goal)
    settled(bus)
    told["goal"], told["reached"] = goal, bus.sync_read("Present_Position")
    told["torque"] = bus.sync_read("Torque_Enable", normalize=False)
    told["voltage"] = bus.sync_read("Present_Voltage", normalize=False)
    bus.disable_torque()
    bus.reset_calibration()
    told["homings"] = bus.set_half_turn_homings()
    told["half_turn"] = bus.sync_read("Present_Position", normalize=False)
    told["swept"] = sweep(bus)
    new = bus.read_calibration()
    new["shoulder_pan"].range_min, new["shoulder_pan"].range_max = told["swept"]
    bus.write_calibration(new)
    told["is_calibrated"] = bus.is_calibrated
    bus.write("Goal_Position", "shoulder_pan", -180.0)  # far beyond the written range
    told["stopped"] = settled(bus)["shoulder_pan"]
    bus.disconnect()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
