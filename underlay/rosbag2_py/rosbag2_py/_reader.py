"""Sequential reading of an MCAP bag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosbag2_py._storage import McapFile, find_files, metadata_of
from rosbag2_py._types import BagMetadata, ConverterOptions, StorageFilter, StorageOptions, TopicMetadata

_Message = tuple[str, bytes, int]


class SequentialReader:
    """Reads one bag in the order of receipt: ``open``, ``has_next``, ``read_next``, ``seek``."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._files: list[McapFile] = []
        self._messages: Iterator[_Message] = iter(())
        self._next: _Message | None = None

    def open(self, storage_options: StorageOptions, converter_options: ConverterOptions | None = None) -> None:
        """Open a bag's directory, or one ``.mcap`` file (also of a recording that was killed).

        Raises:
            RuntimeError: there is no such bag, or it can't be read.
        """
        self._files = [McapFile(path) for path in find_files(Path(storage_options.uri))]
        self._metadata = metadata_of(self._files)
        self._filter = StorageFilter()
        self.seek(0)

    def close(self) -> None:
        """Let the files go."""
        for file in self._files:
            file.close()
        self._files = []

    def has_next(self) -> bool:
        """Whether a message is left."""
        self._opened()
        return self._next is not None

    def read_next(self) -> _Message:
        """Return (topic, serialised message, time of receipt [ns]) of the next message.

        Raises:
            RuntimeError: none is left.
        """
        self._opened()
        if self._next is None:
            raise RuntimeError("Bag is at end. No next message.")
        message = self._next
        self._next = next(self._messages, None)
        return message

    def seek(self, timestamp: int) -> None:
        """Go on with the first message at or after ``timestamp`` [ns]."""
        self._opened()
        names = [topic.name for topic in self.get_all_topics_and_types()]
        wanted = [name for name in names if not self._filter.topics or name in self._filter.topics]
        self._messages = (message for file in self._files for message in file.messages(wanted, timestamp))
        self._next = next(self._messages, None)

    def set_filter(self, storage_filter: StorageFilter) -> None:
        """Read only what the filter lets through, from where reading stands."""
        self._opened()
        self._filter = storage_filter
        if self._next is not None:
            self.seek(self._next[2])

    def get_metadata(self) -> BagMetadata:
        """Return what is known of the bag."""
        self._opened()
        return self._metadata

    def get_all_topics_and_types(self) -> list[TopicMetadata]:
        """Return the topics of the bag."""
        return [item.topic_metadata for item in self.get_metadata().topics_with_message_count]

    def _opened(self) -> None:
        if not self._files:
            raise RuntimeError("Bag is not open. Call open() before reading.")
