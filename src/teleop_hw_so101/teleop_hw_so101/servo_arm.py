"""One arm on its bus: what a cycle of the driver's thread does, request by request.

The only user of the bus. The core is touched with ``lock`` held, and never while the bus is waited for, so that an e-stop or a
command never waits for a servo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from teleop_hw_so101 import arming
from teleop_hw_so101.arm_config import ArmSetup
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.arming import ServoFacts
from teleop_hw_so101.feetech_bus import Counts, FeetechBus
from teleop_hw_so101.readings import Readings
from teleop_hw_so101.rotation import Rotation
from teleop_hw_so101.stream import ByteStream, PortError
from teleop_hw_so101.torque import Request, Torque


class Connect(Protocol):
    """Opens the line."""

    port: str

    def __call__(self) -> ByteStream:
        """Open it; PortError when it cannot be."""


class ServoArm:
    """An arm on its bus.

    Attributes:
        core: state of the arm.
        torque: its torque switches.
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
        self._wanted: list[Request] = []
        self._readings = Readings(core, lock, setup.patience)
        self.torque = Torque(core, setup, self._readings, lock, self._wanted)

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
        self._wanted.append(Request(torque_on, answer, until))

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
        facts, garbled = self._readings.facts(bus)
        joints = self.core.config.joints
        problems = arming.identity(self.core.config.driver.arm, facts, self.setup.calibration, self.setup.known, garbled)
        if problems:
            # not kept open: a tool, or the driver of the arm that this is, may need the port
            self.drop("\n".join(problems))
            return
        there = [f for name in joints if (f := facts[name]) is not None]
        self._readings.motion(bus)
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
            self.torque.off(bus)

    def _take_over(self, bus: FeetechBus, facts: Mapping[str, ServoFacts | None]) -> None:
        """Set up and check an arm that came with torque on as one that gets it here; it holds whatever is found."""
        problems = []
        for index, joint in enumerate(self.core.config.joints):
            with bus.patiently(self.setup.patience):
                failed = self.torque.configure(bus, index)
            problems += [f"setting of '{joint}': got {failed}, allowed a servo that does as told"] if failed else []
        there = {name: f for name, f in facts.items() if f is not None}
        arm = self.core.config.driver.arm
        problems += arming.readiness(arm, there, self.setup.calibration, self.setup.rules, bus.stream.now())
        if problems:
            with self._lock:
                self.core.fail("torque was on already, commands are refused until it is asked for anew: " + "; ".join(problems))

    # a cycle

    def _work(self, bus: FeetechBus, now: float) -> None:
        bus.budget(self.setup.budget)
        while self._wanted:
            torque_on, answer, until = self._wanted[0]
            refusal = self.torque.on(bus, until) if torque_on else self.torque.off(bus)
            # not before: a port that is pulled meanwhile leaves it to _refuse
            self._wanted.pop(0)
            answer(refusal)
            bus.budget(self.setup.budget)
        with self._lock:
            self.core.releasing |= self.core.let_go
            self.core.let_go.clear()
        for servo in sorted(self.core.releasing):
            self.torque.release(bus, servo)
        if self.rotation.due("write", now):
            with self._lock:
                goals = self.core.goals(now)
                self.core.tally.writes += bool(goals)
            bus.sync_write("goal_position", goals)
        if self.rotation.due("motion", now):
            self._readings.motion(bus, probe=self.rotation.due("probe", now))
        turn = self.rotation.turn(now)
        if turn is not None and self.core.samples.servos[turn.index].misses < self.core.config.degraded_misses:
            self._readings.slow(bus, turn)
