"""``sensor_msgs/CompressedImage`` on the wire: header, format, bytes."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Picture(NamedTuple):
    """A compressed picture.

    Attributes:
        stamp: when it was taken [ns since the epoch].
        data: the file's bytes, JPEG as a rule.
    """

    stamp: int
    data: bytes


def decode(wire: bytes) -> Picture:
    """Read a serialised CompressedImage.

    Raises:
        ValueError: it is none.
    """
    try:
        order = "<" if wire[1] == 1 else ">"
        seconds, fraction, frame = struct.unpack_from(order + "iII", wire, 4)
        at = _aligned(16 + frame)
        (form,) = struct.unpack_from(order + "I", wire, at)
        at = _aligned(at + 4 + form)
        (size,) = struct.unpack_from(order + "I", wire, at)
    except (struct.error, IndexError) as error:
        raise ValueError(f"compressed image: {len(wire)} bytes that break off") from error
    data = bytes(wire[at + 4 : at + 4 + size])
    if len(data) != size:
        raise ValueError(f"compressed image: {len(data)} bytes of {size}")
    return Picture(seconds * 1_000_000_000 + fraction, data)


def _aligned(offset: int) -> int:
    """Return the next multiple of four; the encapsulation's four bytes do not disturb it."""
    return (offset + 3) // 4 * 4
