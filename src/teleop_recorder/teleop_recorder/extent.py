"""How far an MCAP file without an index can be believed, from its records' own lengths and check sums."""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")  # opcode, length of what follows
_OPCODES = range(0x01, 0x10)
_FOOTER, _MESSAGE, _CHUNK = 0x02, 0x05, 0x06
_CHUNK_HEAD = struct.Struct("<QQQII")  # first and last time, size, check sum, length of the compression's name
_LARGEST = 1 << 24  # [bytes]: a longer record is none of a bag of ours, its length is damaged


class Extent(NamedTuple):
    """The readable part of a file.

    Attributes:
        messages: how many it holds; those of compressed chunks are not counted.
        end: its end [bytes].
        torn: whether nothing comes after it but a record that a kill cut off, or zeros that a power cut left.
    """

    messages: int
    end: int
    torn: bool


def measure(path: Path) -> Extent:
    """Return how far the file at ``path`` can be read.

    Raises:
        OSError: it cannot be opened.
    """
    size = path.stat().st_size
    if not size:
        return Extent(0, 0, True)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data[: len(_MAGIC)]
        if start != _MAGIC:
            return Extent(0, 0, _MAGIC.startswith(start))
        messages, end = 0, len(_MAGIC)
        for opcode, at, after in _records(data, end, size):
            found = int(opcode == _MESSAGE) if opcode != _CHUNK else _chunk(data[at:after])
            if found is None:
                return Extent(messages, end, False)
            messages, end = messages + found, after
            if opcode == _FOOTER:
                return Extent(messages, end, True)
        return Extent(messages, end, _torn(data, end, size))


def _records(data: bytes | mmap.mmap, at: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield (opcode, begin and end of the contents) of whole records."""
    while at + _HEAD.size <= size:
        opcode, length = _HEAD.unpack_from(data, at)
        begin, end = at + _HEAD.size, at + _HEAD.size + length
        if opcode not in _OPCODES or end > size:
            return
        yield opcode, begin, end
        at = end


def _chunk(data: bytes) -> int | None:
    """Return how many messages a chunk holds, None where it is damaged."""
    if len(data) < _CHUNK_HEAD.size:
        return None
    _, _, size, told, name = _CHUNK_HEAD.unpack_from(data)
    records = data[_CHUNK_HEAD.size + name + 8 :]
    if name:
        return 0  # compressed: its reader looks at the sum
    if len(records) != size or (told and zlib.crc32(records) != told):
        return None
    return sum(opcode == _MESSAGE for opcode, _, _ in _records(records, 0, size))


def _torn(data: mmap.mmap, at: int, size: int) -> bool:
    rest = size - at
    if rest >= _HEAD.size:
        opcode, length = _HEAD.unpack_from(data, at)
        if opcode in _OPCODES and length <= _LARGEST:
            return True
    elif rest == 0 or data[at] in _OPCODES:
        return True
    return not any(data[place : min(place + _LARGEST, size)].strip(b"\0") for place in range(at, size, _LARGEST))
