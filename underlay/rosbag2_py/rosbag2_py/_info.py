"""What is in a bag, without reading its messages."""

from __future__ import annotations

from pathlib import Path

from rosbag2_py._storage import find_files
from rosbag2_py._subset import refuse_storage
from rosbag2_py._types import BagMetadata


class Info:
    """Reads a bag's metadata."""

    def read_metadata(self, uri: str, storage_id: str = "") -> BagMetadata:
        """Return the metadata of the bag, from ``metadata.yaml`` or from the files themselves.

        Raises:
            RuntimeError: there is no bag.
            NotImplementedError: a storage other than mcap.
        """
        refuse_storage(storage_id)
        return find_files(Path(uri))[0]
