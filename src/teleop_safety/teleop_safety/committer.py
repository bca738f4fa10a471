"""The state of all arms and the one place where commits are made: what the guard does whatever came in."""

from __future__ import annotations

from teleop_common.enums import Authority, Counter
from teleop_common.limits import RobotLimits
from teleop_safety import commit, reports
from teleop_safety.authority import ACTIVE, MOVED, Event
from teleop_safety.commit import Motion
from teleop_safety.envelope import Envelope
from teleop_safety.hands import Hands
from teleop_safety.motion import motion_limits
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, SharedState

_PULSE = 0.25  # s between the pulses of a biting collision filter
_QUIET = ns(0.5)  # between two events about refused messages of one arm; the counters count every one


class Committer:
    """Commits of all arms together, gaps, the latch.

    Args:
        arms: names of the arms.
        limits: their robot.
        settings: the numbers.
        envelope: the collision filter.
        engage: arm → first anchor counter, random per start (uint32).
    """

    def __init__(
        self, arms: tuple[str, ...], limits: RobotLimits, settings: Settings, envelope: Envelope, engage: dict[str, int]
    ) -> None:
        """Start with every reference unknown and every grip to be opened."""
        self.settings, self.envelope = settings, envelope
        self.names = {arm: limits.arm_names(arm) for arm in arms}
        self.limits = motion_limits(limits)
        self.shared = SharedState()
        self.arms = {arm: ArmState(engage=engage[arm]) for arm in arms}
        self._hands = Hands(settings)

    def _commit(self, at: Instant, moves: dict[str, Motion], out: Outputs) -> None:
        """Move the arms of ``moves``, hold or repeat the others, and put out commands and authority."""
        shared = self.shared
        for arm, state in self.arms.items():
            # any message may come before the tick that would have noticed
            self._hands.supervise(at, shared, arm, state, out)
        shared.commit += 1
        shared.published += 1
        if moves:
            verdict = commit.advance(self.arms, moves, self.envelope, self.limits, self.settings, at.mono)
            self._bite(at, verdict.least, verdict.pair, verdict.why, moves, out)
        elif shared.holding and not any(s.authority in MOVED for s in self.arms.values()):
            shared.holding, shared.scale = False, 1.0
        for arm, state in self.arms.items():
            if state.reference is None:
                continue
            if arm not in moves:
                state.dt = 0.0  # a repeat credits no motion
                if at.mono - state.moved_at > ns(self.settings.credit):
                    state.velocity = (0.0,) * len(state.reference)  # its command has stood still since
            if arm not in moves and (state.target is None or state.authority not in MOVED):
                reason = reports.hold_reason(state, at.mono, shared.frame_at, self.settings)
                commit.hold(state, at.mono, shared.frame_stamp)
                state.reasons = (int(reason),) * len(state.reference)
            if state.torque:
                # with torque off there is nothing to hold, and a command in flight at torque-on would be obeyed
                out.commands.append((arm, reports.command(at, shared, state, self.names[arm])))
                state.started = True
        out.changed = False
        out.authority = reports.authority(at, shared, self.arms, self.names, self.settings)

    def _bite(self, at: Instant, scale: float, pair: tuple[str, ...], why: str, moves: dict[str, Motion], out: Outputs) -> None:
        """Note what the collision filter did; say so when it starts or stops, and pulse while it bites."""
        shared = self.shared
        holding = scale < 1.0
        if holding != shared.holding:
            text = f"held between {' and '.join(pair)}" if pair else why
            out.event(at, shared.commit, "collision", "", text if holding else "released")
        shared.holding, shared.scale = holding, scale
        if holding and at.mono - shared.buzzed_at > ns(_PULSE):
            shared.buzzed_at = at.mono
            for arm in moves:
                if self.arms[arm].authority == Authority.DRIVING:
                    out.buzz(at, shared.hands.get(arm, ""), 0.3, 0.05)

    def _settle(self, at: Instant, out: Outputs) -> Outputs:
        """Commit a hold at once when an arm's authority changed: the retargeter needs the new engage, a stop must not wait."""
        if out.changed:
            self._commit(at, {}, out)
        return out

    def _gap(self, at: Instant, out: Outputs, why: str, counter: Counter | None = None, event: Event = Event.GAP) -> None:
        """Tell every arm of a gap."""
        for arm, state in self.arms.items():
            if counter is not None and state.authority in ACTIVE:
                state.count(counter)
            self._hands.event(at, self.shared, arm, state, event, why, out)

    def _lose(self, at: Instant, out: Outputs, why: str, counter: Counter | None = None) -> None:
        """Tell every arm of a gap of the frames; when buttons were there before it, all are lost: one stop and one reset."""
        shared = self.shared
        if shared.buttons:
            shared.buttons = False
            out.event(at, shared.commit, "stop", "", f"every button lost: {why}")
            out.event(at, shared.commit, "reset", "", "anchors void; grips must open")
            self._gap(at, out, why, counter, Event.BUTTONS_LOST)
        else:
            self._gap(at, out, why, counter)

    def _latch(self, at: Instant, source: str, out: Outputs) -> None:
        """Latch the e-stop and have every driver's called."""
        shared = self.shared
        out.estop = True
        shared.resetting = 0
        out.event(at, shared.commit, "estop", "", f"latched by {source}" if not shared.latched else f"asked for by {source}")
        if not shared.latched:
            shared.latched, shared.source, out.latch = True, source, True
        for arm, state in self.arms.items():
            state.fault = ""
            self._hands.event(at, shared, arm, state, Event.ESTOP, f"e-stop by {shared.source}", out)

    def _fault(self, at: Instant, out: Outputs, why: str) -> None:
        """Stop both arms: one of them is blocked."""
        for arm, state in self.arms.items():
            if state.authority != Authority.ESTOP and not state.fault:  # a driver's own goes on by itself
                state.fault = why
            self._hands.event(at, self.shared, arm, state, Event.FAULT, why, out)

    def _refuse(self, at: Instant, out: Outputs, arm: str, text: str, counter: Counter = Counter.REFUSED) -> Outputs:
        """Count and show a refused message; nothing else changes."""
        for name, state in self.arms.items():
            if arm in ("", name):
                state.count(counter)
        if at.mono - self.shared.refused_at.get(arm, -_QUIET) >= _QUIET:
            self.shared.refused_at[arm] = at.mono
            out.event(at, self.shared.commit, "refused", arm, text)
        return out
