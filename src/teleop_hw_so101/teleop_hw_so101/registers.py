"""The control table of the STS3215 servo: one place for addresses, sizes, signs, units and access.

Words are little-endian. Signed values are sign and magnitude: a bit of its own says "negative", the rest is the amount.
Sources: the vendor's memory table of the ST3215 and the tables that published clients of this servo agree on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

MODEL_NUMBER = 777  # STS3215
STEPS_PER_TURN = 4096


@dataclass(frozen=True)
class Register:
    """One entry of the control table.

    Attributes:
        name: its name.
        address: address of its first byte.
        size: bytes, 1 or 2.
        unit: what one count is, in words; empty for a bare number.
        scale: value of one count in SI units (V, A, °C, s, 1) or in steps.
        sign_bit: bit that says "negative", or None for a value that has no sign.
        eeprom: survives power-off; written only while ``lock`` is 0.
        writable: may be written.
        default: value after a factory reset.
        minimum: least accepted count.
        maximum: largest accepted count.
    """

    name: str
    address: int
    size: int
    unit: str = ""
    scale: float = 1.0
    sign_bit: int | None = None
    eeprom: bool = False
    writable: bool = True
    default: int = 0
    minimum: int = 0
    maximum: int = 0xFFFF

    def encode(self, count: int) -> bytes:
        """Return ``count`` as the bytes on the wire.

        Raises:
            ValueError: it does not fit.
        """
        raw = count
        if self.sign_bit is not None:
            largest = (1 << self.sign_bit) - 1
            if abs(count) > largest:
                raise ValueError(f"register '{self.name}': got {count}, allowed ±{largest}; wrap or clamp it first")
            raw = abs(count) | (1 << self.sign_bit if count < 0 else 0)
        if not 0 <= raw < 1 << (8 * self.size):
            raise ValueError(f"register '{self.name}': got {count}, allowed 0 to {(1 << (8 * self.size)) - 1}")
        return raw.to_bytes(self.size, "little")

    def decode(self, data: Sequence[int] | bytes) -> int:
        """Return the count that the first ``size`` bytes of ``data`` mean."""
        raw = int.from_bytes(bytes(data[: self.size]), "little")
        if self.sign_bit is None:
            return raw
        magnitude = raw & ((1 << self.sign_bit) - 1)
        return -magnitude if raw >> self.sign_bit & 1 else magnitude


def _rom(name: str, address: int, size: int, default: int, maximum: int, **more: object) -> Register:
    return Register(name, address, size, eeprom=True, default=default, maximum=maximum, **more)  # type: ignore[arg-type]


def _ram(name: str, address: int, size: int, default: int, maximum: int, **more: object) -> Register:
    return Register(name, address, size, default=default, maximum=maximum, **more)  # type: ignore[arg-type]


def _seen(name: str, address: int, size: int, **more: object) -> Register:
    return Register(name, address, size, writable=False, **more)  # type: ignore[arg-type]


TABLE: tuple[Register, ...] = (
    # EEPROM
    _seen("firmware_major", 0, 1, eeprom=True, default=3),
    _seen("firmware_minor", 1, 1, eeprom=True, default=10),
    _seen("model_number", 3, 2, eeprom=True, default=MODEL_NUMBER),
    _rom("id", 5, 1, 1, 253),
    _rom("baud_rate", 6, 1, 0, 7, unit="index of BAUD_RATES"),
    _rom("return_delay", 7, 1, 0, 254, unit="2 µs", scale=2e-6),
    _rom("response_level", 8, 1, 1, 1, unit="1 answers all, 0 only ping and read"),
    _rom("min_position", 9, 2, 0, 4095, unit="step"),
    _rom("max_position", 11, 2, 4095, 4095, unit="step"),
    _rom("max_temperature", 13, 1, 70, 100, unit="°C"),
    _rom("max_voltage", 14, 1, 140, 254, unit="0.1 V", scale=0.1),
    _rom("min_voltage", 15, 1, 40, 254, unit="0.1 V", scale=0.1),
    _rom("max_torque", 16, 2, 1000, 1000, unit="0.1 %", scale=1e-3),
    _rom("phase", 18, 1, 12, 254, unit="bits, see PHASE_*"),
    _rom("unloading_condition", 19, 1, 44, 254, unit="status bits"),
    _rom("led_alarm", 20, 1, 47, 254, unit="status bits"),
    _rom("p_gain", 21, 1, 32, 254),
    _rom("d_gain", 22, 1, 32, 254),
    _rom("i_gain", 23, 1, 0, 254),
    _rom("min_start_force", 24, 2, 16, 1000, unit="0.1 %", scale=1e-3),
    _rom("dead_zone_cw", 26, 1, 1, 32, unit="step"),
    _rom("dead_zone_ccw", 27, 1, 1, 32, unit="step"),
    _rom("protection_current", 28, 2, 500, 511, unit="6.5 mA", scale=6.5e-3),
    _rom("angular_resolution", 30, 1, 1, 3),
    _rom("homing_offset", 31, 2, 0, 2047, unit="step", sign_bit=11, minimum=-2047),
    _rom("mode", 33, 1, 0, 3, unit="0 position, 1 speed, 2 PWM, 3 step"),
    _rom("protective_torque", 34, 1, 20, 100, unit="%", scale=0.01),
    _rom("protection_time", 35, 1, 200, 254, unit="10 ms", scale=0.01),
    _rom("overload_torque", 36, 1, 80, 100, unit="%", scale=0.01),
    _rom("velocity_p_gain", 37, 1, 10, 254),
    _rom("over_current_time", 38, 1, 200, 254, unit="10 ms", scale=0.01),
    _rom("velocity_i_gain", 39, 1, 10, 254),
    # RAM
    _ram("torque_enable", 40, 1, 0, 128, unit="0 off, 1 on, 128 make this position read 2048"),
    _ram("acceleration", 41, 1, 0, 254, unit="100 step/s², 0 without limit", scale=100.0),
    _ram("goal_position", 42, 2, 0, 32767, unit="step", sign_bit=15, minimum=-32767),
    _ram("goal_time", 44, 2, 0, 1000, unit="PWM in mode 2", sign_bit=10, minimum=-1000),
    _ram("goal_velocity", 46, 2, 0, 32767, unit="step/s", sign_bit=15, minimum=-32767),
    _ram("torque_limit", 48, 2, 1000, 1000, unit="0.1 %", scale=1e-3),
    _ram("lock", 55, 1, 1, 1, unit="0 EEPROM may be written"),
    _seen("present_position", 56, 2, unit="step", sign_bit=15),
    _seen("present_velocity", 58, 2, unit="step/s", sign_bit=15),
    _seen("present_load", 60, 2, unit="0.1 %", scale=1e-3, sign_bit=10),
    _seen("present_voltage", 62, 1, unit="0.1 V", scale=0.1),
    _seen("present_temperature", 63, 1, unit="°C"),
    _seen("async_flag", 64, 1),
    _seen("status", 65, 1, unit="status bits"),
    _seen("moving", 66, 1),
    _seen("present_current", 69, 2, unit="6.5 mA", scale=6.5e-3, sign_bit=15),
    # factory
    _seen("moving_threshold", 80, 1, eeprom=True),
    _rom("max_velocity", 84, 1, 0, 254),
    _rom("max_acceleration", 85, 1, 0, 254, unit="100 step/s²", scale=100.0),
    _seen("acceleration_multiplier", 86, 1, eeprom=True, default=1),
)
REGISTERS = MappingProxyType({register.name: register for register in TABLE})
TABLE_SIZE = 87  # bytes, addresses 0 to 86
BAUD_RATES = (1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400)

# bits of register ``phase``
PHASE_SPEED_ZERO_IS_MAX = 0x08
PHASE_MULTI_TURN = 0x10

# bits of a status packet's error byte and of register ``status``, in words
STATUS_BITS = MappingProxyType(
    {0x01: "voltage", 0x02: "encoder", 0x04: "temperature", 0x08: "current", 0x10: "angle", 0x20: "overload"}
)
OVERLOAD = 0x20


def status_text(status: int) -> str:
    """Return the set bits of a status byte in words, empty when there is none."""
    names = [name for bit, name in STATUS_BITS.items() if status & bit]
    rest = status & ~sum(STATUS_BITS)
    return ", ".join(names + ([f"unknown 0x{rest:02x}"] if rest else []))


def span(*names: str) -> tuple[int, int]:
    """Return first address and length of the block that holds the registers ``names``."""
    chosen = [REGISTERS[name] for name in names]
    first = min(r.address for r in chosen)
    return first, max(r.address + r.size for r in chosen) - first


def unpack(names: Sequence[str], data: bytes) -> dict[str, int]:
    """Return the counts of ``names`` from ``data``, read from the first address of their ``span``."""
    first, _ = span(*names)
    return {name: REGISTERS[name].decode(data[REGISTERS[name].address - first :]) for name in names}
