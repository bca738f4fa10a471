"""The judge of a fuzz run: what must hold of every output, from messages in and messages out alone.

It shares no code with the guard. Each check names its sentence; E are those of the envelope, D those of the design:

E1   no committed step exceeds v_max·dt per joint, and dt is never credited above 25 ms
E2   nor the acceleration limit (a hold is immediate), with room to brake before a target that stands, and always before the limit
     of a joint
E3   no committed position leaves the allowed interval; a start outside may stay or move inwards, nothing else
E4   an arm in IDLE, COUNTDOWN, GRACE, ESTOP or FAULT does not move, its gripper neither
E5   a side whose dead-man is open, whose frame is stale or untracked is never DRIVING; nor without a running session, a
     heard driver with torque, fresh feedback
E6   the first command equals the seeded reference: the driver's goal, with torque off the measurement
E7   e-stop is obeyed at the next commit and latched until every driver has said that it is reset
E8   commits keep their period whatever arrives: each tick commits, both arms together, and nothing raises
E9   speed is scaled jointly, so that a limited step keeps its direction
D1   no pattern of messages credits more motion than time passed, nor more than 25 ms of it at once
D2   a grip must open after a gap, e-stop, fault, torque change, restart, another hand, before it engages again
D3   an arm moves only on a target with its current engage, of a frame processed at or after entry into DRIVING
D4   engage changes on entering COUNTDOWN, on leaving COUNTDOWN or GRACE, on a recentre or change of owner, when every button
     is lost, and at no other time
D5   only the moves of the authority table happen; a countdown lasts its time; a fault ends in IDLE with the grip open
D6   |committed − measured| stays within the leash, or within what it was
D7   nothing is commanded before the driver was heard, or with torque off
D8   a collision verdict is kept: no distance below the margin, or below what it was
D9   every number that goes out is finite, and command and authority tell the same
D10  one arm's state never touches the other's, except for e-stop and stall
D11  nothing but an explicit home or an owner that asked moves an arm without a hand: HOMING begins with its request and brings
     no joint farther from home; REPLAY and EXTERNAL begin with theirs, from IDLE, one owner per arm, and an arm in them moves
     only on its owner's targets with its current engage
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason, Session
from teleop_common.limits import RobotLimits
from teleop_common.records import ArmAuthority, JointCommand
from teleop_safety.fuzz import arithmetic
from teleop_safety.fuzz.heard import Call, Heard
from teleop_safety.fuzz.wall import Known
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant, Settings
from teleop_safety.state import Joints

__all__ = ["Call", "Oracle", "Violation"]

Apart = Callable[[Known, Known, Known], str]
MOVING = (A.DRIVING, A.HOMING, A.REPLAY, A.EXTERNAL)
_OWNED = (A.HOMING, A.REPLAY, A.EXTERNAL)
_ALLOWED = {
    (A.IDLE, A.COUNTDOWN),
    (A.COUNTDOWN, A.IDLE),
    (A.COUNTDOWN, A.DRIVING),
    (A.DRIVING, A.IDLE),
    (A.DRIVING, A.GRACE),
    (A.GRACE, A.DRIVING),
    (A.GRACE, A.IDLE),
    (A.ESTOP, A.IDLE),
    (A.FAULT, A.IDLE),
    *((state, A.ESTOP) for state in A),
    *((state, A.FAULT) for state in A),
    *((A.IDLE, owned) for owned in _OWNED),
    *((owned, A.IDLE) for owned in _OWNED),
    (A.HOMING, A.COUNTDOWN),  # the hand takes over
}
_JITTER_NS = 20_000_000  # of a countdown, whose time is the frames'


class Violation(AssertionError):
    """A sentence of the envelope that did not hold; the text begins with its name."""


@dataclass
class Seen:
    """What was published of one arm.

    Attributes:
        state, engage, must_open: as published.
        reference: newest, None when unknown.
        velocity: of the newest motion commit [rad/s], at rest after a hold.
        requested: of the newest motion commit.
        key: its frame.
        moved_at: its time, or that of the newest hold [ns].
        bucket: motion time left over then [s].
        entry: number of the first frame that counts in this stay in DRIVING.
        since: of the state [ns].
        owner: who has the arm without a hand.
    """

    state: A = A.IDLE
    engage: int | None = None
    must_open: bool = True
    reference: Joints | None = None
    velocity: Joints = ()
    requested: Joints = ()
    key: tuple[int, int] = (0, 0)
    moved_at: int = 0
    bucket: float = 0.0
    entry: int = 0
    since: int = 0
    owner: str = ""


class Oracle:
    """Judges every call of a guard.

    Args:
        robot: the robot of every arm.
        arms: their names.
        settings: the guard's numbers.
        timeout: how long a reset waits for the drivers [s].
        apart: what a collision filter is held to: joints of all arms before and after a commit, and as measured → what it
            broke, empty for nothing; None without a filter.
        slides: a step that the filter cuts may go on along what blocks it.
    """

    def __init__(
        self,
        robot: RobotLimits,
        arms: tuple[str, ...],
        settings: Settings,
        timeout: float,
        apart: Apart | None = None,
        slides: bool = False,
    ) -> None:
        """Know nothing yet."""
        self._robot, self._arms, self._settings, self._timeout, self._apart = robot, arms, settings, timeout, apart
        self._slides = slides
        self._names = {arm: robot.arm_names(arm) for arm in arms}
        self._stale = round(settings.stale * 1e9)
        self.restarted()

    def restarted(self) -> None:
        """The guard is a new process: what it knew is gone."""
        self.heard = Heard(self._names, self._settings, self._robot.velocity_ceiling)
        self.seen = {arm: Seen() for arm in self._arms}
        self._commit = self._published = 0

    def before(self, call: Call) -> None:
        """Hear a call that is about to be made."""
        self.heard.hear(call)

    def after(self, call: Call, out: Outputs) -> None:
        """Judge what the call returned.

        Raises:
            Violation: a sentence does not hold.
        """
        for arm, side in self.heard.sides.items():
            if side.seeded:
                seen = self.seen[arm]
                seen.reference = side.seed
                seen.velocity, seen.requested = (), ()
        if call.kind == "tick" and out.authority is None:
            raise Violation("E8: a tick committed nothing")
        if out.authority is None:
            if out.commands or self.heard.latching:
                raise Violation(f"E7, E8: {'e-stop' if self.heard.latching else 'commands'} without a commit")
            return
        if out.authority.sequence != self._published + 1:
            raise Violation(f"E8: authority {self._published} was followed by {out.authority.sequence}")
        self._published += 1
        commands = dict(out.commands)
        if len(commands) != len(out.commands) or tuple(a.arm for a in out.authority.arms) != self._arms:
            raise Violation("E8: an arm was left out of a commit, or in it twice")
        self._numbers(call.at, commands)
        before = {arm: seen.reference for arm, seen in self.seen.items()}
        states = {arm: seen.state for arm, seen in self.seen.items()}
        for each in out.authority.arms:
            self._arm(call, each, commands.get(each.arm))
        if self._apart is not None:
            after = {arm: seen.reference for arm, seen in self.seen.items()}
            broken = self._apart(before, after, {arm: side.measured for arm, side in self.heard.sides.items()})
            if broken:
                raise Violation(f"D8: {broken}")
        if call.kind in ("joints", "driver"):
            self._others(call, states)

    # --- a commit
    def _numbers(self, at: Instant, commands: dict[str, JointCommand]) -> None:
        numbers = {command.commit for command in commands.values()}
        if len(numbers) > 1 or any(number <= self._commit for number in numbers):
            raise Violation(f"E8: commit numbers {numbers} after {self._commit}")
        self._commit = max(numbers, default=self._commit)
        for command in commands.values():
            if command.commit_time_ns != at.mono or command.header.stamp != at.ros:
                raise Violation("D9: a command is not stamped with its own time")

    def _arm(self, call: Call, said: ArmAuthority, command: JointCommand | None) -> None:
        seen, side = self.seen[said.arm], self.heard.sides[said.arm]
        state = A(said.state)
        self._authority(call, said, state)
        after = said.reference or None
        if after is not None and not all(map(math.isfinite, after)):
            raise Violation(f"D9: reference of {said.arm} is {after}")
        moving = command is not None and command.dt != 0.0
        if moving:
            assert command is not None
            self._motion(call, said, command)
        elif after != seen.reference:
            name = "E6" if side.seeded or side.seed == seen.reference else "E4"
            raise Violation(f"{name}: {said.arm} in {state.name} was to stay at {seen.reference}, got {after}")
        commanded = side.torque and side.instance is not None and after is not None
        if commanded != (command is not None):
            raise Violation(f"D7, E8: {said.arm} {'lacks its' if commanded else 'has a'} command")
        if command is not None:
            if (command.authority, command.position, command.name) != (said.state, said.reference, said.name):
                raise Violation(f"D9: command and authority of {said.arm} differ")
            if state not in MOVING or said.engage != seen.engage or set(command.reason) == {Reason.NO_TARGET}:
                seen.velocity, seen.requested, seen.moved_at, seen.bucket = (), (), call.at.mono, 0.0
        seen.state, seen.engage, seen.must_open, seen.reference = state, said.engage, said.must_open, after

    # --- who may move
    def _authority(self, call: Call, said: ArmAuthority, state: A) -> None:
        seen, side, heard, at = self.seen[said.arm], self.heard.sides[said.arm], self.heard, call.at
        where = f"{said.arm}: {seen.state.name} to {state.name}"
        if heard.latched and state is not A.ESTOP:
            if not heard.reset_done(at, self._timeout):
                raise Violation(f"E7: {where} with the e-stop latched")
            heard.latched, heard.reset_at = False, 0
            heard.must_open()
        if state is A.ESTOP and not heard.latched:
            raise Violation(f"D5: {where} without an e-stop")
        if state is not seen.state:
            if (seen.state, state) not in _ALLOWED:
                raise Violation(f"D5: {where}")
            if state is A.COUNTDOWN and not side.opened:
                raise Violation(f"D2: {where} though the grip has not opened")
            if state is A.COUNTDOWN and (not heard.head_at or at.mono - heard.head_at > self._settings.heading_age * 1e9):
                raise Violation(f"D2: {where} without a heading")
            wanted = self._settings.countdown * 1e9 - _JITTER_NS
            if seen.state is A.COUNTDOWN and state is A.DRIVING and at.mono - seen.since < wanted:
                raise Violation(f"D5: {where} after {(at.mono - seen.since) * 1e-9:.3f} s")
            if seen.state is A.FAULT and state is A.IDLE and not side.opened:
                raise Violation(f"D5: {where} though the grip has not opened")
            if state is A.DRIVING:
                seen.entry = heard.count if call.kind == "frame" and heard.frame_at == at.mono else heard.count + 1
                seen.moved_at, seen.bucket = at.mono, 0.0
            lapsed = seen.state in (A.GRACE, A.COUNTDOWN) and state is A.IDLE
            opens = call.kind == "frame" and side.present and not side.closed
            if (state in (A.ESTOP, A.FAULT) or lapsed) and not opens:
                side.opened = False
            seen.since = at.mono
        if state is A.GRACE and call.kind == "tick" and at.mono - seen.since >= self._settings.grace * 1e9:
            raise Violation(f"D5: grace of {said.arm} does not end")
        if state is A.DRIVING:
            self._may_drive(call, said)
        if state in _OWNED:
            self._may_go_alone(call, said, state)
        must_change = (
            (state is A.COUNTDOWN and seen.state is not A.COUNTDOWN)
            or (seen.state in (A.COUNTDOWN, A.GRACE) and state is not seen.state)
            or heard.recentred
            or heard.buttons_lost
            or (state is not seen.state and not {state, seen.state}.isdisjoint(_OWNED))
        )
        if seen.engage is not None and must_change != (said.engage != seen.engage):
            raise Violation(f"D4: engage of {where} was {seen.engage}, is {said.engage}")

    def _may_drive(self, call: Call, said: ArmAuthority) -> None:
        side, heard, now = self.heard.sides[said.arm], self.heard, call.at.mono
        stale = self._stale
        for why, wrong in (
            ("the grip open", not side.closed or not side.opened),
            ("the hand untracked or gone", not side.tracked or not side.present),
            ("a stale frame", now - heard.frame_at > stale),
            ("another hand", said.hand != side.hand),
            ("no running session", heard.session != Session.RUNNING),
            ("a silent session", now - heard.session_at > self._settings.session_stale * 1e9),
            ("a silent driver", side.instance is None or now - side.driver_at > stale),
            ("torque off", not side.torque),
            ("stale joint states", side.measured is None or now - side.measured_at > stale),
            ("a faulty driver", bool(side.error)),
            ("no targets", now - max(side.asked_at, self.seen[said.arm].since) > stale),
        ):
            if wrong:
                raise Violation(f"E5: {said.arm} is DRIVING with {why}")

    def _may_go_alone(self, call: Call, said: ArmAuthority, state: A) -> None:
        seen, side, now = self.seen[said.arm], self.heard.sides[said.arm], call.at.mono
        if state is not seen.state:
            if state is A.HOMING:
                asked = call.kind == "home" and (not call.record or said.arm in call.record)
            else:
                asked = call.kind == "own" and call.arm == said.arm and call.record.acquire and call.record.name == said.owner
                asked = asked and (state is A.REPLAY) is (said.owner == "replay")
            if not asked:
                raise Violation(f"D11: {said.arm} is in {state.name} though nobody asked")
            seen.owner = said.owner
        if said.owner != seen.owner:
            raise Violation(f"D11: {said.arm} changed its owner from {seen.owner!r} to {said.owner!r}")
        if call.kind != "tick":
            return
        if state is not A.HOMING and now - max(side.told_at, seen.since) > max(self._stale, self._settings.owner_wait * 1e9):
            raise Violation(f"D11: {said.arm} is in {state.name} with a silent owner")
        for why, wrong in (
            ("no running session", self.heard.session != Session.RUNNING),
            ("a silent session", now - self.heard.session_at > self._settings.session_stale * 1e9),
            ("a silent driver", side.instance is None or now - side.driver_at > self._stale),
            ("torque off", not side.torque),
            ("stale joint states", side.measured is None or now - side.measured_at > self._stale),
            ("a faulty driver", bool(side.error)),
        ):
            if wrong:
                raise Violation(f"E5: {said.arm} is in {state.name} with {why}")

    def _others(self, call: Call, before: dict[str, A]) -> None:
        for arm, state in before.items():
            after = self.seen[arm].state
            if arm == call.arm or after is state or A.ESTOP in (after, state) or A.FAULT in (after, state):
                continue
            side = self.heard.sides[arm]
            ages = (self.heard.frame_at, side.driver_at, side.measured_at, self.heard.session_at, side.asked_at)
            if all(call.at.mono - age <= self._stale for age in ages):
                raise Violation(f"D10: a message of {call.arm} took {arm} from {state.name} to {after.name}")

    # --- how far
    def _motion(self, call: Call, said: ArmAuthority, command: JointCommand) -> None:
        seen, side = self.seen[said.arm], self.heard.sides[said.arm]
        where = f"{said.arm} in {A(said.state).name}"
        if A(said.state) not in MOVING:
            raise Violation(f"E4: {where} was given {command.dt} s to move")
        if seen.reference is None or side.measured is None:
            raise Violation(f"E6: {where} moves from an unknown place")
        if not 0.0 < command.dt <= 0.025 + 1e-12:
            raise Violation(f"E1: {where} was credited {command.dt} s")
        # a bucket that time fills and motion empties, and that holds 25 ms
        seen.bucket = min(seen.bucket + (call.at.mono - seen.moved_at) * 1e-9, 0.025) - command.dt
        if seen.bucket < -1e-9:
            raise Violation(f"D1: {where} was credited {command.dt} s, {-seen.bucket} s more than time had passed")
        key = (command.connection, command.frame_sequence)
        if A(said.state) is A.DRIVING:
            asked = side.asked.get(key, [])
            if self.heard.epoch is None or (command.requested, said.engage, self.heard.epoch) not in asked:
                raise Violation(f"D3: {where} follows what nobody asked for frame {key} with engage {said.engage}")
            if self.heard.frames.get(key, -1) < seen.entry:
                raise Violation(f"D3: {where} follows frame {key} from before it began to drive")
        if A(said.state) in (A.REPLAY, A.EXTERNAL) and (command.requested, said.engage, said.owner) not in side.told:
            raise Violation(f"D11: {where} follows what {said.owner!r} did not ask with engage {said.engage}")
        if A(said.state) is A.HOMING:
            for joint, old, new in zip(self._robot.all_joints, seen.reference, command.position):
                if abs(new - joint.home) > abs(old - joint.home) + 1e-9:
                    raise Violation(f"D11: {where} leads {joint.name} away from home, {old} to {new}")
        stands = key != seen.key and command.requested == seen.requested
        arm = len(self._robot.joints)
        judged = arithmetic.Step(
            seen.reference, command.position, command.requested, side.measured, seen.velocity, command.dt, stands, self._slides
        )
        wrong = arithmetic.judge(judged, self._robot, self._settings)
        if wrong:
            raise Violation(f"{wrong} ({where})")
        velocity = tuple([(a - b) / command.dt for a, b in zip(command.position, seen.reference)])
        # one that slides is no hold, and the command does not tell
        if not self._slides and {Reason.COLLISION, Reason.FLOOR} & set(command.reason[:arm]):
            velocity = (0.0,) * arm + velocity[arm:]
        seen.velocity, seen.requested, seen.key, seen.moved_at = velocity, command.requested, key, call.at.mono
