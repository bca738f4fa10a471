"""How an executable begins: quiet under Ctrl-C from its first import on.

Importing ROS, Pinocchio and MuJoCo takes a second, in which Python's own SIGINT handler would print a traceback. This module
imports next to nothing, so that it stands before all of that. Python itself takes a tenth of a second before that: the launch
files start us with SIGINT blocked, and one that came meanwhile is delivered here.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import NoReturn


def start(module: str, node: str) -> NoReturn:
    """Import ``node`` (a TeleopNode class) from ``module``, run it, and end the process with its status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    node_class = getattr(importlib.import_module(module), node)
    # not imported above: it imports rclpy
    from teleop_common.runner import run

    sys.exit(run(node_class))
