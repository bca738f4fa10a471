"""Faults, as lines of words or as a YAML script: what happens to which servo of which arm, when and how often.

One fault a line, for instance ``corrupt left share=0.02 for=10`` or ``gone right id=3``; in a script the same keys, with ``at``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from teleop_common import yamlfile
from teleop_common.errors import ConfigError
from teleop_common.yamlfile import Table
from teleop_hw_so101.registers import REGISTERS

# damage to single replies, or to requests, while they are on the wire
WIRE = MappingProxyType(
    {
        "lose": "the reply never comes",
        "corrupt": "one bit of the reply is flipped",
        "late": "the reply comes `value` seconds late (default 0.02)",
        "double": "one byte of the reply comes twice",
        "cut": "the reply ends in its middle",
        "garble": "one bit of the request is flipped, so that its servo does not hear it",
    }
)
# what happens to arms, servos and joints
WORLD = MappingProxyType(
    {
        "gone": "the servo's plug is pulled",
        "back": "the servo's plug is put back",
        "brownout": "the supply falls to `value` volts (default 3) for `for` seconds (default 0.2)",
        "supply": "the supply gives `value` volts from now on",
        "unplug": "the arm's USB port is pulled",
        "replug": "the arm's USB port is put back",
        "stick": "the joint jams; with `for`, for so long",
        "free": "the jammed joint is free again",
        "seam": "the magnet slips, so that the joint stands `value` steps below the seam of the encoder (default 1)",
        "same_id": "the servo answers to ID `value` as well as its neighbour, from EEPROM",
        "burn": "`register` and its EEPROM hold `value`, as if another tool had written it",
        "heat": "the servo is `value` °C warm (default 70)",
        "overload": "the servo latches an overload",
        "push": "somebody pushes the joint with `value` Nm; with `for`, for so long",
        "calm": "all damage on the arm's wire ends",
    }
)
KINDS = MappingProxyType({**WIRE, **WORLD})
_DEFAULTS = MappingProxyType(
    {"late": 0.02, "brownout": 3.0, "supply": 12.0, "seam": 1.0, "same_id": 1.0, "heat": 70.0, "push": 0.5}
)
_REGISTERS = tuple(name for name, register in REGISTERS.items() if register.eeprom)
_WORDS = ("arm", "register")  # keys whose value is text
_FOR = MappingProxyType({"brownout": 0.2})


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: one of ``KINDS``.
        arm: name of the arm; empty: every arm.
        id: number of the servo by its place in the arm, 1 at the base; 0: every servo.
        at: when [s since the emulator's start].
        share: of the replies that are damaged [0 to 1].
        count: damage that many, then stop; None: no end.
        duration: for so long [s]; None: no end.
        value: the number that some kinds need.
        register: name of the register for ``burn``.
    """

    kind: str
    arm: str = ""
    id: int = 0
    at: float = 0.0
    share: float = 1.0
    count: int | None = None
    duration: float | None = None
    value: float = 0.0
    register: str = ""


def _fault(table: Table) -> Fault:
    kind = table.text("fault", choices=tuple(KINDS))
    count, duration = table.raw("count", None), table.raw("for", _FOR.get(kind))
    fault = Fault(
        kind,
        table.text("arm", ""),
        int(table.number("id", 0, 253, 0)),
        table.number("at", 0.0, 1e6, 0.0),
        table.number("share", 0.0, 1.0, 1.0),
        None if count is None else int(table.number("count", 1, 1e9)),
        None if duration is None else table.number("for", 0.0, 1e6, duration),
        table.number("value", -1e5, 1e5, _DEFAULTS.get(kind, 0.0)),
        table.text("register", choices=_REGISTERS) if kind == "burn" else "",
    )
    table.done()
    name = {"burn": fault.register, "same_id": "id"}.get(kind)
    if name:
        try:
            REGISTERS[name].encode(int(fault.value))
        except ValueError as error:
            raise table.error("value", fault.value, f"a count that register '{name}' can hold") from error
    return fault


