"""The control socket's logic: hello, frames, claims, pings; no socket, no event loop, time comes in."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from teleop_common.records import Haptics, TeleopFrame
from teleop_web.clients import Client, Operators, Pairing, TokenBucket
from teleop_web.graph import Answer, Clock
from teleop_web.liveness import Link
from teleop_web.protocol import FrameError, Received, parse_frame, parse_object, short, text_of
from teleop_web.waiting import disarmed

MAX_CLIENTS = 16
MAX_TEXT = 60  # characters kept of what a client calls itself
CLOSE_REFUSED, CLOSE_REPLACED = 4401, 4409
_OUTBOX = 256


class Limits(NamedTuple):
    """Rates that a client may not exceed [1/s]."""

    frames: float = 200.0
    messages: float = 60.0
    answers: float = 5.0


@dataclass
class Peer:
    """One client that has said hello, and what waits to be sent to it.

    Attributes:
        client: who it is.
        wake: called when there is something to send.
        outbox: messages that must arrive, in order; a client that reads too slowly loses the oldest.
        state: the newest state, overwritten while it waits.
        close: close code once it has to go, 0 before.
    """

    client: Client
    wake: Callable[[], None]
    frames: TokenBucket
    messages: TokenBucket
    stops: TokenBucket
    answers: TokenBucket
    outbox: deque[str] = field(default_factory=lambda: deque(maxlen=_OUTBOX))
    state: str | None = None
    close: int = 0

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message and wake the writer."""
        self.outbox.append(json.dumps(message, allow_nan=False))
        self.wake()


