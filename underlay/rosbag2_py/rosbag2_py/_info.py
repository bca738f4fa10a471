"""What is in a bag, without reading its messages."""

from __future__ import annotations

from rosbag2_py._reader import SequentialReader
from rosbag2_py._types import BagMetadata, StorageOptions


class Info:
    """Reads a bag's metadata."""

    def read_metadata(self, uri: str, storage_id: str = "") -> BagMetadata:
        """Return the metadata of the bag, from its files.

        Raises:
            RuntimeError: there is no bag.
        """
        reader = SequentialReader()
        reader.open(StorageOptions(uri, storage_id))
        metadata = reader.get_metadata()
        reader.close()
        return metadata
