"""Tells the graph how processes of the launch ended: the launch alone knows their exit status.

A thread of the launch's process; what it publishes is latched, so that a device_status that starts later hears it too.
"""

from __future__ import annotations

import queue
import threading
from typing import NamedTuple

from teleop_common import records

_LOOK = 0.2  # [s], how often it looks whether the launch is over


class Ended(NamedTuple):
    """One process that ended.

    Attributes:
        node: name of the node.
        pid: of the process.
        returncode: exit status, or minus the number of the signal that ended it.
    """

    node: str
    pid: int
    returncode: int

    def record(self, stamp_ns: int) -> records.ProcessExit:
        """Return the message; ``stamp_ns`` is the ROS clock [ns]."""
        code, signal = (-1, -self.returncode) if self.returncode < 0 else (self.returncode, 0)
        return records.ProcessExit(records.Header(stamp_ns), self.node, self.pid, code, signal)


class Exits:
    """Publishes on ``/teleop/process_exits``."""

    def __init__(self) -> None:
        """Begin in a thread of its own, so that the launch waits for nothing."""
        self._queue: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        # not a daemon: it has to leave ROS before the interpreter ends
        threading.Thread(target=self._run, name="process exits").start()

    def tell(self, ended: Ended) -> None:
        """Publish that a process ended."""
        self._queue.put(ended)

    def _run(self) -> None:
        import rclpy
        from rclpy.context import Context
        from rclpy.signals import SignalHandlerOptions

        from teleop_common import qos
        from teleop_common.transport import RecordPublisher

        context = Context()
        rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node("launch_exits", context=context, enable_rosout=False, start_parameter_services=False)
        publisher = RecordPublisher(node, records.ProcessExit, "/teleop/process_exits", qos.RECORD_LATCHED)
        while threading.main_thread().is_alive():
            try:
                ended = self._queue.get(timeout=_LOOK)
            except queue.Empty:
                continue
            publisher.publish(ended.record(node.get_clock().now().nanoseconds))
        node.destroy_node()
        rclpy.try_shutdown(context=context)
