"""An arm's torque on the bus: on at all its servos where they stand, or at none; off at each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from teleop_hw_so101 import arming
from teleop_hw_so101.arm_config import ArmSetup
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.blocks import CONTROL, MOTION
from teleop_hw_so101.feetech_bus import FeetechBus
from teleop_hw_so101.readings import Readings


class Request(NamedTuple):
    """A wish for torque.

    Attributes:
        on: whether it shall be on.
        answer: called once with why it is not done, empty when it is.
        until: when nobody waits for "on" any more (clock of the line) [s].
    """

    on: bool
    answer: Callable[[str], None]
    until: float


class Torque:
    """The torque switches of one arm.

    Attributes:
        setup: settings.
    """

    def __init__(
        self,
        core: ArmCore,
        setup: ArmSetup,
        readings: Readings,
        lock: AbstractContextManager[object],
        wanted: Sequence[Request],
    ) -> None:
        """Touch nothing yet.

        Args:
            core: state of the arm.
            setup: settings.
            readings: reads the arm.
            lock: held while the core is touched.
            wanted: what is asked for and not done, also of later than what is being done: "off" withdraws "on".
        """
        self._core, self.setup, self._readings, self._lock, self._wanted = core, setup, readings, lock, wanted
        self._name = core.config.driver.arm

    def _withdrawn(self, bus: FeetechBus, until: float) -> str:
        """Return why torque is not wanted any more, empty while it is."""
        with self._lock:
            refusal = self._core.may_arm()
        if not refusal and not all(request.on for request in self._wanted):
            refusal = f"torque of '{self._name}': got on, then off; it is off"
        if not refusal and bus.stream.now() > until:
            refusal = f"torque of '{self._name}': got on, but not in the time it was waited for; ask again"
        return refusal

    def on(self, bus: FeetechBus, until: float) -> str:
        """Turn torque on where the arm stands, or on none of its servos; returns why not."""
        refusal = self._withdrawn(bus, until)
        with self._lock:
            driver = self._core.driver
            done = driver is not None and driver.memory.torque_on and not self._core.fault
        if refusal or done:
            return refusal
        facts, garbled = self._readings.facts(bus)
        arm = self._name
        problems = arming.identity(arm, facts, self.setup.calibration, self.setup.known, garbled)
        there = {name: f for name, f in facts.items() if f is not None}
        problems = problems or arming.readiness(arm, there, self.setup.calibration, self.setup.rules, bus.stream.now())
        if problems:
            return f"torque of '{arm}': got on, allowed off until this is mended: " + "\n".join(problems)
        self._readings.motion(bus)
        with self._lock:
            fresh = self._core.samples.complete(bus.stream.now(), self.setup.rules.fresh)
            refusal = self._core.turned()
        if refusal or not fresh:
            return refusal or f"torque of '{arm}': got no fresh reading of every servo, allowed one; ask again"
        seeds: list[int] = []
        self._core.releasing.clear()
        for index in range(len(self._core.config.ids)):
            if refusal := self._withdrawn(bus, until):
                self.off(bus)
                return refusal
            with bus.patiently(self.setup.patience):
                failed = self._arm_one(bus, index, there[self._core.config.joints[index]].position, seeds)
            if failed:
                rest = self.off(bus)
                joint = self._core.config.joints[index]
                text = (
                    f"torque of '{joint}': got {failed}, allowed a servo that does as told; torque of the whole arm is off again"
                )
                return f"{text}; {rest}" if rest else text
        with self._lock:
            refusal = self._core.armed(seeds)
        if refusal:
            # an e-stop came meanwhile
            self.off(bus)
        return refusal

    def configure(self, bus: FeetechBus, index: int) -> str:
        """Write a servo's RAM, which moves nothing; returns what went wrong."""
        for name, count in self.setup.registers[index].items():
            if bus.write(self._core.config.ids[index], name, count) is None:
                return f"no answer to writing {name}"
        return ""

    def _arm_one(self, bus: FeetechBus, index: int, seen: int, seeds: list[int]) -> str:
        """Turn torque on at one servo, where it stands, and add its goal to ``seeds``; returns what went wrong.

        It was looked at when it stood at ``seen`` [step].
        """
        servo, scale = self._core.config.ids[index], self._core.config.scales[index]
        if failed := self.configure(bus, index):
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

    def off(self, bus: FeetechBus) -> str:
        """Turn torque off at every servo by itself: one that refuses does not keep the others live."""
        with self._lock:
            self._core.release()
        bus.budget(0.1)
        for servo in self._core.config.ids:
            self.release(bus, servo)
        if not self._core.releasing:
            return ""
        names = ", ".join(name for name, i in zip(self._core.config.joints, self._core.config.ids) if i in self._core.releasing)
        return f"torque of '{self._name}': got no answer from {names}, asked off; it is tried on and on"

    def release(self, bus: FeetechBus, servo: int) -> None:
        """Turn torque off at one servo, if it answers."""
        if bus.write(servo, "torque_enable", 0) is not None:
            with self._lock:
                self._core.obeyed(servo)
