"""The node ``guard``: topics around the core. The only publisher of joint commands."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict
from functools import partial

from teleop_common import qos, records
from teleop_common.enums import Provider
from teleop_common.params import load
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe
from teleop_safety.collision import CollisionFilter
from teleop_safety.guard_params import GuardParams
from teleop_safety.guard_services_node import GuardServices
from teleop_safety.make_guard import make_core, refine
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant


class GuardNode(TeleopNode):
    """Shell: every callback hands its message to the core and sends what the core returns."""

    def __init__(self) -> None:
        """Load the configuration and join the graph."""
        super().__init__("guard")
        self.params = params = load(self, GuardParams)
        self.core = make_core(params)
        self._finer: CollisionFilter | None = None
        self._refinement, self._trouble = refine(params, self.core, self._take_finer), ""
        self._publish_config()
        self._commands = {
            arm: RecordPublisher(self, records.JointCommand, f"/{arm}/joint_command", qos.COMMAND) for arm in params.arms
        }
        self._authority = RecordPublisher(self, records.AuthorityState, "/teleop/authority", qos.STREAM)
        self._events = RecordPublisher(self, records.GuardEvent, "/teleop/guard/events", qos.EVENTS)
        self._haptics = RecordPublisher(self, records.Haptics, "/teleop/haptics", qos.STREAM)
        self._estop = RecordPublisher(self, records.EstopState, "/teleop/estop_state", qos.LATCHED)
        self._state = RecordPublisher(self, records.GuardState, "/teleop/guard/state", qos.STREAM)
        self._report = RecordPublisher(self, records.ProviderReport, "/teleop/devices/guard", qos.STREAM)
        self._calls = GuardServices(self, params.arms)
        core = self.core
        per_arm = [f"/{arm}/{what}" for arm in params.arms for what in ("driver_state", "joint_states")]
        self._inputs = ["/teleop/session/state", "/teleop/frame", "/teleop/joint_targets", *per_arm]
        subscribe(
            self, records.SessionState, "/teleop/session/state", lambda m: self.send(core.on_session(self.at(), m)), qos.LATCHED
        )
        for arm in params.arms:
            # reliable: at 10 Hz a single lost sample would look like a silent driver
            subscribe(self, records.DriverState, f"/{arm}/driver_state", partial(self._on_driver, arm), qos.COMMAND)
            subscribe(self, records.JointState, f"/{arm}/joint_states", partial(self._on_joints, arm), qos.NEWEST)
        subscribe(self, records.TeleopFrame, "/teleop/frame", lambda m: self.send(core.on_frame(self.at(), m)), qos.STREAM)
        subscribe(
            self, records.JointTargets, "/teleop/joint_targets", lambda m: self.send(core.on_targets(self.at(), m)), qos.STREAM
        )
        external = lambda m: self.send(core.on_external(self.at(), m))  # noqa: E731
        subscribe(self, records.JointTargets, "/teleop/joint_targets_external", external, qos.STREAM)
        self.every(params.tick_hz, lambda: self.send(core.tick(self.at())))
        self.every(10.0, lambda: self._state.publish(core.guard_state(self.at())))
        self.every(5.0, self._heartbeat)
        self.every(1.0, self._say_alive)

    def _take_finer(self, finer: CollisionFilter) -> None:
        self._finer = finer

    def close(self) -> None:
        """Stop what runs beside."""
        if self._refinement is not None:
            self._refinement.close()
        super().close()

    def _publish_config(self) -> None:
        self.publish_config(
            {"parameters": asdict(self.params), "geometry": self.core.envelope.geometry, "state": self.core.state()}
        )

    def at(self) -> Instant:
        """Return now on both clocks."""
        return Instant(time.monotonic_ns(), self.now_ns())

    def send(self, out: Outputs) -> None:
        """Send what the core returned: commands first, then authority, then the rest."""
        for arm, command in out.commands:
            self._commands[arm].publish(command)
        if out.authority is not None:
            self._authority.publish(out.authority)
        if out.estop:
            self._calls.call("estop")
        if out.reset:
            self._calls.call("estop/reset")
        if out.latch:
            self._estop.publish(self.core.estop_state(self.at()))
        for event in out.events:
            self._events.publish(event)
            self.get_logger().info(f"{event.kind} {event.arm}: {event.text}")
        for pulse in out.haptics:
            self._haptics.publish(pulse)
        self._calls.settle()

    def _on_driver(self, arm: str, message: records.DriverState) -> None:
        self.send(self.core.on_driver_state(self.at(), arm, message))

    def _on_joints(self, arm: str, message: records.JointState) -> None:
        self.send(self.core.on_joint_state(self.at(), arm, message))

    def _heartbeat(self) -> None:
        at = self.at()
        self._estop.publish(self.core.estop_state(at))
        if self.core.unlatched_drivers(at):
            # a driver that came back after the e-stop, or was reset on its own, is stopped again
            self._calls.call("estop")

    def _say_alive(self) -> None:
        at = self.at()
        if self._finer is not None:
            self.core.envelope, self._finer = self._finer, None
            self._publish_config()
            self.get_logger().info("the collision filter now measures the links' convex pieces")
        trouble = self._refinement.trouble if self._refinement is not None else ""
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble:
                self.get_logger().warning(trouble)
        header, host = records.Header(at.ros), platform.node()
        # one publisher per topic; two would pull at the arms in turn
        counts = {topic: self.count_publishers(topic) for topic in self._inputs}
        errors = [f"{topic}: {count} publishers, allowed one" for topic, count in counts.items() if count > 1]
        error = ", and ".join([*errors, *([trouble] if trouble else [])])
        self._report.publish(
            records.ProviderReport(header, 1, at.mono, host, os.getpid(), "node/guard", Provider.AVAILABLE, error)
        )