def parse(words: str, source: str = "command") -> Fault:
    """Return the fault that one line says: ``KIND [ARM] [key=value ...]``.

    Raises:
        ConfigError: names what cannot be.
    """
    parts = words.split()
    data: dict[str, Any] = {"fault": parts[0] if parts else ""}
    for part in parts[1:]:
        key, separator, text = part.partition("=")
        if not separator:
            key, text = "arm", part
        if key in data:
            raise ConfigError("key", key, text, "each key once", "mend the line", source)
        try:
            data[key] = text if key in _WORDS else float(text)
        except ValueError as error:
            raise ConfigError("key", key, text, "a number", "mend the line", source) from error
    return _fault(Table(data, source))


def load(path: str | Path, arms: Sequence[str]) -> tuple[Fault, ...]:
    """Read a script: a mapping with the list ``faults``.

    Raises:
        ConfigError: names the key that cannot be, or an arm that is not emulated.
    """
    top = yamlfile.read(path)
    faults = tuple(sorted((_fault(table) for table in top.tables("faults")), key=lambda fault: fault.at))
    top.done()
    for fault in faults:
        check_arm(fault, arms, str(path))
    return faults


def check_arm(fault: Fault, arms: Sequence[str], source: str = "command") -> None:
    """Check that the arm of ``fault`` is there.

    Raises:
        ConfigError: it is not.
    """
    if fault.arm and fault.arm not in arms:
        raise ConfigError("arm", fault.arm, fault.kind, "one of " + ", ".join(arms), "name an arm that is emulated", source)


class Damage:
    """What the wire of one arm does to packets now.

    Attributes:
        done: count of damaged packets, by kind.
    """

    def __init__(self, seed: str) -> None:
        """Start with a sound wire; ``seed`` decides every chance."""
        self._random = random.Random(seed)
        self._active: list[Fault] = []
        self.done = dict.fromkeys(WIRE, 0)

    def add(self, fault: Fault, now: float) -> None:
        """Begin a fault of ``WIRE`` at ``now`` [s]."""
        self._active.append(replace(fault, at=now))

    def calm(self) -> None:
        """End all damage."""
        self._active.clear()

    def jitter(self, most: int) -> int:
        """Return a chance number of bits from 0 to ``most``, by which a servo answers late."""
        return self._random.randint(0, most)

    def request(self, data: bytes, now: float) -> bytes:
        """Return the request as servos hear it."""
        return self._flip(data) if self._hits("garble", 0, now) else data

    def reply(self, number: int, data: bytes, now: float) -> tuple[float, bytes]:
        """Return by how much the reply of servo ``number`` is late [s], and its bytes, empty when lost."""
        if self._hits("lose", number, now):
            return 0.0, b""
        if self._hits("corrupt", number, now):
            data = self._flip(data)
        if self._hits("double", number, now):
            at = self._random.randrange(len(data))
            data = data[:at] + data[at : at + 1] + data[at:]
        if self._hits("cut", number, now):
            data = data[: self._random.randrange(1, len(data))]
        late = self._hits("late", number, now)
        return (late.value if late else 0.0), data

    def _flip(self, data: bytes) -> bytes:
        at, bit = self._random.randrange(len(data)), self._random.randrange(8)
        return data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1 :]

    def _hits(self, kind: str, number: int, now: float) -> Fault | None:
        for index, fault in enumerate(self._active):
            if fault.kind != kind or (fault.id and number and fault.id != number):
                continue
            if fault.duration is not None and now > fault.at + fault.duration:
                continue
            if fault.share < 1.0 and self._random.random() >= fault.share:
                continue
            if fault.count is not None:
                if fault.count == 0:
                    continue
                self._active[index] = replace(fault, count=fault.count - 1)
            self.done[kind] += 1
            return fault
        return None
