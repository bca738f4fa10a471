"""An arm's health as devices of a provider report and as diagnostic values. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from teleop_common.enums import Device, DeviceReason, Provider
from teleop_common.records import DeviceReport, Header, ProviderReport
from teleop_hw_so101 import arm_state
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.feetech_bus import Counts
from teleop_hw_so101.health import HealthRules, JointHealth, warnings
from teleop_hw_so101.registers import status_text

OK, WARN, ERROR = 0, 1, 2  # levels of diagnostic_msgs/DiagnosticStatus


@dataclass(frozen=True)
class Entry:
    """One status of /diagnostics.

    Attributes:
        level: ``OK``, ``WARN`` or ``ERROR``.
        name: what it is of.
        message: in words.
        values: key and value pairs.
    """

    level: int
    name: str
    message: str
    values: tuple[tuple[str, str], ...]


class ArmHealth:
    """Health of one arm; the node feeds it once a cycle and asks once a second."""

    def __init__(self, core: ArmCore, rules: HealthRules) -> None:
        """Begin with nothing known."""
        self._core, self._rules = core, rules
        self.joints = [JointHealth() for _ in core.config.ids]
        self._before: dict[int, tuple[int, int]] = {}

    def observe(self, now: float) -> None:
        """Take what the core knows at ``now`` (monotonic [s])."""
        core, driver = self._core, self._core.driver
        pulls = driver is not None and driver.memory.torque_on and core.connected
        for index, (joint, servo) in enumerate(zip(self.joints, core.samples.servos)):
            if servo.slow.time > 0.0:
                joint.voltage.take(servo.slow.voltage, servo.slow.time)
                joint.temperature.take(servo.slow.temperature, servo.slow.time)
            if driver is None or not pulls or servo.motion is None:
                joint.settling.forget()
                continue
            goal = core.config.scales[index].goal(driver.memory.goal[index])
            joint.settling.take(goal, servo.motion.position, servo.motion.velocity, now)

    def report(self, stamp: int, now: float, counts: dict[int, Counts], host: str, pid: int) -> ProviderReport:
        """Return the provider's report; errors are counted from one to the next.

        Args:
            stamp: ROS clock [ns].
            now: monotonic clock [s].
            counts: errors of the bus by servo ID.
            host: name of this machine.
            pid: process.
        """
        state, error, devices = self._devices(now, counts)
        provider = f"hw/{self._core.config.driver.arm}"
        return ProviderReport(Header(stamp, ""), 1, round(now * 1e9), host, pid, provider, state, error, devices)

    def _devices(self, now: float, counts: dict[int, Counts]) -> tuple[int, str, tuple[DeviceReport, ...]]:
        core, arm = self._core, self._core.config.driver.arm
        if not core.connected:
            gone = DeviceReport(f"arm/{arm}", Device.DISCONNECTED, DeviceReason.NO_HARDWARE_SIGNAL, core.problem)
            return Provider.FAILED, core.problem, (gone,)
        devices = [self._joint(index, now, counts.get(ident, Counts())) for index, ident in enumerate(core.config.ids)]
        error = arm_state.error(core, now)
        worst = max((d.state for d in devices), key=_WORSE.index, default=Device.CONNECTED)
        if core.fault:
            worst = Device.FAILED
        reason = DeviceReason.NONE if worst == Device.CONNECTED else DeviceReason.PARTIAL_FUNCTIONALITY
        whole = DeviceReport(f"arm/{arm}", worst, reason, error or "; ".join(d.error for d in devices if d.error))
        return Provider.AVAILABLE, core.fault, (whole, *devices)

    def _joint(self, index: int, now: float, counts: Counts) -> DeviceReport:
        core, servo = self._core, self._core.samples.servos[index]
        path = f"arm/{core.config.driver.arm}/{core.config.joints[index]}"
        failed, tried = counts.lost + counts.corrupt, counts.replies + counts.lost + counts.corrupt
        failed_before, tried_before = self._before.get(index, (0, 0))
        self._before[index] = (failed, tried)
        if servo.misses >= core.config.degraded_misses:
            text = f"no reading {servo.misses} times in a row, the last {servo.age(now):.1f} s ago; check cable and supply"
            return DeviceReport(path, Device.FAILED, DeviceReason.NO_HARDWARE_SIGNAL, text)
        found = warnings(self.joints[index], self._rules)
        if servo.status:
            found.insert(0, f"reports {status_text(servo.status)}")
        new, asked = failed - failed_before, tried - tried_before
        if asked and new > self._rules.errors * asked:
            found.append(f"{new} of {asked} requests without a good reply in the last second; check the cable")
        if not found:
            return DeviceReport(path, Device.CONNECTED, DeviceReason.NONE, "")
        return DeviceReport(path, Device.DEGRADED, DeviceReason.DEVICE_ERROR, "; ".join(found))

    def diagnostics(self, now: float, counts: dict[int, Counts], write_hz: float, read_hz: float) -> tuple[Entry, ...]:
        """Return the entries for /diagnostics: the bus, then each joint."""
        core, arm = self._core, self._core.config.driver.arm
        error = arm_state.error(core, now)
        refused = core.driver.memory.refused if core.driver else ()
        tally = core.tally
        bus = (
            ("written [Hz]", f"{write_hz:.1f}"),
            ("read [Hz]", f"{read_hz:.1f}"),
            ("commands refused", str(sum(refused) + tally.held)),
            ("commands cut to the speed bound", str(tally.clipped)),
        )
        level = ERROR if not core.connected or core.fault else WARN if error else OK
        entries = [Entry(level, f"so101_driver_{arm}: bus", error or "ok", bus)]
        if not core.connected:
            return tuple(entries)
        for index, ident in enumerate(core.config.ids):
            entries.append(self._entry(index, now, counts.get(ident, Counts())))
        return tuple(entries)

    def _entry(self, index: int, now: float, counts: Counts) -> Entry:
        core, servo, joint = self._core, self._core.samples.servos[index], self.joints[index]
        left = joint.temperature.reaches(self._rules.hot)
        values = (
            ("temperature [°C]", f"{servo.slow.temperature:.0f}"),
            ("supply [V]", f"{servo.slow.voltage:.1f}"),
            ("least supply in a minute [V]", f"{joint.voltage.least:.1f}"),
            ("current [A]", f"{servo.slow.current:.3f}"),
            ("droop [tick]", f"{joint.settling.droop:.1f}"),
            ("backlash and dead zone [tick]", f"{joint.settling.backlash:.1f}"),
            ("seconds to the temperature limit", "never" if math.isinf(left) else f"{left:.0f}"),
            ("age [s]", f"{servo.age(now):.3f}"),
            ("replies", str(counts.replies)),
            ("lost", str(counts.lost)),
            ("corrupt", str(counts.corrupt)),
            ("given up", str(counts.given_up)),
        )
        found: Sequence[str] = warnings(joint, self._rules)
        text = "; ".join(([status_text(servo.status)] if servo.status else []) + list(found))
        level = ERROR if servo.misses >= core.config.degraded_misses else WARN if text else OK
        name = f"so101_driver_{core.config.driver.arm}: {core.config.joints[index]}"
        return Entry(level, name, text or ("ok" if level == OK else "no reading"), values)


# from well to ill
_WORSE = (Device.CONNECTED, Device.DEGRADED, Device.FAILED)
