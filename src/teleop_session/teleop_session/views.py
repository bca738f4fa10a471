"""The camera views' yaw, for stance ``camera``."""

from __future__ import annotations

from pathlib import Path

from teleop_common import yamlfile


def view_yaws(path: Path, *, required: bool) -> dict[str, float]:
    """Return view name → yaw of its horizontal looking direction in world [rad].

    Args:
        path: camera file; a view without a ``yaw`` (a wrist camera) is left out.
        required: the file was named by a person; otherwise an absent one means that there are no views.

    Raises:
        ConfigError: unreadable file, or a yaw that is no angle.
    """
    if not required and not path.exists():
        return {}
    rows = yamlfile.read(path).tables("cameras", ())
    return {row.text("name"): row.number("yaw", -3.1416, 3.1416) for row in rows if "yaw" in row.data}
