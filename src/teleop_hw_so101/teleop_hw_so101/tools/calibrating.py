"""``calibrate``: sweep, or take a file or what its servos hold; confirm signs; find its zero. Nothing is replaced silently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from teleop_common import cache
from teleop_common.errors import ConfigError
from teleop_hw_so101 import arms, calibration, calibration_old, compare, wiggle
from teleop_hw_so101.calibration import ArmCalibration, Difference
from teleop_hw_so101.sweep import Sweep, Track
from teleop_hw_so101.tools.desk import Desk, ToolError, confirm
from teleop_hw_so101.tools.servos import Servos
from teleop_hw_so101.units import RADIANS_PER_TICK
from teleop_hw_so101.wiggle import UPWARDS

_PERIOD = 0.02  # [s] between readings while a hand moves the arm
_PATIENCE = 60.0  # [s] for one joint to be moved by hand
_STILL = 0.5  # [s] without motion before the next joint is asked for
SERVOS = "servos"  # --from: what the servos hold


def calibrate(
    desk: Desk, arm: str, device: str, *, source: str, signs: bool, zero: bool, overwrite: bool
) -> tuple[bool, dict[str, Any]]:
    """Make, adopt or refine the calibration of ``arm``.

    Args:
        desk: whom to talk to, and what to open.
        arm: its name.
        device: its port; empty: find it.
        source: a file of LeRobot's, ``servos`` for what they hold, or empty for a sweep.
        signs: only confirm by hand which way the joints count.
        zero: only find the zero offsets, with the arm put into the model's zero pose.
        overwrite: replace another calibration without asking.

    Raises:
        ToolError: somebody said no, or a step did not come to its end.
        ConfigError: a file says what cannot be.
    """
    port, before = _place(desk, arm, device)
    with desk.servos(port.device) as servos:
        unit = servos.unit()
        if signs or zero:
            if before is None or calibration.differences(before, unit):
                raise ToolError(f"calibration of '{arm}': got none for these servos, allowed theirs; sweep the arm first")
            after = _signs(desk, servos, before) if signs else before
            after = _zero(desk, servos, after) if zero else after
        else:
            after = _made(desk, servos, unit, before, source)
            after = replace(after, usb_serial=port.usb_serial or (before.usb_serial if before else ""))
            _show_model(desk, after)
            _agree(desk, "file", before, after, overwrite)
            _agree(desk, "servo", unit, after, overwrite)
            different = bool(calibration.differences(after, unit))
            adopting = different or bool(servos.unprepared())
            if adopting and any(on is not False for on in servos.torque().values()):
                _held(desk, "calibration")
            if different:
                # a way back: calibrate --from this file
                cache.write_atomically(arms.file(arm).with_suffix(".servos.bak"), calibration.dumps(unit).encode())
            if adopting:
                servos.adopt(after)
            if before is None:
                desk.talk.say(f"a new arm: confirm once which way its joints count, ./teleop arm calibrate {arm} --signs")
        if left := calibration.differences(after, servos.unit()):
            raise ToolError(f"servos of '{arm}': got other values than were written, allowed the same\n{calibration.table(left)}")
    calibration.save(after, arms.file(arm), overwrite=True)
    desk.talk.say(f"calibration of '{arm}' ({after.fingerprint}) written to its servos and to {arms.file(arm)}", "good")
    findings = [f._asdict() for f in compare.with_model(after, desk.robot)]
    good = all(f["level"] != "wrong" for f in findings)
    return good, {
        "arm": arm,
        "port": port.device,
        "fingerprint": after.fingerprint,
        "file": str(arms.file(arm)),
        "ranges": findings,
    }


def _place(desk: Desk, arm: str, device: str) -> tuple[arms.Port, ArmCalibration | None]:
    if device:
        return desk.find(arm, device)
    ports = desk.ports()
    if arm not in arms.known() and len(ports) == 1:
        return ports[0], None  # the only arm there is
    return desk.find(arm)


def _made(desk: Desk, servos: Servos, unit: ArmCalibration, before: ArmCalibration | None, source: str) -> ArmCalibration:
    """Return the new calibration, with the signs and zeros of the one before where that is of these very servos."""
    if source == SERVOS:
        made = unit
    elif source:
        made = _read(Path(source), desk)
    else:
        made = _swept(desk, servos, unit)
    missing = set(desk.robot.names) - set(made.names)
    if missing:
        raise ConfigError("calibration", source, sorted(made.names), ", ".join(desk.robot.names), "name another file")
    if before is not None and not calibration.differences(before, unit):
        kept = compare.carried(made, before, desk.robot)
        bare = all((joint.sign, joint.zero_offset) == (1, 0.0) for joint in made.joints)
        made = kept if bare else made  # a file may bring its own
    return compare.centred(made, desk.robot)


def _read(path: Path, desk: Desk) -> ArmCalibration:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError("calibration", str(path), error.strerror, "a file of LeRobot's", "name another file") from error
    if '"motor_names"' in text:
        desk.talk.say("the older format: it has no ranges, those of the limits file are taken; a sweep is better")
        return calibration_old.converted(calibration_old.parse(text, str(path)), desk.robot)
    return calibration.load(path)


def _swept(desk: Desk, servos: Servos, unit: ArmCalibration) -> ArmCalibration:
    """Follow all joints while somebody moves each to both stops, until Enter and every joint is done."""
    _held(desk, "sweep")
    servos.prepare()
    desk.talk.say("move every joint slowly to both of its stops, the gripper from closed to wide open; then press Enter")
    sweep = Sweep.of(unit)
    with desk.talk.live("sweep", ("joint", "ticks", "from", "to", "range [deg]", "")) as show:
        while not desk.talk.pressed():
            sweep.feed(servos.positions())
            show(_sweep_rows(desk, sweep, unit))
            desk.sleep(_PERIOD)
    return sweep.calibration(unit)


def _held(desk: Desk, what: str) -> None:
    """Have it confirmed that the arm may be let go for ``what``."""
    if not confirm(desk.talk, "torque goes off now and the arm falls: is it held, or lying down?"):
        raise ToolError(f"{what}: got no, allowed yes; hold the arm, then ask again")


def _sweep_rows(desk: Desk, sweep: Sweep, unit: ArmCalibration) -> list[tuple[str, ...]]:
    rows = []
    for limits in desk.robot.all_joints:
        track = sweep.tracks[limits.name]
        span, model = math.degrees(track.span * RADIANS_PER_TICK), math.degrees(limits.upper - limits.lower)
        note = "too fast: press Enter, sweep again" if track.lost else "good" if span > model - 20.0 else f"of about {model:.0f}"
        ends = (track.at, track.least, track.most)
        rows.append((limits.name, *(str(end - unit.joint(limits.name).homing_offset) for end in ends), f"{span:.0f}", note))
    return rows


def _show_model(desk: Desk, made: ArmCalibration) -> None:
    findings = compare.with_model(made, desk.robot)
    rows = [(f.joint, f"{f.span_deg:.0f}", f"{f.model_deg:.0f}", f.text or "good") for f in findings]
    desk.talk.table("beside the model", ("joint", "range [deg]", "model [deg]", ""), rows)
    if any(f.level == "wrong" for f in findings) and not confirm(desk.talk, "some of these are wrong: take them all the same?"):
        raise ToolError("calibration: got ranges that are not an SO-101's, allowed those; sweep the arm again")


def _agree(desk: Desk, where: str, before: ArmCalibration | None, after: ArmCalibration, overwrite: bool) -> None:
    """Show what would be replaced and ask."""
    found: Sequence[Difference] = calibration.differences(after, before) if before is not None else ()
    if not found:
        return
    rows = [(d.joint, d.field, str(d.unit), str(d.file), f"{d.file - d.unit:+d}") for d in found]
    desk.talk.table(f"what the {where} has, and what it would get", ("joint", "value", "now", "new", "change"), rows)
    if not overwrite and not confirm(desk.talk, f"replace what the {where} has?"):
        raise ToolError(f"{where}: got no, allowed yes or --overwrite; nothing was changed")


def _signs(desk: Desk, servos: Servos, before: ArmCalibration) -> ArmCalibration:
    """Ask for each joint to be moved by hand in the direction in which its URDF counts up."""
    _held(desk, "signs")
    servos.prepare()
    joints = []
    for joint in before.joints:
        _still(desk, servos)
        desk.talk.say(f"seen from behind the arm: {UPWARDS[joint.name]} ({joint.name}), by hand, about 15°")
        sign, why = 0, ""
        while not sign:
            sign, why = wiggle.sign_of(_moved(desk, servos), joint.name)
            if not sign:
                desk.talk.say(why, "bad")
                if not confirm(desk.talk, "try this joint again?"):
                    raise ToolError(f"joint '{joint.name}': got no direction, allowed one; ask again")
                _still(desk, servos)
        desk.talk.say(f"{joint.name} counts {'up' if sign > 0 else 'down'} so", "good")
        joints.append(replace(joint, sign=sign) if joint.name != "gripper" else replace(joint, drive_mode=int(sign < 0)))
    return replace(before, joints=tuple(joints))


def _still(desk: Desk, servos: Servos) -> None:
    """Wait until the hand has left the arm alone: what it still moves is no answer to the next question."""
    began = since = servos.bus.stream.now()
    tracks: dict[str, Track] = {}
    while (now := servos.bus.stream.now()) - since < _STILL and now - began < _PATIENCE:
        for name, reading in servos.positions().items():
            tracks.setdefault(name, Track(0)).feed(reading)
        if any(track.span > wiggle.ENOUGH // 10 for track in tracks.values()):
            tracks, since = {}, now
        desk.sleep(_PERIOD)


def _moved(desk: Desk, servos: Servos) -> wiggle.Moved:
    move, began = wiggle.HandMove(), servos.bus.stream.now()
    while servos.bus.stream.now() - began < _PATIENCE:
        if (found := move.feed(servos.positions())) is not None:
            return found
        desk.sleep(_PERIOD)
    raise ToolError(f"hand: got no motion within {_PATIENCE:g} s, allowed 10° of one joint; ask again")


def _zero(desk: Desk, servos: Servos, before: ArmCalibration) -> ArmCalibration:
    """Take where the arm is held in the model's zero pose for zero."""
    _held(desk, "zero")
    servos.prepare()
    desk.talk.say("hold the arm straight ahead: upper arm upright, forearm and hand level (a spirit level helps), jaws level")
    desk.talk.ask("press Enter when it is there", ())
    level = 0.0486795  # rad of wrist_roll at which the model's jaws are level
    pose = {joint.name: 0.0 for joint in desk.robot.joints} | {"wrist_roll": level}
    after = compare.zeroed(before, servos.standing(), pose)
    rows = [(j.name, f"{math.degrees(j.zero_offset):+.1f}") for j in after.joints if j.name in pose]
    desk.talk.table("zero offsets", ("joint", "[deg]"), rows)
    if not confirm(desk.talk, "take these?"):
        raise ToolError("zero offsets: got no, allowed yes; nothing was changed")
    return after
