"""``ros2 topic hz``."""

from __future__ import annotations

import argparse
import math
import time
from collections import deque

from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from rosidl_runtime_py.utilities import get_message

from ros2cli.direct import add_spin_time, direct_node, wait_for

_WINDOW = 10_000


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_spin_time(parser)
    parser.add_argument("topic_name")
    parser.add_argument("-w", "--window", type=int, default=_WINDOW, help=f"messages over which to measure ({_WINDOW})")
    parser.set_defaults(main=_hz)


class Rate:
    """Statistics of the intervals between the last messages."""

    def __init__(self, window: int) -> None:
        """Keep ``window`` intervals at most."""
        self._intervals: deque[float] = deque(maxlen=max(1, window - 1))
        self._last: float | None = None

    def hear(self, now: float) -> None:
        """Take a message in that came at ``now`` [s]."""
        if self._last is not None:
            self._intervals.append(now - self._last)
        self._last = now

    def report(self) -> str:
        """Return the two lines that are printed, or an empty text while there is no interval."""
        if not self._intervals:
            return ""
        count = len(self._intervals)
        mean = sum(self._intervals) / count
        deviation = math.sqrt(sum((value - mean) ** 2 for value in self._intervals) / count)
        rate = 1.0 / mean if mean > 0.0 else math.inf
        return (
            f"average rate: {rate:.3f}\n"
            f"\tmin: {min(self._intervals):.3f}s max: {max(self._intervals):.3f}s std dev: {deviation:.5f}s window: {count + 1}"
        )


def _hz(args: argparse.Namespace) -> None:
    from ros2cli.topic_command import absolute, types_of

    topic = absolute(args.topic_name)
    rate = Rate(args.window)
    heard = 0

    def hear(_: bytes) -> None:
        nonlocal heard
        heard += 1
        rate.hear(time.monotonic())

    with direct_node(args, discover=False) as node:
        if not wait_for(lambda: types_of(node, topic), 3.0 if args.spin_time is None else args.spin_time):
            print(f"WARNING: topic [{topic}] does not appear to be published yet", flush=True)
        while not (types := types_of(node, topic)):
            time.sleep(0.1)
        node.create_subscription(get_message(types[0]), topic, hear, qos_profile_sensor_data, raw=True)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        before, due = 0, time.monotonic() + 1.0
        while True:
            executor.spin_once(timeout_sec=max(0.0, due - time.monotonic()))
            if time.monotonic() >= due:
                due += 1.0
                text = rate.report()
                if heard == before:
                    print("no new messages", flush=True)
                elif text:
                    print(text, flush=True)
                before = heard
