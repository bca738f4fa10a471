"""What this subset refuses, naming the package that can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def refuse_storage(storage_id: str) -> None:
    """Raise NotImplementedError for a storage other than mcap."""
    if storage_id not in ("", "mcap"):
        raise NotImplementedError(f"storage '{storage_id}': only mcap; install ros-jazzy-rosbag2-storage-{storage_id}")


def refuse_format(name: str) -> None:
    """Raise NotImplementedError for a serialisation other than CDR."""
    if name not in ("", "cdr"):
        raise NotImplementedError(f"serialization format '{name}': only cdr; install the real ros-jazzy-rosbag2-py")


def refuse_arguments(owner: str, unsupported: Mapping[str, Any]) -> None:
    """Raise NotImplementedError for arguments that say something and are not in the subset."""
    for name, value in unsupported.items():
        if value not in (0, -1, "", [], {}):
            raise NotImplementedError(f"'{name}' of {owner}: not in the subset; install the real ros-jazzy-rosbag2-py")
