"""Arms that move without a hand: the way home, and owners that asked for an arm. Only ticks move them."""

from __future__ import annotations

from dataclasses import replace

from teleop_common.enums import Authority, Counter, Reason
from teleop_common.records import JointTarget, JointTargets
from teleop_safety import commit, intake
from teleop_safety.authority import BORROWED, RESERVED, UNHANDED, Event, owner
from teleop_safety.commit import Motion
from teleop_safety.hands import Hands
from teleop_safety.intake import Refused
from teleop_safety.motion import MotionLimits
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, Joints, SharedState, Target

REPLAY = "replay"  # the owner whose arm is in REPLAY; any other's is in EXTERNAL
LONGEST_NAME = 64
ARRIVED = 1e-4  # [rad] from home, below which the arm is there
PROGRESS = 0.005  # [rad] by which the distance from home must shrink to count as progress
_REMEDY = {
    "e-stop latched": "reset it",
    "session not running": "CONNECT and START it",
    "session silent": "wait for its node or start it",
    "driver silent": "wait for it or start it",
    "joint states stale": "look after the driver",
    "torque is off": "turn it on",
    "reference unknown": "wait for the driver's first state",
}
_LEAD = 0.1  # [rad] ahead of the arm that the goal on the way home is at least; the leash is longer


def away(joints: Joints, home: Joints) -> float:
    """Return the largest distance of any joint from ``home`` [rad]."""
    return max(abs(h - q) for q, h in zip(joints, home))


def ahead(joints: Joints, home: Joints, lead: float) -> Joints:
    """Return the point at most ``lead`` [rad] from ``joints`` on the straight line to ``home``: a goal within the leash."""
    distance = away(joints, home)
    if distance <= lead:
        return home
    return tuple([q + (h - q) * lead / distance for q, h in zip(joints, home)])


