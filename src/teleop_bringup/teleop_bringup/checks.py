"""What a launch file looks at before it starts anything: arguments and the parameter file, whose slips nobody else would see."""

from __future__ import annotations

import difflib
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from teleop_common import cell, limits, yamlfile
from teleop_common.errors import ConfigError
from teleop_session import bindings

_HANDS = 2
_INTEGERS = {
    "https_port": (0, 65535, "0 takes a free port"),
    "http_port": (-1, 65535, "0 takes a free port, -1 none"),
    "cubes_seed": (0, 2**32 - 1, "the seed of the cubes' places"),
}
EMULATED = "emulated"  # in place of ports: no hardware at all
_LIKE = 0.75  # how alike two names must be for one to be taken for a slip of the other


def _slip(name: str, known: Iterable[str]) -> str:
    """Return the known name that ``name`` is likely meant to be, empty for none."""
    found = difflib.get_close_matches(name, sorted(known), 1, _LIKE)
    return found[0] if found else ""


def arguments(given: Mapping[str, str], known: Iterable[str]) -> None:
    """Check the names of launch arguments; those of other launch files, which nothing here resembles, are left alone.

    Raises:
        ConfigError: a slip of an argument's name, a duration below 0, or text where a whole number belongs.
    """
    names = set(known)
    for name in sorted(set(given) - names):
        if meant := _slip(name, names):
            raise ConfigError("launch argument", name, given[name], f"a known name, such as {meant}", f"write {meant}:=")
    try:
        enough = float(given.get("duration", "0")) >= 0.0
    except ValueError:
        enough = False
    if not enough:
        raise ConfigError("launch argument", "duration", given["duration"], "0 (until Ctrl-C) or more seconds", "mend it")
    for name, (low, high, meaning) in _INTEGERS.items():
        text = given.get(name, "0")
        if not (text.removeprefix("-").isdecimal() and low <= int(text) <= high):
            raise ConfigError("launch argument", name, text, f"a whole number from {low} to {high} ({meaning})", "mend it")


def files(given: Mapping[str, str]) -> None:
    """Check what several nodes read, once for all of them: arms, cell, limits and bindings.

    Raises:
        ConfigError: arms that cannot be, or a file that cannot be used: it, its key, the value and what is allowed.
    """
    arms = given.get("arms", "").split(",")
    if not 1 <= len(arms) <= _HANDS or len(set(arms)) != len(arms):
        allowed = "one arm, or two different ones with a comma between"
        raise ConfigError("launch argument", "arms", given.get("arms", ""), allowed, "an operator has two hands")
    if given.get("cell_file"):
        found = cell.load(given["cell_file"])
        for arm in arms:
            found.mount(arm)
    if given.get("limits_file"):
        limits.load(given["limits_file"])
    if given.get("bindings_file"):
        bindings.load(given["bindings_file"], given.get("bindings_preset", "default"))


def address(bind: str) -> None:
    """Check that the pages can be served at an address.

    Raises:
        ConfigError: it is none of this machine.
    """
    try:
        socket.create_server((bind, 0), family=socket.AF_INET6 if ":" in bind else socket.AF_INET).close()
    except OSError as error:
        allowed = "an address of this machine, 127.0.0.1 for this machine alone, or 0.0.0.0 for all"
        raise ConfigError("launch argument", "bind", bind, allowed, "'hostname -I' lists the addresses") from error


def ports(text: str, arms: list[str]) -> dict[str, str]:
    """Return the port of each arm by the launch argument ``ports``.

    Raises:
        ConfigError: it names not just each arm, once.
    """
    if text in ("auto", EMULATED):
        return dict.fromkeys(arms, text)
    pairs = [part.partition(":")[::2] for part in text.split(",")]
    allowed = f"auto, {EMULATED}, or a port for each of {', '.join(arms)}"
    if sorted(arm for arm, _ in pairs) != sorted(arms) or not all(port for _, port in pairs):
        example = ",".join(f"{arm}:/dev/ttyACM{number}" for number, arm in enumerate(arms))
        raise ConfigError("launch argument", "ports", text, allowed, f"write ports:={example}")
    found = dict(pairs)
    if len(set(found.values())) != len(found):
        raise ConfigError("launch argument", "ports", text, "another port for each arm", "see ./teleop arm find")
    return found


def emulated(port: str) -> bool:
    """Return whether a process is behind ``port``, not an adapter: a pseudo-terminal, as ``./teleop emulate`` serves them."""
    return Path(port).resolve().parent == Path("/dev/pts")


def parameters(path: Path, nodes: Iterable[str]) -> None:
    """Check the shape of a parameter file: node (or a pattern such as ``/**``) → ``ros__parameters`` → parameters.

    Raises:
        ConfigError: no such file, no YAML, another shape, a key twice, or a name that no node of the graph has.
    """
    data = yamlfile.tree(path)
    if data is not None:
        _shape(data, str(path), "", set(nodes))


def _shape(data: Any, source: str, where: str, nodes: set[str]) -> None:
    if not isinstance(data, dict):
        raise ConfigError("key", where or "top", data, "ros__parameters below a node's name", "mend the file", source)
    for name, below in data.items():
        path = f"{where}/{str(name).strip('/')}".lstrip("/")
        if name == "ros__parameters":
            if not isinstance(below, dict) or not all(isinstance(key, str) for key in below):
                raise ConfigError("key", f"{where}.{name}", below, "a mapping of parameters' names", "mend the file", source)
            last = where.rpartition("/")[2] if "*" in where else where
            if "*" not in last and last not in nodes:
                likely = _slip(where.rpartition("/")[2], nodes)
                allowed = f"a node's name{f', such as {likely}' if likely else ''}: one of {', '.join(sorted(nodes))}, or /**"
                raise ConfigError("key", where, "no node of that name", allowed, "mend the file", source)
            continue
        if not isinstance(name, str):
            raise ConfigError("key", str(name), name, "text, a node's name", "mend the file", source)
        _shape(below, source, path, nodes)
