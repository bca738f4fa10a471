"""The life cycle of an OpenXR session: waits for a runtime, follows the session's states, loses it and finds it again. Pure.

A runtime that fails is closed and asked for anew each second, in the same process. Every session that begins is a new
connection: whoever drove must open and close the grip again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from teleop_common.enums import Device, DeviceReason, Provider, StatusReason
from teleop_common.records import DeviceReport, TeleopFrame
from teleop_input.openxr import frames
from teleop_input.openxr.runtime import (
    HANDS,
    HandSample,
    Note,
    Runtime,
    RuntimeFailure,
    Sample,
    SpaceChange,
    StateChanged,
    XrState,
)

CHECK = 1.0  # [s] between attempts to reach a runtime, and between looks for the headset
CONNECTIONS = 2**32
HIDDEN = 0.1  # [s] that a hand is gone when it has become another device: some frames, since one may be lost on its way
_SENDING = (XrState.SYNCHRONIZED, XrState.VISIBLE, XrState.FOCUSED)
_CONNECTED = (Device.CONNECTED, DeviceReason.HARDWARE_CONNECTED)
_DISCONNECTED = (Device.DISCONNECTED, DeviceReason.HARDWARE_DISCONNECTED)
_UNKNOWN = (Device.UNKNOWN, DeviceReason.NO_HARDWARE_SIGNAL)


class Phase(StrEnum):
    """How far the way to frames has come."""

    ABSENT = "absent"
    NO_HEADSET = "no headset"
    SESSION = "session"


@dataclass
class OpenXrProvider:
    """Steps a runtime; every field but the runtime is plain data.

    Attributes:
        runtime: the runtime.
        connection: random per process, +1 with every session that begins.
        external: instance and session belong to another part of the process, which begins, ends and polls them.
        phase: how far the way to frames has come.
        state: of the provider.
        reason: why.
        error: in words, with what to do; empty while all is well.
        session: the session's state.
        headset: the form factor was available when last looked at.
        space: reference space of the poses.
        sequence: of the next frame.
        check_at: next attempt, or next look for the headset [s, monotonic].
        moves: times of the runtime at which the reference space moves [ns], still ahead.
        running: the session gave a sample in the last step that asked it for one.
        active: hands to which a device is bound.
        profiles: interaction profile of each hand when it was last active; None before.
        hidden: until when each hand is gone because it has become another device [s, monotonic].
        notes: lines for the log since ``taken`` last.
        vibrations_refused: pulses that the runtime did not take.
    """

    runtime: Runtime
    connection: int
    external: bool = False
    phase: Phase = Phase.ABSENT
    state: Provider = Provider.INITIALIZING
    reason: StatusReason = StatusReason.PROVIDER_INITIALIZING
    error: str = ""
    session: XrState = XrState.UNKNOWN
    headset: bool = False
    space: str = ""
    sequence: int = 0
    check_at: float = 0.0
    moves: list[int] = field(default_factory=list)
    running: bool = False
    active: tuple[bool, ...] = (False, False)
    profiles: list[int | None] = field(default_factory=lambda: [None, None])
    hidden: list[float] = field(default_factory=lambda: [0.0, 0.0])
    notes: list[str] = field(default_factory=list)
    vibrations_refused: int = 0

    def step(self, now: float, stamp_ns: int, monotonic_ns: int) -> TeleopFrame | None:
        """Go on by one tick; return the frame of this moment, if the session gives one.

        Args:
            now: monotonic clock [s].
            stamp_ns: ROS clock [ns].
            monotonic_ns: monotonic clock [ns].
        """
        try:
            if self.phase != Phase.SESSION:
                if now < self.check_at:
                    return None
                self.check_at = now + CHECK
                self._connect()
            if self.phase == Phase.SESSION:
                return self._run(now, stamp_ns, monotonic_ns)
        except RuntimeFailure as failure:
            self._lose(now, failure)
        return None

    def recentred(self, xr_time: int = 0) -> None:
        """Say that the reference space moves: who owns the handles polls the events, so that only it hears of it.

        To be called between two steps, and before the first step that samples the moved space.

        Args:
            xr_time: the event's ``changeTime`` [ns]; 0 for at once.
        """
        if self.phase == Phase.SESSION:
            self.moves.append(xr_time)

    def vibrate(self, hand: str, amplitude: float, duration: float) -> None:
        """Pass a pulse on while the session has focus; amplitude [0, 1], duration [s]."""
        if hand not in HANDS or not self._has_hands:
            return
        if not (amplitude > 0.0 and duration > 0.0):
            return
        try:
            self.runtime.vibrate(hand, min(amplitude, 1.0), round(min(duration, 1.0) * 1e9))
        except RuntimeFailure:
            # a controller without a motor; a session that is lost shows in the next step
            self.vibrations_refused += 1

    def stop(self) -> None:
        """Close the session: the provider has STOPPED."""
        self.runtime.close()
        self.phase, self.session = Phase.ABSENT, XrState.UNKNOWN
        self.state, self.reason, self.error = Provider.STOPPED, StatusReason.PROVIDER_STOPPED, ""

    def take_notes(self) -> list[str]:
        """Return the lines for the log, once."""
        taken, self.notes = self.notes, []
        return taken

    def devices(self) -> tuple[DeviceReport, ...]:
        """Return what is known of headset and controllers."""
        if self.phase == Phase.ABSENT or self.external:
            headset = _UNKNOWN  # who owns the session knows; nobody, without one
        else:
            headset = _CONNECTED if self.headset else _DISCONNECTED
        hands = [_UNKNOWN, _UNKNOWN]
        if self._has_hands:
            hands = [_CONNECTED if active else _DISCONNECTED for active in self.active]
        names = ("headset", *(f"{hand}_controller" for hand in HANDS))
        return tuple(DeviceReport(f"openxr/{name}", *seen) for name, seen in zip(names, [headset, *hands]))

    @property
    def _has_hands(self) -> bool:
        """Whether the controllers can be asked: without focus the runtime hides them, and nothing can be said of them."""
        return self.phase == Phase.SESSION and (self.external or self.session == XrState.FOCUSED)

    # ---- life cycle
    def _connect(self) -> None:
        if self.phase == Phase.ABSENT:
            self.notes.append(f"runtime: {self.runtime.open()}")
            self.phase = Phase.NO_HEADSET
        self.headset = self.external or self.runtime.has_headset()
        if not self.headset:
            self._no_headset()
            return
        self.space = self.runtime.start()
        self.phase, self.session = Phase.SESSION, XrState.UNKNOWN
        self.moves, self.active, self.running = [], (False, False), False
        self.profiles, self.hidden = [None, None], [0.0, 0.0]
        if self.external:
            self._set(Provider.AVAILABLE, StatusReason.EXTERNAL_OPENXR_HEALTH_UNKNOWN, "")
        else:
            self._set(Provider.AVAILABLE, StatusReason.OPENXR_SESSION_READY, "")

    def _run(self, now: float, stamp_ns: int, monotonic_ns: int) -> TeleopFrame | None:
        if not self.external:
            self._follow(monotonic_ns)
            if now >= self.check_at:
                self.check_at = now + CHECK
                self._look_for_headset()
            if self.session not in _SENDING or not self.headset:
                return None
        sample = self.runtime.sample(monotonic_ns)
        if sample is None:
            self.running = False
            return None
        if self.external and not self.running:
            # its beginning is seen by its frames alone
            self._new_connection()
        self.running = True
        sample = self._without_changed(sample, now)
        self.active = (sample.left.active, sample.right.active)
        recentred = any(at <= sample.xr_time for at in self.moves)
        if recentred:
            self.moves = [at for at in self.moves if at > sample.xr_time]
        made = frames.frame(sample, self.space, self.connection, self.sequence, stamp_ns, monotonic_ns, recentred)
        self.sequence += 1
        return made

    def _without_changed(self, sample: Sample, now: float) -> Sample:
        """Return the sample without hands that became another device: its grip lies elsewhere and may be closed already."""
        hands = [sample.left, sample.right]
        for i, hand in enumerate(hands):
            if not hand.active:
                continue
            if self.profiles[i] not in (None, hand.profile):
                self.hidden[i] = now + HIDDEN
            self.profiles[i] = hand.profile
            if now < self.hidden[i]:
                hands[i] = HandSample()
        return sample._replace(left=hands[0], right=hands[1])

    def _follow(self, monotonic_ns: int) -> None:
        for event in self.runtime.events(monotonic_ns):
            if isinstance(event, Note):
                self.notes.append(event.text)
            elif isinstance(event, SpaceChange):
                self.moves.append(event.xr_time)
            elif isinstance(event, StateChanged):
                self.session = event.state
                self.notes.append(f"session {event.state.name}")
                self._obey(event.state)

    def _obey(self, state: XrState) -> None:
        if state == XrState.READY:
            self.runtime.begin()
            self._new_connection()
        elif state == XrState.STOPPING:
            self.runtime.end()
        elif state == XrState.EXITING:
            raise RuntimeFailure(StatusReason.OPENXR_SESSION_LOST, "the runtime ended the session; a new one is asked for")
        elif state == XrState.LOSS_PENDING:
            raise RuntimeFailure(StatusReason.OPENXR_SESSION_LOST, "the runtime takes the session away; a new one is asked for")

    def _look_for_headset(self) -> None:
        there = self.runtime.has_headset()
        if there and not self.headset:
            # whoever puts it on again may stand elsewhere
            self._new_connection()
            self._set(Provider.AVAILABLE, StatusReason.OPENXR_SESSION_READY, "")
        elif not there and self.headset:
            self._no_headset()
        self.headset = there

    def _no_headset(self) -> None:
        self._set(
            Provider.AVAILABLE,
            StatusReason.OPENXR_FORM_FACTOR_UNAVAILABLE,
            "the runtime has no headset; switch it on, or connect it to the runtime",
        )

    def _lose(self, now: float, failure: RuntimeFailure) -> None:
        self.runtime.close()
        self.phase, self.session, self.headset = Phase.ABSENT, XrState.UNKNOWN, False
        self.check_at = now + CHECK
        waiting = failure.reason == StatusReason.PROVIDER_INITIALIZING
        if waiting and self.state == Provider.FAILED:
            return  # what was lost says more than that it is still not there
        state = Provider.INITIALIZING if waiting else Provider.FAILED
        self._set(state, failure.reason, str(failure))

    def _new_connection(self) -> None:
        self.connection = (self.connection + 1) % CONNECTIONS
        self.sequence = 0

    def _set(self, state: Provider, reason: StatusReason, error: str) -> None:
        if error and error != self.error:
            self.notes.append(error)
        self.state, self.reason, self.error = state, reason, error
