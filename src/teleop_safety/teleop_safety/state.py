"""The guard's state: explicit, plain values, JSON both ways, so that a session can be re-run to the same bytes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from teleop_common.enums import Authority, Counter, Session

Joints = tuple[float, ...]


@dataclass
class Target:
    """A target that the guard has accepted.

    Attributes:
        position: asked joints, in the arm's order [rad].
        reason: what the retargeter itself cut, per joint.
        sequence: sequence of the frame that caused it, 0 for none.
        stamp: that frame's stamp, an external target's own, 0 for none [ns].
        speed: at which targets move, from the one before to this one [rad/s]; empty: none came before.
        origin: stamp that commands name as their origin [ns], 0 for none.
        period: time from the stamp of the one before to this one's [ns], 0 when none came before.
    """

    position: Joints
    reason: tuple[int, ...]
    sequence: int
    stamp: int
    speed: Joints = ()
    origin: int = 0
    period: int = 0


@dataclass
class ArmState:
    """All that the guard knows of one arm. Times are CLOCK_MONOTONIC [ns], 0 for never.

    Attributes:
        engage: anchor counter (uint32).
        authority: state of the table.
        since: entry into it.
        since_stamp: stamp of the newest frame at that entry [ns].
        must_open: the grip must be seen open before it can engage.
        closed: the grip after hysteresis.
        tracked: the driving pose carried all four flags in the newest frame.
        connected: the controller was there in the newest frame.
        reason: why the state is what it is, for people.
        fault: cause of FAULT, empty when gone.
        owner: who asked for the arm and has it, in REPLAY and EXTERNAL.
        heard: stamp of that owner's newest target [ns], 0 before the first.
        rest: in HOMING, the least distance from home so far [rad].
        progress_at: when it last shrank.
        entry: first frame sequence whose target counts in this stay in DRIVING.
        reference: q_ref, None before it is known [rad].
        velocity: speed of the last commit [rad/s].
        filtered: state of the low-pass [rad].
        started: the first command since the reference was seeded is out.
        instance: the driver's, None before it was heard.
        torque, driver_estop, driver_error, driver_at: from DriverState.
        measured, measured_at, measured_stamp: from JointState; ``measured_stamp`` is its stamp [ns].
        target: newest accepted target, None when there is none to follow.
        target_at: arrival of the newest target that counts, or entry into the state in which one can.
        asked: the newest target's frame sequence in this connection, -1 for none.
        cut: the last step stopped short of the target.
        moved_at: last motion commit or hold.
        credit_at: up to when motion time is spent; a hold spends all.
        credit_stamp: the same by the frames' stamps [ns].
        requested, reasons, dt, origin, sequence: of the last commit, repeated by the tick.
        jumps: measurements in a row that were not believed.
        stalled_since: per joint, since when it looks stalled, 0 for not.
        stalled_at: where it was then [rad].
        strained_since: the same for a joint that pushes and gets nowhere.
        strained_at: where it was then [rad].
        strain_rest: errors with which the arm began to be moved [rad].
        strain_of: ``since`` of the stay in which it began so.
        counters: indexed by ``Counter``.
    """

    engage: int
    authority: int = Authority.IDLE
    since: int = 0
    since_stamp: int = 0
    must_open: bool = True
    closed: bool = False
    tracked: bool = False
    connected: bool = False
    reason: str = "no frame yet"
    fault: str = ""
    owner: str = ""
    heard: int = 0
    rest: float = 0.0
    progress_at: int = 0
    entry: int = 0
    reference: Joints | None = None
    velocity: Joints = ()
    filtered: Joints = ()
    started: bool = False
    instance: int | None = None
    torque: bool = False
    driver_estop: bool = False
    driver_error: str = ""
    driver_at: int = 0
    measured: Joints | None = None
    measured_at: int = 0
    measured_stamp: int = 0
    target: Target | None = None
    target_at: int = 0
    asked: int = -1
    cut: bool = False
    moved_at: int = 0
    credit_at: int = 0
    credit_stamp: int = 0
    requested: Joints = ()
    reasons: tuple[int, ...] = ()
    dt: float = 0.0
    origin: int = 0
    sequence: int = 0
    jumps: int = 0
    stalled_since: tuple[int, ...] = ()
    stalled_at: Joints = ()
    strained_since: tuple[int, ...] = ()
    strained_at: Joints = ()
    strain_rest: Joints = ()
    strain_of: int = -1
    counters: list[int] = field(default_factory=lambda: [0] * len(Counter))

    def count(self, what: Counter) -> None:
        """Add one to a counter."""
        self.counters[what] += 1


@dataclass
class SharedState:
    """What all arms share.

    Attributes:
        connection: of the newest frame, None before the first.
        sequence: of the newest frame.
        stamps: stamp [ns] by sequence of the last frames processed in this connection.
        frame_at: arrival of the newest frame.
        frame_stamp: its stamp [ns].
        head_at: arrival of the newest frame with a tracked head.
        buttons: some controller was there in the newest frame.
        session: SessionState.state.
        epoch: SessionState.epoch, None before the first.
        session_at: arrival of the newest SessionState.
        hands: arm → hand that drives it.
        latched: the e-stop.
        source: what latched it.
        resetting: when the reset that waits for the drivers was asked for, 0 for none.
        reset_until: when it gives up.
        commit: number of the last commit.
        published: number of the last AuthorityState.
        holding: the collision filter cut the last motion.
        scale: of the last motion, 0 to 1.
        buzzed_at: last haptic pulse of the collision filter.
        refused_at: last event about a refused message, by arm (empty: of all arms).
    """

    connection: int | None = None
    sequence: int = -1
    stamps: dict[int, int] = field(default_factory=dict)
    frame_at: int = 0
    frame_stamp: int = 0
    head_at: int = 0
    buttons: bool = False
    session: int = Session.DISCONNECTED
    epoch: int | None = None
    session_at: int = 0
    hands: dict[str, str] = field(default_factory=dict)
    latched: bool = False
    source: str = ""
    resetting: int = 0
    reset_until: int = 0
    commit: int = 0
    published: int = 0
    holding: bool = False
    scale: float = 1.0
    buzzed_at: int = 0
    refused_at: dict[str, int] = field(default_factory=dict)


def dump(shared: SharedState, arms: dict[str, ArmState]) -> dict[str, Any]:
    """Return the state as JSON-able values."""
    return {"shared": dataclasses.asdict(shared), "arms": {arm: dataclasses.asdict(state) for arm, state in arms.items()}}


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def parse(data: dict[str, Any]) -> tuple[SharedState, dict[str, ArmState]]:
    """Return the state that ``dump`` described."""
    shared = SharedState(**data["shared"])
    shared.stamps = {int(key): stamp for key, stamp in shared.stamps.items()}
    arms = {}
    for arm, values in data["arms"].items():
        plain = {key: value if key == "counters" else _tuples(value) for key, value in values.items()}
        plain["counters"] = list(plain["counters"])
        if plain["target"] is not None:
            plain["target"] = Target(**{key: _tuples(value) for key, value in plain["target"].items()})
        arms[arm] = ArmState(**plain)
    return shared, arms
