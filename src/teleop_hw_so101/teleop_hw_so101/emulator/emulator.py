"""Servos, wires, dynamics, faults and log together: the emulator without its terminals. Pure; the server brings the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teleop_common.cell import Cell
from teleop_common.limits import RobotLimits
from teleop_hw_so101.emulator import faults
from teleop_hw_so101.emulator.dynamics import Dynamics, Motor
from teleop_hw_so101.emulator.faults import WIRE, Damage, Fault
from teleop_hw_so101.emulator.log import Log
from teleop_hw_so101.emulator.protection import OVERLOAD_CLEARS
from teleop_hw_so101.emulator.servo import Servo
from teleop_hw_so101.emulator.unit import Unit, all_horns
from teleop_hw_so101.emulator.wire import Bus, Sending
from teleop_hw_so101.registers import OVERLOAD, STEPS_PER_TURN

_BEHIND = 0.05  # [s] of simulated time that is made up for at most in one call
_ENDED = {"brownout": "supply", "stick": "free", "push": "push"}


class Scene(NamedTuple):
    """The state of arms and cubes.

    Attributes:
        time: simulated [s].
        period: length of a physics step [s].
        qpos: generalised positions, in MuJoCo's order and units.
        qvel: generalised velocities, likewise.
        model_hash: of the scene.
    """

    time: float
    period: float
    qpos: list[float]
    qvel: list[float]
    model_hash: str


class Emulator:
    """One or two arms on their buses.

    Attributes:
        arms: their names.
        servos: arm → servos from base to tip.
        buses: arm → its bus.
        dynamics: what is on the horns.
        log: what the servos did.
        pulled: arms whose USB port is pulled.
    """

    def __init__(
        self,
        units: Sequence[Unit],
        cell: Cell,
        limits: RobotLimits,
        *,
        seed: int = 1,
        script: Sequence[Fault] = (),
        log: Log | None = None,
        motor: Motor | None = None,
        cubes_seed: int = 0,
        echo: bool = False,
        latency: float = 0.0,
        overload_clears: str = OVERLOAD_CLEARS[0],
    ) -> None:
        """Switch on.

        Args:
            units: the arms.
            cell: where they stand.
            limits: the robot.
            seed: decides every chance.
            script: faults by time.
            log: where to note; None: in memory.
            motor: of the servos.
            cubes_seed: where the cubes lie.
            echo: adapters hand back what the host sends.
            latency: of the adapters [s].
            overload_clears: what clears a latched overload.
        """
        self.arms = tuple(unit.arm for unit in units)
        self.limits, self.log = limits, log or Log()
        self.dynamics = Dynamics(self.arms, cell, limits, all_horns(units), motor, cubes_seed)
        self.servos: dict[str, tuple[Servo, ...]] = {}
        self.buses: dict[str, Bus] = {}
        self._damage = {arm: Damage(f"{seed}/{arm}/wire") for arm in self.arms}
        count = len(limits.all_joints)
        for unit in units:
            servos = [Servo(index + 1, unit.eeprom(index), overload_clears) for index in range(count)]
            self.servos[unit.arm] = tuple(servos)
            self.buses[unit.arm] = Bus(servos, self._damage[unit.arm], echo=echo, latency=latency)
        self._all = [servo for arm in self.arms for servo in self.servos[arm]]
        for servo, sensed in zip(self._all, self.dynamics.sense(), strict=True):
            servo.boot(sensed)
        self.pulled: set[str] = set()
        self._pending = sorted(script, key=lambda fault: fault.at)
        self._start: float | None = None
        self._stepped = 0.0

    def advance(self, now: float, most: int | None = None) -> int:
        """Do what is due until ``now`` [s], at most ``most`` control periods, and return their number.

        On a machine that is too slow, time beyond 0.05 s is dropped: servos then seem slow, never early.
        """
        if self._start is None:
            self._start = self._stepped = now
        self._stepped = max(self._stepped, now - _BEHIND)
        count, period = 0, self.dynamics.period
        while self._stepped + period <= now + 1e-9 and count != most:
            self._stepped += period
            count += 1
            while self._pending and self._pending[0].at <= self._stepped - self._start:
                self.tell(self._pending.pop(0), self._stepped)
            sensed = self.dynamics.sense()
            duties = [servo.step(own, self._stepped, period) for servo, own in zip(self._all, sensed, strict=True)]
            self.dynamics.step(duties)
            self.log.note(self._stepped, [(arm, self.servos[arm]) for arm in self.arms])
        return count

    @property
    def next_step(self) -> float:
        """When the next control period is due [s]."""
        return self._stepped + self.dynamics.period

    def receive(self, arm: str, data: bytes, now: float, baud: int = 1_000_000) -> list[Sending]:
        """Take bytes that the host sent to ``arm`` at ``now`` [s], at the speed ``baud``; return what it gets back."""
        return [] if arm in self.pulled else self.buses[arm].receive(data, now, baud)

    def position(self, arm: str) -> tuple[float, ...]:
        """Return the joints of ``arm`` as they really stand [rad]."""
        count, place = len(self.limits.all_joints), self.arms.index(arm)
        return tuple(self.dynamics.position[place * count : (place + 1) * count].tolist())

    def scene(self) -> Scene:
        """Return what a renderer needs."""
        data = self.dynamics.data
        return Scene(self.dynamics.time, self.dynamics.period, data.qpos.tolist(), data.qvel.tolist(), self.dynamics.model_hash)

    # ---- faults

    def tell(self, fault: Fault, now: float) -> None:
        """Let ``fault`` happen at ``now`` [s]."""
        faults.check_arm(fault, self.arms)
        self.log.event(now, _words(fault))
        for arm in [fault.arm] if fault.arm else self.arms:
            if fault.duration is not None and fault.kind in _ENDED and self._start is not None:
                value = self.dynamics.volts[self.arms.index(arm)] if fault.kind == "brownout" else 0.0
                end = Fault(_ENDED[fault.kind], arm, fault.id, now - self._start + fault.duration, value=value)
                self._pending = sorted([*self._pending, end], key=lambda later: later.at)
            if fault.kind in WIRE:
                self._damage[arm].add(fault, now)
            else:
                self._happen(arm, fault, now)

    def _happen(self, arm: str, fault: Fault, now: float) -> None:
        kind, first = fault.kind, self.arms.index(arm) * len(self.limits.all_joints)
        if kind == "calm":
            self._damage[arm].calm()
        elif kind == "unplug":
            self.pulled.add(arm)
            self.buses[arm].unplugged()
        elif kind == "replug":
            self.pulled.discard(arm)
        elif kind in ("brownout", "supply"):
            self.dynamics.volts[self.arms.index(arm)] = fault.value
        for place, servo in enumerate(self.servos[arm], 1):
            if fault.id in (0, place):
                self._happen_to(servo, first + place - 1, fault, now)

    def _happen_to(self, servo: Servo, joint: int, fault: Fault, now: float) -> None:
        kind = fault.kind
        if kind in ("gone", "back"):
            servo.unplug(kind == "gone")
        elif kind in ("stick", "free"):
            self.dynamics.stick(joint, kind == "stick")
        elif kind == "push":
            self.dynamics.push(joint, fault.value)
        elif kind == "heat":
            self.dynamics.celsius[joint] = fault.value
        elif kind == "overload":
            servo.protection.status |= OVERLOAD
        elif kind == "same_id":
            servo.burn("id", int(fault.value))
        elif kind == "burn":
            servo.burn(fault.register, int(fault.value))
        elif kind == "seam":
            # the present position becomes 4095 less the distance; the shaft stays where it is
            slip = (STEPS_PER_TURN - fault.value - servo.present_position()) % STEPS_PER_TURN
            self.dynamics.horn[joint] += slip


def _words(fault: Fault) -> str:
    parts = [fault.kind, fault.arm or "all", f"id={fault.id}" if fault.id else ""]
    parts += [f"register={fault.register}" if fault.register else ""]
    parts += [f"value={fault.value:g}" if fault.value else "", f"share={fault.share:g}" if fault.share < 1.0 else ""]
    parts += [f"count={fault.count}" if fault.count is not None else ""]
    parts += [f"for={fault.duration:g}" if fault.duration is not None else ""]
    return " ".join(part for part in parts if part)
