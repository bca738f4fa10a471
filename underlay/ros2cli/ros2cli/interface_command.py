"""``ros2 interface``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rosidl_runtime_py import (
    get_action_interfaces,
    get_interface_packages,
    get_interface_path,
    get_interfaces,
    get_message_interfaces,
    get_service_interfaces,
)

_FIELD = re.compile(r"^\s*(?P<type>[A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+\w+\s*($|#|[^=\s])")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("show", help="print an interface's definition")
    group = verb.add_mutually_exclusive_group()
    group.add_argument("--all-comments", action="store_true", help="also the comments of nested interfaces")
    group.add_argument("--no-comments", action="store_true", help="no comments")
    verb.add_argument("type", help="such as sensor_msgs/msg/JointState")
    verb.set_defaults(main=_show)
    verb = verbs.add_parser("list", help="list every interface")
    verb.add_argument("-m", "--only-msgs", action="store_true", help="messages only")
    verb.add_argument("-s", "--only-srvs", action="store_true", help="services only")
    verb.add_argument("-a", "--only-actions", action="store_true", help="actions only")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("package", help="list the interfaces of a package")
    verb.add_argument("package_name")
    verb.set_defaults(main=_package)
    verb = verbs.add_parser("packages", help="list the packages with interfaces")
    verb.set_defaults(main=lambda args: print("\n".join(sorted(get_interface_packages()))))


def expanded(name: str, *, comments: bool, nested_comments: bool, indent: str = "") -> list[str]:
    """Return the lines of a definition, each message field followed by its own fields, one tab deeper."""
    lines = []
    package = name.split("/")[0]
    for line in Path(get_interface_path(name)).read_text().splitlines():
        text = line if comments else line.split("#")[0].rstrip()
        if text.strip() or (comments and not indent):
            lines.append(indent + text)
        match = _FIELD.match(line)
        kind = match["type"] if match else ""
        if "/" in kind or kind[:1].isupper():
            pair = kind.split("/") if "/" in kind else ["std_msgs" if kind == "Header" else package, kind]
            inner = f"{pair[0]}/msg/{pair[-1]}"
            lines += expanded(inner, comments=nested_comments, nested_comments=nested_comments, indent=indent + "\t")
    return lines


def _show(args: argparse.Namespace) -> None:
    if len(args.type.split("/")) != 3:
        raise ValueError(f"interface '{args.type}': allowed package/msg/Name, package/srv/Name or package/action/Name")
    print("\n".join(expanded(args.type, comments=not args.no_comments, nested_comments=args.all_comments)))


def _list(args: argparse.Namespace) -> None:
    every = not (args.only_msgs or args.only_srvs or args.only_actions)
    parts = (
        ("Messages:", args.only_msgs, get_message_interfaces),
        ("Services:", args.only_srvs, get_service_interfaces),
        ("Actions:", args.only_actions, get_action_interfaces),
    )
    for title, chosen, getter in parts:
        if every or chosen:
            print(title)
            for package, names in sorted(getter().items()):
                for name in names:
                    print(f"    {package}/{name}")


def _package(args: argparse.Namespace) -> None:
    for name in get_interfaces([args.package_name])[args.package_name]:
        print(f"{args.package_name}/{name}")
