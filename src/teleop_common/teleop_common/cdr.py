"""A compiled CDR codec between records and the bytes on the wire.

rclpy builds a Python object per nested message through attribute setters: 118 µs for a TeleopFrame, on every hop. The
wire format itself (OMG CDR, XTypes 1.3 clause 7.4.1: little or big endian, members aligned to their size, at most 8)
is plain enough to read with ``struct``: this module writes, once per message class, a straight-line Python function
that decodes the bytes into records (``teleop_common.records``) and one that encodes them. Runs of primitive members
become a single ``struct`` call; eight variants of each serve the eight possible alignments of its start. The node-ring
test compares every message with rclpy's own serialisation, byte by byte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

_PRIMITIVES = {
    "boolean": "?", "octet": "B", "byte": "B", "char": "B", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h",
    "uint32": "I", "int32": "i", "uint64": "Q", "int64": "q", "float": "f", "double": "d",
}  # fmt: skip
# Flattened leaves: message type -> (members' format, constructor expression, members' expressions of a value v)
_LEAVES = {
    "builtin_interfaces/Time": ("iI", "({0} * 1000000000 + {1})", ("{v} // 1000000000", "{v} % 1000000000")),
    "geometry_msgs/Point": ("ddd", "({0}, {1}, {2})", ("{v}[0]", "{v}[1]", "{v}[2]")),
    "geometry_msgs/Vector3": ("ddd", "({0}, {1}, {2})", ("{v}[0]", "{v}[1]", "{v}[2]")),
    "geometry_msgs/Quaternion": ("dddd", "({0}, {1}, {2}, {3})", ("{v}[0]", "{v}[1]", "{v}[2]", "{v}[3]")),
}
_HEADER = b"\x00\x01\x00\x00"  # CDR, little endian, no options


class WireError(ValueError):
    """Bytes that are not the message they should be."""


def _aligned_structs(fmt: str) -> list[struct.Struct]:
    """Return, for each start offset modulo 8, the struct that reads ``fmt`` with CDR's padding."""
    out = []
    for start in range(8):
        at, padded = start, "<"
        for code in fmt:
            size = struct.calcsize("<" + code)
            pad = -at % size
            padded += "x" * pad + code
            at += pad + size
        out.append(struct.Struct(padded))
    return out


