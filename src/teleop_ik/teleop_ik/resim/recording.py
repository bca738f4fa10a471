"""A recording in memory, and the choice of the inputs that each recorded target says it used.

A bag holds messages in the order in which the recorder received them, which is not that in which the retargeter did. So
nothing here goes by that order: ``JointTargets`` names its frame, its authority, its session epoch and, for each arm, the
stamp and age of its joint state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from teleop_common.errors import ConfigError
from teleop_common.records import AuthorityState, JointState, JointTarget, JointTargets, SessionState, TeleopFrame
from teleop_ik.arm_data import ordered
from teleop_ik.recipe import OTHER_VERSION
from teleop_ik.retargeter import Feedback, State, from_json

NO_AGE = -1.0  # a target's feedback_age when no joint state had been heard


class Snapshot(NamedTuple):
    """One message of ``/teleop/config/retargeter``.

    Attributes:
        received: when the recorder received it [ns, ROS clock].
        config: its content.
    """

    received: int
    config: Mapping[str, Any]

    def check(self) -> None:
        """Refuse a configuration that lacks what is read here.

        Raises:
            ConfigError: it is of another version.
        """
        if not isinstance(self.config, Mapping):
            raise ConfigError("recorded configuration", "", self.config, "names with values", OTHER_VERSION)
        for key in ("at_ns", "started_ns", "steps", "duplicates", "refused"):
            value = self.config.get(key)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ConfigError("recorded configuration", key, value, "a whole number", OTHER_VERSION)
        if "state" not in self.config:
            raise ConfigError("recorded configuration", "state", None, "present", OTHER_VERSION)

    @property
    def state(self) -> State:
        """The core's state.

        Raises:
            ConfigError: it is of another version.
        """
        try:
            return from_json(dict(self.config["state"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                "recorded configuration", "state", str(error), "the state of this version", OTHER_VERSION
            ) from error

    @property
    def at(self) -> int:
        """Monotonic time at which its state held [ns]."""
        return int(self.config["at_ns"])

    @property
    def started(self) -> int:
        """Start of its process [ns, monotonic]."""
        return int(self.config["started_ns"])

    @property
    def steps(self) -> int:
        """Targets that its process had given."""
        return int(self.config["steps"])


class Recording(NamedTuple):
    """All of a bag that a re-simulation needs, each topic in any order.

    Attributes:
        snapshots: configuration and state.
        targets: recorded targets.
        frames: finalised operator frames.
        authority: words of the guard.
        session: session states.
        joints: arm → joint states.
        whole_from: when every topic of these had begun [ns, ROS clock]; before it, a missing message is no loss.
        losses: what the bag says that it lacks: a file's end, messages that were counted when they were written.
    """

    snapshots: Sequence[Snapshot]
    targets: Sequence[JointTargets]
    frames: Sequence[TeleopFrame]
    authority: Sequence[AuthorityState]
    session: Sequence[SessionState]
    joints: Mapping[str, Sequence[JointState]]
    whole_from: int = 0
    losses: tuple[str, ...] = ()


class Missing(Exception):
    """A message that a step used is not in the recording.

    Attributes:
        topic: where it should be.
        which: what names it there.
    """

    def __init__(self, topic: str, which: str) -> None:
        """Name the message."""
        super().__init__(f"{topic} {which}")
        self.topic, self.which = topic, which


class Given(NamedTuple):
    """The inputs of one step, by the names of ``Retargeter.step``."""

    now_ns: int
    stamp: int
    frame: TeleopFrame
    authority: AuthorityState
    session: SessionState
    feedback: dict[str, Feedback]


class Inputs:
    """Finds messages by what a target says of them."""

    def __init__(self, recording: Recording) -> None:
        """Index the recording."""
        self._frames: dict[tuple[int, int, int], TeleopFrame] = {}
        for frame in recording.frames:
            # of a repeated frame the node refuses all but the first
            self._frames.setdefault((frame.connection, frame.sequence, frame.header.stamp), frame)
        self._authority = _grouped((word.sequence, word) for word in recording.authority)
        self._session = _grouped((state.epoch, state) for state in recording.session)
        self._joints = {arm: _grouped((s.header.stamp, s) for s in states) for arm, states in recording.joints.items()}
        stepped = {(t.connection, t.frame_sequence, t.origin_stamp) for t in recording.targets}
        self._numbers = {key[:2] for key in self._frames}
        self._idle = sorted((key[2], *key[:2]) for key in self._frames if key not in stepped)

    def of(self, target: JointTargets) -> Given:
        """Return the inputs of the step that gave ``target``.

        Raises:
            Missing: one of them is not in the recording.
        """
        frame = self._frames.get((target.connection, target.frame_sequence, target.origin_stamp))
        if frame is None:
            raise Missing("/teleop/frame", f"connection {target.connection} sequence {target.frame_sequence}")
        feedback = {arm.arm: Feedback(self._state(arm), arm.feedback_age) for arm in target.arms if arm.feedback_age != NO_AGE}
        return Given(target.step_time_ns, target.header.stamp, frame, self._word(target), self._session_of(target), feedback)

    def between(self, before: int, after: int) -> list[tuple[int, int, int]]:
        """Return (stamp, connection, sequence) of recorded frames without a target, stamped between the two [ns]."""
        return [key for key in self._idle if before < key[0] < after]

    def has_frame(self, connection: int, sequence: int) -> bool:
        """Return whether a frame of that number is in the recording."""
        return (connection, sequence) in self._numbers

    def _word(self, target: JointTargets) -> AuthorityState:
        found = self._authority.get(target.authority_sequence, [])
        if len(found) > 1:
            # the numbers begin anew with each guard, the engage counters do not
            engage = {arm.arm: arm.engage for arm in target.arms}
            found = [word for word in found if all(engage.get(arm.arm, arm.engage) == arm.engage for arm in word.arms)] or found
        if not found:
            if target.authority_sequence == 0 and not target.arms:
                return AuthorityState()  # none had been heard
            raise Missing("/teleop/authority", f"sequence {target.authority_sequence}")
        return _newest(found, target.header.stamp)  # type: ignore[no-any-return]

    def _session_of(self, target: JointTargets) -> SessionState:
        found = self._session.get(target.session_epoch, [])
        if not found:
            if target.session_epoch == 0:
                return SessionState()  # none had been heard
            raise Missing("/teleop/session/state", f"epoch {target.session_epoch}")
        return _newest(found, target.header.stamp)  # type: ignore[no-any-return]

    def _state(self, arm: JointTarget) -> JointState:
        found = self._joints.get(arm.arm, {}).get(arm.feedback_stamp, [])
        if not found:
            raise Missing(f"/{arm.arm}/joint_states", f"stamp {arm.feedback_stamp}")
        for state in found if arm.seed else ():
            # two of one stamp: the seed tells which
            if (joints := ordered(arm.name, state.name, state.position)) and joints[: len(arm.seed)] == arm.seed:
                return state  # type: ignore[no-any-return]
        return found[-1]  # type: ignore[no-any-return]


def _grouped(pairs: Any) -> dict[int, list[Any]]:
    """Return key → its values."""
    table: dict[int, list[Any]] = {}
    for key, value in pairs:
        table.setdefault(key, []).append(value)
    return table


def _newest(found: list[Any], stamp: int) -> Any:
    """Return the newest message that was stamped by ``stamp`` [ns], else the oldest."""
    said = [message for message in found if message.header.stamp <= stamp]
    return max(said, key=_stamp) if said else min(found, key=_stamp)


def _stamp(message: Any) -> int:
    return int(message.header.stamp)
