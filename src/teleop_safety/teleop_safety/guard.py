"""The guard's core: what comes in changes who may move; only a target of a driving hand, or a cut motion's rest, moves an arm.

Every method is a function of (now, input, state): no clock, no I/O. It trusts nobody: what it needs of a frame, a
feedback or a driver it has seen itself.
"""

from __future__ import annotations

from typing import Any

from teleop_common.enums import Authority, Counter
from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, EstopState, GuardState, JointState, JointTargets, SessionState, TeleopFrame
from teleop_safety import commit, drivers, estop, intake, reports
from teleop_safety.authority import Event
from teleop_safety.commit import Motion
from teleop_safety.envelope import Envelope
from teleop_safety.hands import ACTIVE, Hands
from teleop_safety.intake import Refused
from teleop_safety.motion import motion_limits
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, SharedState, Target, dump, parse

_PULSE = 0.25  # s between the pulses of a biting collision filter
_PATIENCE = 0.0175  # [s] since the last motion commit, after which a tick goes on with a cut motion
_QUIET = ns(0.5)  # between two events about refused messages of one arm; the counters count every one


class Guard:
    """Authority, limits, collision filter and e-stop of all arms.

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
        self._waiting: tuple[JointTargets, int] | None = None
        self._hands = Hands(settings)

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state as JSON-able values."""
        return dump(self.shared, self.arms)

    def restore(self, data: dict[str, Any]) -> None:
        """Take over a state that ``state`` returned."""
        self.shared, self.arms = parse(data)
        self._waiting = None

    # --- inputs ----------------------------------------------------------------------------------------------------

    def on_session(self, at: Instant, session: SessionState) -> Outputs:
        """Take over the session's state; a changed epoch, or RUNNING no more, is a gap for every arm, a new hand for its own."""
        out, shared = Outputs(), self.shared
        try:
            intake.check_stamp(session.header.stamp, at.ros, ns(self.settings.stale))
        except Refused as error:
            return self._refuse(at, out, "", f"session state: {error}")
        changed = shared.epoch is not None and session.epoch != shared.epoch
        stopped = intake.is_running(shared.session) and not intake.is_running(session.state)
        shared.epoch, shared.session, shared.session_at = session.epoch, session.state, at.mono
        before, shared.hands = shared.hands, intake.pairing(session, tuple(self.arms))
        if changed or stopped:
            self._gap(at, out, "session epoch changed" if changed else "session no longer running")
        for arm, state in self.arms.items():
            if state.authority in ACTIVE and shared.hands.get(arm) != before.get(arm):
                self._hands.event(at, shared, arm, state, Event.GAP, "paired with another hand", out)
        return self._settle(at, out)

    def on_frame(self, at: Instant, frame: TeleopFrame) -> Outputs:
        """Take over a finalised frame: grips, tracking, recentres; then a target that waited for it."""
        out, shared = Outputs(), self.shared
        try:
            intake.check_stamp(frame.header.stamp, at.ros, ns(self.settings.stale))
        except Refused as error:
            return self._refuse(at, out, "", f"frame: {error}", Counter.STALE)
        if frame.connection != shared.connection:
            if shared.connection is not None:
                self._gap(at, out, "connection changed")
            # its play space, and so the head's heading, is another
            shared.connection, shared.head_at = frame.connection, 0
            self._renumber()
        elif at.mono - shared.frame_at > ns(self.settings.stale):
            self._gap(at, out, "frames stopped")
            if frame.sequence <= shared.sequence:
                # after a silence any number is a new beginning, else one absurd number would shut the guard's eyes for good
                self._renumber()
        elif frame.sequence <= shared.sequence:
            for state in self.arms.values():
                state.count(Counter.DUPLICATE)
            return out
        shared.sequence, shared.frame_at, shared.frame_stamp = frame.sequence, at.mono, frame.header.stamp
        shared.stamps[frame.sequence] = frame.header.stamp
        if len(shared.stamps) > 64:
            del shared.stamps[next(iter(shared.stamps))]
        if intake.is_tracked(frame.head):
            shared.head_at = at.mono
        for arm, state in self.arms.items():
            self._hands.frame(at, shared, arm, state, frame, out)
        moved = self._take_waiting(at, out)
        return out if moved else self._settle(at, out)

    def on_targets(self, at: Instant, targets: JointTargets) -> Outputs:
        """Commit one motion of both arms from the targets of one frame."""
        out, shared = Outputs(), self.shared
        try:
            intake.check_stamp(targets.header.stamp, at.ros, ns(self.settings.stale))
        except Refused as error:
            return self._refuse(at, out, "", f"targets: {error}", Counter.STALE)
        if targets.connection != shared.connection or targets.frame_sequence > shared.sequence:
            self._waiting = (targets, at.mono)
            return out
        self._apply(at, targets, at.mono, out)
        return out

    def on_joint_state(self, at: Instant, arm: str, sample: JointState) -> Outputs:
        """Take over a measurement; with torque off the reference follows it."""
        out, state = Outputs(), self.arms[arm]
        try:
            intake.check_stamp(sample.header.stamp, at.ros, ns(self.settings.stale))
            drivers.take_joints(at, state, sample, self.names[arm], ns(self.settings.stale))
        except Refused as error:
            return self._refuse(at, out, arm, str(error))
        blocked = drivers.stalled(at, state, self.limits.arm, self.settings, self.names[arm])
        if blocked:
            for other, each in self.arms.items():
                each.fault = f"stall of {blocked}"
                self._hands.event(at, self.shared, other, each, Event.FAULT, each.fault, out)
        return self._settle(at, out)

    def on_driver_state(self, at: Instant, arm: str, sample: DriverState) -> Outputs:
        """Take over a driver's state: seeds the reference, latches the e-stop, raises and clears its fault."""
        out, state, shared = Outputs(), self.arms[arm], self.shared
        try:
            intake.check_stamp(sample.header.stamp, at.ros, ns(self.settings.stale))
            change = drivers.take_driver(at, state, sample, self.names[arm], ns(self.settings.stale))
        except Refused as error:
            if sample.estop and abs(at.ros - sample.header.stamp) <= ns(self.settings.stale) and not shared.latched:
                self._latch(at, f"driver of {arm}", out)  # whatever else it says wrongly
            return self._settle(at, self._refuse(at, out, arm, str(error)))
        if change:
            commit.hold(state, at.mono, shared.frame_stamp)
            self._hands.event(at, shared, arm, state, Event.GAP, change, out)
            out.event(at, shared.commit, "driver", arm, change)
        if sample.estop and not shared.latched:
            self._latch(at, f"driver of {arm}", out)
        if sample.error and state.authority not in (Authority.ESTOP, Authority.FAULT):
            state.fault = f"driver: {sample.error}"
            self._hands.event(at, shared, arm, state, Event.FAULT, state.fault, out)
        elif not sample.error and state.fault.startswith("driver: "):
            state.fault = ""
        if estop.finished(at, shared, self.arms):
            shared.latched, shared.source, shared.resetting, out.latch = False, "", 0, True
            out.event(at, shared.commit, "estop", "", "reset")
            for other, each in self.arms.items():
                self._hands.event(at, shared, other, each, Event.RESET, "e-stop reset", out)
        return self._settle(at, out)

    # --- services --------------------------------------------------------------------------------------------------

    def stop(self, at: Instant, source: str) -> Outputs:
        """Latch the e-stop; every driver's is to be called, again even when latched."""
        out = Outputs()
        self._latch(at, source, out)
        return self._settle(at, out)

    def reset(self, at: Instant, timeout: float) -> Outputs:
        """Ask the drivers to reset; the latch opens once their states say so within ``timeout`` [s]."""
        out = Outputs(reset=True)
        self.shared.resetting, self.shared.reset_until = at.mono, at.mono + ns(timeout)
        out.event(at, self.shared.commit, "estop", "", "reset asked for")
        return out

    def reset_blockers(self, at: Instant) -> list[str]:
        """Return the arms whose driver keeps the latch closed, with why."""
        return estop.blockers(at, self.shared, self.arms, ns(self.settings.stale))

    def unlatched_drivers(self, at: Instant) -> bool:
        """Return whether the latch is closed, no reset is under way, and a living driver is not latched."""
        shared, stale = self.shared, ns(self.settings.stale)
        if not shared.latched or shared.resetting:
            return False
        return any(s.instance is not None and at.mono - s.driver_at <= stale and not s.driver_estop for s in self.arms.values())

    # --- time ------------------------------------------------------------------------------------------------------

    def tick(self, at: Instant) -> Outputs:
        """Check every age, then repeat the last commit, going on with a motion that its limits cut."""
        out, shared = Outputs(), self.shared
        if shared.connection is not None and at.mono - shared.frame_at > ns(self.settings.stale):
            self._gap(at, out, "frames stopped", Counter.STALE)
        if self._waiting and at.mono - self._waiting[1] > ns(self.settings.stale):
            self._waiting = None
        if shared.resetting and at.mono > shared.reset_until:
            shared.resetting = 0
        for arm, state in self.arms.items():
            self._hands.supervise(at, shared, arm, state, out)
            self._hands.timers(at, shared, arm, state, out)
            self._hands.explain(at, shared, arm, state)
        moves = {
            arm: Motion(state.target, self._credit(at, state, None))
            for arm, state in self.arms.items()
            if state.cut
            and state.target is not None
            and state.authority == Authority.DRIVING
            # frames that flow go on with it themselves: a tick between two would leave the second little time to be credited with
            and at.mono - state.credit_at > ns(_PATIENCE)
        }
        self._commit(at, moves, out)
        return out

    def estop_state(self, at: Instant) -> EstopState:
        """Return the latch."""
        return reports.estop_state(at, self.shared, self.arms)

    def guard_state(self, at: Instant) -> GuardState:
        """Return what the collision filter sees; costs a full evaluation."""
        committed = {arm: s.reference for arm, s in self.arms.items() if s.reference is not None}
        measured = {arm: s.measured for arm, s in self.arms.items() if s.measured is not None}
        return reports.guard_state(at, self.shared, self.envelope, self.envelope.clearance(committed, measured))

    # --- inside ----------------------------------------------------------------------------------------------------

    def _renumber(self) -> None:
        """Forget the frames' numbers: what comes next is counted anew."""
        self.shared.stamps = {}
        for state in self.arms.values():
            state.asked = -1

    def _take_waiting(self, at: Instant, out: Outputs) -> bool:
        """Apply a target that was ahead of the frame just processed; return whether it moved an arm."""
        if self._waiting is None:
            return False
        targets, arrived = self._waiting
        if targets.connection != self.shared.connection or targets.frame_sequence > self.shared.sequence:
            return False
        self._waiting = None
        return self._apply(at, targets, arrived, out)

    def _apply(self, at: Instant, targets: JointTargets, arrived: int, out: Outputs) -> bool:
        """Check each arm's target and commit those that count; return whether there was any."""
        shared = self.shared
        stamp = shared.stamps.get(targets.frame_sequence)
        moves: dict[str, Motion] = {}
        for target in targets.arms:
            state = self.arms.get(target.arm)
            if state is None or state.authority != Authority.DRIVING:
                continue
            self._hands.supervise(at, shared, target.arm, state, out)
            if state.authority != Authority.DRIVING:
                continue
            if (
                stamp is None
                or targets.frame_sequence < state.entry
                or targets.session_epoch != shared.epoch
                or target.engage != state.engage
            ):
                state.count(Counter.STALE)
                continue
            if targets.frame_sequence <= state.asked:
                state.count(Counter.DUPLICATE)
                continue
            try:
                position, reason = intake.check_target(target, self.names[target.arm])
            except Refused as error:
                self._refuse(at, out, target.arm, str(error))
                continue
            state.asked, state.target_at = targets.frame_sequence, arrived
            if target.status not in intake.FOLLOW:
                commit.hold(state, at.mono, shared.frame_stamp)
                continue
            speed = commit.target_speed(state.target, position, stamp)
            state.target = Target(position, reason, targets.frame_sequence, stamp, speed)
            moves[target.arm] = Motion(state.target, self._credit(at, state, stamp))
        if moves:
            self._commit(at, moves, out)
        else:
            self._settle(at, out)
        return bool(moves)

    def _credit(self, at: Instant, state: ArmState, stamp: int | None) -> float:
        """Return the motion time of a commit [s]: of a frame with ``stamp`` [ns], or of the tick (None).

        Never more than time passed since the arm's last motion commit or hold, whatever the stamps say.
        """
        credit = min(at.mono - state.credit_at, ns(self.settings.credit))
        if stamp is not None:
            credit = min(credit, stamp - state.credit_stamp)
        return max(credit, 0) * 1e-9

    def _commit(self, at: Instant, moves: dict[str, Motion], out: Outputs) -> None:
        """Move the arms of ``moves``, hold or repeat the others, and put out commands and authority."""
        shared = self.shared
        shared.commit += 1
        shared.published += 1
        if moves:
            verdict = commit.advance(self.arms, moves, self.envelope, self.limits, self.settings, at.mono)
            self._bite(at, verdict.least, verdict.pair, verdict.why, moves, out)
        elif shared.holding and not any(s.authority == Authority.DRIVING for s in self.arms.values()):
            shared.holding, shared.scale = False, 1.0
        for arm, state in self.arms.items():
            if state.reference is None:
                continue
            if arm not in moves:
                state.dt = 0.0  # a repeat credits no motion
            if arm not in moves and (state.target is None or state.authority != Authority.DRIVING):
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
                out.buzz(at, shared.hands.get(arm, ""), 0.3, 0.05)

    def _settle(self, at: Instant, out: Outputs) -> Outputs:
        """Commit a hold at once when an arm's authority changed: the retargeter needs the new engage, a stop must not wait."""
        if out.changed:
            self._commit(at, {}, out)
        return out

    def _gap(self, at: Instant, out: Outputs, why: str, counter: Counter | None = None) -> None:
        """Tell every arm of a gap."""
        for arm, state in self.arms.items():
            if counter is not None and state.authority in (Authority.DRIVING, Authority.COUNTDOWN, Authority.GRACE):
                state.count(counter)
            self._hands.event(at, self.shared, arm, state, Event.GAP, why, out)

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

    def _refuse(self, at: Instant, out: Outputs, arm: str, text: str, counter: Counter = Counter.REFUSED) -> Outputs:
        """Count and show a refused message; nothing else changes."""
        for name, state in self.arms.items():
            if arm in ("", name):
                state.count(counter)
        if at.mono - self.shared.refused_at.get(arm, -_QUIET) >= _QUIET:
            self.shared.refused_at[arm] = at.mono
            out.event(at, self.shared.commit, "refused", arm, text)
        return out
