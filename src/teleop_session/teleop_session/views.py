"""The camera views' yaw, for stance ``camera``."""

from __future__ import annotations

from pathlib import Path

from teleop_common import yamlfile


def view_yaws(path: Path) -> dict[str, float]:
    """Return view name → yaw in world [rad] of what is away from the viewer in its picture.

    Raises:
        ConfigError: unreadable file, an unknown key, or a yaw that is no angle.
    """
    top = yamlfile.read(path)
    yaws = {}
    for name, row in top.table("views").items():
        yaws[name] = row.number("yaw", -3.1416, 3.1416)
        row.done()
    top.done()
    return yaws
