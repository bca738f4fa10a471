"""Publishes a USB foot pedal on /foot_pedal/pressed, and says whether it is plugged in."""

import argparse
import os
import select
import struct
import time

import rclpy
from std_msgs.msg import Bool

from teleop_diagnostics.publisher import Device, DeviceReason, DeviceReport, StatusPublisher

EVENT = struct.Struct("llHHi")  # struct input_event of the Linux kernel: time, type, code, value
KEY = 1
parser = argparse.ArgumentParser()
parser.add_argument("--plugin-root-id", required=True)
parser.add_argument("--device", required=True)
options = parser.parse_args()
rclpy.init(args=[], signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
node = rclpy.create_node(options.plugin_root_id)
pressed = node.create_publisher(Bool, "/foot_pedal/pressed", 10)
status = StatusPublisher(node, options.plugin_root_id)
pedal, wrong = None, ""
while True:
    try:
        pedal = pedal or open(options.device, "rb", buffering=0, opener=lambda p, f: os.open(p, f | os.O_NONBLOCK))
        wrong = ""
        if select.select([pedal], [], [], 0.1)[0]:
            _, _, kind, _, value = EVENT.unpack(pedal.read(EVENT.size))
            if kind == KEY and value in (0, 1):  # 2 is a key that repeats
                pressed.publish(Bool(data=value == 1))
    except (OSError, struct.error):
        pedal, wrong = None, f"cannot read {options.device}; plug the pedal in"
        time.sleep(0.5)
    state = (Device.DISCONNECTED, DeviceReason.HARDWARE_DISCONNECTED) if wrong else (Device.CONNECTED, DeviceReason.NONE)
    status.publish_if_changed([DeviceReport("/pedal", *state, wrong)], time.monotonic_ns())
