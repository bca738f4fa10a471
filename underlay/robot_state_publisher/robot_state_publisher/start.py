"""Entry point: quiet under Ctrl-C while ROS is being imported."""

from __future__ import annotations

import os
import signal


def main() -> int:
    """Run the node until SIGINT or SIGTERM and return its exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    # a launch file may have started us with SIGINT blocked, so that it does not hit Python's own start
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    from robot_state_publisher.node import main as run

    return run()
