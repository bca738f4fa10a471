"""The retargeter's core: one operator frame in, one joint target per arm out. No clock: time is an argument."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from teleop_common.enums import PoseFlags
from teleop_common.records import (
    ArmAuthority,
    AuthorityState,
    Header,
    JointState,
    JointTargets,
    Pose,
    SessionState,
    TeleopFrame,
    Transform,
)
from teleop_common.spatial import heading_yaw, quat_multiply, quat_normalized
from teleop_ik.anchor import Anchor
from teleop_ik.arm import Arm
from teleop_ik.arm_data import ArmInput, ArmState
from teleop_ik.fold import Over

LONGEST_DT = 0.1  # [s], the most that one frame credits
SILENCE = 0.2  # [s] without a frame, from which on a connection's numbers may begin anew
HEADING_LIFE = 1.0  # [s], for which a lost head's last heading still counts at a first engage


class Feedback(NamedTuple):
    """One arm's newest joint state and its age at the step [s]."""

    state: JointState
    age: float


class State(NamedTuple):
    """All that the core carries from frame to frame.

    Attributes:
        connection: of the last frame, -1 before the first.
        sequence: of the last frame.
        stamp: of the last frame [ns].
        now_ns: monotonic time of the last step [ns].
        heading: yaw of the operator when the head was last tracked [rad], None before.
        heading_ns: monotonic time of that [ns].
        arms: state per arm, in the order of the configuration.
    """

    connection: int = -1
    sequence: int = 0
    stamp: int = 0
    now_ns: int = 0
    heading: float | None = None
    heading_ns: int = 0
    arms: tuple[ArmState, ...] = ()


def to_json(state: State) -> dict[str, Any]:
    """Return ``state`` as plain JSON values; a number that is none, which JSON has no word for, as text."""
    arms = [{**arm._asdict(), "anchor": arm.anchor._asdict() if arm.anchor else None} for arm in state.arms]
    return {key: _plain(value) for key, value in {**state._asdict(), "arms": arms}.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def from_json(data: dict[str, Any]) -> State:
    """Return the state that ``to_json`` wrote, to the bit."""
    arms = []
    for arm in data["arms"]:
        anchor = _frozen(arm["anchor"])
        if anchor is not None:
            anchor = Anchor(**{**anchor, "hand": Pose(*anchor["hand"]), "tool": Pose(*anchor["tool"])})
        state = ArmState(**{**_frozen({k: v for k, v in arm.items() if k != "anchor"}), "anchor": anchor})
        arms.append(state._replace(overs=tuple(Over(*over) for over in state.overs)))
    return State(**{**data, "arms": tuple(arms)})


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return float(value) if isinstance(value, str) else value


def credited(stamp: int, before: int) -> float:
    """Return the time [s] credited to a frame of ``stamp`` after one of ``before`` [ns].

    The frames' own time, not their arrival: the same frames give the same targets (the guard credits no more than passed).
    """
    return 1e-9 * max(0, min(stamp - before, int(1e9 * LONGEST_DT)))


def _space(world_from_tracking: Transform) -> Pose | None:
    """Return the tracking space in world; None when it is no finite place, or no rotation."""
    if not all(map(math.isfinite, world_from_tracking.translation)):
        return None
    try:
        return Pose(world_from_tracking.translation, quat_normalized(world_from_tracking.rotation))
    except ValueError:
        return None


class Retargeter:
    """Holds the arms' configuration and the state; ``steps`` counts the targets given, ``duplicates`` the frames refused."""

    def __init__(self, arms: tuple[Arm, ...]) -> None:
        """Start with nothing anchored."""
        self.arms = arms
        self.state = State(arms=(ArmState(),) * len(arms))
        self.duplicates = 0
        self.steps = 0

    def step(
        self,
        now_ns: int,
        stamp: int,
        frame: TeleopFrame,
        authority: AuthorityState,
        session: SessionState,
        feedback: dict[str, Feedback],
    ) -> JointTargets | None:
        """Return the targets for ``frame``; None for a repeated or older frame of the same connection.

        Args:
            now_ns: monotonic time [ns].
            stamp: ROS time for the header [ns].
            frame: finalised operator frame.
            authority: newest word of the guard.
            session: newest session state.
            feedback: newest joint state per arm that has sent any.
        """
        before = self.state
        if frame.connection != before.connection:
            before = before._replace(heading=None, heading_ns=0)
        elif frame.sequence <= before.sequence and now_ns - before.now_ns <= 1e9 * SILENCE:
            # after a silence the numbers may begin anew: one absurd number must not shut out a whole connection
            self.duplicates += 1
            return None
        dt = credited(frame.header.stamp, before.stamp)
        heading, heading_ns = self._heading(before, frame, now_ns)
        usable = heading if now_ns - heading_ns <= 1e9 * HEADING_LIFE else None
        tracking = _space(frame.world_from_tracking)
        hands = dict(zip(session.arm, session.hand))
        states, targets = [], []
        for arm, state in zip(self.arms, before.arms):
            name = arm.config.name
            word = next((a for a in authority.arms if a.arm == name), ArmAuthority(arm=name))
            side = hands.get(name)
            sample = feedback.get(name)
            # an arm that was anchored before keeps the last heading when the head has been lost for longer
            known = usable if usable is not None else heading if state.key != (0, 0, 0) else None
            given = ArmInput(
                authority=word,
                hand=frame.hand(side) if tracking is not None and side in ("left", "right") else None,
                world_from_tracking=tracking or Pose(),
                heading=known,
                yaw=session.yaw,
                scale=session.scale,
                connection=frame.connection,
                epoch=session.epoch,
                recentred=frame.recentred,
                feedback=sample.state if sample else None,
                age=sample.age if sample else 0.0,
                dt=dt,
            )
            after, target = arm.step(state, given)
            states.append(after)
            if target is not None:
                targets.append(target)
        self.steps += 1
        self.state = State(frame.connection, frame.sequence, frame.header.stamp, now_ns, heading, heading_ns, tuple(states))
        return JointTargets(
            header=Header(stamp),
            origin_stamp=frame.header.stamp,
            connection=frame.connection,
            frame_sequence=frame.sequence,
            authority_sequence=authority.sequence,
            session_epoch=session.epoch,
            step_time_ns=now_ns,
            dt=dt,
            arms=tuple(targets),
        )

    @staticmethod
    def _heading(before: State, frame: TeleopFrame, now_ns: int) -> tuple[float | None, int]:
        """Return the operator's heading in world [rad] and when it was seen [ns]."""
        head = frame.head
        if head.flags == PoseFlags.ALL:
            try:
                yaw = heading_yaw(quat_normalized(quat_multiply(frame.world_from_tracking.rotation, head.pose.orientation)))
            except ValueError:
                yaw = math.nan
            if math.isfinite(yaw):
                return yaw, now_ns
        return before.heading, before.heading_ns
