"""A re-simulation's outcome in words."""

from __future__ import annotations

import json

from teleop_common.plain import to_plain
from teleop_ik.resim.resimulate import First, Report

EQUAL, DIFFERENT, REFUSED, INCOMPLETE = 0, 1, 2, 3  # exit statuses
_NAMED = 5  # missing messages named per topic


def status(report: Report) -> int:
    """Return the exit status: 0 only when all that could be judged is equal and nothing was missing."""
    if report.differing:
        return DIFFERENT
    return EQUAL if report.equal else INCOMPLETE


def words(report: Report, tolerance: float, seconds: float) -> str:
    """Return the report for people.

    Args:
        report: what was found.
        tolerance: that was allowed; 0 means to the bit.
        seconds: that it took [s].
    """
    how = f"to {tolerance:g}" if tolerance else "to the bit"
    lines = [f"targets: {report.targets} recorded, {report.judged} computed again, {report.differing} differences ({how})"]
    for lost in report.losses:
        lines.append(f"  the bag is not whole: {lost}; close it, or finish a cut session with ./teleop episodes repair")
    if report.early:
        lines.append(f"  {report.early} before the first state from which the recording is whole: not judged")
    if report.repeated:
        lines.append(f"  {report.repeated} recorded twice: counted once")
    for topic, which in report.missing.items():
        more = f" and {len(which) - _NAMED} more" if len(which) > _NAMED else ""
        lines.append(f"  missing on {topic}: {len(which)} ({', '.join(which[:_NAMED])}{more})")
    if report.unjudged:
        lines.append(f"  {report.unjudged} behind a missing message, up to the next recorded state: not judged")
    lines.append(f"states: {report.states} compared")
    lines.append(f"the node itself refused {report.duplicates} repeated or older frames and {report.refused} stale messages")
    if tolerance:
        lines.append(f"largest difference: {report.worst:.3g}")
    if report.judged and seconds > 0.0:
        each = 1e6 * seconds / report.judged
        lines.append(f"{each:.0f} us a frame, {report.span / seconds:.0f} times as fast as it was")
    lines.append(f"digest: {report.digest}")
    if report.first is not None:
        lines.append(first(report.first))
    verdict = {EQUAL: "equal", DIFFERENT: "DIFFERENT", INCOMPLETE: "INCOMPLETE: equal as far as it could be judged"}
    lines.append(verdict[status(report)] if report.judged else "INCOMPLETE: nothing could be judged")
    return "\n".join(lines)


def first(found: First) -> str:
    """Return the first difference with its inputs, one line of JSON for each."""
    place = f"target {found.number}" if found.target is not None else f"state behind target {found.number - 1}"
    lines = [f"first difference: {place}, {found.seconds:.3f} s after the first: {found.difference}"]
    shown = {}
    if found.given is not None:
        shown = {name: to_plain(value) for name, value in found.given._asdict().items()}
    shown["state"] = to_plain(found.state)
    lines += [f"  {name}: {json.dumps(value)}" for name, value in shown.items()]
    return "\n".join(lines)
