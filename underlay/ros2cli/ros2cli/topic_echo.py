"""``ros2 topic echo``."""

from __future__ import annotations

import argparse
import time
from typing import Any

from rosidl_runtime_py import message_to_yaml
from rosidl_runtime_py.utilities import get_message, is_message

from ros2cli.direct import add_spin_time, direct_node, spin, wait_for
from ros2cli.qos_options import add_qos, from_args, matching

_TRUNCATE = 128


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_spin_time(parser)
    add_qos(parser)
    parser.add_argument("topic_name")
    parser.add_argument("message_type", nargs="?", help="found by discovery if not given")
    parser.add_argument("--field", metavar="A.B", help="print this field only")
    parser.add_argument("-f", "--full-length", action="store_true", help="print long values whole")
    parser.add_argument("-l", "--truncate-length", type=int, default=_TRUNCATE, help=f"longest value printed whole ({_TRUNCATE})")
    parser.add_argument("--no-arr", action="store_true", help="don't print arrays")
    parser.add_argument("--flow-style", action="store_true", help="one line a message, with braces")
    parser.add_argument("--once", action="store_true", help="end after the first message")
    parser.add_argument("--timeout", type=float, metavar="S", help="end when no message came for so long [s]")
    parser.set_defaults(main=_echo)


def select(message: Any, field: str | None) -> Any:
    """Return the field ``a.b`` of a message, or the message itself.

    Raises:
        AttributeError: there is no such field.
    """
    for name in field.split(".") if field else ():
        if not hasattr(message, name):
            raise AttributeError(f"field '{field}': '{name}' is no field of {type(message).__name__}")
        message = getattr(message, name)
    return message


def _echo(args: argparse.Namespace) -> int:
    from ros2cli.topic_command import absolute, types_of

    topic = absolute(args.topic_name)
    how: dict[str, Any] = {
        "truncate_length": None if args.full_length else args.truncate_length,
        "no_arr": args.no_arr,
        "flow_style": args.flow_style,
    }
    with direct_node(args, discover=False) as node:
        if args.message_type is None:
            types = wait_for(lambda: types_of(node, topic), args.spin_time)
            if len(types) != 1:
                problem = f"has several types ({', '.join(types)})" if types else "does not appear to be published yet"
                raise RuntimeError(f"topic '{topic}': {problem}; give the type as a second argument")
            args.message_type = types[0]
        kind = get_message(args.message_type)
        select(kind(), args.field)
        # with a type given there may be nobody yet: take what is known after a moment
        wait_for(lambda: node.get_publishers_info_by_topic(topic), args.spin_time if args.spin_time is not None else 0.5)
        time.sleep(0.1)
        heard = 0
        last = time.monotonic()

        def show(message: Any) -> None:
            nonlocal heard, last
            if args.once and heard:
                return
            heard, last = heard + 1, time.monotonic()
            part = select(message, args.field)
            print(message_to_yaml(part, **how) if is_message(part) else f"{part}\n", end="---\n", flush=True)

        node.create_subscription(kind, topic, show, from_args(args, matching(node, topic, 10)))
        expired = False

        def done() -> bool:
            nonlocal expired
            expired = args.timeout is not None and time.monotonic() - last > args.timeout
            return expired or (args.once and heard > 0)

        spin(node, done)
    return 1 if expired and not heard else 0
