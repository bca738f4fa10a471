"""``ros2 bag play``."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbag2_py import QoS, SequentialReader, StorageFilter, StorageOptions
from rosidl_runtime_py.utilities import get_message

from ros2cli.direct import direct_node


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("bag_path", help="directory of the bag, or an .mcap file")
    parser.add_argument("-s", "--storage", default="", help="storage (mcap)")
    parser.add_argument("-r", "--rate", type=float, default=1.0, help="speed (1)")
    parser.add_argument("-d", "--delay", type=float, default=0.0, metavar="S", help="wait before the start, for discovery [s]")
    parser.add_argument("-l", "--loop", action="store_true", help="start again at the end")
    parser.add_argument("--start-offset", type=float, default=0.0, metavar="S", help="start so far into the bag [s]")
    parser.add_argument("--topics", nargs="+", default=[], metavar="topic", help="play these topics only")
    parser.add_argument("-m", "--remap", nargs="+", default=[], metavar="a:=b", help="publish topic a as b")
    parser.set_defaults(main=_play)


def remappings(items: list[str]) -> dict[str, str]:
    """Return ``{topic: new name}`` of ``a:=b`` items."""
    found = {}
    for item in items:
        before, separator, after = item.partition(":=")
        if not separator or not before or not after:
            raise ValueError(f"remapping '{item}': expected <topic>:=<new name>")
        found[before if before.startswith("/") else f"/{before}"] = after
    return found


def idle(names: dict[str, str], played: list[str]) -> list[str]:
    """Return a line for each remapping that matches none of the topics that are played."""
    what = ", ".join(sorted(played)) or "none"
    return [
        f"remapping '{a}:={b}': matches no topic that is played; played are: {what}" for a, b in names.items() if a not in played
    ]


def offer(recorded: list[QoS]) -> QoSProfile:
    """Return the profile with which to publish again: the recorded one if all publishers had the same, else the default."""
    profiles = [item.to_rclpy() for item in recorded]
    kinds = {(item.reliability, item.durability, item.liveliness) for item in profiles}
    return profiles[0] if len(kinds) == 1 else QoSProfile(depth=10)


class Timeline:
    """Maps the bag's time [ns] to the steady clock [s]."""

    def __init__(self, first: int, rate: float) -> None:
        """Start now at ``first``."""
        self._first, self._rate, self._start = first, rate, time.monotonic()

    def wait(self, stamp: int) -> None:
        """Return when it is ``stamp``."""
        end = self._start + (stamp - self._first) * 1e-9 / self._rate
        time.sleep(max(0.0, end - time.monotonic()))


def _publishers(node: Node, reader: SequentialReader, args: argparse.Namespace) -> dict[str, Any]:
    names = remappings(args.remap)
    found = {}
    for topic in reader.get_all_topics_and_types():
        if args.topics and topic.name not in args.topics:
            continue
        try:
            kind = get_message(topic.type)
        except (ImportError, ValueError, AttributeError) as error:
            print(f"Ignoring a topic '{topic.name}', reason: {error}", flush=True)
            continue
        found[topic.name] = node.create_publisher(kind, names.get(topic.name, topic.name), offer(topic.offered_qos_profiles))
    for line in idle(names, list(found)):
        print(line, file=sys.stderr, flush=True)
    return found


def _play(args: argparse.Namespace) -> int:
    if args.rate <= 0.0:
        raise ValueError(f"rate: got {args.rate}, allowed greater than zero")
    reader = SequentialReader()
    reader.open(StorageOptions(uri=args.bag_path, storage_id=args.storage))
    metadata = reader.get_metadata()
    first = metadata.starting_time.nanoseconds + int(args.start_offset * 1e9)
    with direct_node(args, discover=False, name="rosbag2_player") as node:
        publishers = _publishers(node, reader, args)
        if publishers:
            reader.set_filter(StorageFilter(topics=list(publishers)))
        try:
            time.sleep(args.delay)
            while publishers and metadata.message_count:
                timeline = Timeline(first, args.rate)
                reader.seek(first)
                while reader.has_next():
                    name, data, stamp = reader.read_next()
                    timeline.wait(stamp)
                    publishers[name].publish(data)
                if not args.loop:
                    break
            # reliable readers may still be fetching what was published last
            time.sleep(0.2)
        except KeyboardInterrupt:
            pass
    return 0
