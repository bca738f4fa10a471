"""Where two targets, or two states, differ: to the bit, or by more than a tolerance."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """One place at which recorded and re-simulated values differ.

    Attributes:
        where: path of the field.
        recorded: value in the recording.
        again: value that came out now.
    """

    where: str
    recorded: Any
    again: Any

    def __str__(self) -> str:
        """Return it in words, with the size of the difference between two numbers."""
        text = f"{self.where}: recorded {self.recorded!r}, re-simulated {self.again!r}"
        if isinstance(self.recorded, float) and isinstance(self.again, float):
            text += f", off by {self.again - self.recorded:.3g}"
        return text


class Comparison:
    """Compares records; numbers to the bit where the tolerance is 0.

    Equal fields are equal bytes on the wire, because the encoding follows from the fields alone.

    Attributes:
        tolerance: largest allowed difference of two floating-point numbers [rad, m, s].
        worst: largest difference met so far.
    """

    def __init__(self, tolerance: float = 0.0) -> None:
        """Allow differences up to ``tolerance``."""
        self.tolerance, self.worst = tolerance, 0.0

    def first(self, recorded: Any, again: Any, where: str = "") -> Difference | None:
        """Return the first difference of two values of records, tuples and scalars; None when there is none."""
        if isinstance(recorded, int | float) and isinstance(again, int | float) and float in (type(recorded), type(again)):
            # on the wire a whole number in a float64 field is a float64
            return None if self._same(float(recorded), float(again)) else Difference(where, recorded, again)
        if isinstance(recorded, tuple) and isinstance(again, tuple):
            if len(recorded) != len(again):
                return Difference(f"{where} (length)".strip(), len(recorded), len(again))
            fields = getattr(recorded, "_fields", None)
            for i, (a, b) in enumerate(zip(recorded, again)):
                part = f"{where}.{fields[i]}" if fields else f"{where}[{getattr(a, 'arm', i)}]"
                if found := self.first(a, b, part.lstrip(".")):
                    return found
            return None
        return None if recorded == again else Difference(where, recorded, again)

    def _same(self, a: float, b: float) -> bool:
        if math.isfinite(a) and math.isfinite(b):
            self.worst = max(self.worst, abs(a - b))
            if self.tolerance > 0.0:
                return abs(a - b) <= self.tolerance
        return struct.pack("<d", a) == struct.pack("<d", b)
