"""What a frame and the passing of time do to an arm's authority."""

from __future__ import annotations

from teleop_common.enums import Authority, Counter
from teleop_common.records import TeleopFrame
from teleop_safety import commit, intake
from teleop_safety.authority import ACTIVE, BORROWED, UNHANDED, Event, next_engage, next_state, squeezed
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, SharedState

JITTER_NS = 20_000_000  # how far arrivals of frames may drift against their stamps within a countdown


class Hands:
    """Turns grips, tracking and ages into events of the authority table.

    Args:
        settings: the numbers.
    """

    def __init__(self, settings: Settings) -> None:
        """Keep the numbers."""
        self._settings = settings
        self._stale = ns(settings.stale)

    def event(self, at: Instant, shared: SharedState, arm: str, state: ArmState, event: Event, why: str, out: Outputs) -> None:
        """Apply one event: the only place where authority, engage and must_open change together.

        A new state or engage is a hold: speed, filter and pending target are dropped.
        """
        before = Authority(state.authority)
        move = next_state(before, event)
        if move is None:
            return
        engage = next_engage(state.engage, before, event, move.state)
        must_open = state.must_open or move.must_open
        if (move.state, engage, must_open) == (before, state.engage, state.must_open):
            return
        if move.state is not before or engage != state.engage:
            commit.hold(state, at.mono, shared.frame_stamp)
        if move.state is not before:
            state.since, state.since_stamp, state.reason = at.mono, shared.frame_stamp, why
            state.stalled_since = ()
            if move.state not in BORROWED:
                state.owner = ""
            out.event(at, shared.commit, "authority", arm, f"{before.name} to {move.state.name}: {why}")
            self._entered(at, shared, arm, state, move.state, out)
        state.authority, state.engage, state.must_open = int(move.state), engage, must_open
        out.changed = True

    def _entered(self, at: Instant, shared: SharedState, arm: str, state: ArmState, following: Authority, out: Outputs) -> None:
        hand = shared.hands.get(arm, "")
        if following is Authority.COUNTDOWN:
            out.buzz(at, hand, 0.3, 0.05)
        elif following is Authority.DRIVING:
            # the frame being processed counts; when the tick makes the move, the next one is the first
            state.entry = shared.sequence if shared.frame_at == at.mono else shared.sequence + 1
            state.target_at = at.mono
            out.buzz(at, hand, 0.7, 0.1)
        elif following in BORROWED:
            state.heard, state.target_at = 0, at.mono

    def frame(self, at: Instant, shared: SharedState, arm: str, state: ArmState, frame: TeleopFrame, out: Outputs) -> None:
        """Read one arm's hand from a frame."""
        hand = shared.hands.get(arm, "")
        self.timers(at, shared, arm, state, out)
        if frame.recentred:
            self.event(at, shared, arm, state, Event.RECENTRED, "play space recentred", out)
        controller = frame.hand(hand)
        if not hand or not intake.is_present(controller):
            state.connected = state.tracked = False
            self.event(at, shared, arm, state, Event.GAP, "controller gone" if hand else "no hand paired", out)
            return
        state.connected = True
        state.tracked = intake.is_tracked(controller.aim if self._settings.pose == "aim" else controller.grip)
        if not state.tracked:
            state.count(Counter.UNTRACKED)
        before = state.closed
        state.closed = squeezed(before, controller.squeeze, self._settings.squeeze_close, self._settings.squeeze_open)
        if controller.squeeze < self._settings.squeeze_open:
            self._opened(at, shared, arm, state, out)
        elif state.authority in UNHANDED:
            self._grabbed(at, shared, arm, state, state.closed and not before, out)
        elif not state.tracked:
            self.event(at, shared, arm, state, Event.LOST, "tracking lost", out)
        elif state.authority == Authority.COUNTDOWN:
            self._count_down(at, shared, arm, state, out)
        elif state.authority == Authority.GRACE:
            self.event(at, shared, arm, state, Event.TRACKED, "tracking back", out)
        elif state.authority == Authority.IDLE and state.closed and not state.must_open:
            self._squeeze(at, shared, arm, state, out)

    def _opened(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> None:
        state.must_open = False
        if state.fault.startswith(("stall", "effort")):
            # a blocked arm is a hand pushing on: it ends when that hand lets go
            state.fault = ""
        if state.authority == Authority.FAULT and not state.fault:
            self.event(at, shared, arm, state, Event.CLEARED, "fault gone, grip open", out)
        self.event(at, shared, arm, state, Event.OPEN, "grip open", out)

    def _squeeze(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> None:
        """Begin the countdown, or refuse the squeeze: it must be made again once the cause is gone."""
        why = self.obstacle(at, shared, state)
        if why:
            state.must_open, state.reason, out.changed = True, why, True
            out.event(at, shared.commit, "refused", arm, f"squeeze refused: {why}")
            return
        self.event(at, shared, arm, state, Event.SQUEEZE, "grip closed", out)

    def _grabbed(self, at: Instant, shared: SharedState, arm: str, state: ArmState, rising: bool, out: Outputs) -> None:
        """A grip that is not open on an arm that moves without it: ends the way home, is refused on an owned arm."""
        fresh = state.closed and not state.must_open
        if state.authority in BORROWED:
            if fresh:
                state.must_open, out.changed = True, True
                why = f"owned by '{state.owner}'; it must release the arm first"
                out.event(at, shared.commit, "refused", arm, f"squeeze refused: {why}")
            return
        why = self.obstacle(at, shared, state) if state.tracked else "hand not tracked"
        if fresh and not why:
            self.event(at, shared, arm, state, Event.SQUEEZE, "grip closed", out)
        elif rising:
            self.event(at, shared, arm, state, Event.TAKEN, f"grip closed: {why or 'it must open first'}", out)

    def unfit(self, at: Instant, shared: SharedState, state: ArmState) -> str:
        """Return why an arm may not move, whoever has it; empty when it may."""
        now = at.mono
        if shared.latched:
            return "e-stop latched"
        if not intake.is_running(shared.session):
            return "session not running"
        if now - shared.session_at > ns(self._settings.session_stale):
            return "session silent"
        if state.instance is None or now - state.driver_at > self._stale:
            return "driver silent"
        if state.measured is None or now - state.measured_at > self._stale:
            return "joint states stale"
        if not state.torque:
            return "torque is off"
        if state.driver_error:
            return f"driver: {state.driver_error}"
        return "reference unknown" if state.reference is None else ""

    def obstacle(self, at: Instant, shared: SharedState, state: ArmState, engaging: bool = True) -> str:
        """Return why an arm may not be driven, empty when it may; ``engaging`` adds what only a squeeze needs."""
        now = at.mono
        why = self.unfit(at, shared, state)
        if not why and now - shared.frame_at > self._stale:
            return "frames stopped"
        if not why and engaging and (not shared.head_at or now - shared.head_at > ns(self._settings.heading_age)):
            return "head not tracked, so no heading"
        return why

    def supervise(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> None:
        """End driving, countdown or grace when anything they need has gone stale."""
        if state.authority not in ACTIVE:
            return
        why = self.obstacle(at, shared, state, engaging=False)
        if not why and state.authority == Authority.DRIVING and at.mono - state.target_at > self._stale:
            why = "targets stopped"
        if why:
            state.count(Counter.STALE)
            self.event(at, shared, arm, state, Event.GAP, why, out)

    def _count_down(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> None:
        """End a countdown whose time is up, in the frames' time: so a replayed squeeze anchors at the very frame it did live.

        Only a frame with the grip closed and tracked ends one: the hand must be there when the arm begins to follow it. The clock
        has a say, too, so that stamps that run ahead of it shorten nothing.
        """
        wanted = ns(self._settings.countdown)
        if shared.frame_stamp - state.since_stamp >= wanted and at.mono - state.since >= wanted - JITTER_NS:
            self.event(at, shared, arm, state, Event.EXPIRED, "countdown over", out)

    def timers(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> None:
        """End a grace whose time is up."""
        if state.authority == Authority.GRACE and at.mono - state.since >= ns(self._settings.grace):
            self.event(at, shared, arm, state, Event.EXPIRED, "tracking did not come back", out)

    def explain(self, at: Instant, shared: SharedState, arm: str, state: ArmState) -> None:
        """Keep the text of an idle arm's reason up to date: what a squeeze would be refused for."""
        if state.authority != Authority.IDLE:
            return
        why = self.obstacle(at, shared, state)
        if why:
            state.reason = why
        elif not shared.hands.get(arm):
            state.reason = "no hand paired"
        elif not state.connected:
            state.reason = "controller gone"
        elif state.must_open:
            state.reason = "open the grip first"
        elif state.closed and not state.tracked:
            state.reason = "hand not tracked"
        else:
            state.reason = "ready"
