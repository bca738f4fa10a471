"""What must be true before torque goes on: each condition that is not met is one line that says what to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from teleop_hw_so101 import calibration as calibrations
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.registers import MODEL_NUMBER, OVERLOAD, PHASE_MULTI_TURN, REGISTERS, status_text


@dataclass(frozen=True)
class ServoFacts:
    """What was read of one servo for this check.

    Attributes:
        eeprom: counts of ``blocks.EEPROM`` by register.
        control: counts of ``blocks.CONTROL``.
        health: counts of ``blocks.HEALTH``.
        position: present position [step].
        status: error byte of the newest reply.
        time: when it was read (monotonic) [s].
    """

    eeprom: Mapping[str, int]
    control: Mapping[str, int]
    health: Mapping[str, int]
    position: int
    status: int
    time: float


@dataclass(frozen=True)
class ArmingRules:
    """Bounds of the checks.

    Attributes:
        voltage_min: least supply [V].
        voltage_max: greatest supply [V].
        temperature_max: greatest temperature [°C].
        fresh: greatest age of what was read [s].
        outside: how far outside its calibrated range a joint may stand [step]: a servo takes no goal there, so that it moves by
            this much when torque goes on.
        moved: how far a joint may have moved between being looked at and torque [step].
        still: speed up to which a joint may be caught [step/s], 1 rad/s: a limp arm sags, and refusing it would let it fall.
    """

    voltage_min: float = 6.0
    voltage_max: float = 13.5
    temperature_max: float = 60.0
    fresh: float = 1.0
    outside: int = 35
    moved: int = 40
    still: int = 650


def unit_of(facts: Mapping[str, ServoFacts], ids: Mapping[str, int]) -> ArmCalibration:
    """Return what the servos hold as a calibration."""
    values = {
        name: (ids[name], f.eeprom["homing_offset"], f.eeprom["min_position"], f.eeprom["max_position"])
        for name, f in facts.items()
    }
    return calibrations.from_eeprom(values)


def identity(
    arm: str,
    facts: Mapping[str, ServoFacts | None],
    calibration: ArmCalibration,
    known: Mapping[str, ArmCalibration],
    corrupt: Sequence[str] = (),
) -> list[str]:
    """Return why these servos are not the calibrated arm, empty when they are.

    Args:
        arm: its name.
        facts: joint name → what was read, None where the servo did not answer.
        calibration: the arm's file.
        known: files of all arms, to tell a swapped one.
        corrupt: joints whose IDs gave replies that collide.
    """
    ids = {joint.name: joint.id for joint in calibration.joints}
    there = {name: f for name, f in facts.items() if f is not None}
    gone = [name for name in facts if name not in there]
    found = []
    if gone:
        listed = ", ".join(f"{name} (ID {ids[name]})" for name in gone)
        remedy = "check its cable and the supply, then ./teleop arm ping"
        doubled = sorted(set(corrupt))
        if doubled:
            names = ", ".join(f"{name} (ID {ids[name]})" for name in doubled)
            remedy = f"what {names} says is garbled: two servos may have that ID; connect one alone and use ./teleop arm id"
        found.append(f"servos of '{arm}': got no answer from {listed}, allowed all {len(facts)}; {remedy}")
    for name, f in there.items():
        if f.eeprom["model_number"] != MODEL_NUMBER:
            got = f.eeprom["model_number"]
            found.append(f"model of '{name}': got {got}, allowed {MODEL_NUMBER} (STS3215); this is another servo")
    versions = {name: (f.eeprom["firmware_major"], f.eeprom["firmware_minor"]) for name, f in there.items()}
    if len(set(versions.values())) > 1:
        listed = ", ".join(f"{name} {major}.{minor}" for name, (major, minor) in versions.items())
        found.append(f"firmware of '{arm}': got {listed}, allowed one version for all; update them with the vendor's program")
    if gone:
        return found
    unit = unit_of(there, ids)
    different = calibrations.differences(calibration, unit)
    if different:
        owner = calibrations.whose(unit, {name: c for name, c in known.items() if name != arm})
        if owner is not None:
            found.append(f"calibration of '{arm}': got the servos of '{owner}', allowed its own; the two ports are swapped")
        else:
            text = calibrations.table(different).replace("\n", "\n  ")
            found.append(
                f"calibration of '{arm}': got servos that hold other values, allowed those of {calibration.source or 'its file'};"
                f" compare, then ./teleop arm calibrate\n  {text}"
            )
    return found


def readiness(
    arm: str, facts: Mapping[str, ServoFacts], calibration: ArmCalibration, rules: ArmingRules, now: float
) -> list[str]:
    """Return why torque may not go on now, empty when it may; the arm is known to be the right one.

    Args:
        arm: its name.
        facts: joint name → what was read.
        calibration: the arm's file.
        rules: bounds.
        now: monotonic clock [s].
    """
    found = []
    old = [name for name, f in facts.items() if now - f.time > rules.fresh]
    if old:
        found.append(f"reading of '{arm}': got {', '.join(old)} older than {rules.fresh:g} s, allowed a fresh one; ask again")
    for name, f in facts.items():
        found += _servo(name, f, rules)
        joint = calibration.joint(name)
        low, high = joint.range_min - rules.outside, joint.range_max + rules.outside
        if not low <= f.position <= high:
            found.append(
                f"position of '{name}': got {f.position} ticks, allowed {joint.range_min} to {joint.range_max}; with torque off "
                "turn it back into its range by hand, or calibrate the arm anew"
            )
    return found


def moving(position: int, velocity: int, seen: int, rules: ArmingRules) -> str:
    """Return how a joint moves just before torque goes on, empty when it stands.

    Args:
        position: where it is [step].
        velocity: its speed [step/s].
        seen: where it was when it was looked at [step].
        rules: bounds.
    """
    if abs(position - seen) > rules.moved:
        return f"motion by {position - seen} ticks meanwhile (allowed ±{rules.moved}; keep the arm still)"
    if abs(velocity) > rules.still:
        return f"motion at {velocity} ticks/s (allowed ±{rules.still}; keep the arm still)"
    return ""


def _servo(name: str, f: ServoFacts, rules: ArmingRules) -> list[str]:
    found = []
    volts = f.health["present_voltage"] * REGISTERS["present_voltage"].scale
    low = max(rules.voltage_min, f.eeprom["min_voltage"] * 0.1)
    high = min(rules.voltage_max, f.eeprom["max_voltage"] * 0.1)
    if not low <= volts <= high:
        found.append(f"supply of '{name}': got {volts:.1f} V, allowed {low:.1f} to {high:.1f} V; check supply and cable")
    heat, hottest = f.health["present_temperature"], min(rules.temperature_max, f.eeprom["max_temperature"])
    if heat > hottest:
        found.append(f"temperature of '{name}': got {heat} °C, allowed {hottest:g} °C; let it cool")
    if f.eeprom["mode"]:
        found.append(f"mode of '{name}': got {f.eeprom['mode']}, allowed 0 (position); ./teleop arm calibrate sets it")
    if f.eeprom["phase"] & PHASE_MULTI_TURN:
        found.append(f"phase of '{name}': got multi-turn feedback, allowed single-turn; ./teleop arm calibrate sets it")
    latched = f.status | f.health["status"]
    if latched & OVERLOAD:
        found.append(
            f"status of '{name}': got {status_text(latched)} latched, allowed none; take the load off the joint, ask for torque "
            "off, then on again; if it stays, switch the supply off and on"
        )
    return found
