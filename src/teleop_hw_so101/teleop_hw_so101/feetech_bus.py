"""The servo bus: requests and their replies over a half-duplex byte stream.

One reply that is lost or corrupt is asked for again, a bounded number of times and within the time that the caller's cycle has
left; what still does not come is absent from the result, never an exception. A reply is known by its servo and length alone,
so that a late one of another request must have another length: ask for registers in the blocks of ``blocks``. Error bits of a
reply are telemetry and are handed on: a servo that reports overload has answered, and was written. Only a dead port raises
(``PortError``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from teleop_hw_so101 import packet
from teleop_hw_so101.packet import Packet, Parser
from teleop_hw_so101.registers import REGISTERS, span, unpack
from teleop_hw_so101.stream import ByteStream

BITS_PER_BYTE = 10  # start, eight, stop


@dataclass(frozen=True)
class BusConfig:
    """Settings of the bus.

    Attributes:
        baud_rate: bits per second [1/s].
        slack: longest silence before a reply [s]: the adapter's latency and the servo's return delay.
        retries: how often a request without a good reply is sent again.
        adapter_echo: the adapter hands back what it sends; None: find out with the first request.
    """

    baud_rate: int = 1_000_000
    slack: float = 0.005
    retries: int = 2
    adapter_echo: bool | None = None

    def wire_time(self, count: int) -> float:
        """Return how long ``count`` bytes take on the wire [s]."""
        return count * BITS_PER_BYTE / self.baud_rate


@dataclass(frozen=True)
class Reply:
    """What a servo answered.

    Attributes:
        id: servo's ID.
        status: error byte.
        data: bytes read, empty for a write or ping.
        time: when it came (monotonic) [s].
    """

    id: int
    status: int
    data: bytes
    time: float


@dataclass
class Counts:
    """Errors of one servo since the start.

    Attributes:
        replies: good ones.
        lost: requests without any reply from it, each try counted.
        corrupt: tries that ended with a checksum or length that does not fit.
        given_up: requests that stayed without a good reply.
    """

    replies: int = 0
    lost: int = 0
    corrupt: int = 0
    given_up: int = 0


@dataclass
class Noise:
    """Bytes of the line that were no reply: ``stale`` from before a request, ``skipped`` in it; ``foreign`` packets."""

    stale: int = 0
    skipped: int = 0
    foreign: int = 0


@dataclass
class FeetechBus:
    """One bus; a single thread may use it.

    Attributes:
        stream: the line.
        config: settings.
        counts: errors by servo ID.
        noise: what else was heard.
        echo: the adapter hands back what it sends, None as long as nobody knows.
        deadline: time (monotonic) after which nothing is tried again [s].
        slack: longest silence before a reply now [s], see ``patiently``.
    """

    stream: ByteStream
    config: BusConfig = BusConfig()
    counts: dict[int, Counts] = field(default_factory=dict)
    noise: Noise = field(default_factory=Noise)
    echo: bool | None = None
    deadline: float = math.inf
    slack: float = field(init=False)

    def __post_init__(self) -> None:
        """Take over what is configured."""
        self.echo, self.slack = self.config.adapter_echo, self.config.slack

    def budget(self, seconds: float) -> None:
        """Allow retries for ``seconds`` [s] from now; requests themselves always run once."""
        self.deadline = self.stream.now() + seconds

    @contextmanager
    def patiently(self, slack: float) -> Iterator[None]:
        """Wait up to ``slack`` [s] for each reply meanwhile: for what has time and must not fail because the machine is busy."""
        self.slack, self.deadline = max(slack, self.config.slack), math.inf
        try:
            yield
        finally:
            self.slack = self.config.slack

    def ping(self, servo: int) -> Reply | None:
        """Return the answer of ``servo``, None when it gives none."""
        if self.echo is None:
            self._find_echo(servo)
        return self._one(packet.ping(servo), servo, 0)

    def read(self, servo: int, *names: str) -> tuple[Reply, dict[str, int]] | None:
        """Return registers of one servo, read in one block; None without a good reply."""
        address, length = span(*names)
        reply = self.read_block(servo, address, length)
        return None if reply is None else (reply, unpack(names, reply.data))

    def read_block(self, servo: int, address: int, length: int) -> Reply | None:
        """Return ``length`` bytes from ``address`` of one servo."""
        return self._one(packet.read(servo, address, length), servo, length)

    def write(self, servo: int, name: str, count: int) -> Reply | None:
        """Write one register and return the acknowledgement, None without one.

        Raises:
            ValueError: the register is read-only or does not hold ``count``.
        """
        return self._one(packet.write(servo, *_encoded(name, count)), servo, 0)

    def sync_read(self, servos: Sequence[int], *names: str) -> dict[int, tuple[Reply, dict[str, int]]]:
        """Return registers of several servos, by ID, as one block; servos without a good reply are left out.

        Those that did not answer are asked again alone: after a silent servo the ones behind it may be silent too.
        """
        address, length = span(*names)
        found = self._exchange(packet.sync_read(servos, address, length), servos, length)
        for servo in servos:
            if servo not in found:
                alone = self._again(packet.read(servo, address, length), servo, length, self.config.retries)
                if alone is not None:
                    found[servo] = alone
        return {servo: (found[servo], unpack(names, found[servo].data)) for servo in servos if servo in found}

    def sync_write(self, name: str, counts: Mapping[int, int]) -> None:
        """Write one register of several servos at once; nobody acknowledges it."""
        if counts:
            address = REGISTERS[name].address
            self._send(packet.sync_write(address, {servo: _encoded(name, count)[1] for servo, count in counts.items()}))

    # below: packets

    def _one(self, request: bytes, servo: int, length: int) -> Reply | None:
        """Send a request to one servo until it answers, or tries or time are used up."""
        found = self._exchange(request, (servo,), length).get(servo)
        return found if found is not None else self._again(request, servo, length, self.config.retries)

    def _again(self, request: bytes, servo: int, length: int, retries: int) -> Reply | None:
        for _ in range(retries):
            if self.stream.now() >= self.deadline:
                break
            found = self._exchange(request, (servo,), length).get(servo)
            if found is not None:
                return found
        self.counts.setdefault(servo, Counts()).given_up += 1
        return None

    def _send(self, request: bytes) -> None:
        # a late reply of the request before must not be taken for one of this
        stale = self.stream.read(0.0)
        while stale:
            self.noise.stale += len(stale)
            stale = self.stream.read(0.0)
        self.stream.write(request)

    def _exchange(self, request: bytes, servos: Sequence[int], length: int) -> dict[int, Reply]:
        """Send ``request`` once and gather the replies of ``servos``, each with ``length`` bytes of data."""
        self._send(request)
        parser, found = Parser(), dict[int, Reply]()
        # a servo's answer may look like its request, so only the first such packet is the echo
        echo = 1 if self.echo else 0
        # nobody keeps the line quiet for longer than `slack`: a servo that is silent makes those behind it silent as well
        whole = packet.status_size(length) * len(servos)
        wire = self.config.wire_time(len(request) + whole)
        latest = self.stream.now() + wire + 2.0 * self.slack
        quiet = self.stream.now() + self.config.wire_time(len(request)) + self.slack
        heard = 0  # bytes, but those of packets that were not asked for
        while len(found) < len(servos):
            data = self.stream.read(min(latest, quiet) - self.stream.now())
            now = self.stream.now()
            quiet = now + self.slack
            packets = parser.feed(data) if data else self._resynchronise(parser)
            heard += len(data)
            for answer in packets:
                if echo and packet.encode(answer) == request:
                    echo, heard = 0, heard - len(request)
                elif answer.id in servos and answer.id not in found and len(answer.params) == length:
                    found[answer.id] = Reply(answer.id, answer.code, answer.params, now)
                else:
                    self.noise.foreign += 1
                    heard -= packet.status_size(len(answer.params))
            # as much as everybody has to say, or the last in turn has spoken: what is missing now was destroyed, and the sooner
            # it is asked for again the better
            complete = (heard >= whole or servos[-1] in found) and not parser.pending
            if complete or now >= latest or (not data and not packets):
                break
        self.noise.skipped += parser.skipped + parser.pending
        self._count(servos, found, bool(parser.corrupt or parser.skipped or parser.pending))
        return found

    @staticmethod
    def _resynchronise(parser: Parser) -> list[Packet]:
        """Look for a packet behind what seemed to begin one and was never completed."""
        while parser.pending > 1:
            packets = parser.resynchronise()
            if packets:
                return packets
        return []

    def _count(self, servos: Sequence[int], found: Mapping[int, Reply], corrupt: bool) -> None:
        for servo in servos:
            counts = self.counts.setdefault(servo, Counts())
            if servo in found:
                counts.replies += 1
            elif corrupt:
                counts.corrupt += 1
            else:
                counts.lost += 1

    def _find_echo(self, servo: int) -> None:
        """Find out whether the adapter hands back what it sends: the ping of a servo with a voltage error looks the same."""
        request = packet.read(servo, REGISTERS["model_number"].address, REGISTERS["model_number"].size)
        self._send(request)
        begun, heard = self.stream.now(), b""
        while len(heard) < len(request) and self.stream.now() - begun < self.config.slack:
            heard += self.stream.read(self.config.slack)
        if heard:
            self.echo = heard.startswith(request)
        # the servo's own answer still follows
        while self.stream.read(self.config.slack):
            pass


def _encoded(name: str, count: int) -> tuple[int, bytes]:
    register = REGISTERS[name]
    if not register.writable or not register.minimum <= count <= register.maximum:
        allowed = f"{register.minimum} to {register.maximum}" if register.writable else "reading alone"
        raise ValueError(f"register '{name}': got {count} to write, allowed {allowed}")
    return register.address, register.encode(count)
