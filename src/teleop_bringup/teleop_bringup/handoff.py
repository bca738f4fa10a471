"""A scripted operator who gives a cube from one hand to the other: level hands that meet finger tip to finger tip.

The giving hand takes the cube by its upper part, turns its arm inwards and holds it out between the two arms' pan axes, level.
The taking hand comes from the other side, closes on the same two faces, and once it has the cube the giving hand opens and draws
back. Like the picker it sees what is published, with a reaction time, and sets no joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np

from teleop_bringup.lockstep import Hands
from teleop_bringup.picker import OPEN, PAN_AXIS, Array, Picker, Sight, attitude, both
from teleop_common.records import SimState

_SHORT = 0.0135  # [m], by which the finger tips stop before the cube's centre: room for the other hand's beyond it
# where the hands meet, from the middle between the mounts: between the pan axes, so that level hands point at each other [m]
MEET = np.array([PAN_AXIS, 0.0, 0.25])
_STEP = 0.35  # [rad], by which an arm turns towards where it is to be, seen ahead: no short cut past its own column
_TOUCH = 0.002  # [m], by which the fixed finger keeps off a cube that another hand holds
_BACK = 0.09  # [m], by which a hand draws back


def level(out: Array) -> Array:
    """Return the approach (3,) of a level hand that points outwards along ``out`` (2,)."""
    return np.array([*(out / np.linalg.norm(out)), 0.0])


@dataclass
class Partner(Picker):
    """One hand of the two, level where they meet.

    Attributes:
        meet: where the cube is held out, in world [m].
    """

    short: float = _SHORT
    meet: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def _before(self) -> Array:
        """Where its tool is while it keeps off the place where they meet, in world [m]."""
        return np.asarray(self.meet - (self.short + _BACK) * level(self.out(self.meet)))

    def _round(self, dt: float, sight: Sight, what: Array, goal: Array, near: float) -> bool:
        """Bring ``what`` to ``goal`` round the pan axis, the hand level; return whether it is there."""
        here, there = self.out(what), self.out(goal)
        turn = float(np.arctan2(here[0] * there[1] - here[1] * there[0], here @ there))
        share = min(1.0, _STEP / max(abs(turn), 1e-9))
        angle = float(np.arctan2(here[1], here[0])) + share * turn
        radius = (1.0 - share) * np.linalg.norm(here) + share * np.linalg.norm(there)
        point = np.array([self.mount[0] + PAN_AXIS + radius * np.cos(angle), self.mount[1] + radius * np.sin(angle), goal[2]])
        approach = level(self.out(sight.tool))
        across = np.array([-approach[1], approach[0], 0.0])
        wanted = attitude(approach, across if across @ sight.attitude[:, 0] > 0.0 else -across)
        return self._move(dt, point - what, wanted, sight, near)


@dataclass
class Giver(Partner):
    """The hand that picks the cube and holds it out.

    Attributes:
        taken: the other hand has the cube.
    """

    taken: bool = False

    def _bring(self, now: float, dt: float, sight: Sight) -> None:
        """Turn inwards with the cube and hold it out until it is taken."""
        if self.step == "carry" and not self._held(sight):
            self._go("open", now)
            return
        there = self._round(dt, sight, sight.cube, self.meet, near=0.004)
        if self.step == "carry" and there:
            self._go("lower", now)
        elif self.step == "lower" and self.taken:
            self._go("release", now)

    @property
    def offers(self) -> bool:
        """Whether it holds the cube where the other hand is to take it."""
        return self.step == "lower"

    def _act(self, now: float, dt: float, sight: Sight) -> None:
        if self.step == "leave":
            if self._move(dt, self._before - sight.tool, sight.attitude, sight, near=0.01):
                self._go("done", now)
        else:
            super()._act(now, dt, sight)


@dataclass
class Taker(Partner):
    """The hand that takes the cube.

    Attributes:
        offered: the other hand holds the cube where they meet.
        left: the other hand is gone.
    """

    offered: bool = False
    left: bool = False

    @property
    def has(self) -> bool:
        """Whether it has closed its fingers on the cube."""
        return self.step in ("hold", "take", "done")

    def _attitude(self, sight: Sight) -> Array:
        out = self.out(sight.cube)
        return self._square(level(out), out / np.linalg.norm(out), sight)

    def _act(self, now: float, dt: float, sight: Sight) -> None:
        """Wait open until the cube is held out, meet it, close, and draw back with it once the other hand is gone."""
        passed = now - self._since
        if self.step == "open":
            if self._pull(OPEN, dt) and self.offered:
                self._face = -1
                self._go("turn", now)
        elif self.step == "turn":
            if self._round(dt, sight, sight.tool, self._before, near=0.015):
                self._go("hover", now)
        elif self.step == "advance":
            if self._reach(dt, sight, self.short, near=0.006 if passed < 3.0 else 0.01):
                self._go("touch", now)
        elif self.step == "touch":
            if self._reach(dt, sight, self.short, near=0.002 if passed < 2.0 else 0.006, gap=_TOUCH):
                self._go("close", now)
        elif self.step == "lift":
            self._stop(dt)
            self._go("hold" if self._held(sight) else "open", now)
        elif self.step == "hold":
            self._stop(dt)
            if self.left:
                self._go("take", now)
        elif self.step == "take":
            back = self._before + (0.0, 0.0, 0.03)
            if self._move(dt, back - sight.tool, sight.attitude, sight, near=0.01):
                self._go("done", now)
        else:
            super()._act(now, dt, sight)


@dataclass
class HandOff:
    """Both hands of the operator."""

    giver: Giver
    taker: Taker

    @property
    def done(self) -> bool:
        """Whether both hands have finished."""
        return self.giver.done and self.taker.done

    def hands(self, now: float, seen: SimState) -> Hands:
        """Return what the devices say at ``now`` [s]."""
        given, taken = self.giver.controller(now, seen), self.taker.controller(now, seen)
        self.taker.offered, self.giver.taken, self.taker.left = self.giver.offers, self.taker.has, self.giver.done
        return both(self.giver.arm, given, taken)


def apart(model: mujoco.MjModel, data: mujoco.MjData, one: str, two: str) -> float:
    """Return the least distance of the hands of two arms, up to 0.1 m [m]; below zero: they overlap."""

    def hand(arm: str) -> list[int]:
        bodies = {int(model.site(f"{arm}_gripper_frame_link").bodyid[0]), int(model.joint(f"{arm}_gripper").bodyid[0])}
        return [i for i in range(model.ngeom) if int(model.geom_bodyid[i]) in bodies and model.geom_contype[i]]

    pairs = ((a, b) for a in hand(one) for b in hand(two))
    return min(float(mujoco.mj_geomDistance(model, data, a, b, 0.1, None)) for a, b in pairs)
