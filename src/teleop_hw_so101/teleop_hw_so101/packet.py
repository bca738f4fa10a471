"""Packets of the servo bus, as bytes: instructions out, status packets back. Works on any stream, knows no registers.

Instruction: FF FF, ID, length, instruction, parameters, checksum; status: FF FF, ID, length, error byte, parameters, checksum.
The length counts instruction (or error) byte, parameters and checksum; the checksum is the inverted sum from ID on.
Source: the vendor's description of the SCS communication protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

HEADER = b"\xff\xff"
BROADCAST = 0xFE
MAX_ID = 0xFD
OVERHEAD = 6  # bytes of a packet without parameters
MAX_LENGTH = 0xFC  # of the length byte: longer ones do not occur and would be read for ever


class Instruction(IntEnum):
    """Instructions that are sent. Factory and state reset are left out on purpose."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83


@dataclass(frozen=True)
class Packet:
    """One packet, either way.

    Attributes:
        id: servo's ID, or ``BROADCAST``.
        code: instruction, or the error byte of a status packet.
        params: parameters.
    """

    id: int
    code: int
    params: bytes = b""


def checksum(body: bytes) -> int:
    """Return the checksum of ``body``, which runs from ID to the last parameter."""
    return ~sum(body) & 0xFF


def encode(packet: Packet) -> bytes:
    """Return the bytes of an instruction or status packet."""
    length = len(packet.params) + 2
    if not 0 <= packet.id <= BROADCAST or length > MAX_LENGTH:
        raise ValueError(f"packet for '{packet.id}': got {len(packet.params)} parameters, allowed IDs 0 to 254 and 250 bytes")
    body = bytes((packet.id, length, packet.code)) + packet.params
    return HEADER + body + bytes((checksum(body),))


def ping(servo: int) -> bytes:
    """Ask ``servo`` for a sign of life."""
    return encode(Packet(servo, Instruction.PING))


def read(servo: int, address: int, length: int) -> bytes:
    """Ask ``servo`` for ``length`` bytes from ``address``."""
    return encode(Packet(servo, Instruction.READ, bytes((address, length))))


def write(servo: int, address: int, data: bytes) -> bytes:
    """Write ``data`` to ``address`` of ``servo``."""
    return encode(Packet(servo, Instruction.WRITE, bytes((address,)) + data))


def sync_read(servos: Sequence[int], address: int, length: int) -> bytes:
    """Ask each of ``servos`` for ``length`` bytes from ``address``; they answer in this order."""
    return encode(Packet(BROADCAST, Instruction.SYNC_READ, bytes((address, length, *servos))))


def sync_write(address: int, blocks: Mapping[int, bytes]) -> bytes:
    """Write to ``address`` of several servos at once, each its own bytes, all of one length; nobody answers."""
    sizes = {len(data) for data in blocks.values()}
    if len(sizes) != 1:
        raise ValueError(f"sync write to '{address}': got blocks of {sorted(sizes)} bytes, allowed one length for all")
    params = bytes((address, sizes.pop())) + b"".join(bytes((servo,)) + data for servo, data in blocks.items())
    return encode(Packet(BROADCAST, Instruction.SYNC_WRITE, params))


def status_size(length: int) -> int:
    """Return how many bytes a status packet with ``length`` bytes of data has."""
    return OVERHEAD + length


class Parser:
    """Finds packets in a stream of bytes that may hold noise, echoes and cut packets.

    Attributes:
        skipped: bytes that belonged to no packet.
        corrupt: packets whose checksum was wrong.
    """

    def __init__(self) -> None:
        """Start with nothing received."""
        self._buffer = bytearray()
        self.skipped = 0
        self.corrupt = 0

    def feed(self, data: bytes) -> list[Packet]:
        """Take bytes as they come and return the packets that are complete now."""
        self._buffer += data
        return self._take()

    def resynchronise(self) -> list[Packet]:
        """Give up the packet begun last, which will not be completed, and return what stands behind its false header."""
        if self._buffer:
            self._drop(1)
        return self._take()

    def _take(self) -> list[Packet]:
        found = []
        while (packet := self._next()) is not None:
            found.append(packet)
        return found

    def clear(self) -> None:
        """Forget what is not complete."""
        self.skipped += len(self._buffer)
        self._buffer.clear()

    @property
    def pending(self) -> int:
        """Bytes received that do not make a packet yet."""
        return len(self._buffer)

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self.skipped += count

    def _next(self) -> Packet | None:
        buffer = self._buffer
        while True:
            start = buffer.find(HEADER)
            if start < 0:
                # a last FF may be the first half of a header
                self._drop(len(buffer) - (1 if buffer[-1:] == b"\xff" else 0))
                return None
            self._drop(start)
            if len(buffer) < OVERHEAD - 2:
                return None
            # no servo has ID 255: of three FF the first is noise
            if buffer[2] == 0xFF or not 2 <= buffer[3] <= MAX_LENGTH:
                self._drop(1)
                continue
            size = buffer[3] + 4
            if len(buffer) < size:
                return None
            body = bytes(buffer[2 : size - 1])
            if checksum(body) != buffer[size - 1]:
                self.corrupt += 1
                self._drop(1)  # a packet may begin inside of what was no packet
                continue
            del buffer[:size]
            return Packet(body[0], body[2], body[3:])
