"""A drive with every turn that a retargeter knows, played around its core and kept as a recording, or as a bag."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from teleop_common import bag, records
from teleop_common.cell import Cell
from teleop_common.enums import Authority, Convention, PoseFlags, Session
from teleop_common.limits import RobotLimits
from teleop_ik import recipe
from teleop_ik.resim.bag import CONFIG, RECORDS
from teleop_ik.resim.recording import Recording, Snapshot
from teleop_ik.retargeter import Feedback, Retargeter
from teleop_ik.setup_arms import from_parameters

ALL = int(PoseFlags.ALL)
LAG, DROOP = 0.06, 0.03  # of the played servos [s, rad]
_GRID = 2.0**-12  # devices have steps, and numbers with few digits take little room


def _stepped(values: tuple[float, ...], grid: float = _GRID) -> Any:
    return tuple(round(v / grid) * grid for v in values)


class Drive:
    """Plays operator, session, guard and servos around a retargeter, on a clock of its own.

    The hands dive onto the bench, reach too far, get lost and come back; the play space moves, one arm is blocked, frames come
    twice or too late, and the joint states and words of the guard are those that had arrived.

    Args:
        parameters: of the node, all of them.
        limits: limits of the robot.
        cell: work cell.
        hz: rate of the frames [Hz].
        seed: of what is random in it.
    """

    def __init__(self, parameters: Mapping[str, Any], limits: RobotLimits, cell: Cell, hz: float = 60.0, seed: int = 1) -> None:
        """Stand at home."""
        self.arms: tuple[str, ...] = tuple(parameters["arms"])
        self._limits, self._hz, self._random = limits, hz, random.Random(seed)
        self._core = Retargeter(from_parameters(parameters, limits, cell))
        self._recipe = recipe.describe(parameters, limits, cell, self._core.arms, started_ns=5_000_000_000)
        home = tuple(j.home for j in limits.all_joints)
        self._reference = dict.fromkeys(self.arms, home)
        self._measured = {arm: tuple(q - DROOP for q in home) for arm in self.arms}
        self._engage = dict.fromkeys(self.arms, 7)
        self.time = 5_000_000_000  # monotonic [ns]; the ROS clock is ahead by:
        self.ahead = 1_700_000_000_000_000_000
        self._sequence, self._words, self._refused = 0, 0, 0
        self.rows: list[tuple[str, Any, int]] = []  # topic, record or configuration, time of receipt
        self._heard: dict[str, Any] = {}

    @property
    def recording(self) -> Recording:
        """What a bag of it would hold."""
        of: dict[str, list[Any]] = {topic: [] for topic in (CONFIG, *RECORDS, *(f"/{arm}/joint_states" for arm in self.arms))}
        first: dict[str, int] = {}
        for topic, value, received in self.rows:
            of[topic].append(Snapshot(received, value) if topic == CONFIG else value)
            first.setdefault(topic, received)
        joints = {arm: of[f"/{arm}/joint_states"] for arm in self.arms}
        return Recording(of[CONFIG], *(of[topic] for topic in RECORDS), joints, whole_from=max(first.values()))

    def _say(self, topic: str, value: Any) -> Any:
        self.rows.append((topic, value, self.time + self.ahead))
        return value

    def play(self, seconds: float) -> Drive:
        """Play on for ``seconds``."""
        for _ in range(round(seconds * self._hz)):
            self._frame()
        return self

    def _frame(self) -> None:
        n = self._sequence
        self.time += round(1e9 / self._hz) + self._random.randrange(-2_000_000, 2_000_000)
        if n % round(self._hz) == 0:
            self._say(CONFIG, {**self._recipe, **recipe.snapshot(self._core, self.time - 500_000, self._refused)})
        stamp = records.Header(self.time + self.ahead - 1_000_000)
        t = n / self._hz
        self._say_inputs(t, stamp)
        frame = self._say("/teleop/frame", self._operator(t, stamp))
        if n % 50 == 40:
            self._refused += 1  # it came too late: recorded, but never stepped
            return
        now = self.time + self.ahead
        feedback = {arm: Feedback(state, 1e-9 * (now - state.header.stamp)) for arm, state in self._held().items()}
        given = (frame, self._heard["authority"], self._heard["session"], feedback)
        targets = self._core.step(self.time, now, *given)
        if n % 30 == 10:
            self._say("/teleop/frame", frame)
            self._core.step(self.time, now, *given)
        if targets is None:
            return
        self._say("/teleop/joint_targets", targets)
        for target in targets.arms:
            self._reference[target.arm] = target.position
            blocked = target.arm == self.arms[-1] and 2.2 < t < 2.5
            share = 0.0 if blocked else 1.0 - math.exp(-1.0 / (self._hz * LAG))
            pairs = zip(self._measured[target.arm], target.position)
            self._measured[target.arm] = tuple(m + share * (q - DROOP - m) for m, q in pairs)

    def _held(self) -> dict[str, records.JointState]:
        return {arm: self._heard[arm] for arm in self.arms if arm in self._heard}

    def _say_inputs(self, t: float, stamp: records.Header) -> None:
        """Let session, guard and drivers speak; a word arrives at once, or only after the next frame."""
        epoch = 3 if t < 2.0 else 4
        state = records.SessionState(
            stamp, int(Session.RUNNING), "debug", epoch=epoch, scale=1.0 if t < 2.0 else 0.7, arm=self.arms, hand=self.arms
        )
        self._heard["session"] = self._say("/teleop/session/state", state)
        self._words += 1
        words = []
        for i, arm in enumerate(self.arms):
            engaged = t > 0.1 + 0.1 * i and not (i == 0 and 1.3 < t < 1.5)
            if i == 0 and t >= 1.5:
                self._engage[arm] = 8
            names = self._limits.arm_names(arm)
            authority = int(Authority.DRIVING if engaged else Authority.IDLE)
            words.append(records.ArmAuthority(arm, authority, self._engage[arm], arm, "", False, names, self._reference[arm]))
        word = self._say("/teleop/authority", records.AuthorityState(stamp, self._words, tuple(words)))
        if self._words < 3 or self._random.random() < 0.8:
            self._heard["authority"] = word
        for arm in self.arms:
            position = _stepped(self._measured[arm], 2.0**-11)
            joints = self._say(f"/{arm}/joint_states", records.JointState(stamp, self._limits.arm_names(arm), position))
            if t > 0.05 and self._random.random() < 0.9:
                self._heard[arm] = joints

    def _operator(self, t: float, stamp: records.Header) -> records.TeleopFrame:
        """Return the next finalised frame."""
        self._sequence += 1
        lost = 0.9 < t < 0.95
        hands = {}
        for i in range(len(self.arms)):
            w = 2.0 * t + i
            down = -0.25 * max(0.0, math.sin(1.5 * t))  # onto the bench
            far = 0.45 * max(0.0, math.sin(1.1 * t + 2.0 * i) - 0.3)  # out of reach
            place = _stepped((0.3 + 0.05 * math.sin(w) + far, 0.25 - 0.5 * i + 0.08 * math.cos(1.3 * w), 1.1 + down))
            turn = _stepped((0.2 * math.sin(3.0 * w), 0.3 * math.sin(w), 0.1 * math.cos(2.0 * w), 1.0))
            pose = records.TrackedPose(records.Pose(place, turn), 0 if lost and i == 0 else ALL)
            trigger = round(127.5 * (1.0 + math.sin(4.0 * w))) / 256.0
            hands["left" if i == 0 and len(self.arms) > 1 else "right"] = records.Controller(True, pose, pose, trigger, 1.0)
        head = records.TrackedPose(records.Pose((0.0, 0.0, 1.6), _stepped((0.0, 0.0, 0.1 * math.sin(t), 1.0))), ALL)
        seen = head if not 1.0 < t < 1.1 else records.TrackedPose()
        return records.TeleopFrame(
            stamp, "debug", 11 if t < 2.7 else 12, self._sequence, convention=int(Convention.ROS), head=seen,
            recentred=1.7 < t < 1.7 + 1.0 / self._hz, **hands,
        )  # fmt: skip


def write(path: str | Path, rows: list[tuple[str, Any, int]]) -> None:
    """Write rows of (topic, record or configuration, time of receipt [ns]) as a new bag.

    Args:
        path: directory to make; must not exist.
        rows: as ``Drive.rows``.
    """
    kinds = {topic: records.String if topic == CONFIG else type(value) for topic, value, _ in rows}
    bag.write(path, kinds, ((topic, _record(topic, value), received) for topic, value, received in rows))


def _record(topic: str, value: Any) -> Any:
    return records.String(json.dumps(value, sort_keys=True)) if topic == CONFIG else value
