"""The node ``session``: subscriptions, services and publishers around ``SessionCore``."""

from __future__ import annotations

import random
from dataclasses import asdict
from functools import partial
from typing import Any

from visualization_msgs.msg import MarkerArray

from teleop_common import cell, params, paths, qos, records
from teleop_common.enums import Command, Session
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import RecordPublisher, subscribe
from teleop_interfaces.srv import SessionCommand, SetStance
from teleop_session import bindings, conversions
from teleop_session.actions_node import Actions
from teleop_session.machine import PROVIDERS
from teleop_session.params import SessionParams
from teleop_session.session import SessionCore
from teleop_session.views import view_yaws

MARKER_HZ = 10.0
WATCH_HZ = 10.0
STATE_HZ = 5.0


class SessionNode(TeleopNode):
    """Hears providers and peers, publishes finalised frames, the session's state, transforms and markers."""

    def __init__(self) -> None:
        """Read the configuration and join the graph."""
        super().__init__("session")
        p = params.load(self, SessionParams)
        table = bindings.load(paths.config("bindings.yaml", p.bindings_file), p.bindings_preset)
        self.core = SessionCore(
            p.settings(),
            cell.load(paths.config("cell.yaml", p.cell_file)),
            view_yaws(paths.config("views.yaml", p.views_file)),
            table,
            epoch=random.getrandbits(32),
        )
        self._actions = Actions(self, p.arms)
        self._said: records.SessionState | None = None
        self._tf_period, self._next_tf, self._next_markers = 1.0 / p.tf_hz, 0.0, 0.0
        self._frames = RecordPublisher(self, records.TeleopFrame, "/teleop/frame", qos.STREAM)
        self._state = RecordPublisher(self, records.SessionState, "/teleop/session/state", qos.LATCHED)
        self._tf = RecordPublisher(self, records.TFMessage, "/tf", qos.EVENTS)
        self._markers = self.create_publisher(MarkerArray, "/teleop/markers", qos.STREAM)
        for provider in PROVIDERS:
            frame, report = partial(self._on_frame, provider), partial(self._on_report, provider)
            subscribe(self, records.TeleopFrame, f"/teleop/input/{provider}/frame", frame, qos.STREAM)
            subscribe(self, records.ProviderReport, f"/teleop/devices/{provider}", report, qos.STREAM)
        peers = [
            ("retargeter", records.ProviderReport, "/teleop/devices/retargeter"),
            ("guard", records.GuardState, "/teleop/guard/state"),
        ]
        peers += [(f"driver {arm}", records.DriverState, f"/{arm}/driver_state") for arm in p.arms]
        for peer, record, topic in peers:
            subscribe(self, record, topic, partial(self._on_peer, peer), qos.NEWEST)
        self.serve(SessionCommand, "/teleop/session/command", self._on_command)
        self.serve(SetStance, "/teleop/session/set_stance", self._on_set_stance)
        # the pages show the bindings, and carry out those that are theirs
        self.publish_config({"parameters": vars(p), "state": self.core.state(), "bindings": [asdict(b) for b in table]})
        self.every(WATCH_HZ, self._watch)
        self.every(STATE_HZ, self._repeat)

    # ---- heard
    def _on_frame(self, provider: str, raw: records.TeleopFrame) -> None:
        now = monotonic_s()
        frame, actions = self.core.on_frame(now, self.now_ns(), provider, raw)
        if actions:
            # before the frame: an e-stop must reach guard and drivers with the frame that carries the press
            for action in actions:
                self._actions.call(action)
        if frame is None:
            return
        self._frames.publish(frame)
        if now >= self._next_tf:
            self._next_tf = now + self._tf_period
            self._tf.publish(conversions.operator_transforms(frame))
        if now >= self._next_markers:
            self._next_markers = now + 1.0 / MARKER_HZ
            if self._markers.get_subscription_count():
                self._markers.publish(conversions.operator_markers(frame))

    def _on_report(self, provider: str, report: records.ProviderReport) -> None:
        self.core.on_report(monotonic_s(), provider, report)

    def _on_peer(self, peer: str, _sample: Any) -> None:
        self.core.on_peer(monotonic_s(), peer)

    # ---- asked
    def _on_command(self, request: SessionCommand.Request, response: SessionCommand.Response) -> SessionCommand.Response:
        reply, actions = self.core.command(monotonic_s(), request.command, request.provider)
        name = Command(request.command).name if request.command in tuple(Command) else request.command
        self._log(f"{name} {request.provider}: {reply.message}", reply.success)
        self._say_change()
        for action in actions:
            self._actions.call(action)
        response.success, response.message = reply.success, reply.message
        return response

    def _on_set_stance(self, request: SetStance.Request, response: SetStance.Response) -> SetStance.Response:
        reply = self.core.set_stance(request.stance, request.view, request.scale)
        self._say_change()
        response.success, response.message = reply.success, reply.message
        return response

    # ---- said
    def _watch(self) -> None:
        self.core.tick(monotonic_s())
        self._say_change()

    def _say_change(self) -> None:
        state = self.core.session_state(0)
        if state == self._said:
            return
        before, self._said = self._said, state
        self._repeat()
        if before is not None and (before.state, before.error) != (state.state, state.error):
            text = f"session {Session(state.state).name}, provider {state.provider}" + (f": {state.error}" if state.error else "")
            self._log(text, state.state != Session.FAULT)

    def _log(self, text: str, good: bool) -> None:
        # two calls: rclpy refuses another severity from the same line
        if good:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)

    def _repeat(self) -> None:
        now = self.now_ns()
        self._state.publish(self.core.session_state(now))
        if not self.core.machine.flowing:
            # frames carry the transform when they flow
            self._tf.publish(records.TFMessage((conversions.origin_transform(now, self.core.world_from_tracking),)))
