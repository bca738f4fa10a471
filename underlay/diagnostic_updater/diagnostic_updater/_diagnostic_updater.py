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


class CompositeDiagnosticTask(DiagnosticTask):
    """Several tasks in one status: levels and messages are merged, values follow each other."""

    def __init__(self, name: str) -> None:
        """Start without tasks."""
        super().__init__(name)
        self.tasks: list[DiagnosticTask] = []

    def addTask(self, task: DiagnosticTask) -> None:  # noqa: N802 - the real name
        """Add a task."""
        self.tasks.append(task)

    def run(self, stat: DiagnosticStatusWrapper) -> DiagnosticStatusWrapper:
        """Run the tasks one after the other."""
        merged, original = DiagnosticStatusWrapper(), (stat.level, stat.message)
        for task in self.tasks:
            stat.summary(*original)
            stat = task.run(stat)
            merged.mergeSummary(stat.level, stat.message)
        stat.summary(merged.level, merged.message)
        return stat


class Updater:
    """Runs its tasks every ``diagnostic_updater.period`` [s] and publishes their statuses."""

    def __init__(self, node: Any, period: float = 1.0) -> None:
        """Make publisher, parameters and timer on ``node``."""
        self.node = node
        self.name = node.get_name()
        self.hwid = ""
        self.verbose = False
        self._tasks: list[DiagnosticTask] = []
        self._lock = threading.Lock()
        self._warned = False
        self.publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._period = float(_parameter(node, "diagnostic_updater.period", float(period)))
        self._full_name = bool(_parameter(node, "diagnostic_updater.use_fqn", False))
        # a steady clock: simulated time that stands still must not silence the diagnostics
        self.timer = node.create_timer(self._period, self.update, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def period(self) -> float:
        """Time between two publications [s]."""
        return self._period

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

    def removeByName(self, name: str) -> bool:  # noqa: N802 - the real name
        """Remove the first task of this name; returns whether there was one."""
        with self._lock:
            for task in self._tasks:
                if task.name == name:
                    self._tasks.remove(task)
                    return True
        return False

    def update(self) -> None:
        """Run the tasks and publish; the timer calls it."""
        with self._lock:
            tasks = list(self._tasks)
        warn = not self.hwid and not self._warned
        stats = []
        for task in tasks:
            stat = DiagnosticStatusWrapper(name=task.name)
            stat.summary(DiagnosticStatus.ERROR, "No message was set")
            stats.append(task.run(stat))
        if warn and tasks:
            self._warned = True
            self.node.get_logger().warning("diagnostic_updater: No HW_ID was set. This is probably a bug.")
        self._publish(stats)

    def force_update(self) -> None:
        """Run the tasks and publish now."""
        self.update()

    def broadcast(self, lvl: bytes, msg: str) -> None:
        """Publish one level and message for every task."""
        with self._lock:
            names = [task.name for task in self._tasks]
        stats = [DiagnosticStatusWrapper(name=name) for name in names]
        for stat in stats:
            stat.summary(lvl, msg)
        self._publish(stats)

    def _publish(self, stats: list[DiagnosticStatusWrapper]) -> None:
        prefix = self.node.get_fully_qualified_name() if self._full_name else self.name
        array = DiagnosticArray()
        array.header.stamp = self.node.get_clock().now().to_msg()
        for stat in stats:
            # a plain message: only that type is accepted in the array
            plain = DiagnosticStatus(
                level=stat.level,
                name=f"{prefix}: {stat.name}",
                message=stat.message,
                hardware_id=self.hwid or "none",
                values=stat.values,
            )
            array.status.append(plain)
        self.publisher.publish(array)


def _parameter(node: Any, name: str, default: Any) -> Any:
    if not node.has_parameter(name):
        node.declare_parameter(name, default)
    return node.get_parameter(name).value
