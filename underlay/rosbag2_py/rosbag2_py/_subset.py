"""What this subset refuses, naming the package that can."""

from __future__ import annotations

from rosbag2_py._types import ConverterOptions


def refuse_storage(storage_id: str, bag: str = "") -> None:
    """Raise NotImplementedError for a storage other than mcap."""
    if storage_id not in ("", "mcap"):
        where = f"bag '{bag}': " if bag else ""
        raise NotImplementedError(f"{where}storage '{storage_id}': only mcap; install ros-jazzy-rosbag2-storage-{storage_id}")


def refuse_formats(options: ConverterOptions | None) -> None:
    """Raise NotImplementedError for a serialisation other than CDR."""
    for value in vars(options).values() if options is not None else ():
        if value not in ("", "cdr"):
            raise NotImplementedError(f"serialization format '{value}': only cdr; install the real ros-jazzy-rosbag2-py")
