"""The ``sim`` node: both arms in MuJoCo, in real time, behind the topics of a driver."""

from __future__ import annotations

import dataclasses
import os
import platform
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from teleop_common import cell, limits, paths, qos, records
from teleop_common.enums import Provider
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.schedule import Schedule
from teleop_common.transport import RecordPublisher, subscribe
from teleop_interfaces.srv import SimCubes
from teleop_sim.setup_core import create
from teleop_sim.sim_params import SimParams


class SimNode(TeleopNode):
    """Shell around ``Simulation``."""

    def __init__(self) -> None:
        """Load the cell, start the physics and offer the topics."""
        super().__init__("sim")
        self.params = params = load(self, SimParams)
        robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
        room = cell.load(paths.config("cell.yaml", params.cell_file))
        instances = [secrets.randbits(32) for _ in params.arms]
        self.core, self.hash = create(params, robot, room, instances)
        self._joints_due, self._state_due = Schedule(params.joint_state_hz), Schedule(params.sim_state_hz)
        self._driver_due, self._report_due = Schedule(params.driver_state_hz), Schedule(1.0)
        self._told: dict[str, tuple[Any, ...]] = {}
        self._offer()
        self._announce()
        self.every(params.tick_hz, self._tick)

    def _offer(self) -> None:
        """Create publishers, subscriptions and services."""
        self._joints = RecordPublisher(self, records.JointState, "/joint_states", qos.STREAM)
        self._state = RecordPublisher(self, records.SimState, "/sim/state", qos.STREAM)
        self._report = RecordPublisher(self, records.ProviderReport, "/teleop/devices/sim", qos.STREAM)
        self._sim_clock = self.create_publisher(Clock, "/clock", qos.STREAM) if self.params.publish_clock else None
        self._arm_joints, self._driver = {}, {}
        for arm in self.params.arms:
            self._arm_joints[arm] = RecordPublisher(self, records.JointState, f"/{arm}/joint_states", qos.STREAM)
            self._driver[arm] = RecordPublisher(self, records.DriverState, f"/{arm}/driver_state", qos.STREAM)
            subscribe(self, records.JointCommand, f"/{arm}/joint_command", partial(self._command, arm), qos.COMMAND)
            self._service(Trigger, f"/{arm}/estop", lambda _, arm: self.core.estop(arm), arm)
            self._service(Trigger, f"/{arm}/estop/reset", lambda _, arm: self.core.reset_estop(arm), arm)
            self._service(SetBool, f"/{arm}/torque", lambda request, arm: self.core.torque(arm, request.data), arm)
        self._service(Trigger, "/sim/reset", lambda _: self.core.reset())
        self._service(SimCubes, "/sim/cubes", lambda request: self.core.cubes(request.seed))
        subscribe(self, records.SimState, "/sim/replay/state", self._show, qos.STREAM)
        self._service(SetBool, "/sim/replay", lambda request: self.core.replay(request.data, monotonic_s()))
        self._service(SetBool, "/sim/play", lambda request: self.core.play(request.data, monotonic_s()))

    def _service(self, kind: Any, name: str, action: Callable[..., str], *arguments: str) -> None:
        """Offer a service whose ``action`` returns empty on success, else why not."""

        def handle(request: Any, answer: Any) -> Any:
            refusal = action(request, *arguments)
            answer.success, answer.message = not refusal, refusal or "done"
            self.get_logger().info(f"{name}: {answer.message}")
            self._announce()
            return answer

        self.serve(kind, name, handle)

    def _command(self, arm: str, command: records.JointCommand) -> None:
        if not self.core.command(arm, command, self.now_ns(), monotonic_s()):
            self.get_logger().warning(self.core.drivers[arm].last_refusal, throttle_duration_sec=2.0)

    def _show(self, state: records.SimState) -> None:
        """Show a recorded state, of this very scene."""
        if state.model_hash != self.hash:
            refusal = (
                f"state to show: got model {state.model_hash[:16]!r}, allowed {self.hash}; start the simulation of that take"
            )
        else:
            refusal = self.core.show(state.qpos, monotonic_s())
        if refusal:
            self.get_logger().warning(refusal, throttle_duration_sec=2.0)

    def _tick(self) -> None:
        now = monotonic_s()
        self.core.advance(now)
        stamp = self.now_ns()
        if self._joints_due.due(now):
            self._publish_joints(stamp)
        if self._state_due.due(now):
            self._state.publish(self.core.sim_state(stamp, self.hash))
        self._publish_drivers(stamp, now, self._driver_due.due(now))
        if self._report_due.due(now):
            self._publish_report(stamp, now)

    def _publish_joints(self, stamp: int) -> None:
        for arm, publisher in self._arm_joints.items():
            sample = self.core.joint_state(arm, stamp)
            publisher.publish(sample)
            self._joints.publish(sample)
        if self._sim_clock is not None:
            seconds, fraction = divmod(self.core.physics.time, 1.0)
            message = Clock()
            message.clock.sec, message.clock.nanosec = int(seconds), int(fraction * 1e9)
            self._sim_clock.publish(message)

    def _publish_drivers(self, stamp: int, now: float, regular: bool) -> None:
        for arm, driver in self.core.drivers.items():
            memory = driver.memory
            key = (memory.instance, memory.torque_on, memory.estop, self.core.replaying)
            if regular or key != self._told.get(arm):
                self._told[arm] = key
                self._driver[arm].publish(self.core.driver_state(arm, stamp, now))

    def _publish_report(self, stamp: int, now: float) -> None:
        devices = self.core.devices()
        header, host = records.Header(stamp, ""), platform.node()
        self._report.publish(
            records.ProviderReport(header, 1, round(now * 1e9), host, os.getpid(), "sim", Provider.AVAILABLE, "", devices)
        )
        if self.core.slow:
            self.get_logger().warning(f"too slow for real time: {devices[-1].error}", throttle_duration_sec=5.0)

    def _announce(self) -> None:
        memories = {arm: dataclasses.asdict(driver.memory) for arm, driver in self.core.drivers.items()}
        content = {
            "params": dataclasses.asdict(self.params),
            "model_hash": self.hash,
            "seed": self.core.seed,
            "drivers": memories,
        }
        self.publish_config(content)
