"""Tools that look: ``find``, ``ping``, ``check``, ``monitor``."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from teleop_hw_so101 import arming, arms, blocks, compare
from teleop_hw_so101.registers import MODEL_NUMBER, REGISTERS, status_text
from teleop_hw_so101.tools.desk import BRISK, PATIENT, Desk, ToolError
from teleop_hw_so101.tools.moving import nod
from teleop_hw_so101.tools.servos import Servos
from teleop_hw_so101.units import JointScale, arm_scales

Result = tuple[bool, dict[str, Any]]
PINGS = 10


def find(desk: Desk, devices: list[str], wiggle: bool) -> Result:
    """Show every serial port, what answers there and whose it is; on request each arm nods in its turn.

    Raises:
        ToolError: there is no port at all.
    """
    found = desk.bindings(devices)
    if not found:
        raise ToolError("ports: got none, allowed a USB serial adapter; plug the arm in, or name a port with --port")
    rows = [(b.device, b.usb_serial or "-", b.fingerprint or "-", b.arm or "?", b.by or "-", b.problem or "good") for b in found]
    desk.talk.table("arms", ("port", "USB serial", "servos", "arm", "known by", ""), rows)
    nodded = {}
    for binding in found if wiggle else ():
        if binding.fingerprint:
            desk.talk.say(f"the arm at {binding.device} ({binding.arm or 'not known'}) rolls its hand a little now")
            with desk.servos(binding.device) as servos:
                nodded[binding.device] = nod(desk, servos)
            if not nodded[binding.device]:
                desk.talk.say(f"it was told to, but did not move: is wrist_roll at {binding.device} stuck?", "bad")
    good = all(not b.problem for b in found) and all(nodded.values())
    return good, {"ports": [b._asdict() | ({"nodded": nodded[b.device]} if b.device in nodded else {}) for b in found]}


def ping(desk: Desk, device: str, scan: bool) -> Result:
    """Ask every servo of an arm who it is; ``scan`` asks all 254 IDs instead of six."""
    names = {ident: name for name, ident in desk.ids.items()}
    servos_found, rows = [], []
    with desk.servos(device, config=BRISK if scan else PATIENT) as servos:
        for ident in range(254) if scan else names:
            if (servo := _ping(servos, ident)) is None:
                if not scan:
                    rows.append((str(ident), names[ident], "-", "-", "no answer", "-"))
                continue
            servos_found.append(servo | {"joint": names.get(ident)})
            model = "STS3215" if servo["model"] == MODEL_NUMBER else str(servo["model"])
            said = status_text(servo["status"]) or "good"
            rows.append((str(ident), names.get(ident, "?"), model, servo["firmware"], said, f"{servo['round_trip_ms']:.2f}"))
    desk.talk.table(device, ("ID", "joint", "model", "firmware", "status", "round trip [ms]"), rows)
    answered = {servo["id"] for servo in servos_found}
    good = answered >= set(names) and all(s["model"] == MODEL_NUMBER and not s["status"] for s in servos_found)
    return good, {"port": device, "servos": servos_found, "silent": [] if scan else sorted(set(names) - answered)}


def _ping(servos: Servos, ident: int) -> dict[str, Any] | None:
    if servos.bus.ping(ident) is None:
        return None
    times, status = [], 0
    for _ in range(PINGS):
        began = servos.bus.stream.now()
        if (reply := servos.bus.ping(ident)) is not None:
            times.append(reply.time - began)
            status |= reply.status
    who = servos.bus.read(ident, "firmware_major", "firmware_minor", "model_number")
    if who is None or not times:
        return None
    firmware = f"{who[1]['firmware_major']}.{who[1]['firmware_minor']}"
    trip = round(median(times) * 1e3, 3)
    return {"id": ident, "model": who[1]["model_number"], "firmware": firmware, "status": status, "round_trip_ms": trip}


def check(desk: Desk, arm: str, device: str) -> Result:
    """Look at everything that must be true before an arm may be driven; moves nothing."""
    port, calibration = desk.find(arm, device)
    with desk.servos(port.device) as servos:
        facts = servos.facts()
        now = servos.bus.stream.now()
    there = {name: f for name, f in facts.items() if f is not None}
    wrong: list[str] = []
    doubtful: list[str] = []
    if calibration is None:
        wrong.append(f"calibration of '{arm}': got none, allowed {arms.file(arm)}; ./teleop arm calibrate {arm}")
    else:
        wrong += arming.identity(arm, facts, calibration, arms.known())
        if len(there) == len(facts):
            wrong += arming.readiness(arm, there, calibration, arming.ArmingRules(), now)
        for finding in compare.with_model(calibration, desk.robot):
            if finding.text:
                (wrong if finding.level == "wrong" else doubtful).append(f"range of '{finding.joint}': {finding.text}")
        if calibration.usb_serial and port.usb_serial and calibration.usb_serial != port.usb_serial:
            doubtful.append(
                f"adapter of '{arm}': got {port.usb_serial}, so far it was {calibration.usb_serial}; ./teleop arm find"
            )
    scales = dict(zip(desk.robot.names, arm_scales(calibration, desk.robot))) if calibration else {}
    desk.talk.table(f"{arm} at {port.device}", STATE_COLUMNS, [_row(name, facts[name], scales.get(name)) for name in facts])
    for text in wrong:
        desk.talk.say(text, "bad")
    for text in doubtful:
        desk.talk.say(f"doubtful: {text}")
    if not wrong:
        desk.talk.say(f"'{arm}' is ready to be driven", "good")
    return not wrong, {"arm": arm, "port": port.device, "wrong": wrong, "doubtful": doubtful}


STATE_COLUMNS = ("joint", "ticks", "deg", "load %", "V", "°C", "A", "torque", "status")


def _row(name: str, f: arming.ServoFacts | None, scale: JointScale | None, load: float | None = None) -> tuple[str, ...]:
    if f is None:
        return (name, *["-"] * 7, "no answer")
    angle = "-" if scale is None else f"{math.degrees(scale.radians(f.position)):.1f}"
    volts = f.health["present_voltage"] * REGISTERS["present_voltage"].scale
    amperes = abs(f.health["present_current"]) * REGISTERS["present_current"].scale
    pushes = "-" if load is None else f"{load * 100:.0f}"
    torque = "on" if f.control["torque_enable"] == 1 else "off"
    said = status_text(f.status | f.health["status"]) or "good"
    return (
        name,
        str(f.position),
        angle,
        pushes,
        f"{volts:.1f}",
        str(f.health["present_temperature"]),
        f"{amperes:.2f}",
        torque,
        said,
    )


def monitor(desk: Desk, arm: str, device: str, rate: float, duration: float) -> Result:
    """Show all servos until Enter, Ctrl-C or the end of ``duration`` [s] (0: none), ``rate`` times a second; moves nothing."""
    port, calibration = desk.find(arm, device)
    scales = dict(zip(desk.robot.names, arm_scales(calibration, desk.robot))) if calibration else {}
    samples = lost = 0
    with desk.servos(port.device) as servos, desk.talk.live(f"{arm} at {port.device}", STATE_COLUMNS) as show:
        began = servos.bus.stream.now()
        while True:
            due = began + (samples + 1) / rate
            facts = servos.facts()
            found = servos.bus.sync_read(tuple(servos.ids.values()), *blocks.MOTION)
            loads = {
                n: found[i][1]["present_load"] * REGISTERS["present_load"].scale for n, i in servos.ids.items() if i in found
            }
            samples += 1
            lost += sum(f is None for f in facts.values())
            now = servos.bus.stream.now()
            show([_row(name, f, scales.get(name), loads.get(name)) for name, f in facts.items()])
            desk.talk.record(
                {"time": round(now - began, 4), "joints": {n: _state(f, scales.get(n), loads.get(n)) for n, f in facts.items()}}
            )
            if now - began >= duration if duration else desk.talk.pressed():
                break
            desk.sleep(max(due - servos.bus.stream.now(), 0.0))
        counts = {n: vars(c) for n, i in servos.ids.items() if (c := servos.bus.counts.get(i)) is not None}
    return lost < samples * len(desk.ids), {"arm": arm, "port": port.device, "samples": samples, "lost": lost, "counts": counts}


def _state(f: arming.ServoFacts | None, scale: JointScale | None, load: float | None) -> dict[str, Any] | None:
    if f is None:
        return None
    return {
        "ticks": f.position,
        "radians": None if scale is None else round(scale.radians(f.position), 5),
        "load": None if load is None else round(load, 3),
        "volts": round(f.health["present_voltage"] * REGISTERS["present_voltage"].scale, 1),
        "celsius": f.health["present_temperature"],
        "amperes": round(abs(f.health["present_current"]) * REGISTERS["present_current"].scale, 3),
        "torque": f.control["torque_enable"] == 1,
        "status": f.status | f.health["status"],
    }
