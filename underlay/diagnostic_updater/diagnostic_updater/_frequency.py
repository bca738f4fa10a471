"""A task that watches how often something happens."""

from __future__ import annotations

import threading
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType

from diagnostic_updater._diagnostic_status_wrapper import DiagnosticStatusWrapper
from diagnostic_updater._diagnostic_updater import DiagnosticTask


class FrequencyStatusParam:
    """Bounds of a rate: ``freq_bound`` is {"min": [Hz], "max": [Hz]}, widened by the fraction ``tolerance``."""

    def __init__(self, freq_bound: dict[str, float], tolerance: float = 0.1, window_size: int = 5) -> None:
        """Set bounds and the number of updates over which the rate is measured."""
        self.freq_bound, self.tolerance, self.window_size = freq_bound, tolerance, window_size


class FrequencyStatus(DiagnosticTask):
    """Counts ``tick`` calls: ERROR without any, WARN outside the bounds."""

    def __init__(self, params: FrequencyStatusParam, name: str = "FrequencyStatus", node: Any = None) -> None:
        """Start counting now."""
        super().__init__(name)
        self.params = params
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Start anew."""
        with self._lock:
            self._count = 0
            self._history = [(self._clock.now().nanoseconds * 1e-9, 0)]

    def tick(self) -> None:
        """Count one event."""
        with self._lock:
            self._count += 1

    def run(self, stat: DiagnosticStatusWrapper) -> DiagnosticStatusWrapper:
        """Compare the rate since the oldest of the last updates with the bounds."""
        with self._lock:
            now = self._clock.now().nanoseconds * 1e-9
            since, before = self._history[0]
            events, window = self._count - before, now - since
            self._history = [*self._history, (now, self._count)][-self.params.window_size :]
            total = self._count
        rate = events / window if window > 0.0 else 0.0
        low, high = self.params.freq_bound["min"], self.params.freq_bound["max"]
        if events == 0:
            stat.summary(DiagnosticStatus.ERROR, "No events recorded.")
        elif rate < low * (1.0 - self.params.tolerance):
            stat.summary(DiagnosticStatus.WARN, "Frequency too low.")
        elif rate > high * (1.0 + self.params.tolerance):
            stat.summary(DiagnosticStatus.WARN, "Frequency too high.")
        else:
            stat.summary(DiagnosticStatus.OK, "Desired frequency met")
        stat.add("Events in window", events)
        stat.add("Events since startup", total)
        stat.add("Duration of window (s)", window)
        stat.add("Actual frequency (Hz)", rate)
        stat.add("Minimum acceptable frequency (Hz)", low * (1.0 - self.params.tolerance))
        stat.add("Maximum acceptable frequency (Hz)", high * (1.0 + self.params.tolerance))
        return stat