class Owners:
    """Gives arms to the way home and to owners, and says where those arms go next.

    Args:
        settings: the numbers.
        hands: where events are applied.
        limits: of the robot.
        home: its home pose, in the arms' order [rad].
    """

    def __init__(self, settings: Settings, hands: Hands, limits: MotionLimits, home: Joints) -> None:
        """Keep the numbers."""
        self._settings, self._hands, self._home = settings, hands, home
        self._slow = replace(limits, velocity=tuple([min(v, settings.home_speed) for v in limits.velocity]))
        # far enough for a joint at that speed to brake twice
        self._lead = max([_LEAD, *(v * v / a for v, a in zip(self._slow.velocity, limits.acceleration))])

    # --- asked for -------------------------------------------------------------------------------------------------

    def home(self, at: Instant, shared: SharedState, arms: dict[str, ArmState], out: Outputs) -> tuple[bool, str]:
        """Send ``arms`` home but those that somebody has or that cannot move; return whether any goes, and what each does."""
        going, skipped = [], []
        for arm, state in arms.items():
            again = state.authority == Authority.HOMING
            if why := self._unfit(at, shared, state) if again else self._refusal(at, shared, state):
                skipped.append(f"{arm}: {why}")
                continue
            going.append(arm)
            if state.authority == Authority.IDLE:
                self._hands.event(at, shared, arm, state, Event.HOME, "home asked for", out)
                state.rest, state.progress_at = away(state.reference or self._home, self._home), at.mono
        parts = [f"going home: {', '.join(going)}"] if going else []
        parts += [f"skipped {'; '.join(skipped)}"] if skipped else []
        text = "; ".join(parts)
        out.event(at, shared.commit, "home", "", text)
        return bool(going), text

    def acquire(self, at: Instant, shared: SharedState, arm: str, state: ArmState, name: str, out: Outputs) -> tuple[bool, str]:
        """Give an idle arm to the owner ``name``; return whether it has it now, and why not."""
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name in RESERVED:
            rule = f"1 to {LONGEST_NAME} printable characters, not {' or '.join(RESERVED)}"
            return False, f"owner: got {name[:LONGEST_NAME]!r}, allowed {rule}; choose another name"
        if why := self._refusal(at, shared, state):
            text = f"arm '{arm}': refused to '{name}': {why}"
            out.event(at, shared.commit, "owner", arm, text)
            return False, text
        event = Event.REPLAYED if name == REPLAY else Event.ACQUIRED
        self._hands.event(at, shared, arm, state, event, f"acquired by '{name}'", out)
        state.owner = name
        wait, stale = self._settings.owner_wait, self._settings.stale
        return (
            True,
            f"arm '{arm}' is owned by '{name}': send targets with its new engage within {wait:g} s, then each {stale:g} s",
        )

    def release(self, at: Instant, shared: SharedState, arm: str, state: ArmState, name: str, out: Outputs) -> tuple[bool, str]:
        """Take an arm back from the owner ``name``; return whether it does not have it now, and why not."""
        has = owner(Authority(state.authority), state.owner)
        if not has:
            return True, f"arm '{arm}' has no owner"
        if has != name or state.authority not in BORROWED:
            return (
                False,
                f"arm '{arm}': got a release by {name[:LONGEST_NAME]!r}, allowed by its owner '{has}'; it has to release it",
            )
        self._hands.event(at, shared, arm, state, Event.RELEASED, f"released by '{name}'", out)
        return True, f"arm '{arm}' has no owner"

    def _unfit(self, at: Instant, shared: SharedState, state: ArmState) -> str:
        why = self._hands.unfit(at, shared, state)
        return f"{why}; {_REMEDY.get(why, 'mend the driver')}" if why else ""

    def _refusal(self, at: Instant, shared: SharedState, state: ArmState) -> str:
        """Return why an arm cannot be given away and what to do, empty when it can."""
        authority = Authority(state.authority)
        has = owner(authority, state.owner)
        if has == "operator":
            return f"driven by the operator ({authority.name}); open its grip first"
        if authority is Authority.FAULT:
            return f"in FAULT ({state.reason}); mend it and open the grip"
        if authority is Authority.HOMING:
            return "on its way home; wait for it"
        return f"owned by '{has}'; release it first" if has else self._unfit(at, shared, state)

    # --- told ------------------------------------------------------------------------------------------------------

    def take(
        self, at: Instant, state: ArmState, names: tuple[str, ...], targets: JointTargets, target: JointTarget, stamp: int
    ) -> None:
        """Take over a target of an owner; ``stamp`` is that of the newest frame [ns]. The next tick begins to follow it.

        Raises:
            Refused: not the owner, another engage, or bad values.
        """
        if state.authority not in BORROWED:
            raise Refused(f"external target of '{target.owner[:LONGEST_NAME]}': got an arm it does not own; acquire it first")
        position, reason = intake.check_target(target, names, state.owner)
        if target.engage != state.engage:
            raise Refused(f"engage: got {target.engage}, allowed {state.engage}; send that of /teleop/authority")
        if targets.header.stamp <= state.heard:
            state.count(Counter.DUPLICATE)
            return
        state.heard, state.target_at = targets.header.stamp, at.mono
        if target.status not in intake.FOLLOW:
            commit.hold(state, at.mono, stamp)
            return
        speed = commit.target_speed(state.target, position, targets.header.stamp)
        state.target = Target(position, reason, 0, targets.header.stamp, speed, targets.origin_stamp)

    # --- time ------------------------------------------------------------------------------------------------------

    def tick(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> Motion | None:
        """Return where an arm without a hand goes by this tick; ends it when what it needs has gone."""
        if state.authority not in UNHANDED:
            return None
        why = self._hands.unfit(at, shared, state)
        if why:
            state.count(Counter.STALE)
            self._hands.event(at, shared, arm, state, Event.HALT, why, out)
            return None
        if state.authority == Authority.HOMING:
            return self._homeward(at, shared, arm, state, out)
        longest = self._settings.stale if state.heard else self._settings.owner_wait
        if at.mono - state.target_at > ns(longest):
            state.count(Counter.STALE)
            self._hands.event(at, shared, arm, state, Event.EXPIRED, f"owner '{state.owner}' silent", out)
        if state.target is None:
            return None
        return Motion(state.target, commit.credit(state, at.mono, ns(self._settings.credit)))

    def _homeward(self, at: Instant, shared: SharedState, arm: str, state: ArmState, out: Outputs) -> Motion | None:
        """Return the next step home; there, or when nothing has come of it for a while, the arm is idle again."""
        assert state.reference is not None
        distance = away(state.reference, self._home)
        if distance < state.rest - PROGRESS:
            state.rest, state.progress_at = distance, at.mono
        if distance < ARRIVED:
            self._hands.event(at, shared, arm, state, Event.ARRIVED, "at home", out)
            return None
        if at.mono - state.progress_at > ns(self._settings.home_patience):
            why = f"home given up {distance:.2f} rad away: no progress for {self._settings.home_patience:g} s"
            self._hands.event(at, shared, arm, state, Event.EXPIRED, why, out)
            return None
        reason = (int(Reason.HOMING),) * len(self._home)
        state.target = Target(ahead(state.reference, self._home, self._lead), reason, 0, 0)
        return Motion(state.target, commit.credit(state, at.mono, ns(self._settings.credit)), self._slow)
