"""A runtime that does what it is told: what a real one cannot be made to do on demand is tried with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from teleop_common.enums import StatusReason
from teleop_input.openxr.runtime import Event, RuntimeFailure, Sample, StateChanged, XrState

WAKING = (XrState.IDLE, XrState.READY)
FOCUSING = (XrState.SYNCHRONIZED, XrState.VISIBLE, XrState.FOCUSED)


@dataclass
class ScriptedRuntime:
    """Keeps OpenXR's rules of order and raises where a real runtime would.

    Attributes:
        present: a runtime can be reached.
        headset: the form factor is available.
        sample_now: what is sampled; its time is replaced. Without focus its hands are not active.
        offset_ns: the runtime's clock less the monotonic one [ns].
        failure: raised by the next call but ``close`` and ``open``.
        pending: events to come.
        state: of the session, None without one.
        running: between begin and end.
        pulses: (hand, amplitude, duration_ns) of every vibration.
        calls: names of the calls that make or end something.
    """

    present: bool = True
    headset: bool = True
    sample_now: Sample = Sample(0)
    offset_ns: int = 0
    failure: RuntimeFailure | None = None
    pending: list[Event] = field(default_factory=list)
    state: XrState | None = None
    running: bool = False
    pulses: list[tuple[str, float, int]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def change(self, *states: XrState) -> None:
        """Let the session take these states, one after the other."""
        self.pending += [StateChanged(state) for state in states]

    def open(self) -> str:
        """Connect, if present."""
        if not self.present:
            raise RuntimeFailure(StatusReason.PROVIDER_INITIALIZING, "no OpenXR runtime: the script says so")
        self.calls.append("open")
        return "scripted"

    def has_headset(self) -> bool:
        """Return what the script says."""
        self._check()
        return self.headset

    def start(self) -> str:
        """Create the session; it becomes IDLE, then READY."""
        self._check()
        self.calls.append("start")
        self.state, self.pending = XrState.UNKNOWN, []
        self.change(*WAKING)
        return "stage"

    def events(self, _monotonic_ns: int) -> list[Event]:
        """Return the pending events."""
        self._check()
        given, self.pending = self.pending, []
        for event in given:
            if isinstance(event, StateChanged):
                self.state = event.state
        return given

    def begin(self) -> None:
        """Begin a session that is READY; it then comes into focus."""
        self._require(XrState.READY)
        self.running = True
        self.calls.append("begin")
        self.change(*FOCUSING)

    def end(self) -> None:
        """End a session that is STOPPING; it then is IDLE."""
        self._require(XrState.STOPPING)
        self.running = False
        self.calls.append("end")
        self.change(XrState.IDLE)

    def sample(self, monotonic_ns: int) -> Sample | None:
        """Return the script's sample at the runtime's time."""
        self._check()
        if not self.running:
            return None
        seen = self.sample_now._replace(xr_time=monotonic_ns + self.offset_ns)
        if self.state == XrState.FOCUSED:
            return seen
        return seen._replace(left=seen.left._replace(active=False), right=seen.right._replace(active=False))

    def vibrate(self, hand: str, amplitude: float, duration_ns: int) -> None:
        """Note the pulse."""
        self._check()
        self.pulses.append((hand, amplitude, duration_ns))

    def close(self) -> None:
        """Forget session and failure."""
        self.calls.append("close")
        self.state, self.running, self.pending, self.failure = None, False, [], None

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _require(self, state: XrState) -> None:
        self._check()
        if self.state != state:
            raise RuntimeFailure(StatusReason.RUNTIME_UPDATE_FAILED, f"call out of order: session is {self.state!r}")
