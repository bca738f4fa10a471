"""Listens to a running graph for the first run's judges: the newest of each topic, nothing else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor

from teleop_common import qos, records
from teleop_common.runner import TeleopNode
from teleop_common.transport import subscribe


class WatchNode(TeleopNode):
    """Keeps the newest record of each topic.

    Attributes:
        newest: topic → record.
    """

    def __init__(self, arms: Sequence[str]) -> None:
        """Join the graph and listen to what concerns ``arms``."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        super().__init__("first_run", context=self._context)
        self.newest: dict[str, Any] = {}
        self._listen(records.GuardState, "/teleop/guard/state", qos.NEWEST)
        self._listen(records.AuthorityState, "/teleop/authority", qos.NEWEST)
        self._listen(records.TeleopFrame, "/teleop/frame", qos.NEWEST)
        self._listen(records.SessionState, "/teleop/session/state", qos.LATCHED)
        for arm in arms:
            self._listen(records.DriverState, f"/{arm}/driver_state", qos.NEWEST)
            self._listen(records.JointState, f"/{arm}/joint_states", qos.NEWEST)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def _listen(self, kind: type, topic: str, profile: Any) -> None:
        def keep(record: Any) -> None:
            self.newest[topic] = record

        subscribe(self, kind, topic, keep, profile)

    def get(self, topic: str) -> Any:
        """Return the newest record of ``topic``, None before the first."""
        with self.lock:
            return self.newest.get(topic)

    def close(self) -> None:
        """Leave the graph."""
        super().close()
        self._executor.shutdown()
        self._thread.join(2.0)
        self.destroy_node()
        rclpy.try_shutdown(context=self._context)
