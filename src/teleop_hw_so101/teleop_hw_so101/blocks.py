"""The blocks in which the driver reads registers. Each has a length of its own, see ``feetech_bus``."""

from __future__ import annotations

# who the servo is and how it is set up: EEPROM as a whole, 40 bytes
EEPROM = (
    "firmware_major",
    "firmware_minor",
    "model_number",
    "id",
    "return_delay",
    "response_level",
    "min_position",
    "max_position",
    "max_temperature",
    "max_voltage",
    "min_voltage",
    "phase",
    "homing_offset",
    "mode",
    "velocity_i_gain",
)
# what it was told, 10 bytes
CONTROL = ("torque_enable", "acceleration", "goal_position", "goal_velocity", "torque_limit")
# what the driver needs all the time, 6 bytes
MOTION = ("present_position", "present_velocity", "present_load")
# what changes slowly, 9 bytes
HEALTH = ("present_voltage", "present_temperature", "status", "moving", "present_current")
