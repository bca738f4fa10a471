"""The blocks in which registers are read, each with a length of its own, see ``feetech_bus``; and a servo read in all of them."""

from __future__ import annotations

from teleop_hw_so101.arming import ServoFacts
from teleop_hw_so101.feetech_bus import FeetechBus, Reply

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


def facts(bus: FeetechBus, servo: int) -> ServoFacts | None:
    """Read everything of one servo, None when a block stays without a good reply."""
    if bus.ping(servo) is None:
        return None
    replies: list[tuple[Reply, dict[str, int]]] = []
    for names in (EEPROM, CONTROL, HEALTH, MOTION):
        found = bus.read(servo, *names)
        if found is None:
            return None
        replies.append(found)
    (_, eeprom), (_, control), (_, health), (reply, motion) = replies
    return ServoFacts(eeprom, control, health, motion["present_position"], reply.status, reply.time)
