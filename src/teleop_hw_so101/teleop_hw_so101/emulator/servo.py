"""One emulated STS3215: the semantics of its registers. Pure; the bus brings instructions, the arm's dynamics bring sensations.

Not modelled, because nobody has published how it behaves: register ``angular_resolution``, reversed directions in ``phase``,
and the factory registers. They are stored and have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from teleop_hw_so101.emulator.loop import Loop, speed_unit
from teleop_hw_so101.emulator.protection import OVERLOAD_CLEARS, Protection, Sensed
from teleop_hw_so101.registers import PHASE_MULTI_TURN, REGISTERS, STEPS_PER_TURN, TABLE, Register

_MIDDLE = 2048
_SET_MIDDLE = 128  # written to ``torque_enable``: let the present position read 2048
_STEP_MODE = 3
DEAD_BELOW = 4.5  # [V], supply at which the servo's processor stops; assumed
BOOT_TIME = 0.1  # [s] from supply to first answer; assumed


@cache
def _within(address: int, length: int) -> tuple[Register, ...]:
    """Return the registers that have a byte among ``length`` from ``address`` on."""
    return tuple(r for r in TABLE if r.address < address + length and r.address + r.size > address)


class Servo:
    """One servo.

    Attributes:
        alive: the supply is there and the servo has booted.
        duty: share of the supply that the bridge puts on the motor now [-1 to 1].
        sensed: what its sensors gave last.
        protection: what it protects itself from.
        overload_clears: what clears a latched overload, one of ``OVERLOAD_CLEARS``.
        goal_written: time of the last goal write [s], or None.
    """

    def __init__(self, number: int, eeprom: Iterable[tuple[str, int]] = (), overload_clears: str = OVERLOAD_CLEARS[0]) -> None:
        """Make a servo as it comes from the shop, with ``number`` as ID and ``eeprom`` (name, count) written to it."""
        self._rom = {register.name: register.default for register in TABLE} | {"id": number} | dict(eeprom)
        self.overload_clears = overload_clears
        self.sensed = Sensed()
        self._dark_until: float | None = None
        self._unplugged = False
        self._step_goal: float | None = None
        self.goal_written: float | None = None
        self._power_on()

    # ---- supply

    def _power_on(self) -> None:
        """Boot: RAM takes its defaults, EEPROM what was written while unlocked, the count of turns is lost."""
        self._counts = dict(self._rom)
        self._counts["torque_limit"] = self.get("max_torque")
        self.alive, self.duty, self.goal_written = True, 0.0, None
        self.protection, self.loop = Protection(), Loop()
        self._turn_origin = self.sensed.angle // STEPS_PER_TURN * STEPS_PER_TURN
        self._held: tuple[int, bytes] | None = None
        self._step_goal = None

    def boot(self, sensed: Sensed) -> None:
        """Switch on with the shaft where ``sensed`` says."""
        self.sensed = sensed
        self._power_on()

    def burn(self, name: str, count: int) -> None:
        """Write a register and its EEPROM cell, as another tool did while nobody looked."""
        self._counts[name] = self._rom[name] = count

    def unplug(self, out: bool) -> None:
        """Pull the servo's plug, or put it back."""
        self._unplugged = out

    def _supply(self, now: float) -> None:
        if self._unplugged or self.sensed.volts < DEAD_BELOW:
            self.alive, self.duty = False, 0.0
            self._dark_until = None
        elif not self.alive:
            if self._dark_until is None:
                self._dark_until = now + BOOT_TIME
            elif now >= self._dark_until:
                self._power_on()

    # ---- registers

    def get(self, name: str) -> int:
        """Return the stored count of a register that is not measured."""
        return self._counts[name]

    @property
    def id(self) -> int:
        """The ID it answers to."""
        return self.get("id")

    @property
    def status(self) -> int:
        """Error byte of its answers."""
        return self.protection.status

    @property
    def torque_on(self) -> bool:
        """Whether the motor is driven."""
        return self.alive and self.get("torque_enable") == 1

    @property
    def led(self) -> bool:
        """Whether its alarm LED is lit."""
        return self.alive and bool(self.protection.status & self.get("led_alarm"))

    def _turns(self) -> int:
        """Return the encoder's count since power-on, turns included, homing offset not yet applied [step]."""
        return int((self.sensed.angle - self._turn_origin) // 1)

    def present_position(self) -> int:
        """Return the position as the register tells it [step]."""
        shifted = self._turns() - self.get("homing_offset")
        return shifted if self.get("phase") & PHASE_MULTI_TURN else shifted % STEPS_PER_TURN

    def goal_position(self) -> int:
        """Return the goal that acts: the written one, held within the position limits [step]."""
        goal, low, high = self.get("goal_position"), self.get("min_position"), self.get("max_position")
        # both limits at 0 lift them, for turning on and on
        return goal if low == high == 0 else min(max(goal, low), high)

    def _count(self, register: Register) -> int:
        """Return what a register reads now, measured ones included, held within what it can hold."""
        sensed, name = self.sensed, register.name
        if name == "present_position":
            count = self.present_position()
        elif name == "present_velocity":
            count = round(sensed.speed / speed_unit(self.get("phase")))
        elif name == "present_load":
            count = round(self.duty * 1000.0)
        elif name == "present_voltage":
            count = round(sensed.volts * 10.0)
        elif name == "present_temperature":
            count = round(sensed.celsius)
        elif name == "present_current":
            count = round(abs(sensed.current) / register.scale)
        elif name == "moving":
            count = int(abs(sensed.speed) > max(self.get("moving_threshold"), 1) * speed_unit(self.get("phase")))
        elif name == "status":
            count = self.protection.status
        elif name == "async_flag":
            count = int(self._held is not None)
        else:
            return self._counts[name]
        most = (1 << (8 * register.size if register.sign_bit is None else register.sign_bit)) - 1
        return min(max(count, 0 if register.sign_bit is None else -most), most)

    def read(self, address: int, length: int) -> bytes:
        """Return ``length`` bytes from ``address``; cells between registers and beyond the table are 0."""
        found = bytearray(length + 2)  # room for the second byte of a word that is read in part
        for register in _within(address, length):
            for offset, byte in enumerate(register.encode(self._count(register)), register.address - address):
                if offset >= 0:
                    found[offset] = byte
        return bytes(found[:length])

    def write(self, address: int, data: bytes, now: float) -> None:
        """Write ``data`` from ``address`` on at ``now`` [s]; read-only registers keep their value.

        A word that is written in part keeps its other byte. EEPROM takes effect at once; it outlives the power only when
        written with ``lock`` at 0.
        """
        for register in _within(address, len(data)):
            if not register.writable:
                continue
            cells = bytearray(register.encode(self._counts[register.name]))
            for offset in range(register.size):
                place = register.address + offset - address
                if 0 <= place < len(data):
                    cells[offset] = data[place]
            count = register.decode(cells)
            count = min(max(count, register.minimum), register.maximum)
            self._take(register, count, now)

    def _take(self, register: Register, count: int, now: float) -> None:
        name = register.name
        if name == "torque_enable":
            self._torque(count)
            return
        before = self.present_position()
        self._counts[name] = count
        if register.eeprom and self.get("lock") == 0:
            self._rom[name] = count
        if name == "goal_position":
            self.goal_written = now
            if self.get("mode") == _STEP_MODE:
                self._step_goal = (before if self._step_goal is None else self._step_goal) + count
            # as measured on real ones: a goal turns torque on by itself, whatever the register said
            self._torque(1)
        elif name in ("homing_offset", "phase", "mode"):
            self.loop.rest()
            self._step_goal = None

    def _torque(self, count: int) -> None:
        if count == _SET_MIDDLE:
            offset = (self._turns() - _MIDDLE + STEPS_PER_TURN // 2) % STEPS_PER_TURN - STEPS_PER_TURN // 2
            self._take(REGISTERS["homing_offset"], max(offset, REGISTERS["homing_offset"].minimum), 0.0)
            return
        on = count == 1
        if not on:
            self._step_goal = None
            if self.overload_clears == "torque_off":
                self.protection.clear_latched()
        if on != (self.get("torque_enable") == 1):
            self.loop.rest()
        self._counts["torque_enable"] = int(on)

    def hold_back(self, address: int, data: bytes) -> None:
        """Keep a write until ``action`` (REG WRITE)."""
        self._held = address, data

    def action(self, now: float) -> None:
        """Do the write that was held back, if there is one (ACTION)."""
        if self._held is not None:
            held, self._held = self._held, None
            self.write(*held, now)

    # ---- control

    def step(self, sensed: Sensed, now: float, dt: float) -> float:
        """Take the sensations of the last period, control for one more, and return the duty on the motor [-1 to 1].

        Args:
            sensed: what the sensors give.
            now: time [s].
            dt: control period [s].
        """
        self.sensed = sensed
        self._supply(now)
        if not self.alive:
            return 0.0
        self.protection.step(self.get, sensed, self.duty, dt)
        if self.get("torque_enable") != 1:
            self.duty = 0.0
            return 0.0
        present = self.present_position()
        goal = float(self.goal_position())
        if self.get("mode") == _STEP_MODE:
            goal = present if self._step_goal is None else self._step_goal
        asked = self.loop.duty(self.get, goal, present, sensed.speed, dt)
        limit = min(self.get("torque_limit") * REGISTERS["torque_limit"].scale, self.protection.ceiling(self.get))
        self.duty = min(max(asked, -limit), limit)
        return self.duty
