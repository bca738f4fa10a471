"""Message definitions and type hashes from the installed interface packages."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from rosidl_runtime_py import get_interface_path

_DELIMITER = "\n" + "=" * 80 + "\nMSG: "
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+\w+", re.MULTILINE)
_PRIMITIVES = set(
    "bool byte char float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 string wstring".split()  # noqa: SIM905
)


@cache
def _text(type_name: str) -> str:
    return Path(get_interface_path(type_name)).read_text()


def _references(package: str, text: str) -> list[str]:
    """Return the full names of the messages that a definition uses, in order."""
    found = []
    for name in _FIELD.findall(text):
        if name in _PRIMITIVES:
            continue
        parts = ["std_msgs", "Header"] if name == "Header" else name.split("/") if "/" in name else [package, name]
        found.append(f"{parts[0]}/msg/{parts[-1]}")
    return found


@cache
def definition(type_name: str) -> tuple[str, str]:
    """Return (encoding, text) of a message's schema: its definition, then those it uses, each once.

    A type that isn't installed gives ``("", "")``, the MCAP way to say "unknown".
    """
    try:
        parts = [_text(type_name)]
        seen = [type_name]
        queue = _references(type_name.split("/")[0], parts[0])
        while queue:
            name = queue.pop(0)
            if name in seen:
                continue
            seen.append(name)
            text = _text(name)
            package, _, short = name.split("/")
            parts.append(f"{package}/{short}\n{text}")
            queue = _references(package, text) + queue
    except (LookupError, ValueError):
        return "", ""
    return "ros2msg", _DELIMITER.join(parts)


@cache
def type_hash(type_name: str) -> str:
    """Return the RIHS01 hash of an installed message, or an empty text."""
    try:
        described = json.loads(Path(get_interface_path(type_name)).with_suffix(".json").read_text())
    except (LookupError, ValueError, OSError):
        return ""
    return next((str(item["hash_string"]) for item in described["type_hashes"] if item["type_name"] == type_name), "")
