"""What a careful listener knows from the messages alone: the oracle's own reading of them, by the design, not by the guard."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from teleop_common.enums import Session
from teleop_common.records import Controller, DriverState, JointState, JointTargets, SessionState, TeleopFrame, TrackedPose
from teleop_safety.settings import Instant, Settings
from teleop_safety.state import Joints

_SANE = 1000.0  # [rad], above any joint and below every absurd number that is sent


class Call(NamedTuple):
    """One call of the guard.

    Attributes:
        kind: frame, targets, external, joints, driver, session, tick, stop, reset, home or own.
        arm: whose, where the message does not say.
        record: the message or the request, None where there is none.
        at: when.
    """

    kind: str
    arm: str
    record: Any
    at: Instant


class Request(NamedTuple):
    """A request for an arm, of ``/teleop/arm_owner``.

    Attributes:
        name: the owner.
        acquire: to have it, or to give it back.
    """

    name: str
    acquire: bool


@dataclass
class Side:
    """What is known of one arm's inputs. Times are CLOCK_MONOTONIC [ns].

    Attributes:
        opened: the grip was seen open since the last thing after which it must.
        closed, tracked, present: the grip after hysteresis and its pose, in the newest frame.
        hand: the hand that the session pairs with the arm.
        measured, measured_at, measured_stamp: newest measurement.
        jumps: measurements in a row that were not believed.
        instance, torque, latched, error, driver_at: newest driver state.
        seed: the reference to which the arm was set by its driver, None when unknown.
        seeded: it was set by the call being judged.
        asked: (connection, sequence) of a frame → targets sent for it.
        asked_at: arrival of the newest target that could count.
        told: (position, engage, owner) of targets of owners other than the operator.
        told_at: arrival of the newest of them.
    """

    opened: bool = False
    closed: bool = False
    tracked: bool = False
    present: bool = False
    hand: str = ""
    measured: Joints | None = None
    measured_at: int = 0
    measured_stamp: int = 0
    jumps: int = 0
    instance: int | None = None
    torque: bool = False
    latched: bool = False
    error: str = ""
    driver_at: int = 0
    seed: Joints | None = None
    seeded: bool = False
    asked: dict[tuple[int, int], list[tuple[Joints, int, int]]] = field(default_factory=dict)
    asked_at: int = 0
    told: deque[tuple[Joints, int, str]] = field(default_factory=lambda: deque(maxlen=200))
    told_at: int = 0


class Heard:
    """Listens to every call.

    Args:
        names: arm → its joints.
        settings: the guard's numbers; only ages and thresholds are read.
    """

    def __init__(self, names: dict[str, tuple[str, ...]], settings: Settings, ceiling: float) -> None:
        """Know nothing."""
        self._ceiling = ceiling
        self.names, self._settings = names, settings
        self._stale = round(settings.stale * 1e9)
        self.sides = {arm: Side() for arm in names}
        self.connection: int | None = None
        self.sequence, self.frame_at, self.head_at = -1, 0, 0
        self.frames: dict[tuple[int, int], int] = {}
        self.count = 0  # of frames taken
        self.session, self.session_at = int(Session.DISCONNECTED), 0
        self.epoch: int | None = None
        self.latched, self.latching = False, False
        self.reset_at = 0
        self.recentred = False
        # whether a controller was there in the newest frame, and whether the call being judged lost them all
        self.buttons = self.buttons_lost = False

    def hear(self, call: Call) -> None:
        """Take over one call."""
        self.latching = self.recentred = self.buttons_lost = False
        for side in self.sides.values():
            side.seeded = False
        listen = getattr(self, f"_{call.kind}")
        listen(call)

    def fresh(self, call: Call) -> bool:
        """Return whether a message's stamp is near now."""
        return bool(abs(call.at.ros - call.record.header.stamp) <= self._stale)

    def _lose_buttons(self) -> None:
        self.buttons_lost = self.buttons_lost or self.buttons
        self.buttons = False

    def must_open(self) -> None:
        """Note something after which every grip must open."""
        for side in self.sides.values():
            side.opened = False

    # --- one method a kind
    def _tick(self, call: Call) -> None:
        if self.connection is not None and call.at.mono - self.frame_at > self._stale:
            self._lose_buttons()
            self.must_open()

    def _home(self, _call: Call) -> None:
        pass

    def _own(self, _call: Call) -> None:
        pass

    def _stop(self, _call: Call) -> None:
        self._latch()
        self.reset_at = 0

    def _latch(self) -> None:
        if not self.latched:
            self.latched = self.latching = True
            self.reset_at = 0

    def _reset(self, call: Call) -> None:
        self.reset_at = call.at.mono

    def _session(self, call: Call) -> None:
        record: SessionState = call.record
        if not self.fresh(call):
            return
        running = record.state == Session.RUNNING
        if (self.epoch is not None and record.epoch != self.epoch) or (self.session == Session.RUNNING and not running):
            self.must_open()
        self.session, self.epoch, self.session_at = record.state, record.epoch, call.at.mono
        for arm, side in self.sides.items():
            hand = next((h for a, h in zip(record.arm, record.hand) if a == arm), "")
            if hand != side.hand:
                side.hand, side.opened = hand, False

    def _frame(self, call: Call) -> None:
        record: TeleopFrame = call.record
        if not self.fresh(call):
            return
        if record.connection != self.connection:
            if self.connection is not None:
                self._lose_buttons()
                self.must_open()
            self.frames, self.head_at = {}, 0
        elif call.at.mono - self.frame_at > self._stale:
            self._lose_buttons()
            self.must_open()
        elif record.sequence <= self.sequence:
            return  # repeated or backward
        self.connection, self.sequence, self.frame_at = record.connection, record.sequence, call.at.mono
        self.count += 1
        self.frames[record.connection, record.sequence] = self.count
        self.recentred = record.recentred
        if _tracked(record.head):
            self.head_at = call.at.mono
        if record.left.connected or record.right.connected:
            self.buttons = True
        else:
            self._lose_buttons()
        for side in self.sides.values():
            self._grip(side, record.hand(side.hand) if side.hand else Controller())

    def _grip(self, side: Side, controller: Controller) -> None:
        side.present = controller.connected and 0.0 <= controller.squeeze <= 1.0
        if not side.present:
            side.tracked = side.opened = False
            return
        side.tracked = _tracked(controller.grip)
        if controller.squeeze > self._settings.squeeze_close:
            side.closed = True
        elif controller.squeeze < self._settings.squeeze_open:
            side.closed, side.opened = False, True

    def _targets(self, call: Call) -> None:
        record: JointTargets = call.record
        if not self.fresh(call):
            return
        for target in record.arms:
            side = self.sides.get(target.arm)
            position = _ordered(target.name, target.position, self.names.get(target.arm, ()))
            if side is not None and position is not None and target.owner == "operator":
                key = (record.connection, record.frame_sequence)
                side.asked.setdefault(key, []).append((position, target.engage, record.session_epoch))
                side.asked_at = call.at.mono
                if len(side.asked) > 400:
                    del side.asked[next(iter(side.asked))]

    def _external(self, call: Call) -> None:
        record: JointTargets = call.record
        if not self.fresh(call) or record.connection:
            return
        for target in record.arms:
            side = self.sides.get(target.arm)
            position = _ordered(target.name, target.position, self.names.get(target.arm, ()))
            if side is not None and position is not None:
                side.told.append((position, target.engage, target.owner))
                side.told_at = call.at.mono

    def _joints(self, call: Call) -> None:
        record: JointState = call.record
        side, names = self.sides[call.arm], self.names[call.arm]
        position = _ordered(record.name, record.position, names)
        speed = _ordered(record.name, record.velocity, names) if record.velocity else ()
        recent = call.at.mono - side.measured_at <= self._stale
        if not self.fresh(call) or position is None or speed is None:
            return
        if recent and record.header.stamp <= side.measured_stamp:
            return
        if recent and side.measured is not None and side.torque:
            # no motor turns faster; what says so is not believed, until it has said so often enough
            credited = min((record.header.stamp - side.measured_stamp) * 1e-9, 0.05)
            if max(abs(a - b) for a, b in zip(position, side.measured)) > self._ceiling * credited + 0.1:
                side.jumps += 1
                if side.jumps < 3:
                    return
        side.jumps = 0
        side.measured, side.measured_at, side.measured_stamp = position, call.at.mono, record.header.stamp
        if side.instance is not None and not side.torque:
            side.seed, side.seeded = position, True

    def _driver(self, call: Call) -> None:
        record: DriverState = call.record
        side, names = self.sides[call.arm], self.names[call.arm]
        if not self.fresh(call):
            return
        if record.estop:
            self._latch()
        goal = _ordered(record.name, record.goal, names)
        if (record.torque_on and goal is None) or set(record.name) != set(names):
            return
        said = (record.instance, record.torque_on, record.estop)
        if said != (side.instance, side.torque, side.latched):
            recent = side.measured is not None and call.at.mono - side.measured_at <= self._stale
            side.seed = goal if record.torque_on else side.measured if recent else None
            side.seeded, side.opened = True, False
        side.instance, side.torque, side.latched = said
        side.error, side.driver_at = record.error, call.at.mono

    # --- what follows
    def reset_done(self, at: Instant, timeout: float) -> bool:
        """Return whether the latch may open: a reset was asked for, and every driver has said since that it is reset."""
        if not self.reset_at or at.mono > self.reset_at + round(timeout * 1e9):
            return False
        return all(side.driver_at > self.reset_at and not side.latched for side in self.sides.values())


def _tracked(tracked: TrackedPose) -> bool:
    """Return whether a pose has all four flags, a place and a unit quaternion (within 2 % of its square)."""
    if tracked.flags & 15 != 15 or not all(math.isfinite(v) for v in tracked.pose.position):
        return False
    return abs(sum(v * v for v in tracked.pose.orientation) - 1.0) < 0.02


def _ordered(names: tuple[str, ...], values: tuple[float, ...], wanted: tuple[str, ...]) -> Joints | None:
    """Return values in the wanted order, None when they are no arm's joints."""
    if len(names) != len(values) or sorted(names) != sorted(wanted) or not all(abs(v) < _SANE for v in values):
        return None
    table = dict(zip(names, values))
    return tuple([table[name] for name in wanted])
