"""Tasks, and the updater that runs them and publishes on /diagnostics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.clock import Clock, ClockType

from diagnostic_updater._diagnostic_status_wrapper import DiagnosticStatusWrapper

Fill = Callable[[DiagnosticStatusWrapper], DiagnosticStatusWrapper]


class DiagnosticTask:
    """Something that can say how it is: override ``run``."""

    def __init__(self, name: str) -> None:
        """Name the task."""
        self.name = name

    def getName(self) -> str:  # noqa: N802 - the real name
        """Return the name."""
        return self.name

    def run(self, stat: DiagnosticStatusWrapper) -> DiagnosticStatusWrapper:
        """Fill ``stat`` and return it."""
        raise NotImplementedError(f"DiagnosticTask '{self.name}': run is not overridden")


class FunctionDiagnosticTask(DiagnosticTask):
    """A task made of a function."""

    def __init__(self, name: str, fn: Fill) -> None:
        """Name the task and give its function."""
        super().__init__(name)
        self.fn = fn

    def run(self, stat: DiagnosticStatusWrapper) -> DiagnosticStatusWrapper:
        """Call the function."""
        return self.fn(stat)


class Updater:
    """Runs its tasks every ``diagnostic_updater.period`` [s] and publishes their statuses."""

    def __init__(self, node: Any, period: float = 1.0) -> None:
        """Make publisher, parameters and timer on ``node``."""
        self.node = node
        self.name = node.get_name()
        self.hwid = ""
        self._tasks: list[DiagnosticTask] = []
        self._lock = threading.Lock()
        self.publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        if not node.has_parameter("diagnostic_updater.period"):
            node.declare_parameter("diagnostic_updater.period", float(period))
        self.period = float(node.get_parameter("diagnostic_updater.period").value)
        # a steady clock: simulated time that stands still must not silence the diagnostics
        self.timer = node.create_timer(self.period, self.update, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def setHardwareID(self, hwid: str) -> None:  # noqa: N802 - the real name
        """Name the hardware, in every status."""
        self.hwid = hwid

    def add(self, *args: Any) -> None:
        """Add a task: ``add(task)`` or ``add(name, function)``."""
        task = args[0] if len(args) == 1 else FunctionDiagnosticTask(*args)
        with self._lock:
            self._tasks.append(task)
        stat = DiagnosticStatusWrapper(name=task.name)
        stat.summary(DiagnosticStatus.OK, "Node starting up")
        self._publish([stat])

    def update(self) -> None:
        """Run the tasks and publish; the timer calls it."""
        with self._lock:
            tasks = list(self._tasks)
        stats = []
        for task in tasks:
            stat = DiagnosticStatusWrapper(name=task.name)
            stat.summary(DiagnosticStatus.ERROR, "No message was set")
            stats.append(task.run(stat))
        self._publish(stats)

    def force_update(self) -> None:
        """Run the tasks and publish now."""
        self.update()

    def _publish(self, stats: list[DiagnosticStatusWrapper]) -> None:
        array = DiagnosticArray()
        array.header.stamp = self.node.get_clock().now().to_msg()
        for stat in stats:
            # a plain message: only that type is accepted in the array
            plain = DiagnosticStatus(
                level=stat.level,
                name=f"{self.name}: {stat.name}",
                message=stat.message,
                hardware_id=self.hwid or "none",
                values=stat.values,
            )
            array.status.append(plain)
        self.publisher.publish(array)
