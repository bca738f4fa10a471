"""The guard's core: what comes in changes who may move, and only whoever has an arm moves it.

A hand that drives moves its arm by the target of a frame, the tick goes on with what limits cut of it; the way home and the
targets of an owner are followed by the tick.

Every method is a function of (now, input, state): no clock, no I/O. It trusts nobody: what it needs of a frame, a
feedback or a driver it has seen itself.
"""

from __future__ import annotations

from typing import Any

from teleop_common.enums import Authority, Counter
from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, EstopState, GuardState, JointState, JointTargets, SessionState, TeleopFrame
from teleop_safety import commit, drivers, estop, intake, reports
from teleop_safety.authority import Event, owner
from teleop_safety.commit import Motion
from teleop_safety.committer import Committer
from teleop_safety.envelope import Envelope
from teleop_safety.intake import Refused
from teleop_safety.outputs import Answer, Outputs
from teleop_safety.owners import Owners
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, Target, dump, parse

# [s] since the last motion commit, after which a tick goes on with a cut motion: a frame of 90 Hz may be 11 ms late before. Where
# frames come so slowly that one cannot be credited with all of its period, sooner, so that a tick takes the rest
_PATIENCE, _SOONER = 0.022, 0.015


class Guard(Committer):
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
        super().__init__(arms, limits, settings, envelope, engage)
        self._waiting: tuple[JointTargets, int] | None = None
        self._owners = Owners(settings, self._hands, self.limits, tuple(j.home for j in limits.all_joints))

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
            self._gap(at, out, "session epoch changed" if changed else "session no longer running", event=Event.HALT)
        for arm, state in self.arms.items():
            if shared.hands.get(arm) != before.get(arm):
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
                self._lose(at, out, "connection changed")
            # its play space, and so the head's heading, is another
            shared.connection, shared.head_at = frame.connection, 0
            self._renumber()
        elif at.mono - shared.frame_at > ns(self.settings.stale):
            self._lose(at, out, "frames stopped")
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
        if frame.left.connected or frame.right.connected:
            shared.buttons = True
        elif shared.buttons:
            self._lose(at, out, "no controller there")
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

    def on_external(self, at: Instant, targets: JointTargets) -> Outputs:
        """Take over the targets of owners other than the operator; the ticks follow them."""
        out = Outputs()
        try:
            intake.check_stamp(targets.header.stamp, at.ros, ns(self.settings.stale))
        except Refused as error:
            return self._refuse(at, out, "", f"external targets: {error}", Counter.STALE)
        if targets.connection:
            text = f"external targets: connection: got {targets.connection}, allowed 0: no frame causes them"
            return self._refuse(at, out, "", text)
        for target in targets.arms:
            if (state := self.arms.get(target.arm)) is None:
                continue
            try:
                self._owners.take(at, state, self.names[target.arm], targets, target, self.shared.frame_stamp)
            except Refused as error:
                self._refuse(at, out, target.arm, str(error))
        return out

    def on_joint_state(self, at: Instant, arm: str, sample: JointState) -> Outputs:
        """Take over a measurement; with torque off the reference follows it."""
        out, state = Outputs(), self.arms[arm]
        try:
            intake.check_stamp(sample.header.stamp, at.ros, ns(self.settings.stale))
            why = drivers.take_joints(at, state, sample, self.names[arm], ns(self.settings.stale), self.limits.ceiling)
        except Refused as error:
            return self._refuse(at, out, arm, str(error))
        if why:
            self._hands.event(at, self.shared, arm, state, Event.HALT, f"feedback jumped: {why}", out)
        blocked = drivers.stalled(at, state, self.limits.arm, self.settings, self.names[arm])
        if blocked:
            self._fault(at, out, f"stall of {blocked}")
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
            self._hands.event(at, shared, arm, state, Event.HALT, change, out)
            out.event(at, shared.commit, "driver", arm, change)
        if sample.estop and not shared.latched:
            self._latch(at, f"driver of {arm}", out)
        if sample.error and state.authority not in (Authority.ESTOP, Authority.FAULT):
            state.fault = f"driver: {sample.error}"
            self._hands.event(at, shared, arm, state, Event.FAULT, state.fault, out)
        elif not sample.error and state.fault.startswith("driver: "):
            state.fault = ""
        strain = drivers.strained(at, state, sample, self.limits.arm, self.settings, self.names[arm])
        if strain:
            self._fault(at, out, f"effort of {strain}")
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

    def home(self, at: Instant, arms: tuple[str, ...]) -> Answer:
        """Send ``arms`` home (empty: all), skipping those that somebody drives."""
        out, unknown = Outputs(), [arm for arm in arms if arm not in self.arms]
        if unknown:
            return Answer(out, False, f"arms: got {', '.join(unknown)[:64]!r}, allowed {', '.join(self.arms)}; mend the names")
        wanted = {arm: state for arm, state in self.arms.items() if not arms or arm in arms}
        success, message = self._owners.home(at, self.shared, wanted, out)
        return Answer(self._settle(at, out), success, message)

    def own(self, at: Instant, arm: str, name: str, acquire: bool) -> Answer:
        """Give ``arm`` to the owner ``name``, or take it back from it."""
        out, state = Outputs(), self.arms.get(arm)
        if state is None:
            return Answer(out, False, f"arm '{arm[:64]}': unknown, allowed {', '.join(self.arms)}; mend the name")
        ask = self._owners.acquire if acquire else self._owners.release
        success, message = ask(at, self.shared, arm, state, name, out)
        return Answer(self._settle(at, out), success, message, owner(Authority(state.authority), state.owner))

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
            self._lose(at, out, "frames stopped", Counter.STALE)
        if self._waiting and at.mono - self._waiting[1] > ns(self.settings.stale):
            self._waiting = None
        if shared.resetting and at.mono > shared.reset_until:
            shared.resetting = 0
        for arm, state in self.arms.items():
            self._hands.supervise(at, shared, arm, state, out)
            self._hands.timers(at, shared, arm, state, out)
            self._hands.explain(at, shared, arm, state)
        moves = {
            arm: Motion(state.target, self._credit(at, state))
            for arm, state in self.arms.items()
            if state.cut
            and state.target is not None
            and state.authority == Authority.DRIVING
            # frames that flow go on with it themselves: a tick between two would stop at the older target
            and at.mono - state.moved_at > ns(_SOONER if state.target.period > ns(self.settings.credit) else _PATIENCE)
        }
        for arm, state in self.arms.items():
            if step := self._owners.tick(at, shared, arm, state, out):
                moves[arm] = step
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
                position, reason = intake.check_target(target, self.names[target.arm], "operator")
            except Refused as error:
                self._refuse(at, out, target.arm, str(error))
                continue
            state.asked, state.target_at = targets.frame_sequence, arrived
            if target.status not in intake.FOLLOW:
                commit.hold(state, at.mono, shared.frame_stamp)
                continue
            speed = commit.target_speed(state.target, position, stamp)
            period = stamp - state.target.stamp if state.target else 0
            state.target = Target(position, reason, targets.frame_sequence, stamp, speed, stamp, period)
            moves[target.arm] = Motion(state.target, self._credit(at, state, stamp))
        if moves:
            self._commit(at, moves, out)
        else:
            self._settle(at, out)
        return bool(moves)

    def _credit(self, at: Instant, state: ArmState, stamp: int | None = None) -> float:
        """Return the motion time of a commit [s]: of a frame with ``stamp`` [ns], or of the tick (None)."""
        return commit.credit(state, at.mono, ns(self.settings.credit), stamp)
