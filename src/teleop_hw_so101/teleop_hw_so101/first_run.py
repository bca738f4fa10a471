"""The first ten minutes with real arms: steps in their order, what must be seen at each, and judges of what was seen. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from teleop_common.records import Vec3
from teleop_common.spatial import quat_from_yaw, quat_rotate


class Step(NamedTuple):
    """One step.

    Attributes:
        key: short name.
        title: what it is about.
        do: what to do.
        see: what must be seen.
        unless: what it means when something else is seen, and what to do then.
    """

    key: str
    title: str
    do: str
    see: str
    unless: str


STEPS = (
    Step(
        "bench",
        "Bench and people",
        "Clear the bench, lay the arms down, switch the supply on. A second person, or the cockpit, stands by the e-stop.",
        "Nothing in reach of the arms, and a hand at the supply's switch.",
        "Do not go on alone.",
    ),
    Step(
        "ports",
        "Which port is which arm",
        "Plug both adapters in. Every port is asked which servos it carries.",
        "Each arm once, known by its servos, no problem beside it.",
        "A new arm wants its calibration first: ./teleop arm calibrate ARM --port PORT. A silent servo: cable, supply, ID.",
    ),
    Step(
        "check",
        "Each arm by itself",
        "Nothing to do: servos, firmware, calibration, supply, heat and ranges are looked at.",
        "'ready to be driven' for each arm.",
        "Each line says what was found and what to do.",
    ),
    Step(
        "side",
        "Left and right",
        "Stand behind the arms and look where they reach. One arm after the other rolls its hand a little.",
        "The arm on your left when 'left' is said, the arm on your right when 'right' is said.",
        "The other arm moved: the names are crossed. Exchange left.* and right.* in the folder of the calibrations.",
    ),
    Step(
        "mounts",
        "Mount geometry",
        "Measure from the pan axis of one arm to that of the other, and the height of the bench's surface against the plane that "
        "the arms stand on.",
        "The numbers of config/cell.yaml within 5 mm: the guard keeps the arms apart by them.",
        "Mend 'mounts' and 'bench.height' there, then go on here.",
    ),
    Step(
        "graph",
        "The graph runs",
        "In another terminal: ./teleop launch hardware.launch.py. Open the cockpit; connect and start the session.",
        "Both arms' drivers report, no error, the guard's collision filter is on.",
        "The driver's error names the cause; the cockpit shows it too.",
    ),
    Step(
        "clearance",
        "Clearance is real",
        "Grips open. Hold both arms, turn their torque off in the cockpit, and move their hands together until they touch.",
        "The clearance shrinks as they come closer, to under 2 cm when they touch.",
        "It does not move, or is far from zero when they touch: the mounts are wrong, or an arm's zero is.",
    ),
    Step(
        "direction",
        "Direction, one arm at a time",
        "Torque on again. Squeeze ONE grip, hold still through the countdown, move your hand 5 cm outwards, let go. Then the "
        "other.",
        "The arm that belongs to this hand moves outwards, as far as the hand.",
        "The opposite way: mount parity or stance is wrong. The other arm moved: left and right are crossed.",
    ),
    Step(
        "feel",
        "Gripper and speed",
        "Squeeze a grip and take the trigger through its whole range, twice; then a slow reach forwards and back.",
        "The jaw follows from open to closed; nothing feels fast.",
        "Too fast: lower 'velocity' in config/limits/so101.yaml. The jaw stops short: sweep the gripper again.",
    ),
    Step(
        "guard",
        "Provoke the guard once",
        "Both grips squeezed, bring both hands slowly to the middle; then pull them apart again.",
        "The arms stop with a buzz before they meet, the page says COLLISION HOLD, and pulling apart works at once.",
        "E-stop. Go back to the clearance: the guard knows the arms elsewhere than they are.",
    ),
)
KEYS = tuple(step.key for step in STEPS)


@dataclass
class Progress:
    """Which steps are behind.

    Attributes:
        done: step → when it was finished, in words.
    """

    done: dict[str, str] = field(default_factory=dict)

    @property
    def rest(self) -> tuple[Step, ...]:
        """The steps that are still to be done: from the first that is missing on, as later ones rest on earlier."""
        missing = [index for index, step in enumerate(STEPS) if step.key not in self.done]
        return STEPS[missing[0] :] if missing else ()

    def back_to(self, key: str) -> None:
        """Take ``key`` and all behind it for not done."""
        for later in KEYS[KEYS.index(key) :]:
            self.done.pop(later, None)

    def dumps(self) -> str:
        """Return the text of a file that keeps it."""
        return json.dumps({"done": self.done}, indent=1)

    @classmethod
    def loads(cls, text: str) -> Progress:
        """Read such a file; one that is damaged has nothing done."""
        try:
            done: Any = json.loads(text)["done"]
            return cls({key: str(done[key]) for key in KEYS if key in done})
        except (ValueError, KeyError, TypeError):
            return cls()


class Verdict(NamedTuple):
    """What a judge says at the end.

    Attributes:
        good: it was as it must be.
        text: what was seen.
    """

    good: bool
    text: str


# [m] clearance near touch; how much it must have shrunk on the way: the guard lists its few nearest pairs, and two arms
# are among them only from about 45 mm on, since some links of one arm are always that near
NEAR, SHRUNK = 0.02, 0.015


@dataclass
class Clearance:
    """Whether the measured clearance follows arms that are moved towards each other by hand.

    Attributes:
        first: clearance at the begin [m].
        least: smallest so far [m].
    """

    first: float | None = None
    least: float = math.inf

    def feed(self, distance: float, torque_on: bool) -> Verdict | None:
        """Take the clearance between the arms [m]; with torque on nothing is judged."""
        if torque_on or not math.isfinite(distance):
            return None
        self.first = distance if self.first is None else max(self.first, distance)
        self.least = min(self.least, distance)
        if self.first - self.least >= SHRUNK and self.least <= NEAR:
            return Verdict(True, f"clearance shrank from {self.first * 1000:.0f} mm to {self.least * 1000:.0f} mm")
        return None

    @property
    def rest(self) -> str:
        """What is missing."""
        if self.first is None:
            return "waiting for torque off at both arms, and for the guard to tell of two links of theirs (nearer than 45 mm)"
        return f"from {self.first * 1000:.0f} mm to {self.least * 1000:.0f} mm so far; wanted: under {NEAR * 1000:.0f} mm"


OUT, FOLLOWED, STRAYED = 0.05, 0.03, 0.015  # [m] of the hand; of its tool; of the other arm's


@dataclass
class Direction:
    """Whether the tool goes where the hand goes, and the other arm stays.

    Attributes:
        arm: the arm that is to move.
        hand: the hand's place when it began to drive, in world [m].
        turn: from world to what the tool should do, about the vertical, frozen then as the retargeter does [rad].
        tools: arm → its tool's place then, in world [m].
    """

    arm: str
    hand: Vec3 | None = None
    turn: float = 0.0
    tools: dict[str, Vec3] = field(default_factory=dict)

    def feed(self, driving: Mapping[str, bool], hand: Vec3, turn: float, tools: Mapping[str, Vec3]) -> Verdict | None:
        """Take one sample.

        Args:
            driving: arm → a hand drives it.
            hand: place of the hand that belongs to ``arm``, in world [m].
            turn: yaw of the stance less the operator's heading [rad].
            tools: arm → place of its tool in world [m].
        """
        others = [arm for arm, drives in driving.items() if drives and arm != self.arm]
        if others:
            return Verdict(
                False, f"'{others[0]}' is driven, not '{self.arm}': open that grip; if it was '{self.arm}', names are crossed"
            )
        if not driving.get(self.arm):
            self.hand = None
            return None
        if self.hand is None:
            self.hand, self.turn, self.tools = hand, turn, dict(tools)
            return None
        asked, made = quat_rotate(quat_from_yaw(self.turn), _way(self.hand, hand)), _way(self.tools[self.arm], tools[self.arm])
        for arm, place in tools.items():
            if arm != self.arm and math.dist(self.tools[arm], place) > STRAYED:
                return Verdict(False, f"'{arm}' moved while '{self.arm}' was driven: left and right are crossed")
        far, followed = math.hypot(*asked), math.hypot(*made)
        if far < OUT or followed < FOLLOWED:
            return None
        cosine = sum(a * m for a, m in zip(asked, made)) / (far * followed)
        angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        text = f"hand {far * 100:.0f} cm, tool {followed * 100:.0f} cm, {angle:.0f}° apart"
        return Verdict(angle <= 45.0, text if angle <= 45.0 else f"{text}: mount parity or stance is wrong")


SWEPT = 0.6  # share of the gripper's range


@dataclass
class Feel:
    """The gripper's way and the greatest speed while somebody tries them.

    Attributes:
        least: smallest share of the gripper's opening seen.
        most: greatest.
        fastest: greatest speed of an arm joint seen [rad/s].
    """

    least: float = math.inf
    most: float = -math.inf
    fastest: float = 0.0

    def feed(self, opening: float, speeds: Sequence[float]) -> Verdict | None:
        """Take the gripper's opening [0 to 1] and the arm joints' speeds [rad/s]."""
        self.least, self.most = min(self.least, opening), max(self.most, opening)
        self.fastest = max([self.fastest, *(abs(speed) for speed in speeds)])
        if self.most - self.least >= SWEPT:
            return Verdict(True, f"gripper went through {(self.most - self.least) * 100:.0f} % of its range")
        return None


AWAY = 0.03  # [m] by which the arms must have come apart again


@dataclass
class Provoked:
    """Whether the guard held the arms apart and let them go apart again.

    Attributes:
        held: clearance when it held them, None: not yet [m].
    """

    held: float | None = None

    def feed(self, scale: float, blocked: bool, clearance: float) -> Verdict | None:
        """Take the guard's state: scale of the last step, whether a pair of both arms blocks, clearance between them [m]."""
        if blocked and scale < 1.0:
            if clearance < 0.0:
                return Verdict(False, "the arms touched")
            self.held = clearance if self.held is None else min(self.held, clearance)
            return None
        if self.held is not None and clearance >= self.held + AWAY:
            return Verdict(True, f"held {self.held * 1000:.0f} mm apart, and came apart again")
        return None


def mounts_match(measured: float, height: float, told: float, told_height: float) -> Verdict:
    """Compare what was measured with the cell file [m]: distance of the pan axes, height of the bench."""
    off, up = abs(measured - told), abs(height - told_height)
    here, there = f"{measured * 1000:.0f} mm and {height * 1000:.0f} mm", f"{told * 1000:.0f} mm and {told_height * 1000:.0f} mm"
    text = f"measured {here}, the cell file has {there}"
    return Verdict(off <= 0.005 and up <= 0.005, text)


def _way(start: Vec3, end: Vec3) -> Vec3:
    return (end[0] - start[0], end[1] - start[1], end[2] - start[2])
