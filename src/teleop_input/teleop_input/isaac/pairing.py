"""Joins the channels' records to moments by their time: a side that dropped records does not shift the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from teleop_input.isaac.files import CHANNELS, Timed

DEFAULT_TOLERANCE_NS = 5_000_000
"""Half a frame at 100 Hz: for files too short to tell their own rate."""
_SHOWN = 3


@dataclass
class Pairing:
    """What joining found.

    Attributes:
        steps: channel → record, for each moment; a channel without a record of that moment is absent.
        tolerance_ns: how far records of one moment may be apart: half the usual interval.
        worst_ns: how far they were apart at most.
        missing: channel → moments without its record.
        empty: channel → records without data (inactive devices).
    """

    steps: list[dict[str, Timed]]
    tolerance_ns: int
    worst_ns: int = 0
    missing: dict[str, list[int]] = field(default_factory=dict)
    empty: dict[str, int] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return a report, a line for each channel and one for what had to be repaired."""
        out = []
        for channel, gaps in self.missing.items():
            there = len(self.steps) - len(gaps)
            text = f"{channel}: {there} records, {self.empty[channel]} of them empty"
            if gaps:
                first = ", ".join(str(i) for i in gaps[:_SHOWN]) + (", ..." if len(gaps) > _SHOWN else "")
                text += f"; {len(gaps)} of {len(self.steps)} moments have none (number {first}): they read empty there"
            out.append(text)
        out.append(
            f"records of one moment are {self.worst_ns * 1e-6:.3f} ms apart at most, allowed {self.tolerance_ns * 1e-6:.3f} ms"
        )
        return out


def pair(records: Mapping[str, Sequence[Timed]]) -> Pairing:
    """Join records of one moment.

    Each record goes into exactly one moment, each channel keeps its order. A record joins the moment that the earliest
    of the next records opens, when it is within the tolerance and no later record of the opening channel is nearer.

    Args:
        records: channel → records in order; at least one.
    """
    tolerance = _tolerance(records)
    heads = {c: 0 for c in CHANNELS if c in records}
    out = Pairing([], tolerance, 0, {c: [] for c in heads}, {c: sum(r.record.data is None for r in records[c]) for c in heads})
    while waiting := [c for c in heads if heads[c] < len(records[c])]:
        opener = min(waiting, key=lambda c: records[c][heads[c]].log_ns)
        at = records[opener][heads[opener]].log_ns
        following = _time(records[opener], heads[opener] + 1)
        step = {}
        for channel in heads:
            own = _time(records[channel], heads[channel])
            if channel == opener or (own - at <= tolerance and own - at <= abs(following - own)):
                step[channel] = records[channel][heads[channel]]
                out.worst_ns = max(out.worst_ns, step[channel].log_ns - at)
            else:
                out.missing[channel].append(len(out.steps))
        for channel in step:
            heads[channel] += 1
        out.steps.append(step)
    return out


def _time(rows: Sequence[Timed], index: int) -> float:
    return rows[index].log_ns if index < len(rows) else math.inf


def _tolerance(records: Mapping[str, Sequence[Timed]]) -> int:
    # a quarter of the intervals are shorter than the one taken: it is the device's even where most records are gone
    gaps = sorted(b.log_ns - a.log_ns for rows in records.values() for a, b in zip(rows, rows[1:]) if b.log_ns > a.log_ns)
    return (gaps[len(gaps) // 4] // 2) if gaps else DEFAULT_TOLERANCE_NS