class _Writer:
    """Collects the source of one function and the objects that it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.env: dict[str, Any] = {"WireError": WireError, "StructError": struct.error}
        self.names = 0

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def bind(self, prefix: str, value: Any) -> str:
        name = self.name(prefix)
        self.env[name] = value
        return name

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)


def _members(msg_class: type) -> list[tuple[str, str]]:
    return list(msg_class.get_fields_and_field_types().items())  # type: ignore[attr-defined]


def _split(kind: str) -> tuple[str, int | None]:
    """Return (element type, count): count None for a single value, -1 for a sequence, n for an array."""
    if m := re.fullmatch(r"sequence<(.+?)(, \d+)?>", kind):
        return m[1], -1
    if m := re.fullmatch(r"(.+)\[(\d+)\]", kind):
        return m[1], int(m[2])
    return kind, None


class Codec:
    """Decodes and encodes one message class.

    Args:
        msg_class: the message class, e.g. ``teleop_interfaces.msg.TeleopFrame``.
        record: the record class of the same fields, e.g. ``teleop_common.records.TeleopFrame``.
        records: record classes of the nested messages, by message name.

    Raises:
        TypeError: the record's fields are not those of the message.
    """

    def __init__(self, msg_class: type, record: type, records: dict[str, type], resolve: Callable[[str], type]) -> None:
        """Compile both directions."""
        self.msg_class, self.record = msg_class, record
        self._records, self._resolve = records, resolve
        self.decode: Callable[[bytes], Any] = self._compile_decode()
        self.encode: Callable[[Any], bytes] = self._compile_encode()

    # ---- shared walk
    def _record_of(self, kind: str) -> type:
        return self._records[kind.rsplit("/", 1)[1]]

    def _check(self, msg_class: type, record: type) -> None:
        fields = [name for name, _ in _members(msg_class)]
        if list(record._fields) != fields:  # type: ignore[attr-defined]
            raise TypeError(f"record {record.__name__}: fields {record._fields} differ from the message's {fields}")  # type: ignore[attr-defined]

    def _finish(self, w: _Writer, head: str, tail: str = "") -> Any:
        source = head + "\n" + "\n".join(w.lines) + "\n" + tail
        exec(compile(source, f"<cdr {self.record.__name__}>", "exec"), w.env)  # noqa: S102 - our own generated source
        return w.env["codec"]

    # ---- decoding
    def _compile_decode(self) -> Callable[[bytes], Any]:
        w = _Writer()
        w.line(0, "if len(b) < 4 or b[0] or b[1] != 1:")
        w.line(1, "raise WireError('encapsulation: got %s, allowed little-endian CDR 00 01; check the sender' % b[:4].hex())")
        w.line(0, "b = b[4:]")
        w.line(0, "o = 0")
        run: list[tuple[str, str]] = []
        expr = self._read(w, 0, self.msg_class, self.record, run)
        self._flush_read(w, 0, run)
        w.line(0, f"return {expr}")
        # one kind of error for whatever is wrong with the bytes, so that no caller forgets one
        tail = "  except StructError as e:\n    raise WireError('%d bytes: %s; check the sender' % (len(b), e)) from e\n"
        return self._finish(w, "def codec(b):\n  try:", tail)  # type: ignore[no-any-return]

    def _flush_read(self, w: _Writer, depth: int, run: list[tuple[str, str]]) -> None:
        if run:
            structs = w.bind("s", _aligned_structs("".join(code for code, _ in run)))
            s = w.name("t")
            w.line(depth, f"{s} = {structs}[o & 7]")
            w.line(depth, f"{', '.join(n for _, n in run)}, = {s}.unpack_from(b, o); o += {s}.size")
            run.clear()

    def _read(self, w: _Writer, depth: int, msg_class: type, record: type, run: list[tuple[str, str]]) -> str:
        self._check(msg_class, record)
        parts = []
        for _, kind in _members(msg_class):
            element, count = _split(kind)
            if count is None:
                parts.append(self._read_one(w, depth, element, run))
                continue
            self._flush_read(w, depth, run)
            parts.append(self._read_many(w, depth, element, count))
        return f"{w.bind('R', record)}({', '.join(parts)})"

    def _read_one(self, w: _Writer, depth: int, kind: str, run: list[tuple[str, str]]) -> str:
        if kind in _PRIMITIVES:
            run.append((_PRIMITIVES[kind], name := w.name("v")))
            return name
        if kind in _LEAVES:
            fmt, make, _ = _LEAVES[kind]
            names = [w.name("v") for _ in fmt]
            run.extend(zip(fmt, names, strict=True))
            return make.format(*names)
        if kind.startswith("string"):
            run.append(("I", n := w.name("n")))
            self._flush_read(w, depth, run)
            v = w.name("v")
            w.line(depth, f"{v} = str(b[o:o + {n} - 1], 'utf-8'); o += {n}")
            w.line(
                depth,
                f"if o > len(b): raise WireError('string of %d bytes in a message of %d; check the sender' % ({n}, len(b)))",
            )
            return v
        return self._read(w, depth, self._resolve(kind), self._record_of(kind), run)

    def _read_many(self, w: _Writer, depth: int, kind: str, count: int) -> str:
        v, n = w.name("v"), w.name("n")
        if count < 0:
            run = [("I", n)]
            self._flush_read(w, depth, run)
        else:
            w.line(depth, f"{n} = {count}")
        if kind in _PRIMITIVES:
            code = _PRIMITIVES[kind]
            size = struct.calcsize("<" + code)
            w.env.setdefault("unpack_from", struct.unpack_from)
            w.line(depth, f"if {n}: o += -o % {size}")
            w.line(depth, f"{v} = unpack_from('<%d{code}' % {n}, b, o); o += {n} * {size}")
            return v
        w.line(
            depth, f"if {n} > len(b): raise WireError('sequence of %d elements in %d bytes; check the sender' % ({n}, len(b)))"
        )
        w.line(depth, f"{v} = []")
        w.line(depth, f"for _ in range({n}):")
        inner: list[tuple[str, str]] = []
        expr = self._read_one(w, depth + 1, kind, inner)
        self._flush_read(w, depth + 1, inner)
        w.line(depth + 1, f"{v}.append({expr})")
        return f"tuple({v})"

    # ---- encoding
    def _compile_encode(self) -> Callable[[Any], bytes]:
        w = _Writer()
        w.line(0, f"p = [{_HEADER!r}]; o = 0")
        run: list[tuple[str, str]] = []
        self._write(w, 0, self.msg_class, self.record, "r", run)
        self._flush_write(w, 0, run)
        # a CDR stream is a multiple of four octets; Fast CDR writes what is needed and no more
        w.line(0, "return b''.join(p)")
        return self._finish(w, "def codec(r):")  # type: ignore[no-any-return]

    def _flush_write(self, w: _Writer, depth: int, run: list[tuple[str, str]]) -> None:
        if run:
            structs = w.bind("s", _aligned_structs("".join(code for code, _ in run)))
            s = w.name("t")
            w.line(depth, f"{s} = {structs}[o & 7]; o += {s}.size")
            w.line(depth, f"p.append({s}.pack({', '.join(v for _, v in run)}))")
            run.clear()

    def _write(self, w: _Writer, depth: int, msg_class: type, record: type, value: str, run: list[tuple[str, str]]) -> None:
        self._check(msg_class, record)
        names = [w.name("f") for _ in _members(msg_class)]
        w.line(depth, f"{', '.join(names)}, = {value}")
        for name, (_, kind) in zip(names, _members(msg_class), strict=True):
            element, count = _split(kind)
            if count is None:
                self._write_one(w, depth, element, name, run)
            else:
                self._write_many(w, depth, element, count, name, run)

    def _write_one(self, w: _Writer, depth: int, kind: str, value: str, run: list[tuple[str, str]]) -> None:
        if kind in _PRIMITIVES:
            run.append((_PRIMITIVES[kind], value))
        elif kind in _LEAVES:
            fmt, _, parts = _LEAVES[kind]
            run.extend((code, part.format(v=value)) for code, part in zip(fmt, parts, strict=True))
        elif kind.startswith("string"):
            text = w.name("b")
            w.line(depth, f"{text} = {value}.encode() + b'\\0'")
            run.append(("I", f"len({text})"))
            self._flush_write(w, depth, run)
            w.line(depth, f"p.append({text}); o += len({text})")
        else:
            self._write(w, depth, self._resolve(kind), self._record_of(kind), value, run)

    def _write_many(self, w: _Writer, depth: int, kind: str, count: int, value: str, run: list[tuple[str, str]]) -> None:
        n = w.name("n")
        w.line(depth, f"{n} = len({value})")
        if count < 0:
            run.append(("I", n))
        else:
            w.line(depth, f"if {n} != {count}: raise WireError('array: got %d elements, allowed {count}; mend the record' % {n})")
        self._flush_write(w, depth, run)
        if kind in _PRIMITIVES:
            code = _PRIMITIVES[kind]
            size = struct.calcsize("<" + code)
            w.env.setdefault("pack", struct.pack)
            pad = w.name("g")
            w.line(depth, f"{pad} = -o % {size} if {n} else 0")
            w.line(depth, f"p.append(pack('<%dx%d{code}' % ({pad}, {n}), *{value})); o += {pad} + {n} * {size}")
            return
        item = w.name("e")
        w.line(depth, f"for {item} in {value}:")
        inner: list[tuple[str, str]] = []
        w.line(depth + 1, "pass")
        self._write_one(w, depth + 1, kind, item, inner)
        self._flush_write(w, depth + 1, inner)
