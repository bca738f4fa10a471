"""``ros2 bag record``."""

from __future__ import annotations

import argparse
import re
import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosbag2_py import SequentialWriter, StorageOptions, TopicMetadata, convert_rclpy_qos_to_rclcpp_qos
from rosidl_runtime_py.utilities import get_message

from ros2cli.direct import direct_node, hidden
from ros2cli.qos_options import matching

# how often new topics are looked for, and what was written is handed to the operating system [s]
_POLL = 0.1
_DEPTH = 1000


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("topics_positional", nargs="*", metavar="topic", help="topics to record")
    parser.add_argument("--topics", nargs="+", default=[], metavar="topic", help="topics to record")
    parser.add_argument("-a", "--all", "--all-topics", dest="all", action="store_true", help="record every topic")
    parser.add_argument("-e", "--regex", default="", help="record topics whose whole name matches")
    parser.add_argument("--exclude-regex", default="", help="leave topics out whose whole name matches")
    parser.add_argument("--exclude-topics", nargs="+", default=[], metavar="topic", help="topics to leave out")
    parser.add_argument("--include-hidden-topics", action="store_true", help="also hidden topics")
    parser.add_argument("-o", "--output", default="", help="directory of the bag (rosbag2_<date and time>)")
    parser.add_argument("-s", "--storage", default="mcap", help="storage (mcap)")
    parser.add_argument("--custom-data", nargs="*", default=[], metavar="key=value", help="stored in the metadata")
    parser.add_argument("--use-sim-time", action="store_true", help="use /clock as the time of receipt")
    parser.add_argument("--node-name", default="rosbag2_recorder", help="name of the recorder's node")
    parser.add_argument("--disable-keyboard-controls", action="store_true", help="accepted; there are none")
    parser.set_defaults(main=_record)


def chooser(args: argparse.Namespace) -> Callable[[str], bool]:
    """Return the function that says of a topic's name whether it is recorded.

    Raises:
        ValueError: nothing was chosen.
    """
    named = {name if name.startswith("/") else f"/{name}" for name in (*args.topics_positional, *args.topics)}
    excluded = {name if name.startswith("/") else f"/{name}" for name in args.exclude_topics}
    pattern = re.compile(args.regex) if args.regex else None
    against = re.compile(args.exclude_regex) if args.exclude_regex else None
    if not (named or args.all or pattern):
        raise ValueError("Invalid choice: Must specify topics, -a for all topics, or -e for a regular expression")

    def wanted(name: str) -> bool:
        chosen = name in named or args.all or (pattern is not None and pattern.fullmatch(name) is not None)
        if not chosen or name in excluded or (against is not None and against.fullmatch(name)):
            return False
        return name in named or args.include_hidden_topics or not hidden(name)

    return wanted


class Recorder:
    """Subscribes to what is wanted as it appears and writes what comes, as it came."""

    def __init__(self, node: Node, writer: SequentialWriter, wanted: Callable[[str], bool], sim_time: bool) -> None:
        """Start without subscriptions."""
        self._node, self._writer, self._wanted, self._sim_time = node, writer, wanted, sim_time
        self._subscribed: dict[str, Any] = {}
        self._refused: set[str] = set()

    def look(self) -> None:
        """Subscribe to topics that are new."""
        for name, types in self._node.get_topic_names_and_types():
            if name in self._subscribed or name in self._refused or not self._wanted(name):
                continue
            offers = self._node.get_publishers_info_by_topic(name)
            if not offers:
                continue
            try:
                kind = get_message(types[0])
            except (ImportError, ValueError, AttributeError) as error:
                self._refused.add(name)
                print(f"topic '{name}' ignored: {error}", flush=True)
                continue
            metadata = TopicMetadata(
                len(self._subscribed) + 1,
                name,
                types[0],
                "cdr",
                [convert_rclpy_qos_to_rclcpp_qos(offer.qos_profile) for offer in offers],
                str(offers[0].topic_type_hash) if offers[0].topic_type_hash.version > 0 else "",
            )
            self._writer.create_topic(metadata)
            self._subscribed[name] = self._node.create_subscription(
                kind, name, partial(self._hear, name), matching(self._node, name, _DEPTH), raw=True
            )
            print(f"Subscribed to topic '{name}'", flush=True)

    def _hear(self, name: str, data: bytes, info: Any) -> None:
        stamp = self._node.get_clock().now().nanoseconds if self._sim_time else info["received_timestamp"] or time.time_ns()
        self._writer.write(name, data, stamp)


def _record(args: argparse.Namespace) -> int:
    wanted = chooser(args)
    stopping = threading.Event()
    # also where a shell started us in the background with SIGINT ignored
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    uri = args.output or f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}"
    custom = dict(item.split("=", 1) for item in args.custom_data)
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=uri, storage_id=args.storage, custom_data=custom))
    try:
        with direct_node(args, discover=False, name=args.node_name) as node:
            recorder = Recorder(node, writer, wanted, args.use_sim_time)
            # with MessageInfo, hence not the events executor of these wheels
            executor = SingleThreadedExecutor()
            executor.add_node(node)
            print(f"Recording to '{uri}'; Ctrl-C ends it", flush=True)
            due = 0.0
            while rclpy.ok() and not stopping.is_set():
                if time.monotonic() >= due:
                    recorder.look()
                    writer.flush()
                    due = time.monotonic() + _POLL
                executor.spin_once(timeout_sec=_POLL)
    finally:
        writer.close()
    print("Recording stopped", flush=True)
    return 0
