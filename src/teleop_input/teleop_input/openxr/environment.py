"""A runtime's environment file: lines of ``NAME=value``, as runtimes that run in a container or a service of their own leave."""

from __future__ import annotations

import re
import shlex

from teleop_common.enums import StatusReason
from teleop_input.openxr.runtime import RuntimeFailure

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse(text: str, source: str) -> dict[str, str]:
    """Return the variables of an environment file; ``export``, quotes and comments are as in a shell, nothing is expanded.

    Args:
        text: its content.
        source: its path, for the message.

    Raises:
        RuntimeFailure: a line that is no assignment, or has a zero byte, as a file half written may.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = ["", ""]
        if words[:1] == ["export"]:
            words = words[1:]
        if not words:
            continue
        name, equals, value = words[0].partition("=")
        if len(words) > 1 or not equals or not _NAME.fullmatch(name) or "\0" in value:
            raise RuntimeFailure(
                StatusReason.STARTUP_FAILED,
                f"environment file '{source}': got {line.strip()!r} in line {number}, allowed NAME=value; mend the line",
            )
        found[name] = value
    return found


def read(path: str) -> dict[str, str]:
    """Return the variables of the file at ``path``.

    Raises:
        RuntimeFailure: it cannot be read (yet), or has a wrong line.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise RuntimeFailure(
            StatusReason.PROVIDER_INITIALIZING,
            f"environment file '{path}': {error}; start the runtime that writes it, or mend environment_file",
        ) from None
