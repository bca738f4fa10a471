"""What is read of an arm's servos: everything of each, all their motion, or one's rest; what comes goes into the core."""

from __future__ import annotations

from contextlib import AbstractContextManager

from teleop_hw_so101 import blocks
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.arming import ServoFacts
from teleop_hw_so101.blocks import CONTROL, HEALTH, MOTION
from teleop_hw_so101.feetech_bus import Counts, FeetechBus
from teleop_hw_so101.registers import REGISTERS
from teleop_hw_so101.rotation import Turn
from teleop_hw_so101.samples import Slow

_VOLT, _AMPERE, _LOAD = (REGISTERS[f"present_{name}"].scale for name in ("voltage", "current", "load"))


class Readings:
    """Reads one arm."""

    def __init__(self, core: ArmCore, lock: AbstractContextManager[object], patience: float) -> None:
        """Read nothing yet.

        Args:
            core: state of the arm.
            lock: held while the core is touched.
            patience: longest silence before a reply when everything is read [s].
        """
        self._core, self._lock, self._patience = core, lock, patience

    def facts(self, bus: FeetechBus) -> tuple[dict[str, ServoFacts | None], list[str]]:
        """Read everything of every servo; returns it with the joints whose replies were garbled."""
        facts: dict[str, ServoFacts | None] = {}
        garbled = []
        for name, servo in zip(self._core.config.joints, self._core.config.ids):
            before = bus.counts.get(servo, Counts()).corrupt
            with bus.patiently(self._patience):
                facts[name] = blocks.facts(bus, servo)
            if facts[name] is None and bus.counts[servo].corrupt > before:
                garbled.append(name)
        return facts, garbled

    def motion(self, bus: FeetechBus, probe: bool = True) -> None:
        """Read all servos' motion; those that have been silent for long are asked at the probing rate alone."""
        servos, patience = self._core.samples.servos, self._core.config.degraded_misses
        asked = [i for i, servo in zip(self._core.config.ids, servos) if servo.misses < patience]
        found = bus.sync_read(asked, *MOTION) if asked else {}
        for servo in set(self._core.config.ids) - set(asked) if probe else ():
            back = bus.read(servo, *MOTION)
            if back is not None:
                found[servo] = back
        now = bus.stream.now()
        back_again = []
        with self._lock:
            for index, ident in enumerate(self._core.config.ids):
                if ident in found:
                    reply, m = found[ident]
                    load = m["present_load"] * _LOAD
                    self._core.samples.take_motion(
                        index, m["present_position"], m["present_velocity"], load, reply.status, reply.time
                    )
                    if self._core.samples.servos[index].suspect:
                        back_again.append(index)
                elif ident in asked or probe:
                    self._core.samples.miss(index, now)
            self._core.tally.motions += 1
            self._core.tally.reads += len(found) == len(self._core.config.ids)
            self._core.took_motion(min((reply.time for reply, _ in found.values()), default=None))
        for index in back_again if self._core.connected else ():
            self.slow(bus, Turn(index, health=False))

    def slow(self, bus: FeetechBus, turn: Turn) -> None:
        """Read what changes slowly of one servo, or its torque switch; nothing when it does not answer."""
        found = bus.read(self._core.config.ids[turn.index], *(HEALTH if turn.health else CONTROL))
        if found is None:
            return
        reply, values = found
        with self._lock:
            if turn.health:
                slow = Slow(
                    values["present_voltage"] * _VOLT,
                    float(values["present_temperature"]),
                    values["present_current"] * _AMPERE,
                    reply.time,
                )
                self._core.samples.take_slow(turn.index, slow, reply.status | values["status"])
            else:
                self._core.took_torque(turn.index, bool(values["torque_enable"]), values["goal_position"])
