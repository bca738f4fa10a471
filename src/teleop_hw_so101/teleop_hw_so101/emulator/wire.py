"""The bus of one arm: who answers what, and when each byte is on the wire. Pure; arrival times come in, send times go out.

Half-duplex: a request begins when the line is free, and its servos answer one after another. Not modelled: a host that talks
while servos answer; its request waits for the line instead of destroying the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from teleop_hw_so101 import packet
from teleop_hw_so101.emulator import collision
from teleop_hw_so101.emulator.faults import Damage
from teleop_hw_so101.emulator.servo import Servo
from teleop_hw_so101.packet import BROADCAST, Instruction, Packet, Parser
from teleop_hw_so101.registers import BAUD_RATES, REGISTERS

_BITS = 10  # of a byte on the wire: start, eight, stop
_PATIENCE = 0.005  # [s] of silence after which servos give up a packet that was begun; assumed
_JITTER = 3  # [bit], by how much two servos' answers to one request may be apart; assumed


class Sending(NamedTuple):
    """Bytes for the host.

    Attributes:
        due: when the last of them is on the wire [s].
        data: the bytes.
    """

    due: float
    data: bytes


class Bus:
    """One arm's servos on a line.

    Attributes:
        servos: from base to tip.
        requests: count of requests that were understood.
    """

    def __init__(self, servos: Sequence[Servo], damage: Damage, *, echo: bool = False, latency: float = 0.0) -> None:
        """Wire up.

        Args:
            servos: the servos.
            damage: what the wire does to packets.
            echo: the adapter hands back what the host sends.
            latency: what the adapter adds before the host sees a reply [s].
        """
        self.servos, self.damage, self.requests = tuple(servos), damage, 0
        self._echo, self._latency = echo, latency
        self._parser = Parser()
        self._free = self._heard = 0.0

    def unplugged(self) -> None:
        """Forget a request that was begun: the port is gone."""
        self._parser.clear()

    def receive(self, data: bytes, now: float, baud: int = BAUD_RATES[0]) -> list[Sending]:
        """Take bytes of the host.

        Args:
            data: what came.
            now: when it came [s].
            baud: speed that the host set [1/s]; servos at another speed understand nothing.

        Returns:
            What the host gets back, in order of time.
        """
        if now - self._heard > _PATIENCE and self._parser.pending:
            self._parser.clear()
        time_per_byte = _BITS / baud
        start = max(now, self._free)
        end = start + len(data) * time_per_byte
        self._free = self._heard = end
        sendings = [Sending(end + self._latency, data)] if self._echo else []
        for request in self._parser.feed(self.damage.request(data, now)):
            self.requests += 1
            sendings += self._answer(request, baud)
        return sorted(sendings, key=lambda sending: sending.due)

    def _listening(self, number: int, baud: int) -> list[tuple[int, Servo]]:
        """Return place and servo of all that answer to ID ``number`` at this speed."""
        every = number == BROADCAST
        found = []
        for place, servo in enumerate(self.servos, 1):
            if servo.alive and (every or servo.id == number) and BAUD_RATES[servo.get("baud_rate")] == baud:
                found.append((place, servo))
        return found

    def _answer(self, request: Packet, baud: int) -> list[Sending]:
        code, params = request.code, request.params
        if code == Instruction.SYNC_READ and len(params) >= 2:
            address, length, *numbers = params
            # who is absent leaves its turn empty
            return self._in_turn(
                [(n, self._listening(n, baud) if n != BROADCAST else []) for n in numbers], address, length, baud
            )
        if code == Instruction.SYNC_WRITE and len(params) >= 2:
            self._sync_write(params, baud)
            return []
        targets = self._listening(request.id, baud)
        if code == Instruction.PING and request.id == BROADCAST:
            numbers = sorted({servo.id for _, servo in targets})
            return self._in_turn([(n, [t for t in targets if t[1].id == n]) for n in numbers], 0, 0, baud)
        if code == Instruction.PING or (code == Instruction.READ and len(params) == 2):
            address, length = params if code == Instruction.READ else (0, 0)
            return self._in_turn([(request.id, targets)], address, length, baud)
        # an answer carries the ID to which the request was sent, also when the write changed it
        for _, servo in targets:
            self._obey(servo, code, params)
        talkative = [(place, servo) for place, servo in targets if servo.get("response_level")]
        return [] if request.id == BROADCAST else self._in_turn([(request.id, talkative)], 0, 0, baud)

    def _obey(self, servo: Servo, code: int, params: bytes) -> None:
        if code == Instruction.WRITE and params:
            servo.write(params[0], params[1:], self._free)
        elif code == Instruction.REG_WRITE and params:
            servo.hold_back(params[0], params[1:])
        elif code == Instruction.ACTION:
            servo.action(self._free)

    def _sync_write(self, params: bytes, baud: int) -> None:
        address, length = params[0], params[1]
        for at in range(2, len(params) - length, length + 1):
            for _, servo in self._listening(params[at], baud):
                servo.write(address, params[at + 1 : at + 1 + length], self._free)

    def _in_turn(
        self, turns: Sequence[tuple[int, Sequence[tuple[int, Servo]]]], address: int, length: int, baud: int
    ) -> list[Sending]:
        """Let servos answer one ID after another; several of one ID answer at once, over one another."""
        sendings, byte_time = [], _BITS / baud
        # no answer is longer than a packet can be
        length = min(length, packet.MAX_LENGTH - 2)
        for number, speakers in turns:
            if not speakers:
                self._free += packet.status_size(length) * byte_time if len(turns) > 1 else 0.0
                continue
            replies = []
            for _, servo in speakers:
                data = servo.read(address, length) if length else b""
                replies.append(packet.encode(Packet(servo.id if number == BROADCAST else number, servo.status, data)))
            self._free += max(servo.get("return_delay") for _, servo in speakers) * REGISTERS["return_delay"].scale
            whole = replies[0]
            if len(replies) > 1:
                whole = collision.heard(replies, [self.damage.jitter(_JITTER) for _ in replies])
            self._free += len(whole) * byte_time
            late, data = self.damage.reply(speakers[0][0], whole, self._free)
            if data:
                sendings.append(Sending(self._free + late + self._latency, data))
        return sendings
