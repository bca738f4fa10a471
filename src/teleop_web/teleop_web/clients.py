"""Who may speak: pairing code with lock-out, one operator at a time, rate limits. All times are monotonic seconds."""

from __future__ import annotations

import hmac
import secrets
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from teleop_web.waiting import Waiting

WRONG_TRIES = 5  # wrong codes of one address before it has to wait
WRONG_TRIES_ALL = 30  # of all addresses together: a guesser may own many
LOCK_OUT = 30.0  # [s]
MAX_ADDRESSES = 256  # remembered; the oldest is forgotten, so memory stays bounded
MAX_SILENT = 32  # sockets that have not said hello yet
MAX_SILENT_ADDRESS = 8  # of them, from one address
KEEP_OPERATOR = 10.0  # [s] for which an operator who vanished keeps the place


def new_code() -> str:
    """Return a random pairing code of six digits."""
    return f"{secrets.randbelow(1_000_000):06d}"


@dataclass
class _Tries:
    wrong: int = 0
    since: float = 0.0


class Pairing:
    """Checks pairing codes; wrong ones cost time.

    Six digits give a guesser 10 tries a minute per address and 60 in all: a year for an even chance.
    """

    def __init__(self, code: str) -> None:
        """Remember the code."""
        self._code = code.encode()
        self._tries: OrderedDict[str, _Tries] = OrderedDict()
        self._all = _Tries()
        # addresses that have shown the code: the guesses of others must not keep their e-stop out
        self._known: OrderedDict[str, None] = OrderedDict()
        self.refused = 0

    def matches(self, code: str) -> bool:
        """Return whether ``code`` is right; whoever tells the outcome to a client must have asked ``check`` before."""
        return hmac.compare_digest(code.encode("utf-8", "replace"), self._code)

    def check(self, code: str, address: str, now: float) -> str:
        """Return an empty string when ``code`` is right, else the reason of the refusal.

        Args:
            code: what the client presented.
            address: where it comes from.
            now: monotonic time [s].
        """
        tries = self._tries.setdefault(address, _Tries())
        self._tries.move_to_end(address)
        while len(self._tries) > MAX_ADDRESSES:
            self._tries.popitem(last=False)
        own, all_ = (tries, WRONG_TRIES), (self._all, WRONG_TRIES_ALL)
        for count, limit in (own,) if address in self._known else (own, all_):
            if now - count.since >= LOCK_OUT:
                count.wrong = 0
            if count.wrong >= limit:
                self.refused += 1
                wait = LOCK_OUT - (now - count.since)
                return f"pairing code: too many wrong tries, allowed again in {wait:.0f} s; read it from the gateway's terminal"
        if self.matches(code):
            tries.wrong = 0
            self._known[address] = None
            self._known.move_to_end(address)
            while len(self._known) > MAX_ADDRESSES:
                self._known.popitem(last=False)
            return ""
        self.refused += 1
        if code:  # none at all is no guess: a page opened by hand has none yet
            for count in (tries, self._all):
                count.wrong += 1
                count.since = now
        got = "a wrong one" if code else "none"
        return f"pairing code: got {got}, allowed the one that the gateway printed; open the printed address, or type the code"


class Doorstep:
    """Sockets that have not said hello yet: few, so that strangers who connect and say nothing keep nobody out."""

    def __init__(self) -> None:
        """Start with nobody there."""
        self._waiting: Counter[str] = Counter()

    def enter(self, address: str) -> str:
        """Let a socket of ``address`` wait, and return an empty string; else the reason of the refusal."""
        for what, count, limit in (
            ("of this address ", self._waiting[address], MAX_SILENT_ADDRESS),
            ("", self._waiting.total(), MAX_SILENT),
        ):
            if count >= limit:
                return f"sockets {what}that said no hello: got one more than {limit}, allowed {limit}"
        self._waiting[address] += 1
        return ""

    def leave(self, address: str) -> None:
        """Note that a socket has said hello, or is gone."""
        self._waiting[address] -= 1
        if self._waiting[address] <= 0:
            del self._waiting[address]


class TokenBucket:
    """Lets ``rate`` things pass per second, and bursts of ``burst``."""

    def __init__(self, rate: float, burst: float) -> None:
        """Start full."""
        self.rate, self.burst = rate, burst
        self._tokens, self._at = burst, 0.0

    def take(self, now: float) -> bool:
        """Return whether one more may pass at ``now`` [s]."""
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


@dataclass
class Client:
    """One socket.

    Attributes:
        key: number of the socket, unique in the process.
        identity: chosen by the client, the same after a reconnect.
        name: for people, e.g. ``Quest 3``.
        address: where it comes from.
        wants_to_operate: it asked for the operator's place.
        last_sequence: its own number of the last accepted frame.
        recentred: a recentre was announced and no frame has carried it yet.
        waiting: how long its frames wait on their way.
    """

    key: int
    identity: str
    name: str
    address: str
    wants_to_operate: bool
    last_sequence: int | None = None
    recentred: bool = False
    waiting: Waiting = field(default_factory=Waiting)


@dataclass
class Operators:
    """Who holds the operator's place.

    Attributes:
        connection: connection number of the frames; random start, +1 whenever the place is taken by another socket.
        sequence: number of the last frame on this connection.
        key: socket of the operator, None while nobody is there.
        identity: who holds the place, kept for a while after the socket closed.
        name: the holder's name.
    """

    connection: int
    sequence: int = 0
    key: int | None = None
    identity: str = ""
    name: str = ""
    take_overs: int = 0
    _left_at: float = field(default=0.0, repr=False)

    def free(self, now: float) -> bool:
        """Return whether anybody may take the place."""
        return self.key is None and (not self.identity or now - self._left_at > KEEP_OPERATOR)

    def may_join(self, client: Client, now: float) -> bool:
        """Return whether ``client`` gets the place without taking it over."""
        return client.wants_to_operate and (self.free(now) or client.identity == self.identity)

    def take(self, client: Client) -> int | None:
        """Give the place to ``client`` and return the socket that lost it, if another had it."""
        lost = self.key if self.key != client.key else None
        if lost is not None and client.identity != self.identity:
            self.take_overs += 1
        if self.key != client.key:
            self.connection = (self.connection + 1) % 2**32
            self.sequence = 0
        self.key, self.identity, self.name = client.key, client.identity, client.name
        client.last_sequence = None
        return lost

    def leave(self, key: int, now: float) -> None:
        """Note that a socket closed."""
        if self.key == key:
            self.key, self._left_at = None, now

    def vacate(self) -> None:
        """Leave the place to whoever comes, at once."""
        self.key, self.identity, self.name = None, "", ""

    def why_not(self, client: Client, now: float) -> str:
        """Return why a frame of ``client`` is refused at ``now`` [s], empty when it is the operator."""
        if self.key == client.key:
            return ""
        claim = 'send {"type": "claim"} to '
        if self.free(now):
            return f"operator: got a frame of a client that did not ask for the controls, nobody holds them; {claim}take them"
        if self.key is None:
            keeps = f"'{self.name}' left and keeps the controls for {KEEP_OPERATOR - (now - self._left_at):.0f} s"
            return f"operator: {keeps}, allowed one at a time; {claim}take over"
        return f"operator: '{self.name}' holds the controls, allowed one at a time; {claim}take over"
