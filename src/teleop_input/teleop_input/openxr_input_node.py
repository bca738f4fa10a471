"""The node ``openxr_input``: head and controllers of an OpenXR runtime, without pictures."""

from __future__ import annotations

import random
import time

from teleop_common import haptics, params, qos, records
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe
from teleop_input.openxr.provider import OpenXrProvider
from teleop_input.openxr.real_runtime import RealRuntime
from teleop_input.openxr.runtime import Runtime
from teleop_input.params import OpenXrParams
from teleop_input.report import report_of

REPORT_HZ = 1.0
ID = "openxr/runtime"


class OpenXrInput(TeleopNode):
    """Publishes what the runtime says, at a pace of its own, and outlives the runtime."""

    def __init__(self, runtime: Runtime | None = None) -> None:
        """Join the graph and look for a runtime.

        Args:
            runtime: which one; None connects to this machine's.
        """
        super().__init__("openxr_input")
        p = params.load(self, OpenXrParams)
        self._core = OpenXrProvider(runtime or RealRuntime(p.environment_file), random.getrandbits(32))
        self._frames = RecordPublisher(self, records.TeleopFrame, "/teleop/input/openxr/frame", qos.STREAM)
        self._reports = RecordPublisher(self, records.ProviderReport, "/teleop/devices/openxr", qos.STREAM)
        self._said: object = None
        self._recorder: records.RecorderState | None = None
        subscribe(self, records.Haptics, "/teleop/haptics", self._on_haptics, qos.EVENTS)
        subscribe(self, records.RecorderState, "/teleop/recorder/state", self._on_recorder, qos.LATCHED)
        self.publish_config({"parameters": vars(p), "connection": self._core.connection})
        self._report()
        self.every(REPORT_HZ, self._report)
        self.every(p.rate, self._step)

    def close(self) -> None:
        """Stop stepping, close the session and say so."""
        super().close()
        # not for ever: a step may hang in a call into a runtime that hangs
        if self.lock.acquire(timeout=0.5):
            try:
                self._core.stop()
                self._report()
            finally:
                self.lock.release()

    def _step(self) -> None:
        monotonic_ns = time.monotonic_ns()
        frame = self._core.step(monotonic_ns * 1e-9, self.now_ns(), monotonic_ns)
        if frame is not None:
            self._frames.publish(frame)
        for note in self._core.take_notes():
            self.get_logger().info(note)
        if self._status() != self._said:
            self._report()

    def _status(self) -> object:
        core = self._core
        return core.state, core.reason, core.error, core.devices()

    def _report(self) -> None:
        self._said = self._status()
        core = self._core
        self._reports.publish(
            report_of(ID, core.state, core.reason, core.error, core.devices(), self.now_ns(), time.monotonic_ns())
        )

    def _on_haptics(self, buzz: records.Haptics) -> None:
        self._core.vibrate(buzz.hand, buzz.amplitude, buzz.duration)

    def _on_recorder(self, state: records.RecorderState) -> None:
        before, self._recorder = self._recorder, state
        for buzz in haptics.of_take(before, state):
            self._on_haptics(buzz)
