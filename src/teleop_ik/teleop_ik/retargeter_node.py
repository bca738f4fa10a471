"""The node ``retargeter``: operator frames in, unguarded joint targets out."""

from __future__ import annotations

import os
import socket
import time
from functools import partial

from teleop_common import cell, limits, params, paths, qos, records
from teleop_common.enums import Provider
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe
from teleop_ik.params import RetargeterParams
from teleop_ik.recipe import describe, snapshot
from teleop_ik.retargeter import Feedback, Retargeter
from teleop_ik.setup_arms import from_parameters

FRESH_NS = 200_000_000  # a message older or younger than this on arrival is refused
REPORT_HZ = 1.0


class RetargeterNode(TeleopNode):
    """Hears frames, authority, session and joints; steps the core on each frame."""

    def __init__(self) -> None:
        """Read the configuration and join the graph."""
        super().__init__("retargeter")
        p = params.load(self, RetargeterParams)
        robot = limits.load(paths.config("limits/so101.yaml", p.limits_file))
        work_cell = cell.load(paths.config("cell.yaml", p.cell_file))
        self.core = Retargeter(from_parameters(vars(p), robot, work_cell))
        self._recipe = describe(vars(p), robot, work_cell, self.core.arms, time.monotonic_ns())
        self._authority = records.AuthorityState()
        self._session = records.SessionState()
        # arm → newest joint state, its age on arrival [ns], and when it arrived [ns, monotonic]
        self._joints: dict[str, tuple[records.JointState, int, int]] = {}
        self._refused = 0
        self._publish = RecordPublisher(self, records.JointTargets, "/teleop/joint_targets", qos.STREAM).publish
        self._report = RecordPublisher(self, records.ProviderReport, "/teleop/devices/retargeter", qos.STREAM)
        subscribe(self, records.AuthorityState, "/teleop/authority", self._on_authority, qos.STREAM)
        subscribe(self, records.SessionState, "/teleop/session/state", self._on_session, qos.LATCHED)
        for arm in p.arms:
            subscribe(self, records.JointState, f"/{arm}/joint_states", partial(self._on_joints, arm), qos.NEWEST)
        subscribe(self, records.TeleopFrame, "/teleop/frame", self._on_frame, qos.STREAM)
        self._say_state()
        self.every(REPORT_HZ, self._say_report)

    # ---- heard
    def _fresh(self, topic: str, stamp: int, now: int) -> bool:
        """Return whether a message may be acted on; say so when not."""
        if abs(now - stamp) <= FRESH_NS:
            return True
        self._refused += 1
        self.get_logger().warning(  # type: ignore[no-untyped-call]
            f"topic '{topic}': got a stamp {1e-9 * (now - stamp):.3f} s old, allowed -0.2 to 0.2 s; refused",
            throttle_duration_sec=5.0,
        )
        return False

    def _on_authority(self, state: records.AuthorityState) -> None:
        if self._fresh("/teleop/authority", state.header.stamp, self.now_ns()):
            self._authority = state

    def _on_session(self, state: records.SessionState) -> None:
        if self._fresh("/teleop/session/state", state.header.stamp, self.now_ns()):
            self._session = state

    def _on_joints(self, arm: str, state: records.JointState) -> None:
        now = self.now_ns()
        if self._fresh(f"/{arm}/joint_states", state.header.stamp, now):
            self._joints[arm] = (state, now - state.header.stamp, time.monotonic_ns())

    def _on_frame(self, frame: records.TeleopFrame) -> None:
        stamp = self.now_ns()
        if not self._fresh("/teleop/frame", frame.header.stamp, stamp):
            return
        now = time.monotonic_ns()
        feedback = {arm: Feedback(state, 1e-9 * (age + now - arrived)) for arm, (state, age, arrived) in self._joints.items()}
        targets = self.core.step(now, stamp, frame, self._authority, self._session, feedback)
        if targets is not None:
            self._publish(targets)

    # ---- said
    def _say_state(self) -> None:
        """Latch configuration and state, so that a bag begun at any time can be re-simulated from the next one on."""
        self.publish_config({**self._recipe, **snapshot(self.core, time.monotonic_ns(), self._refused)})

    def _say_report(self) -> None:
        self._say_state()
        stamp = self.now_ns()
        devices = (
            records.DeviceReport("retargeter/refused", 0, 0, str(self._refused)),
            records.DeviceReport("retargeter/duplicates", 0, 0, str(self.core.duplicates)),
        )
        self._report.publish(
            records.ProviderReport(
                header=records.Header(stamp),
                report_time_ns=time.monotonic_ns(),
                host=socket.gethostname(),
                pid=os.getpid(),
                provider_id="node/retargeter",
                state=int(Provider.AVAILABLE),
                devices=devices,
            )
        )
