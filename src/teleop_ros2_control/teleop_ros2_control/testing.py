"""ros2_control played on the wire, for tests: what its controllers take and what its broadcaster sends."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from std_msgs.msg import Float64MultiArray

from teleop_common import qos, records
from teleop_common.testing import Probe
from teleop_common.transport import RecordPublisher

PERIOD = 0.01  # [s]


class Controller:
    """joint_trajectory_controller, or forward_command_controller, and joint_state_broadcaster, as they look on the wire.

    A trajectory's point is approached in a straight line in its time; an array is taken over at once. The broadcaster sends all
    joints of the machine, one of nobody's among them, in alphabetical order at 100 Hz.

    Args:
        node: the probe to speak with.
        start: position of each joint by the controllers' name [rad or m].
        topics: command topic → message class and the joints that an array on it is of.
    """

    def __init__(self, node: Probe, start: Mapping[str, float], topics: Mapping[str, tuple[Any, Sequence[str]]]) -> None:
        """Begin to listen and to broadcast."""
        self.node = node
        self.position = {**start, "another_joint": 0.5}
        self.heard: dict[str, list[Any]] = {topic: [] for topic in topics}
        self.lock = threading.Lock()
        self.talking = True
        self._way: dict[str, tuple[float, float]] = {}  # joint → goal, monotonic time of arrival
        for topic, (kind, names) in topics.items():
            node.create_subscription(kind, topic, lambda m, t=topic, n=names: self._on_command(t, n, m), qos.COMMAND)
        self._states = RecordPublisher(node, records.JointState, "/joint_states", qos.STREAM)
        self._going = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _on_command(self, topic: str, names: Sequence[str], message: Any) -> None:
        with self.lock:
            self.heard[topic].append(message)
            if isinstance(message, Float64MultiArray):
                self._way.update({name: (goal, 0.0) for name, goal in zip(names, message.data, strict=True)})
                return
            point = message.points[-1]
            end = time.monotonic() + point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
            self._way.update({name: (goal, end) for name, goal in zip(message.joint_names, point.positions, strict=True)})

    def _run(self) -> None:
        while self._going:
            with self.lock:
                for name, (goal, end) in self._way.items():
                    left = max(PERIOD, end - time.monotonic())
                    self.position[name] += (goal - self.position[name]) * min(1.0, PERIOD / left)
                names = tuple(sorted(self.position))
                header, positions = records.Header(self.node.now_ns()), tuple(self.position[name] for name in names)
            if self.talking:
                self._states.publish(records.JointState(header, names, positions, (0.0,) * len(names)))
            time.sleep(PERIOD)

    def joints(self, names: Sequence[str]) -> tuple[float, ...]:
        """Return where joints are [rad or m]."""
        with self.lock:
            return tuple(self.position[name] for name in names)

    def put(self, **positions: float) -> None:
        """Move joints by other means than commands, which are forgotten."""
        with self.lock:
            self._way.clear()
            self.position.update(positions)

    def stop(self) -> None:
        """Stop broadcasting."""
        self._going = False
        self._thread.join(2.0)
