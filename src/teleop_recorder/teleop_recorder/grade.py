"""How good a take is: gaps, rates, saturation, guard bites, idle ends, tracking losses. Computed as the rows come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from teleop_common.enums import Authority, Reason
from teleop_recorder.rows import Row

SATURATED = frozenset((Reason.POSITION_LIMIT, Reason.SPEED_LIMIT, Reason.ACCELERATION_LIMIT, Reason.LEASH))
BITES = frozenset((Reason.COLLISION, Reason.FLOOR))
MOVED = frozenset((Authority.DRIVING, Authority.REPLAY, Authority.EXTERNAL))
# what a good take stays below; twice that is still fair
SATURATION, IDLE, PAUSE = 0.1, 2.0, 0.1  # share of the driven rows, [s] at each end, [s] between two rows
ENOUGH = 0.9  # share of the wanted rate


@dataclass
class _Arm:
    """What was seen of one arm."""

    driven: int = 0
    saturated: int = 0
    bites: int = 0
    biting: bool = False
    losses: int = 0
    state: int = 0


@dataclass
class Grade:
    """Collects what a take is graded by.

    Attributes:
        wanted: camera → rate it should have [Hz]; unknown ones are not graded.
    """

    wanted: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0
    lost: int = 0
    first: int = 0
    last: int = 0
    first_driven: int = 0
    last_driven: int = 0
    pause: int = 0
    frames: int = 0
    pictures: dict[str, int] = field(default_factory=dict)
    unencoded: dict[str, int] = field(default_factory=dict)
    _arms: dict[str, _Arm] = field(default_factory=dict)
    _frame: tuple[int, int] = (0, 0)

    def add(self, row: Row) -> None:
        """Take one row."""
        if self.rows:
            self.pause = max(self.pause, row.stamp - self.last)
        else:
            self.first = row.stamp
        self.last = row.stamp
        self.rows += 1
        self.lost += row.lost
        for name, command in row.commands.items():
            arm = self._arms.setdefault(name, _Arm())
            if command.authority in MOVED:
                arm.driven += 1
                self.last_driven = row.stamp
                self.first_driven = self.first_driven or row.stamp
                arm.saturated += any(reason in SATURATED for reason in command.reason)
            biting = any(reason in BITES for reason in command.reason)
            arm.bites += biting and not arm.biting
            arm.biting = biting
            arm.losses += command.authority == Authority.GRACE and arm.state != Authority.GRACE
            arm.state = command.authority
        frame = (row.get("meta/frame/connection", 0), row.get("meta/frame/sequence", 0))
        if frame != self._frame:
            self._frame = frame
            self.frames += 1

    def picture(self, camera: str, encoded: bool) -> None:
        """Take one picture."""
        self.pictures[camera] = self.pictures.get(camera, 0) + 1
        if not encoded:
            self.unencoded[camera] = self.unencoded.get(camera, 0) + 1

    def summary(self, counts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
        """Return the figures and the verdict, as plain data.

        Args:
            counts: topic → published, received, written during the take.
        """
        seconds = (self.last - self.first) * 1e-9

        def rate(count: int) -> float:
            return round((count - 1) / seconds, 2) if seconds > 0 and count > 1 else 0.0

        driven = sum(a.driven for a in self._arms.values())
        found: dict[str, Any] = {
            "seconds": round(seconds, 3),
            "rows": self.rows,
            "row_hz": rate(self.rows),
            "frame_hz": rate(self.frames),
            "longest_pause_s": round(self.pause * 1e-9, 4),
            "lost_commits": self.lost,
            "lost_messages": sum(c["published"] - c["received"] for c in counts.values()),
            "unwritten_messages": sum(c["received"] - c["written"] for c in counts.values()),
            "saturation": round(sum(a.saturated for a in self._arms.values()) / driven, 4) if driven else 0.0,
            "guard_bites": sum(a.bites for a in self._arms.values()),
            "tracking_losses": sum(a.losses for a in self._arms.values()),
            "idle_head_s": round((self.first_driven - self.first) * 1e-9, 3) if driven else round(seconds, 3),
            "idle_tail_s": round((self.last - self.last_driven) * 1e-9, 3) if driven else round(seconds, 3),
            "camera_hz": {name: rate(n) for name, n in sorted(self.pictures.items())},
            "unencoded_pictures": dict(sorted(self.unencoded.items())),
        }
        found["verdict"], found["remarks"] = _verdict(found, driven, self.wanted)
        return found


def _verdict(found: Mapping[str, Any], driven: int, wanted: Mapping[str, float]) -> tuple[str, list[str]]:
    """Return good, fair or poor, and why not better."""
    poor, fair = [], []
    if not driven:
        poor.append("no arm was driven")
    if found["lost_commits"] or found["unwritten_messages"]:
        poor.append(f"{found['lost_commits']} commits lost, {found['unwritten_messages']} messages not written")
    if found["lost_messages"]:
        fair.append(f"{found['lost_messages']} messages lost")
    if found["tracking_losses"]:
        fair.append(f"tracking lost {found['tracking_losses']} times")
    if found["guard_bites"]:
        fair.append(f"the guard cut in {found['guard_bites']} times")
    limits = {
        "saturation": (SATURATION, f"limits bound in {found['saturation']:.0%} of the driven commits"),
        "idle_head_s": (IDLE, f"nothing driven for the first {found['idle_head_s']:.1f} s"),
        "idle_tail_s": (IDLE, f"nothing driven for the last {found['idle_tail_s']:.1f} s"),
        "longest_pause_s": (PAUSE, f"a pause of {found['longest_pause_s']:.2f} s"),
    }
    for name, (limit, text) in limits.items():
        if driven and found[name] > limit:
            (poor if found[name] > 2 * limit and name != "saturation" else fair).append(text)
    for camera, hz in sorted(wanted.items()):
        got = found["camera_hz"].get(camera, 0.0)
        if got < ENOUGH * hz:
            fair.append(f"camera {camera} at {got:g} of {hz:g} Hz")
    if found["unencoded_pictures"]:
        fair.append(f"{sum(found['unencoded_pictures'].values())} pictures not encoded")
    return ("poor" if poor else "fair" if fair else "good"), poor + fair


def words(summary: Mapping[str, Any]) -> str:
    """Return a summary in one line, for the headset."""
    remarks = "; ".join(summary["remarks"])
    return f"{summary['verdict']}, {summary['seconds']:.1f} s" + (f": {remarks}" if remarks else "")
