"""The session's state machine: CONNECT, START, STOP, RESET, DISCONNECT, autostart and the death of a provider."""

from __future__ import annotations

from dataclasses import dataclass, field

from teleop_common.enums import Command, Provider, Session

PROVIDERS = ("webxr", "openxr", "debug", "replay", "external")
HEARD_WITHIN = 2.0
"""Who was silent for longer than this [s] is not there (reports come each second)."""
EPOCH_MODULUS = 2**32
_PROVIDER = "provider "  # before its name among those who are missing
_PROVIDER_REMEDY = {
    "webxr": "the web gateway must run: start with input:=web",
    "debug": "start with input:=debug",
    "replay": "start with input:=replay bag:=PATH",
    "openxr": "start with input:=openxr, and the OpenXR runtime",
    "external": "publish frames on /teleop/input/external/frame",
}


@dataclass(frozen=True)
class Reply:
    """Answer to a command.

    Attributes:
        success: what was asked holds now.
        message: what happened, or what is in the way and what to do.
    """

    success: bool
    message: str


@dataclass
class Machine:
    """State of the session; every field is plain data.

    Attributes:
        peers: who must be heard beside the provider, e.g. ``retargeter``, ``guard``, ``driver left``.
        provider: the provider in use.
        epoch: counter of everything that voids anchors (uint32).
        wanted: how far autostart goes: the state that the operator asked for last.
        autostart: CONNECT and START by itself as soon as all are heard.
        state: the session's state.
        error: why it is not further, empty when all is well.
        heard: who → when heard last [s, monotonic].
        failures: provider → what it said about its own end.
    """

    peers: tuple[str, ...]
    provider: str
    epoch: int
    autostart: bool = False
    wanted: Session = Session.CONNECTED
    state: Session = Session.DISCONNECTED
    error: str = ""
    heard: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Aim at RUNNING when it starts by itself."""
        if self.autostart:
            self.wanted = Session.RUNNING

    @property
    def flowing(self) -> bool:
        """Whether finalised frames flow."""
        return self.state in (Session.CONNECTED, Session.RUNNING)

    def hear(self, now: float, peer: str) -> None:
        """Note a sign of life of ``peer`` at ``now`` [s]."""
        self.heard[peer] = now

    def hear_frame(self, now: float, provider: str) -> None:
        """Note a frame of ``provider``: it lives, whatever it reported before."""
        self.heard[provider] = now
        if provider in self.failures:
            del self.failures[provider]

    def hear_provider(self, now: float, provider: str, state: int, error: str) -> None:
        """Note a provider's report of itself.

        Args:
            now: arrival [s].
            provider: its name.
            state: ``teleop_common.enums.Provider``.
            error: its own words.
        """
        if state == Provider.AVAILABLE:
            self.hear_frame(now, provider)
        elif state in (Provider.FAILED, Provider.STOPPED):
            self.heard.pop(provider, None)
            self.failures[provider] = ("failed" if state == Provider.FAILED else "stopped") + (f": {error}" if error else "")
        elif error:
            self.failures[provider] = f"waits: {error}"

    def bump(self) -> None:
        """Void every anchor."""
        self.epoch = (self.epoch + 1) % EPOCH_MODULUS

    def missing(self, now: float, provider: str) -> tuple[str, ...]:
        """Return who of provider and peers was not heard within the last 2 s, the provider first."""
        silent = [name for name in self.peers if not self._alive(now, name)]
        if not self._alive(now, provider):
            why = self.failures.get(provider, "")
            silent.insert(0, f"{_PROVIDER}{provider}" + (f" ({why})" if why else ""))
        return tuple(silent)

    def command(self, now: float, command: int, provider: str = "") -> Reply:
        """Obey one command or refuse it, leaving everything as it was.

        Args:
            now: time [s, monotonic].
            command: ``teleop_common.enums.Command``.
            provider: for CONNECT; empty keeps the one in use.
        """
        if command not in tuple(Command):
            return Reply(False, f"command '{command}': got {command}, allowed 0 (CONNECT) to 4 (DISCONNECT); mend the request")
        if command == Command.CONNECT:
            return self._connect(now, provider or self.provider)
        if command == Command.START:
            return self._start()
        if command == Command.STOP:
            return self._stop()
        if command == Command.RESET:
            self.bump()
            return Reply(True, "every grip must open before it drives again")
        if self.state == Session.RUNNING:
            self.bump()
        already = self.state == Session.DISCONNECTED
        self.state, self.wanted, self.error = Session.DISCONNECTED, Session.DISCONNECTED, ""
        return Reply(True, "already disconnected" if already else "disconnected")

    def tick(self, now: float) -> None:
        """Watch the provider, name who is silent, and start by itself when asked to."""
        if self.flowing:
            if not self._alive(now, self.provider):
                why = self.failures.get(self.provider, f"was not heard for {HEARD_WITHIN:g} s")
                remedy = _PROVIDER_REMEDY[self.provider]
                then = "the session goes on by itself" if self._automatic else "then CONNECT and START"
                self.state, self.error = Session.FAULT, f"provider '{self.provider}' {why}; {remedy}; {then}"
                return
            self.error = _silence(self.missing(now, self.provider), self.provider)
        elif self._automatic:
            self._autostart(now)

    @property
    def _automatic(self) -> bool:
        return self.autostart and self.wanted != Session.DISCONNECTED

    def _alive(self, now: float, name: str) -> bool:
        return name in self.heard and now - self.heard[name] <= HEARD_WITHIN

    def _connect(self, now: float, provider: str) -> Reply:
        if provider not in PROVIDERS:
            allowed = ", ".join(PROVIDERS)
            return Reply(False, f"provider '{provider}': got {provider!r}, allowed one of {allowed}; mend the request")
        if self.flowing and provider == self.provider:
            return Reply(True, f"already connected to {provider}")
        if silent := self.missing(now, provider):
            # all or nothing: the session stays what it was, on the provider it had
            if not self.flowing:
                self.error = _silence(silent, provider)
            stays = f"session stays {self.state.name}; then CONNECT again"
            return Reply(False, f"CONNECT '{provider}': {_silence(silent, provider)}; {stays}")
        if provider != self.provider:
            self.provider = provider
            self.bump()
        self.state, self.wanted, self.error = Session.CONNECTED, Session.CONNECTED, ""
        return Reply(True, f"connected to {provider}")

    def _start(self) -> Reply:
        if self.state == Session.RUNNING:
            return Reply(True, "already running")
        if self.state != Session.CONNECTED:
            return Reply(False, f"START: session is {self.state.name}{_because(self.error)}, allowed CONNECTED; CONNECT first")
        self.state, self.wanted = Session.RUNNING, Session.RUNNING
        self.bump()
        return Reply(True, "running")

    def _stop(self) -> Reply:
        self.wanted = min(self.wanted, Session.CONNECTED)
        if self.state != Session.RUNNING:
            return Reply(True, "already stopped")
        self.state = Session.CONNECTED
        self.bump()
        return Reply(True, "stopped")

    def _autostart(self, now: float) -> None:
        silent = self.missing(now, self.provider)
        if silent:
            waiting = self._alive(now, self.provider)
            # a fault keeps its name until the provider is back
            if waiting:
                self.state = Session.CONNECTING
            elif self.state == Session.CONNECTING:
                self.state = Session.DISCONNECTED
            if self.state != Session.FAULT:
                self.error = "not started yet: " + _silence(silent, self.provider)
            return
        wanted = self.wanted
        self._connect(now, self.provider)
        if wanted == Session.RUNNING:
            self._start()


def _silence(silent: tuple[str, ...], provider: str) -> str:
    """Return who of ``missing`` is silent and what to do about it, empty when nobody is."""
    if not silent:
        return ""
    steps = [f"nothing is heard of {', '.join(silent)}"]
    if silent[0].startswith(_PROVIDER):
        steps.append(_PROVIDER_REMEDY[provider])
    if not silent[-1].startswith(_PROVIDER):
        steps.append("a node comes by itself within seconds; if it does not, read its lines in the terminal")
    return "; ".join(steps)


def _because(error: str) -> str:
    return f" ({error})" if error else ""
