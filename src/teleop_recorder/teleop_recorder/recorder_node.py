"""The ``recorder`` node: sessions and takes of everything that the graph says."""

from __future__ import annotations

import dataclasses
import os
import platform
import time
from functools import partial
from typing import Any

from teleop_common import cell, limits, paths, qos, records
from teleop_common.enums import Device, DeviceReason, Provider
from teleop_common.enums import EpisodeCommand as Kind
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import RecordPublisher, codec
from teleop_interfaces.srv import EpisodeCommand
from teleop_recorder import setup_recorder
from teleop_recorder.journal_node import BagJournal
from teleop_recorder.recorder_params import RecorderParams
from teleop_recorder.taps_node import Taps
from teleop_sim.views import load_views

_TRANSIT = 0.02  # [s] that a message may be on its way


class RecorderNode(TeleopNode):
    """Shell around ``Recorder``."""

    def __init__(self) -> None:
        """Make the core, listen while a session is open, answer commands."""
        super().__init__("recorder")
        self.params = params = load(self, RecorderParams)
        os.nice(params.niceness)
        robot = limits.load(paths.config("limits/so101.yaml", params.limits_file))
        room = cell.load(paths.config("cell.yaml", params.cell_file))
        views = load_views(paths.config("cameras.yaml", params.cameras_file), params.arms)
        cameras = {view.name: view.hz for view in views if view.record and params.record_cameras}
        self.taps = Taps(self, [setup_recorder.picture_topic(name) for name in cameras])
        self.core = setup_recorder.create(
            params, robot, room, cameras, lambda kind: codec(kind).decode, lambda path: BagJournal(path, self.taps.describe)
        )
        self._state = RecordPublisher(self, records.RecorderState, "/teleop/recorder/state", qos.LATCHED)
        self._report = RecordPublisher(self, records.ProviderReport, "/teleop/devices/recorder", qos.STREAM)
        self._said: tuple[Any, ...] = ()
        self.publish_config({"params": dataclasses.asdict(params), "cameras": cameras})
        self.serve(EpisodeCommand, "/teleop/recorder/command", self._on_command)
        if params.open_at_start:
            self._command(int(Kind.OPEN_SESSION), "")
        self.every(params.poll_hz, self._poll)
        self.every(2.0, partial(self._tell, True))
        self.every(2.0, self._discover)
        self.every(1.0, self._say_alive)

    def _discover(self) -> None:
        """Listen to what there is while a session is open, and to nothing otherwise."""
        if self.core.session is None:
            self.taps.clear()
            return
        self.taps.discover()
        for topic, kind in self.taps.unknown.items():
            self.get_logger().warning(f"topic '{topic}': its type {kind} is not installed; it is not recorded", once=True)

    def _poll(self) -> None:
        # the time before the first topic is emptied: while the last one is, the first goes on
        begun = self.now_ns()
        self.core.hear(self.taps.take(), monotonic_s(), begun)
        self._tell()

    def _settle(self) -> int:
        """Hear all that was said until now and return that time [ns]."""
        now = self.now_ns()
        time.sleep(_TRANSIT)
        self.core.hear(self.taps.take(), monotonic_s(), now)
        return now

    def _on_command(self, request: Any, answer: Any) -> Any:
        answer.success, answer.message = self._command(request.command, request.task)
        return answer

    def _command(self, kind: int, task: str) -> tuple[bool, str]:
        reply = self.core.command(kind, task, monotonic_s(), self._settle())
        (self.get_logger().info if reply.success else self.get_logger().warning)(reply.message)
        if reply.success and kind in (Kind.OPEN_SESSION, Kind.START, Kind.TOGGLE):
            self._discover()
        self._tell()
        return reply.success, reply.message

    def _tell(self, regular: bool = False) -> None:
        """Publish the state: on change, and twice a second while a session is open."""
        state = self.core.state(self.now_ns())
        changed = (state.recording, state.session_path, state.episode, state.task, state.error, state.notice)
        if changed != self._said or (regular and state.session_path):
            if state.error and (not self._said or state.error != self._said[4]):
                self.get_logger().error(state.error)
            self._said = changed
            self._state.publish(state)

    def _say_alive(self) -> None:
        """Tell the device status that this node lives, and what is wrong with the recording."""
        state = self.core.state(self.now_ns())
        wrong = state.error or (state.notice if state.recording else "")
        health = (Device.DEGRADED, DeviceReason.PARTIAL_FUNCTIONALITY) if wrong else (Device.CONNECTED, DeviceReason.NONE)
        device = records.DeviceReport("recorder", int(health[0]), int(health[1]), wrong)
        header, host = records.Header(state.header.stamp), platform.node()
        self._report.publish(
            records.ProviderReport(
                header, 1, time.monotonic_ns(), host, os.getpid(), "node/recorder", int(Provider.AVAILABLE), "", (device,)
            )
        )

    def close(self) -> None:
        """Save the take up to its last frame, close the session, leave."""
        super().close()
        now = self._settle()
        if self.core.session is not None:
            self.get_logger().info(self.core.close("shutdown", now))
        self.taps.close()
