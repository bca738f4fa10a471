"""The node ``ros2_control_driver``: the topics of a driver on one side, those of ros2_control's controllers on the other."""

from __future__ import annotations

import dataclasses
import os
import platform
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from std_srvs.srv import SetBool, Trigger

from teleop_common import limits, paths, qos, records
from teleop_common.driver import REFUSALS
from teleop_common.enums import Device, DeviceReason, Provider
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import RecordPublisher, subscribe
from teleop_ros2_control.conversions import MESSAGES, message
from teleop_ros2_control.driver_params import DriverParams
from teleop_ros2_control.setup_relays import wire

# faulty? → state and reason of a device report
HEALTH = {False: (Device.CONNECTED, DeviceReason.NONE), True: (Device.DEGRADED, DeviceReason.PARTIAL_FUNCTIONALITY)}


class Ros2ControlDriverNode(TeleopNode):
    """Shell around one ``Relay`` an arm."""

    def __init__(self) -> None:
        """Read the configuration and join the graph."""
        super().__init__("ros2_control_driver")
        self.params = params = load(self, DriverParams)
        robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
        self.wirings = wire(params, robot, [secrets.randbits(32) for _ in params.arms])
        self._told: dict[str, tuple[Any, ...]] = {}
        self._counted: dict[str, tuple[int, int, float]] = {}
        self._rates: dict[str, tuple[float, float]] = {}
        self._offer()
        self.publish_config({"params": dataclasses.asdict(params), "limits_file": robot.source})
        self.every(params.driver_state_hz, self._tick)
        self.every(1.0, self._each_second)

    def _offer(self) -> None:
        """Create publishers, subscriptions and services."""
        self._report = RecordPublisher(self, records.ProviderReport, "/teleop/devices/ros2_control", qos.STREAM)
        self._joints, self._states, self._outputs = {}, {}, {}
        self._stop = {arm: self.create_client(Trigger, w.stop) for arm, w in self.wirings.items() if w.stop}
        for arm, wiring in self.wirings.items():
            self._states[arm] = RecordPublisher(self, records.DriverState, f"/{arm}/driver_state", qos.STREAM)
            own = RecordPublisher(self, records.JointState, f"/{arm}/joint_states", qos.STREAM)
            config = wiring.relay.config
            # /joint_states has the graph's names already where the controllers use these; else they come from here
            named = wiring.states == "/joint_states" and config.hardware == config.driver.names
            shared = None if named else RecordPublisher(self, records.JointState, "/joint_states", qos.STREAM)
            self._joints[arm] = [own] + ([shared] if shared else [])
            self._outputs[arm] = [self.create_publisher(MESSAGES[o.kind], o.topic, qos.COMMAND) for o in wiring.outputs]
            subscribe(self, records.JointCommand, f"/{arm}/joint_command", partial(self._on_command, arm), qos.COMMAND)
            self._service(Trigger, f"/{arm}/estop", lambda _, arm: self._on_estop(arm), arm)
            self._service(Trigger, f"/{arm}/estop/reset", lambda _, arm: self.wirings[arm].relay.reset_estop(), arm)
            self._service(SetBool, f"/{arm}/torque", lambda request, arm: self.wirings[arm].relay.torque(request.data), arm)
        for topic in sorted({wiring.states for wiring in self.wirings.values()}):
            subscribe(self, records.JointState, topic, partial(self._on_joints, topic), qos.FOREIGN)

    def _service(self, kind: Any, name: str, action: Callable[..., str], *arguments: str) -> None:
        """Offer a service whose ``action`` returns empty on success, else why not."""

        def handle(request: Any, answer: Any) -> Any:
            refusal = action(request, *arguments)
            answer.success, answer.message = not refusal, refusal or "done"
            self.get_logger().info(f"{name}: {answer.message}")
            self._publish_states(changed_only=True)
            return answer

        self.serve(kind, name, handle)

    def _on_estop(self, arm: str) -> str:
        refusal = self.wirings[arm].relay.estop()
        stop = self._stop.get(arm)
        if stop is not None and stop.service_is_ready():
            stop.call_async(Trigger.Request())
        elif stop is not None:
            self.get_logger().error(f"e-stop: no server of '{stop.srv_name}'; commands are stopped all the same")
        return refusal

    def _on_joints(self, topic: str, sample: records.JointState) -> None:
        for arm, wiring in self.wirings.items():
            if wiring.states != topic:
                continue
            refused = wiring.relay.refused
            own = wiring.relay.feedback(sample, self.now_ns(), monotonic_s())
            if wiring.relay.refused > refused:
                self.get_logger().warning(wiring.relay.last_refusal, throttle_duration_sec=2.0)
            if own is not None:
                for publisher in self._joints[arm]:
                    publisher.publish(own)

    def _on_command(self, arm: str, command: records.JointCommand) -> None:
        wiring = self.wirings[arm]
        goal = wiring.relay.command(command, self.now_ns(), monotonic_s())
        if goal is None:
            self.get_logger().warning(wiring.relay.last_refusal, throttle_duration_sec=2.0)
            return
        for output, publisher in zip(wiring.outputs, self._outputs[arm]):
            publisher.publish(message(output.kind, output.names, goal[output.joints], self.params.horizon))

    def _tick(self) -> None:
        self._publish_states()

    def _publish_states(self, changed_only: bool = False) -> None:
        stamp, now = self.now_ns(), monotonic_s()
        for arm, wiring in self.wirings.items():
            write_hz, read_hz = self._rates.get(arm, (0.0, 0.0))
            state = wiring.relay.state(stamp, now, write_hz=write_hz, read_hz=read_hz)
            if state is None:
                continue
            key = (state.instance, state.torque_on, state.estop, state.error)
            if not changed_only or key != self._told.get(arm):
                self._told[arm] = key
                self._states[arm].publish(state)

    def _each_second(self) -> None:
        now, devices = monotonic_s(), []
        for arm, wiring in self.wirings.items():
            relay, before = wiring.relay, self._counted.get(arm, (0, 0, now))
            counts = (relay.driver.memory.executed if relay.driver else 0, relay.samples, now)
            passed = max(1e-3, now - before[2])
            self._rates[arm] = ((counts[0] - before[0]) / passed, (counts[1] - before[1]) / passed)
            self._counted[arm] = counts
            told = [f"{count} {kind}" for kind, count in zip((*REFUSALS, "joint_states"), relay.faults()) if count]
            if relay.error(now):
                self.get_logger().warning(f"'{arm}': {relay.error(now)}", throttle_duration_sec=5.0)
            error = "; ".join(filter(None, (relay.error(now), f"refused so far: {', '.join(told)}" if told else "")))
            devices.append(records.DeviceReport(f"arm/{arm}", *HEALTH[bool(relay.error(now))], error))
        header, host = records.Header(self.now_ns(), ""), platform.node()
        self._report.publish(
            records.ProviderReport(
                header, 1, round(now * 1e9), host, os.getpid(), "ros2_control", Provider.AVAILABLE, "", tuple(devices)
            )
        )