class Hub:
    """All clients of the control socket.

    Args:
        pairing: checks codes.
        operators: who drives.
        publish: takes every accepted frame, at once.
        limits: rates.
        on_event: told what an operator would want to read in the log.
        stop: takes who asks for an e-stop and whom to tell the outcome.
    """

    def __init__(
        self,
        pairing: Pairing,
        operators: Operators,
        publish: Callable[[TeleopFrame], None],
        limits: Limits,
        on_event: Callable[[str], None],
        stop: Callable[[str, Callable[[Answer], None]], object],
    ) -> None:
        """Start without clients."""
        self.pairing, self.operators, self.limits = pairing, operators, limits
        self._publish, self._on_event, self._stop = publish, on_event, stop
        self.peers: dict[int, Peer] = {}
        self.counts: Counter[str] = Counter()
        self.link = Link()
        self.last_frame: TeleopFrame | None = None
        self.last_frame_at: float | None = None
        self._next_key = 0
        self._haptics = 0

    def hello(self, text: str, query_code: str, address: str, now: float, wake: Callable[[], None]) -> Peer:
        """Admit a client by its first message.

        Raises:
            FrameError: the message is no hello, the code is wrong, or there are too many clients.
        """
        message = parse_object(text)
        if message.get("type") != "hello":
            raise FrameError(
                "no_hello", 'first message: got something else, allowed {"type": "hello", "code": "..."}; say hello first'
            )
        code = message.get("code", query_code)
        if reason := self.pairing.check(code if isinstance(code, str) else "", address, now):
            raise FrameError("wrong_code", reason)
        if len(self.peers) >= MAX_CLIENTS:
            raise FrameError("too_many", f"clients: got one more than {MAX_CLIENTS}, allowed {MAX_CLIENTS}; close a page")
        self._next_key += 1
        identity = text_of(message.get("client"), MAX_TEXT) or f"socket-{self._next_key}"
        client = Client(
            self._next_key,
            identity,
            text_of(message.get("name"), MAX_TEXT) or address,
            address,
            message.get("role", "operator") == "operator",
        )
        limits = self.limits
        peer = Peer(
            client,
            wake,
            TokenBucket(limits.frames, limits.frames / 4),
            TokenBucket(limits.messages, limits.messages),
            TokenBucket(limits.messages, limits.messages),
            TokenBucket(limits.answers, 2 * limits.answers),
        )
        self.peers[client.key] = peer
        self.counts["connections"] += 1
        peer.send(
            {
                "type": "welcome",
                "key": client.key,
                "client": client.identity,
                "limits": limits._asdict(),
                "operator": self._place(),
            }
        )
        if self.operators.may_join(client, now):
            self._take(peer, now)
        return peer

    def _place(self) -> dict[str, Any]:
        place = self.operators
        return {"key": place.key, "name": place.name if place.key is not None else "", "connection": place.connection}

    def _take(self, peer: Peer, now: float) -> None:
        """Give the operator's place to ``peer`` and tell everybody."""
        same = peer.client.identity == self.operators.identity
        lost = self.operators.take(peer.client)
        loser = self.peers.get(lost) if lost is not None else None
        if loser is not None:
            if same:
                text = "this page was opened again elsewhere; the newer one has the controls"
                loser.close = CLOSE_REPLACED
            else:
                text = f"'{peer.client.name}' took over the controls; claim them to drive again"
            loser.send({"type": "lost_control", "reason": text})
        self._on_event(f"operator is now '{peer.client.name}' ({peer.client.address}), connection {self.operators.connection}")
        self._tell_place()

    def _tell_place(self) -> None:
        for peer in self.peers.values():
            peer.send({"type": "operator", "operator": self._place()})

    def bye(self, peer: Peer, now: float) -> None:
        """Forget a client whose socket closed."""
        self.peers.pop(peer.client.key, None)
        was_operator = self.operators.key == peer.client.key
        self.operators.leave(peer.client.key, now)
        if was_operator:
            self._on_event(f"operator '{peer.client.name}' left")
            self._tell_place()

    def refuse(self, peer: Peer, error: FrameError, now: float) -> None:
        """Count a refused message and answer with the reason, unless too many were answered lately."""
        self.counts[error.kind] += 1
        if peer.answers.take(now):
            peer.send({"type": "refused", "kind": error.kind, "reason": error.reason, "count": self.counts[error.kind]})

    def on_text(self, peer: Peer, text: str, clock: Clock) -> None:
        """Handle one message; whatever it holds, it never raises."""
        try:
            message = parse_object(text)
            kind = message.get("type", "frame")
            if kind == "frame":
                self._on_frame(peer, message, clock)
                return
            # whatever else a page sends too much of, its first stops have a rate of their own
            if not (peer.stops if kind == "estop" else peer.messages).take(clock.now):
                raise FrameError("rate", f"messages: got more than {self.limits.messages:g} per second; send fewer")
            handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
            if handler is None:
                raise FrameError(
                    "unknown_type", f"message 'type': got {short(kind)}, allowed frame, {', '.join(sorted(_HANDLERS))}"
                )
            handler(self, peer, message, clock)
        except FrameError as error:
            self.refuse(peer, error, clock.now)
        except RecursionError:  # of a check somewhere below; what is refused for its depth at once does not come here
            self.refuse(peer, FrameError("malformed", "message: got JSON nested too deep, allowed a few levels"), clock.now)

    def _on_frame(self, peer: Peer, message: dict[str, Any], clock: Clock) -> None:
        if not peer.frames.take(clock.now):
            raise FrameError(
                "rate", f"frames: got more than {self.limits.frames:g} per second; the excess is dropped, send at display rate"
            )
        place, client = self.operators, peer.client
        if place.key is None and self.operators.may_join(client, clock.now):
            self._take(peer, clock.now)
        if reason := place.why_not(client, clock.now):
            raise FrameError("not_operator", reason)
        received = Received(clock.stamp_ns, clock.monotonic_ns, place.connection, place.sequence + 1)
        parsed = parse_frame(message, received, client.last_sequence, client.recentred)
        delay = client.waiting.frame(clock.now, message["ts_ms"] * 1e-3)
        frame = parsed.frame
        if client.waiting.late:
            frame = disarmed(frame)
            self.counts["late_frames"] += 1
        self._publish(frame)
        place.sequence += 1
        client.recentred = False
        if parsed.client_sequence is not None:
            client.last_sequence = parsed.client_sequence
        self.last_frame, self.last_frame_at = frame, clock.now
        self.counts["frames"] += 1
        self.link.frame(clock.now, delay)
        if parsed.broken_poses:
            self.counts["broken_poses"] += parsed.broken_poses

    def _on_claim(self, peer: Peer, _message: dict[str, Any], clock: Clock) -> None:
        peer.client.wants_to_operate = True
        self._take(peer, clock.now)

    def _on_release(self, peer: Peer, _message: dict[str, Any], _clock: Clock) -> None:
        if self.operators.key == peer.client.key:
            self.operators.vacate()
        peer.client.wants_to_operate = False
        self._tell_place()

    def _on_estop(self, peer: Peer, _message: dict[str, Any], _clock: Clock) -> None:
        def told(answer: Answer) -> None:
            peer.send({"type": "estop", "success": answer.success, "message": answer.message})

        self._stop(f"'{peer.client.name}' ({peer.client.address})", told)

    def _on_ping(self, peer: Peer, message: dict[str, Any], _clock: Clock) -> None:
        trip = message.get("round_trip")
        if isinstance(trip, float | int) and 0 <= trip < 60 and self.operators.key == peer.client.key:
            self.link.round_trip = round(float(trip), 4)
        stamp = message.get("t")
        peer.send({"type": "pong", "t": stamp if isinstance(stamp, float | int) and -1e300 < stamp < 1e300 else None})

    def _on_event_message(self, peer: Peer, message: dict[str, Any], _clock: Clock) -> None:
        event = text_of(message.get("event"), MAX_TEXT)
        if event == "recentred":
            peer.client.recentred = True
        self._on_event(f"page of '{peer.client.name}': {event} {text_of(message.get('detail'), 120)}".rstrip())

    def _on_ack(self, _peer: Peer, message: dict[str, Any], _clock: Clock) -> None:
        self.counts["haptics_felt" if message.get("ok") is True else "haptics_lost"] += 1

    def haptics(self, buzz: Haptics) -> None:
        """Forward a buzz to the operator at once."""
        peer = self.peers.get(self.operators.key) if self.operators.key is not None else None
        if (
            peer is None
            or buzz.hand not in ("left", "right")
            or not (0.0 <= buzz.amplitude <= 1.0 and 0.0 < buzz.duration <= 5.0)
        ):
            return
        self._haptics += 1
        peer.send(
            {
                "type": "haptic",
                "id": self._haptics,
                "hand": buzz.hand,
                "intensity": round(buzz.amplitude, 3),
                "ms": round(buzz.duration * 1e3),
            }
        )

    def broadcast(self, message: dict[str, Any]) -> None:
        """Send a message to every client."""
        for peer in self.peers.values():
            peer.send(message)

    def broadcast_state(self, graph: dict[str, Any], now: float, unix_ms: int) -> None:
        """Send the state to every client; one that has not taken the last one gets only the newest."""
        text = json.dumps({"type": "state", **graph, **self.report(now), "unix_ms": unix_ms}, allow_nan=False)
        for peer in self.peers.values():
            peer.state = text
            peer.wake()

    def report(self, now: float) -> dict[str, Any]:
        """Return the gateway's own part of the state."""
        return {
            "operator": self._place() | {"take_overs": self.operators.take_overs},
            "clients": [{"key": p.client.key, "name": p.client.name, "address": p.client.address} for p in self.peers.values()],
            "link": self.link.report(now),
            "counts": dict(sorted(self.counts.items())) | {"wrong_codes": self.pairing.refused},
        }


_HANDLERS: dict[str, Callable[[Hub, Peer, dict[str, Any], Clock], None]] = {
    "claim": Hub._on_claim,  # noqa: SLF001 - the table of the class's own handlers
    "release": Hub._on_release,  # noqa: SLF001
    "ping": Hub._on_ping,  # noqa: SLF001
    "event": Hub._on_event_message,  # noqa: SLF001
    "estop": Hub._on_estop,  # noqa: SLF001
    "ack": Hub._on_ack,  # noqa: SLF001
}
