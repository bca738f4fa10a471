"""One arm on its bus: what a cycle of the driver's thread does, request by request.

The only user of the bus. The core is touched with ``lock`` held, and never while the bus is waited for, so that an e-stop or a
command never waits for a servo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from teleop_hw_so101 import arming, blocks
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.arming import ArmingRules, ServoFacts
from teleop_hw_so101.blocks import CONTROL, HEALTH, MOTION
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.feetech_bus import BusConfig, Counts, FeetechBus
from teleop_hw_so101.registers import REGISTERS
from teleop_hw_so101.rotation import Rotation, Turn
from teleop_hw_so101.samples import Slow
from teleop_hw_so101.stream import ByteStream, PortError

_VOLT, _AMPERE, _LOAD = (REGISTERS[f"present_{name}"].scale for name in ("voltage", "current", "load"))


class Connect(Protocol):
    """Opens the line."""

    port: str

    def __call__(self) -> ByteStream:
        """Open it; PortError when it cannot be."""


@dataclass(frozen=True)
class ArmSetup:
    """What stays the same while the driver runs.

    Attributes:
        calibration: the arm's file.
        known: files of all arms, to tell swapped ports.
        rules: what must be true before torque goes on.
        registers: what is written to each servo's RAM before torque goes on: name → count, per joint.
        bus: settings of the bus.
        budget: time in a cycle after which nothing is tried again [s].
        retry: time between two attempts to reach the arm [s].
        patience: longest silence before a reply while the arm is looked for or armed [s].
    """

    calibration: ArmCalibration
    known: Mapping[str, ArmCalibration]
    rules: ArmingRules
    registers: tuple[Mapping[str, int], ...]
    bus: BusConfig = BusConfig()
    budget: float = 0.008
    retry: float = 0.5
    patience: float = 0.03


class ServoArm:
    """An arm on its bus.

    Attributes:
        core: state of the arm.
        bus: the bus, None while the port is closed.
    """

    def __init__(
        self,
        core: ArmCore,
        setup: ArmSetup,
        rotation: Rotation,
        connect: Connect,
        lock: AbstractContextManager[object],
    ) -> None:
        """Begin disconnected.

        Args:
            core: state of the arm.
            setup: settings.
            rotation: what is due when.
            connect: opens the line, PortError when it cannot.
            lock: held while the core is touched.
        """
        self.core, self.setup, self.rotation, self._open, self._lock = core, setup, rotation, connect, lock
        self.bus: FeetechBus | None = None
        self.counts: dict[int, Counts] = {}
        self._next_try = -float("inf")
        self._wanted: list[tuple[bool, Callable[[str], None], float]] = []

    @property
    def ids(self) -> tuple[int, ...]:
        """Servo IDs in joint order."""
        return self.core.config.ids

    @property
    def port(self) -> str:
        """Path of the port."""
        return self._open.port

    def ask(self, torque_on: bool, answer: Callable[[str], None], until: float = float("inf")) -> None:
        """Ask for torque; the next cycle does it and calls ``answer`` with why it did not, empty when it did.

        Args:
            torque_on: whether it shall be on.
            answer: called once, from the thread of the bus.
            until: when nobody waits for "on" any more (clock of the line) [s]; "off" never expires.
        """
        self._wanted.append((torque_on, answer, until))

    @property
    def asked(self) -> bool:
        """Whether a request for torque is not answered yet."""
        return bool(self._wanted)

    def cycle(self, now: float) -> None:
        """Do what is due at ``now`` (monotonic [s])."""
        try:
            if self.bus is None:
                if now >= self._next_try:
                    self._next_try = now + self.setup.retry
                    self._connect()
                self._refuse()
            else:
                self._work(self.bus, now)
        except PortError as error:
            self.drop(str(error))
            self._refuse()

    def drop(self, problem: str) -> None:
        """Close the line; torque stays as the servos have it."""
        if self.bus is not None:
            self.bus.stream.close()
            self.counts = self.bus.counts
            self.bus = None
        with self._lock:
            self.core.lost(problem)

    def _refuse(self) -> None:
        """Answer what was asked while the arm cannot be reached."""
        if self.core.connected:
            return
        while self._wanted:
            torque_on, answer, _ = self._wanted.pop(0)
            if not torque_on:
                with self._lock:
                    self.core.release()  # done as soon as they can be reached
            answer(f"torque of '{self.core.config.driver.arm}': got no connection, allowed a connected arm; {self.core.problem}")

    # reaching the arm

    def _connect(self) -> None:
        bus = self.bus = FeetechBus(self._open(), self.setup.bus, self.counts)
        facts, garbled = self._facts(bus)
        joints = self.core.config.joints
        problems = arming.identity(self.core.config.driver.arm, facts, self.setup.calibration, self.setup.known, garbled)
        if problems:
            # not kept open: a tool, or the driver of the arm that this is, may need the port
            self.drop("\n".join(problems))
            return
        there = [f for name in joints if (f := facts[name]) is not None]
        self._motion(bus)
        if self.core.measured() is None:
            self.drop(f"servos of '{self.core.config.driver.arm}': one stopped answering; it is tried again")
            return
        torque, goals = [bool(f.control["torque_enable"]) for f in there], [f.control["goal_position"] for f in there]
        with self._lock:
            self.core.found(torque, goals, bus.stream.now())
        if all(torque) and not self.core.releasing:
            self._take_over(bus, facts)
        if self.core.releasing:
            # asked while nobody could hear it
            self._let_go(bus)

    def _take_over(self, bus: FeetechBus, facts: Mapping[str, ServoFacts | None]) -> None:
        """Set up and check an arm that came with torque on as one that gets it here; it holds whatever is found."""
        problems = []
        for index, joint in enumerate(self.core.config.joints):
            with bus.patiently(self.setup.patience):
                failed = self._configure(bus, index)
            problems += [f"setting of '{joint}': got {failed}, allowed a servo that does as told"] if failed else []
        there = {name: f for name, f in facts.items() if f is not None}
        arm = self.core.config.driver.arm
        problems += arming.readiness(arm, there, self.setup.calibration, self.setup.rules, bus.stream.now())
        if problems:
            with self._lock:
                self.core.fail("torque was on already, commands are refused until it is asked for anew: " + "; ".join(problems))

    def _facts(self, bus: FeetechBus) -> tuple[dict[str, ServoFacts | None], list[str]]:
        """Read everything of every servo; returns it with the joints whose replies were garbled."""
        facts: dict[str, ServoFacts | None] = {}
        garbled = []
        for name, servo in zip(self.core.config.joints, self.ids):
            before = bus.counts.get(servo, Counts()).corrupt
            with bus.patiently(self.setup.patience):
                facts[name] = blocks.facts(bus, servo)
            if facts[name] is None and bus.counts[servo].corrupt > before:
                garbled.append(name)
        return facts, garbled

    # a cycle

    def _work(self, bus: FeetechBus, now: float) -> None:
        bus.budget(self.setup.budget)
        while self._wanted:
            torque_on, answer, until = self._wanted[0]
            refusal = self._arm(bus, until) if torque_on else self._let_go(bus)
            # not before: a port that is pulled meanwhile leaves it to _refuse
            self._wanted.pop(0)
            answer(refusal)
            bus.budget(self.setup.budget)
        with self._lock:
            self.core.releasing |= self.core.let_go
            self.core.let_go.clear()
        for servo in sorted(self.core.releasing):
            self._release_one(bus, servo)
        if self.rotation.due("write", now):
            with self._lock:
                goals = self.core.goals(now)
                self.core.tally.writes += bool(goals)
            bus.sync_write("goal_position", goals)
        if self.rotation.due("motion", now):
            self._motion(bus, probe=self.rotation.due("probe", now))
        turn = self.rotation.turn(now)
        if turn is not None and self.core.samples.servos[turn.index].misses < self.core.config.degraded_misses:
            self._slow(bus, turn)

    def _motion(self, bus: FeetechBus, probe: bool = True) -> None:
        """Read all servos' motion; those that have been silent for long are asked at the probing rate alone."""
        servos, patience = self.core.samples.servos, self.core.config.degraded_misses
        asked = [i for i, servo in zip(self.ids, servos) if servo.misses < patience]
        found = bus.sync_read(asked, *MOTION) if asked else {}
        for servo in set(self.ids) - set(asked) if probe else ():
            back = bus.read(servo, *MOTION)
            if back is not None:
                found[servo] = back
        now = bus.stream.now()
        back_again = []
        with self._lock:
            for index, ident in enumerate(self.ids):
                if ident in found:
                    reply, m = found[ident]
                    load = m["present_load"] * _LOAD
                    self.core.samples.take_motion(
                        index, m["present_position"], m["present_velocity"], load, reply.status, reply.time
                    )
                    if self.core.samples.servos[index].suspect:
                        back_again.append(index)
                elif ident in asked or probe:
                    self.core.samples.miss(index, now)
            self.core.tally.motions += 1
            self.core.tally.reads += len(found) == len(self.ids)
            self.core.took_motion(min((reply.time for reply, _ in found.values()), default=None))
        for index in back_again if self.core.connected else ():
            self._slow(bus, Turn(index, health=False))

    def _slow(self, bus: FeetechBus, turn: Turn) -> None:
        found = bus.read(self.ids[turn.index], *(HEALTH if turn.health else CONTROL))
        if found is None:
            return
        reply, values = found
        with self._lock:
            if turn.health:
                slow = Slow(
                    values["present_voltage"] * _VOLT,
                    float(values["present_temperature"]),
                    values["present_current"] * _AMPERE,
                    reply.time,
                )
                self.core.samples.take_slow(turn.index, slow, reply.status | values["status"])
            else:
                self.core.took_torque(turn.index, bool(values["torque_enable"]), values["goal_position"])

    # torque

    def _withdrawn(self, bus: FeetechBus, until: float) -> str:
        """Return why torque is not wanted any more, empty while it is."""
        with self._lock:
            refusal = self.core.may_arm()
        if not refusal and not all(torque_on for torque_on, _, _ in self._wanted):
            refusal = f"torque of '{self.core.config.driver.arm}': got on, then off; it is off"
        if not refusal and bus.stream.now() > until:
            refusal = f"torque of '{self.core.config.driver.arm}': got on, but not in the time it was waited for; ask again"
        return refusal

    def _arm(self, bus: FeetechBus, until: float) -> str:
        """Turn torque on where the arm stands, or on none of its servos; returns why not."""
        refusal = self._withdrawn(bus, until)
        with self._lock:
            driver = self.core.driver
            done = driver is not None and driver.memory.torque_on and not self.core.fault
        if refusal or done:
            return refusal
        facts, garbled = self._facts(bus)
        arm = self.core.config.driver.arm
        problems = arming.identity(arm, facts, self.setup.calibration, self.setup.known, garbled)
        there = {name: f for name, f in facts.items() if f is not None}
        problems = problems or arming.readiness(arm, there, self.setup.calibration, self.setup.rules, bus.stream.now())
        if problems:
            return f"torque of '{arm}': got on, allowed off until this is mended: " + "\n".join(problems)
        self._motion(bus)
        with self._lock:
            fresh = self.core.samples.complete(bus.stream.now(), self.setup.rules.fresh)
            refusal = self.core.turned()
        if refusal or not fresh:
            return refusal or f"torque of '{arm}': got no fresh reading of every servo, allowed one; ask again"
        seeds: list[int] = []
        self.core.releasing.clear()
        for index in range(len(self.ids)):
            if refusal := self._withdrawn(bus, until):
                self._let_go(bus)
                return refusal
            with bus.patiently(self.setup.patience):
                failed = self._arm_one(bus, index, there[self.core.config.joints[index]].position, seeds)
            if failed:
                rest = self._let_go(bus)
                joint = self.core.config.joints[index]
                text = (
                    f"torque of '{joint}': got {failed}, allowed a servo that does as told; torque of the whole arm is off again"
                )
                return f"{text}; {rest}" if rest else text
        with self._lock:
            refusal = self.core.armed(seeds)
        if refusal:
            # an e-stop came meanwhile
            self._let_go(bus)
        return refusal

    def _configure(self, bus: FeetechBus, index: int) -> str:
        """Write a servo's RAM, which moves nothing; returns what went wrong."""
        for name, count in self.setup.registers[index].items():
            if bus.write(self.ids[index], name, count) is None:
                return f"no answer to writing {name}"
        return ""

    def _arm_one(self, bus: FeetechBus, index: int, seen: int, seeds: list[int]) -> str:
        """Turn torque on at one servo, where it stands, and add its goal to ``seeds``; returns what went wrong.

        It was looked at when it stood at ``seen`` [step].
        """
        servo, scale = self.ids[index], self.core.config.scales[index]
        if failed := self._configure(bus, index):
            return failed
        # read at the last moment: while the others were looked at, a hand or its weight may have moved it
        now = bus.read(servo, *MOTION)
        if now is None:
            return "no answer to reading its position"
        position = now[1]["present_position"]
        if failed := arming.moving(position, now[1]["present_velocity"], seen, self.setup.rules):
            return failed
        goal = min(max(position, scale.least), scale.most)
        seeds.append(goal)
        # the goal goes first: whatever it was before, the switch would pull there
        for name, count in (("goal_position", goal), ("torque_enable", 1)):
            if bus.write(servo, name, count) is None:
                return f"no answer to writing {name}"
        found = bus.read(servo, *CONTROL)
        if found is None:
            return "no answer to reading it back"
        back = found[1]
        if back["torque_enable"] != 1 or back["goal_position"] != goal:
            return f"torque {back['torque_enable']} and goal {back['goal_position']} instead of 1 and {goal}"
        return ""

    def _let_go(self, bus: FeetechBus) -> str:
        """Turn torque off at every servo by itself: one that refuses does not keep the others live."""
        with self._lock:
            self.core.release()
        bus.budget(0.1)
        for servo in self.ids:
            self._release_one(bus, servo)
        if not self.core.releasing:
            return ""
        names = ", ".join(name for name, i in zip(self.core.config.joints, self.ids) if i in self.core.releasing)
        return f"torque of '{self.core.config.driver.arm}': got no answer from {names}, asked off; it is tried on and on"

    def _release_one(self, bus: FeetechBus, servo: int) -> None:
        if bus.write(servo, "torque_enable", 0) is not None:
            with self._lock:
                self.core.obeyed(servo)
