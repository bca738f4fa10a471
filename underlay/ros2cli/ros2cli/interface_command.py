"""``ros2 interface``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rosidl_runtime_py import get_interface_path

_FIELD = re.compile(r"^\s*(?P<type>[A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+\w+\s*($|#|[^=\s])")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("show", help="print an interface's definition")
    verb.add_argument("--no-comments", action="store_true", help="no comments")
    verb.add_argument("type", help="such as sensor_msgs/msg/JointState")
    verb.set_defaults(main=_show)


def expanded(name: str, *, comments: bool, indent: str = "") -> list[str]:
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
            lines += expanded(inner, comments=False, indent=indent + "\t")
    return lines


def _show(args: argparse.Namespace) -> None:
    if len(args.type.split("/")) != 3:
        raise ValueError(f"interface '{args.type}': allowed package/msg/Name, package/srv/Name or package/action/Name")
    print("\n".join(expanded(args.type, comments=not args.no_comments)))
