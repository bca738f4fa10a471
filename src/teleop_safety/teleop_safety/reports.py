"""The guard's messages, built from its state."""

from __future__ import annotations

from teleop_common.enums import Authority, Reason
from teleop_common.records import ArmAuthority, AuthorityState, EstopState, GuardState, Header, JointCommand
from teleop_safety.authority import UNHANDED, owner
from teleop_safety.envelope import Clearance, Envelope
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, SharedState

_HOLD = {
    Authority.IDLE: Reason.DEAD_MAN,
    Authority.COUNTDOWN: Reason.COUNTDOWN,
    Authority.DRIVING: Reason.NO_TARGET,
    Authority.GRACE: Reason.UNTRACKED,
    Authority.ESTOP: Reason.ESTOP,
    Authority.FAULT: Reason.FAULT,
    Authority.HOMING: Reason.HOMING,
    Authority.REPLAY: Reason.REPLAY,
    Authority.EXTERNAL: Reason.NO_TARGET,
}


def hold_reason(state: ArmState, now: int, frame_at: int, settings: Settings) -> Reason:
    """Return why an arm that is not moved is held."""
    if not state.started:
        return Reason.FIRST_COMMAND
    if state.authority == Authority.IDLE:
        stale = ns(settings.stale)
        if now - min(frame_at, state.measured_at, state.driver_at) > stale:
            return Reason.STALE
        if state.connected and state.closed and not state.must_open and not state.tracked:
            return Reason.UNTRACKED
    return _HOLD[Authority(state.authority)]


def command(at: Instant, shared: SharedState, state: ArmState, names: tuple[str, ...]) -> JointCommand:
    """Return the command that repeats an arm's last commit. Its reference must be known."""
    assert state.reference is not None
    return JointCommand(
        header=Header(at.ros),
        origin_stamp=state.origin,
        commit=shared.commit,
        commit_time_ns=at.mono,
        dt=state.dt,
        connection=(shared.connection or 0) if state.origin and state.authority not in UNHANDED else 0,
        frame_sequence=state.sequence,
        authority=int(state.authority),
        name=names,
        requested=state.requested,
        position=state.reference,
        measured=state.measured or (),
        feedback_stamp=state.measured_stamp,
        reason=state.reasons,
    )


def authority(
    at: Instant, shared: SharedState, arms: dict[str, ArmState], names: dict[str, tuple[str, ...]], settings: Settings
) -> AuthorityState:
    """Return the authority of every arm."""
    return AuthorityState(
        Header(at.ros), shared.published, tuple(_arm(at, shared, arm, state, names[arm], settings) for arm, state in arms.items())
    )


def _arm(at: Instant, shared: SharedState, arm: str, state: ArmState, names: tuple[str, ...], settings: Settings) -> ArmAuthority:
    left = 0.0
    if state.authority == Authority.COUNTDOWN:
        left = max(0.0, settings.countdown - (at.mono - state.since) * 1e-9)
    return ArmAuthority(
        arm=arm,
        state=int(state.authority),
        engage=state.engage,
        hand=shared.hands.get(arm, ""),
        owner=owner(Authority(state.authority), state.owner),
        must_open=state.must_open,
        name=names,
        reference=state.reference or (),
        countdown_remaining=left,
        reason=state.reason,
        counters=tuple(state.counters),
    )


def estop_state(at: Instant, shared: SharedState, arms: dict[str, ArmState]) -> EstopState:
    """Return the latch."""
    drivers = tuple(arm for arm, state in arms.items() if state.driver_estop)
    return EstopState(Header(at.ros), shared.latched, shared.source, drivers)


def guard_state(at: Instant, shared: SharedState, envelope: Envelope, clearance: Clearance) -> GuardState:
    """Return what the collision filter sees."""
    return GuardState(
        header=Header(at.ros),
        enabled=envelope.enabled,
        geometry=envelope.geometry,
        holding=shared.holding,
        clearance_committed=clearance.committed,
        clearance_measured=clearance.measured,
        scale=shared.scale,
        pairs=clearance.pairs,
    )
