"""When a servo protects itself: overload, over-current, heat and supply out of range. Pure; times are handed in.

Limits are those of the control table. What a latched overload takes to clear is not documented; see ``OVERLOAD_CLEARS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from teleop_hw_so101.registers import OVERLOAD, REGISTERS

VOLTAGE, ENCODER, TEMPERATURE, CURRENT = 0x01, 0x02, 0x04, 0x08
# what clears a latched overload, none of it documented: torque switched off, or only the supply
OVERLOAD_CLEARS = ("torque_off", "power")
_COOLING = 5.0  # [K] below the limit at which a servo counts as cooled; assumed, so that it does not chatter
_LATCHED = OVERLOAD | CURRENT


class Sensed(NamedTuple):
    """What a servo's sensors give.

    Attributes:
        angle: of the magnet on the output shaft, over all turns [step]; a 12-bit encoder sees it modulo one turn.
        speed: [step/s].
        current: of the motor [A], signed.
        volts: supply [V].
        celsius: temperature of the case [°C].
    """

    angle: float = 2048.0
    speed: float = 0.0
    current: float = 0.0
    volts: float = 12.0
    celsius: float = 25.0


@dataclass
class Protection:
    """Protection of one servo.

    Attributes:
        status: bits as in register ``status``.
    """

    status: int = 0
    _overloaded: float = 0.0
    _over_current: float = 0.0

    def step(self, get: Callable[[str], int], sensed: Sensed, duty: float, dt: float) -> None:
        """Judge a period of ``dt`` [s] in which the bridge was driven with ``duty`` [-1 to 1].

        Args:
            get: value of a register by name [count].
            sensed: what the sensors gave.
            duty: share of the supply on the motor.
            dt: length of the period [s].
        """
        self._overloaded = self._overloaded + dt if abs(duty) * 100.0 > get("overload_torque") else 0.0
        if self._overloaded > get("protection_time") * REGISTERS["protection_time"].scale:
            self.status |= OVERLOAD
        limit = get("protection_current") * REGISTERS["protection_current"].scale
        self._over_current = self._over_current + dt if abs(sensed.current) > limit else 0.0
        if self._over_current > get("over_current_time") * REGISTERS["over_current_time"].scale:
            self.status |= CURRENT
        hottest = get("max_temperature")
        if sensed.celsius >= hottest:
            self.status |= TEMPERATURE
        elif sensed.celsius < hottest - _COOLING:
            self.status &= ~TEMPERATURE
        tenths = round(sensed.volts * 10.0)
        good = get("min_voltage") <= tenths <= get("max_voltage")
        self.status = self.status & ~VOLTAGE if good else self.status | VOLTAGE

    def ceiling(self, get: Callable[[str], int]) -> float:
        """Return the largest duty that protection leaves [0 to 1]; register ``unloading_condition`` says which faults cut."""
        acting = self.status & get("unloading_condition")
        if acting & (VOLTAGE | TEMPERATURE | CURRENT | ENCODER):
            return 0.0
        return get("protective_torque") / 100.0 if acting & OVERLOAD else 1.0

    def clear_latched(self) -> None:
        """Forget overload and over-current."""
        self.status &= ~_LATCHED
        self._overloaded = self._over_current = 0.0
