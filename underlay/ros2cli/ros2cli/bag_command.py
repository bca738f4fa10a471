"""``ros2 bag``."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from rosbag2_py import Info

from ros2cli import bag_play, bag_record


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    bag_record.register(verbs.add_parser("record", help="record topics"))
    bag_play.register(verbs.add_parser("play", help="play a bag"))
    verb = verbs.add_parser("info", help="describe a bag")
    verb.add_argument("bag_path")
    verb.add_argument("-s", "--storage", default="", help="storage (mcap)")
    verb.add_argument("-t", "--topic-name", action="store_true", help="print the names of the topics only")
    verb.set_defaults(main=_info)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024.0:
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024.0
    return f"{count:.1f} GiB"


def _moment(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds):%b %e %Y %H:%M:%S}.{rest:09d} ({seconds}.{rest:09d})"


def _info(args: argparse.Namespace) -> None:
    if not Path(args.bag_path).exists():
        raise LookupError(f"bag '{args.bag_path}': does not exist")
    metadata = Info().read_metadata(args.bag_path, args.storage)
    topics = sorted(metadata.topics_with_message_count, key=lambda item: item.topic_metadata.name)
    if args.topic_name:
        print("\n".join(item.topic_metadata.name for item in topics))
        return
    start = metadata.starting_time.nanoseconds if metadata.message_count else 0
    end = start + metadata.duration.nanoseconds
    lines = [
        f"Topic: {item.topic_metadata.name} | Type: {item.topic_metadata.type} | Count: {item.message_count} | "
        f"Serialization Format: {item.topic_metadata.serialization_format}"
        for item in topics
    ]
    margin = "\n" + " " * 19
    print(f"\nFiles:             {margin.join(metadata.relative_file_paths)}")
    print(f"Bag size:          {_size(metadata.bag_size)}")
    print(f"Storage id:        {metadata.storage_identifier}")
    print(f"Duration:          {metadata.duration.nanoseconds * 1e-9:.9f}s")
    print(f"Start:             {_moment(start)}")
    print(f"End:               {_moment(end)}")
    print(f"Messages:          {metadata.message_count}")
    print(f"Topic information: {margin.join(lines)}")
