"""An MCAP file record by record, as far as it goes: also inside a chunk that was cut off before its end (MCAP specification)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import IO

from mcap.data_stream import ReadDataStream
from mcap.exceptions import InvalidMagic, McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Header, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import get_chunk_data_stream

MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")  # opcode, length
_CHUNK = struct.Struct("<QQQI")  # start, end, size, checksum
_KINDS: dict[int, Callable[[ReadDataStream], McapRecord]] = {
    Opcode.HEADER: Header.read,
    Opcode.SCHEMA: Schema.read,
    Opcode.CHANNEL: Channel.read,
    Opcode.METADATA: Metadata.read,
}


class Container:
    """The records of a file that matter for reading it: header, schemas, channels, messages, metadata.

    Attributes:
        dropped: bytes that are of no whole record, or of a compressed chunk that is not whole.
        ended: the end of the data was reached; without it more may have been meant to come.
    """

    def __init__(self, stream: IO[bytes], size: int) -> None:
        """Take an open file of ``size`` bytes, at its beginning."""
        self._stream, self._size = stream, size
        self.dropped, self.ended = 0, False

    @property
    def problem(self) -> str:
        """Why the file could not be read to its end, or nothing."""
        if self.dropped:
            return f"{self.dropped} bytes are of no whole record"
        return "" if self.ended else "between two records"

    def records(self) -> Iterator[McapRecord]:
        """Yield the records in order, those in chunks as well.

        Raises:
            McapError, struct.error, ValueError: no MCAP file, or a record inside which the lengths are wrong.
        """
        magic = self._stream.read(len(MAGIC))
        if magic != MAGIC:
            raise InvalidMagic(magic)
        yield from self._walk(self._stream, self._size - len(MAGIC))

    def _walk(self, stream: IO[bytes], left: int) -> Iterator[McapRecord]:
        while left > 0 and not self.ended:
            head = stream.read(min(_HEAD.size, left))
            opcode, length = _HEAD.unpack(head) if len(head) == _HEAD.size else (0, 0)
            body = stream.read(min(length, left - _HEAD.size)) if opcode else b""
            whole = bool(opcode) and len(body) == length  # no record has opcode 0, but disks fill files with zeros
            if opcode == Opcode.CHUNK:
                yield from self._chunk(body, whole)
            elif not whole:
                self.dropped += left
                return
            elif opcode in _KINDS:
                yield _KINDS[opcode](ReadDataStream(BytesIO(body)))
            elif opcode == Opcode.MESSAGE:
                yield Message.read(ReadDataStream(BytesIO(body)), length)
            elif opcode in (Opcode.DATA_END, Opcode.FOOTER):
                self.ended = True
            left -= _HEAD.size + length

    def _chunk(self, body: bytes, whole: bool) -> Iterator[McapRecord]:
        named = body[_CHUNK.size :][:4]
        begin = _CHUNK.size + 4 + int.from_bytes(named, "little")
        compressed = begin > _CHUNK.size + 4
        if len(body) < begin + 8 or (compressed and not whole):
            self.dropped += _HEAD.size + len(body)
            return
        data = body[begin + 8 :]
        if compressed:
            data = _unpacked(Chunk.read(ReadDataStream(BytesIO(body))))
        yield from self._walk(BytesIO(data), len(data))


def _unpacked(chunk: Chunk) -> bytes:
    try:
        stream, size = get_chunk_data_stream(chunk)
    except McapError:
        raise
    except Exception as error:  # each kind of compression has its own
        raise McapError(f"a chunk cannot be unpacked: {error}") from error
    return stream.read(size)
