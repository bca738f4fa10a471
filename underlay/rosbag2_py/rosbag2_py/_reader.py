"""Sequential reading of an MCAP bag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rosbag2_py._storage import McapFile, find_files
from rosbag2_py._subset import refuse_formats, refuse_storage
from rosbag2_py._types import (
    BagMetadata,
    ConverterOptions,
    ReadOrder,
    ReadOrderSortBy,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
)

_Message = tuple[str, bytes, int]


class SequentialReader:
    """Reads one bag in the order of receipt: ``open``, ``has_next``, ``read_next``, ``seek``."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._files: list[McapFile] = []
        self._order = ReadOrder()
        self._messages: Iterator[_Message] = iter(())
        self._next: _Message | None = None

    def open(self, storage_options: StorageOptions, converter_options: ConverterOptions | None = None) -> None:
        """Open a bag's directory, or one ``.mcap`` file (also of a recording that was killed).

        Raises:
            RuntimeError: there is no such bag, or it can't be read.
            NotImplementedError: a storage other than mcap.
        """
        refuse_storage(storage_options.storage_id)
        refuse_formats(converter_options)
        self._metadata, paths = find_files(Path(storage_options.uri))
        self._files = [McapFile(path) for path in paths]
        self._filter = StorageFilter()
        self._start = storage_options.start_time_ns if storage_options.start_time_ns >= 0 else None
        self._end = storage_options.end_time_ns if storage_options.end_time_ns >= 0 else None
        self._restart()

    def open_uri(self, uri: str) -> None:
        """Open a bag with the default options."""
        self.open(StorageOptions(uri=uri))

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
        """Go on with the first message at or after ``timestamp`` [ns] (at or before it when reading backwards)."""
        self._opened()
        if self._order.reverse:
            self._end = timestamp
        else:
            self._start = timestamp
        self._restart()

    def set_filter(self, storage_filter: StorageFilter) -> None:
        """Read only what the filter lets through, from where reading stands."""
        self._opened()
        if storage_filter.services_events or storage_filter.exclude_service_events:
            raise NotImplementedError("service events in a StorageFilter: not in the subset; install ros-jazzy-rosbag2-py")
        self._filter = storage_filter
        self._restart_here()

    def reset_filter(self) -> None:
        """Read every topic again."""
        self.set_filter(StorageFilter())

    def set_read_order(self, read_order: ReadOrder) -> bool:
        """Choose the order; returns False, changing nothing, for one that can't be had."""
        self._opened()
        if read_order.sort_by is ReadOrderSortBy.PublishedTimestamp or (
            read_order.reverse and (read_order.sort_by is ReadOrderSortBy.File or not all(file.indexed for file in self._files))
        ):
            return False
        self._order = read_order
        self._restart()
        return True

    def get_metadata(self) -> BagMetadata:
        """Return what is known of the bag."""
        self._opened()
        return self._metadata

    def get_all_topics_and_types(self) -> list[TopicMetadata]:
        """Return the topics of the bag."""
        self._opened()
        return [item.topic_metadata for item in self._metadata.topics_with_message_count]

    def _opened(self) -> None:
        if not self._files:
            raise RuntimeError("Bag is not open. Call open() before reading.")

    def _restart_here(self) -> None:
        if self._next is not None:
            if self._order.reverse:
                self._end = self._next[2]
            else:
                self._start = self._next[2]
        self._restart()

    def _restart(self) -> None:
        self._messages = self._iterate()
        self._next = next(self._messages, None)

    def _wanted(self) -> list[str]:
        names = [item.topic_metadata.name for item in self._metadata.topics_with_message_count]
        chosen = self._filter
        if chosen.topics or chosen.regex:
            pattern = re.compile(chosen.regex) if chosen.regex else None
            names = [name for name in names if name in chosen.topics or (pattern is not None and pattern.fullmatch(name))]
        if chosen.regex_to_exclude:
            names = [name for name in names if not re.fullmatch(chosen.regex_to_exclude, name)]
        return [name for name in names if name not in chosen.exclude_topics]

    def _iterate(self) -> Iterator[_Message]:
        wanted = self._wanted()
        for file in reversed(self._files) if self._order.reverse else self._files:
            yield from file.messages(
                wanted, self._start, self._end, self._order.sort_by is not ReadOrderSortBy.File, self._order.reverse
            )
