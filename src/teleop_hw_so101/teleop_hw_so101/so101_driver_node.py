"""The node ``so101_driver``: one arm on its servo bus, behind the topics of a driver."""

from __future__ import annotations

import dataclasses
import os
import platform
import secrets
import threading
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import SetBool, Trigger

from teleop_common import limits, paths, qos, records
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.schedule import Rate, Schedule
from teleop_common.ticker import Ticker
from teleop_common.transport import RecordPublisher, subscribe
from teleop_hw_so101 import arm_state, setup_driver
from teleop_hw_so101.conversions import diagnostic_array
from teleop_hw_so101.driver_params import DriverParams
from teleop_hw_so101.ending import Ending
from teleop_hw_so101.health import HealthRules
from teleop_hw_so101.health_report import ArmHealth
from teleop_hw_so101.stream import SerialStream

_ANSWER_TIME = 3.0  # [s] after which nobody waits for torque any more


class So101DriverNode(TeleopNode):
    """Shell around ``ServoArm``; its bus has a thread of its own."""

    def __init__(self) -> None:
        """Read the configuration, join the graph, and begin to look for the arm."""
        super().__init__("so101_driver")
        self.params = params = load(self, DriverParams)
        robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
        own, known = setup_driver.load_calibrations(params)
        self.arm = setup_driver.create(
            params, robot, own, known, secrets.randbits(32), lambda path: SerialStream(path, params.baud_rate), self.lock
        )
        self.core = self.arm.core
        self.health = ArmHealth(self.core, HealthRules(dip=params.voltage_min))
        self._write_rate, self._read_rate, self._read = Rate(), Rate(), 0
        self._state_due, self._report_due, self._told = Schedule(params.driver_state_hz), Schedule(1.0), None
        self._ending: Ending | None = None
        self._offer()
        self.publish_config({"params": dataclasses.asdict(params), "calibration": dataclasses.asdict(own)})
        # a lock of its own: the bus is waited for without holding up commands, an e-stop least of all
        self._loop = Ticker(params.loop_hz, self._cycle, threading.Lock(), self.fail)

    def _offer(self) -> None:
        """Create publishers, subscriptions and services."""
        arm = self.params.arm
        topics = (f"/{arm}/joint_states", "/joint_states")
        self._joints = [RecordPublisher(self, records.JointState, topic, qos.STREAM) for topic in topics]
        self._state = RecordPublisher(self, records.DriverState, f"/{arm}/driver_state", qos.STREAM)
        self._report = RecordPublisher(self, records.ProviderReport, f"/teleop/devices/hw/{arm}", qos.STREAM)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)
        subscribe(self, records.JointCommand, f"/{arm}/joint_command", self._command, qos.COMMAND)
        self._service(Trigger, f"/{arm}/estop", lambda _, done: self._estop(done))
        self._service(Trigger, f"/{arm}/estop/reset", lambda _, done: done(self.core.reset_estop()))
        self._service(SetBool, f"/{arm}/torque", lambda request, done: self._torque(request.data, done))

    def _service(self, kind: Any, name: str, action: Callable[[Any, Callable[[str], None]], None]) -> None:
        """Offer a service whose ``action`` hands on, now or later, why it refuses; empty when it did what was asked."""

        def asked(request: Any, answer: Callable[[bool, str], None]) -> None:
            def done(refusal: str) -> None:
                self.get_logger().info(f"{name}: {refusal or 'done'}")
                answer(not refusal, refusal or "done")

            action(request, done)

        # later: whoever asks for torque waits for the bus, and must not hold up an e-stop meanwhile
        self.serve_later(kind, name, asked)

    def _torque(self, on: bool, done: Callable[[str], None]) -> None:
        self.arm.ask(on, done, monotonic_s() + _ANSWER_TIME)

    def _estop(self, done: Callable[[str], None]) -> None:
        if self.core.estop():
            self._torque(False, done)
        else:
            done("")

    def _command(self, command: records.JointCommand) -> None:
        with self.lock:
            accepted = self.core.command(command, self.now_ns(), monotonic_s())
        if not accepted:
            self.get_logger().warning(self.core.last_refusal, throttle_duration_sec=2.0)

    def _cycle(self) -> None:
        """Do a bus cycle and publish what it brought."""
        self.arm.cycle(monotonic_s())
        now, stamp = monotonic_s(), self.now_ns()
        with self.lock:
            tally = self.core.tally
            rates = (self._write_rate.update(tally.writes, now), self._read_rate.update(tally.reads, now))
            self.health.observe(now)
            fresh, self._read = tally.motions != self._read, tally.motions
            joints = arm_state.joint_state(self.core, now, stamp) if fresh else None
            state = arm_state.state(self.core, now, stamp, *rates)
        if joints is not None:
            for publisher in self._joints:
                publisher.publish(joints)
        key = state and (state.instance, state.torque_on, state.estop, state.status, state.error)
        if state is not None and (self._state_due.due(now) or key != self._told):
            self._told = key
            self._state.publish(state)
        if self._report_due.due(now):
            self._publish_report(stamp, now, rates)

    def _publish_report(self, stamp: int, now: float, rates: tuple[float, float]) -> None:
        counts = self.arm.bus.counts if self.arm.bus is not None else self.arm.counts
        with self.lock:
            report = self.health.report(stamp, now, counts, platform.node(), os.getpid())
            entries = self.health.diagnostics(now, counts, *rates)
        self._report.publish(report)
        self._diagnostics.publish(diagnostic_array(entries, stamp, self.arm.port))
        if report.error:
            self.get_logger().warning(report.error, throttle_duration_sec=10.0)

    def wound_up(self) -> bool:
        """Park where that is configured, else leave the servos as they are: they hold."""
        now = monotonic_s()
        self._ending = self._ending or Ending(self.arm, self.lock, now, self.params.park)
        over = self._ending.over(now)
        if over and self.params.park:
            self.get_logger().info(f"parking: {self._ending.outcome or 'done, torque is off'}")
        return over

    def close(self) -> None:
        """Leave the bus and the servos as they are."""
        self._loop.stop()
        self.arm.drop("the driver has ended")
        super().close()
