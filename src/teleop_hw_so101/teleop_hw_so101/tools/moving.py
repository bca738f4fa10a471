"""Tools that move or free joints: ``torque``, ``id``, and the nod by which somebody sees which arm it is."""

from __future__ import annotations

from typing import Any

from teleop_hw_so101 import wiggle
from teleop_hw_so101.calibration import LAST_TICK, JointCalibration
from teleop_hw_so101.registers import MODEL_NUMBER
from teleop_hw_so101.sweep import Track
from teleop_hw_so101.tools.desk import BRISK, PATIENT, Desk, ToolError, confirm
from teleop_hw_so101.tools.servos import Servos

NODDING = "wrist_roll"  # carries no weight, and turns freely in any pose


def torque(desk: Desk, arm: str, device: str, on: bool) -> tuple[bool, dict[str, Any]]:
    """Let an arm go, or let it hold where it stands."""
    port, calibration = desk.find(arm, device)
    if not on and not confirm(desk.talk, f"'{arm}' falls when its torque goes off: is it held, or lying down?"):
        raise ToolError(f"torque of '{arm}': got no, allowed yes; hold the arm, then ask again")
    with desk.servos(port.device) as servos:
        if on and calibration is not None:
            _inside(arm, servos, calibration.joints)
        failed = servos.hold() if on else servos.release()
    wanted = "on" if on else "off"
    if failed:
        desk.talk.say(
            f"torque is not {wanted} at {', '.join(failed)}: ask again; if it stays, switch the supply off and on", "bad"
        )
    else:
        desk.talk.say(f"torque of '{arm}' is {wanted}", "good")
    return not failed, {"arm": arm, "port": port.device, "torque": wanted, "failed": failed}


def _inside(arm: str, servos: Servos, joints: tuple[JointCalibration, ...]) -> None:
    """Refuse to hold an arm that stands outside its range: the servo would drive to the end of it at once."""
    standing = servos.standing()
    outside = [j for j in joints if not j.range_min <= standing[j.name] <= j.range_max]
    if outside:
        listed = ", ".join(f"{j.name} {standing[j.name]} (range {j.range_min} to {j.range_max})" for j in outside)
        raise ToolError(f"position of '{arm}': got {listed}, allowed its range [ticks]; move it there by hand first")


def nod(desk: Desk, servos: Servos) -> bool:
    """Roll the hand 5° to both sides at a fifth of the torque, then let go; returns whether it moved."""
    ident = servos.ids[NODDING]
    start = servos.standing()[NODDING]
    held = servos.bus.read(ident, "min_position", "max_position", "torque_limit")
    if held is None:
        return False
    low, high = held[1]["min_position"], held[1]["max_position"]
    joint = JointCalibration(NODDING, ident, 0, 0, low if low < high else 0, high if low < high else LAST_TICK)
    track = Track(0)
    was_on = servos.torque()[NODDING] is True
    servos.write(NODDING, {"torque_limit": wiggle.TORQUE_LIMIT})
    try:
        began = servos.bus.stream.now()
        while not wiggle.done(elapsed := servos.bus.stream.now() - began):
            servos.bus.sync_write("goal_position", {ident: wiggle.goal(joint, start, elapsed)})
            track.feed(servos.positions()[NODDING])
            desk.sleep(0.02)
        servos.bus.sync_write("goal_position", {ident: start})
    finally:
        if not was_on:
            servos.bus.write(ident, "torque_enable", 0)
        servos.write(NODDING, {"torque_limit": held[1]["torque_limit"]})
    return wiggle.followed(track)


def set_id(desk: Desk, device: str, before: int, after: int) -> tuple[bool, dict[str, Any]]:
    """Give the one servo on a bus another ID.

    Raises:
        ToolError: it does not answer, the new ID is taken, or two servos answer.
    """
    with desk.servos(device, {"servo": before}, config=BRISK) as servos:
        bus = servos.bus
        if all(bus.ping(before) is None for _ in range(3)):
            raise ToolError(f"servo '{before}' at {device}: got no answer, allowed one; ./teleop arm ping {device} --scan")
        others = [i for i in range(254) if i != before and bus.ping(i) is not None]
        if others:
            raise ToolError(f"servos at {device}: got {others} besides {before}, allowed one alone; unplug the others' cables")
        model = bus.read(before, "model_number")
        if model is None or model[1]["model_number"] != MODEL_NUMBER:
            got = "garbled answers" if model is None else f"model {model[1]['model_number']}"
            raise ToolError(f"servo '{before}' at {device}: got {got}, allowed one STS3215 alone; unplug the others' cables")
        bus.config = PATIENT
        bus.write(before, "torque_enable", 0)
        bus.write(before, "lock", 0)
        bus.write(before, "id", after)
        bus.write(after, "lock", 1)
        good = bus.ping(after) is not None and (before == after or bus.ping(before) is None)
    if good:
        desk.talk.say(f"the servo at {device} has ID {after} now", "good")
    else:
        desk.talk.say(f"the servo at {device} does not answer to {after}: ./teleop arm ping {device} --scan", "bad")
    return good, {"port": device, "from": before, "to": after}
