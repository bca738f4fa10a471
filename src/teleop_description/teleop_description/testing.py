"""What tests with other robots than the SO-101 need to know."""

from __future__ import annotations

from importlib import metadata

ROBOTS = ("panda", "ur5")  # limits files whose models come from example-robot-data


def installed() -> bool:
    """Return whether the models of ``ROBOTS`` are there."""
    try:
        return bool(metadata.distribution("example-robot-data"))
    except metadata.PackageNotFoundError:
        return False
