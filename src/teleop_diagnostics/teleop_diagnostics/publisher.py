"""How a plugin says how its devices are: ``publish_if_changed``, as often as it likes.

::

    status = StatusPublisher(node, root)
    status.publish_if_changed([DeviceReport("/pedal", Device.CONNECTED)], time.monotonic_ns())
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any

from teleop_common import qos
from teleop_common.enums import Device, DeviceReason, Provider
from teleop_common.records import DeviceReport, Header, ProviderReport
from teleop_common.transport import RecordPublisher
from teleop_diagnostics.declarations import PLUGIN
from teleop_diagnostics.repeat import Repeat

__all__ = ["Device", "DeviceReason", "DeviceReport", "Provider", "StatusPublisher"]


class StatusPublisher:
    """Publishes a plugin's reports: at once when something changed, each second when nothing did.

    Args:
        node: any rclpy node.
        root: name of the plugin, as its manifest and ``--plugin-root-id`` say.
    """

    def __init__(self, node: Any, root: str) -> None:
        """Create the publisher on ``/teleop/devices/plugin/<root>``."""
        self._node, self._id, self._repeat = node, f"{PLUGIN}{root}", Repeat()
        self._publisher = RecordPublisher(node, ProviderReport, f"/teleop/devices/{self._id}", qos.STREAM)

    def publish_if_changed(
        self, devices: Sequence[DeviceReport], monotonic_ns: int, state: int = Provider.AVAILABLE, error: str = ""
    ) -> bool:
        """Publish the state of every device of the manifest, if it changed or a second has passed.

        Call it from the loop that reads the devices, not from a thread of its own: then it falls silent with that loop.

        Args:
            devices: each path of the manifest exactly once.
            monotonic_ns: ``time.monotonic_ns()`` [ns].
            state: of the plugin itself.
            error: what is wrong with the plugin itself.

        Returns:
            Whether it was published.
        """
        said = (tuple(devices), int(state), error)
        if not self._repeat.due(said, monotonic_ns):
            return False
        stamp, host = Header(self._node.get_clock().now().nanoseconds), socket.gethostname()
        self._publisher.publish(ProviderReport(stamp, 1, monotonic_ns, host, os.getpid(), self._id, said[1], error, said[0]))
        return True
