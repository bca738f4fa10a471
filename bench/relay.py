"""One empty hop of the floor: hands the bytes of a frame on, unread. `python -m bench.relay NAME FROM TO`."""

from __future__ import annotations

import sys

from teleop_common import qos
from teleop_common.runner import TeleopNode, run
from teleop_interfaces.msg import TeleopFrame


class Relay(TeleopNode):
    """Republishes every frame of one topic on another, as the bytes that came."""

    def __init__(self) -> None:
        """Join the two topics named on the command line."""
        name, source, target = sys.argv[1:4]
        super().__init__(name)
        publisher = self.create_publisher(TeleopFrame, target, qos.STREAM)
        self.create_subscription(TeleopFrame, source, publisher.publish, qos.STREAM, raw=True)


if __name__ == "__main__":
    sys.exit(run(Relay))
