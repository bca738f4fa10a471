"""What the tools ask of the servos of one arm: who they are, where they stand, torque, EEPROM. No clock but the line's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teleop_common.errors import TeleopError
from teleop_hw_so101 import blocks
from teleop_hw_so101.arming import ServoFacts, unit_of
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.feetech_bus import FeetechBus
from teleop_hw_so101.registers import PHASE_MULTI_TURN, REGISTERS


class ServoError(TeleopError):
    """A servo does not answer, or does not keep what is written to it."""


@dataclass
class Servos:
    """The servos of one arm.

    Attributes:
        bus: their bus.
        ids: joint name → servo ID, in order.
    """

    bus: FeetechBus
    ids: dict[str, int]

    def facts(self) -> dict[str, ServoFacts | None]:
        """Return all that is read of each joint's servo; None where it does not answer."""
        return {name: blocks.facts(self.bus, ident) for name, ident in self.ids.items()}

    def unit(self) -> ArmCalibration:
        """Return what the servos hold as a calibration.

        Raises:
            ServoError: one does not answer.
        """
        facts = self.facts()
        there = {name: found for name, found in facts.items() if found is not None}
        if len(there) < len(facts):
            raise _silent(name for name in facts if name not in there)
        return unit_of(there, self.ids)

    def positions(self) -> dict[str, int | None]:
        """Return where each joint stands [ticks]; None where a reading was lost."""
        found = self.bus.sync_read(tuple(self.ids.values()), *blocks.MOTION)
        return {name: found[ident][1]["present_position"] if ident in found else None for name, ident in self.ids.items()}

    def standing(self) -> dict[str, int]:
        """Return where every joint stands [ticks].

        Raises:
            ServoError: a reading was lost, again and again.
        """
        found = self.positions()
        lost = [name for name, position in found.items() if position is None]
        if lost:
            raise _silent(lost)
        return {name: position for name, position in found.items() if position is not None}

    def release(self) -> list[str]:
        """Turn torque off, joint by joint; returns those where it is still on or nobody knows."""
        for ident in self.ids.values():
            # a servo that reports an error has obeyed all the same; one that is silent keeps none of the others live
            self.bus.write(ident, "torque_enable", 0)
        return [name for name, on in self.torque().items() if on is not False]

    def torque(self) -> dict[str, bool | None]:
        """Return where torque is on; None: no answer."""
        found = {name: self.bus.read(ident, "torque_enable") for name, ident in self.ids.items()}
        return {name: None if reply is None else reply[1]["torque_enable"] == 1 for name, reply in found.items()}

    def hold(self) -> list[str]:
        """Let every joint hold where it stands; returns those that do not.

        Raises:
            ServoError: a joint does not tell where it stands.
        """
        standing = self.standing()
        # the goal first: torque alone would drive to whatever goal was left there; a goal turns torque on by itself
        self.bus.sync_write("goal_position", {self.ids[name]: position for name, position in standing.items()})
        for ident in self.ids.values():
            self.bus.write(ident, "torque_enable", 1)
        return [name for name, on in self.torque().items() if on is not True]

    def write(self, joint: str, values: Mapping[str, int]) -> None:
        """Write registers of one joint, EEPROM unlocked meanwhile, and read each back.

        Raises:
            ServoError: a value did not arrive.
        """
        ident = self.ids[joint]
        lasting = any(REGISTERS[name].eeprom for name in values)
        if lasting:
            self.bus.write(ident, "lock", 0)
        for name, value in values.items():
            self.bus.write(ident, name, value)
            got = self.bus.read(ident, name)
            if got is None or got[1][name] != value:
                said = "no answer" if got is None else str(got[1][name])
                raise ServoError(
                    f"register '{name}' of '{joint}' (ID {ident}): got {said}, allowed the written {value}; try again"
                )
        if lasting:
            self.bus.write(ident, "lock", 1)

    def prepare(self) -> None:
        """Set up every servo for reading positions of one turn: torque off, position mode, single-turn feedback, no delay.

        Raises:
            ServoError: one does not let go, or does not keep a value.
        """
        if live := self.release():
            raise ServoError(f"torque of {', '.join(live)}: got on or no answer, allowed off; switch the supply off and on")
        for joint, values in self.unprepared().items():
            self.write(joint, values)

    def unprepared(self) -> dict[str, dict[str, int]]:
        """Return what :meth:`prepare` would write to EEPROM, of the joints where that is anything.

        Raises:
            ServoError: one does not answer.
        """
        found: dict[str, dict[str, int]] = {}
        for joint, ident in self.ids.items():
            now = self.bus.read(ident, *blocks.EEPROM)
            if now is None:
                raise _silent([joint])
            wanted = {"mode": 0, "phase": now[1]["phase"] & ~PHASE_MULTI_TURN, "return_delay": 0}
            if changed := {name: value for name, value in wanted.items() if now[1][name] != value}:
                found[joint] = changed
        return found

    def adopt(self, calibration: ArmCalibration) -> None:
        """Write a calibration into EEPROM, torque off.

        Raises:
            ServoError: as :meth:`prepare`, or a value did not arrive.
        """
        self.prepare()
        for joint in calibration.joints:
            values = {"homing_offset": joint.homing_offset, "min_position": joint.range_min, "max_position": joint.range_max}
            self.write(joint.name, values)


def _silent(names: Iterable[str]) -> ServoError:
    listed = ", ".join(names)
    return ServoError(
        f"servos: got no answer from {listed}, allowed one from each; check cable and supply, see ./teleop arm ping"
    )
