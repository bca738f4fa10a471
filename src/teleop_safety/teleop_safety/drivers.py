"""What an arm's driver says: measurements, the seed of the reference, restarts, stalls."""

from __future__ import annotations

from teleop_common import plausible
from teleop_common.records import DriverState, JointState
from teleop_safety import intake, stall
from teleop_safety.authority import MOVED
from teleop_safety.settings import Instant, Settings, ns
from teleop_safety.state import ArmState, Joints


def seed(state: ArmState, reference: Joints | None) -> None:
    """Set the reference anew: at rest there, its first command still to come."""
    state.reference = reference
    state.velocity = (0.0,) * len(reference or ())
    state.filtered = reference or ()
    state.started = False


def take_joints(at: Instant, state: ArmState, sample: JointState, names: tuple[str, ...], stale: int, ceiling: float) -> str:
    """Take over a measurement and return why the arm must stop for it, empty when it need not.

    With torque off the reference follows it. A joint that cannot have come there is not believed; after a few in a row that is
    where the arm is, and something is wrong: nothing may move on it, nor be drawn there.

    Raises:
        Refused: not newer than the last, bad values, or a place that the arm cannot have come to.
    """
    # after a silence any stamp is a new beginning, else a clock set back would shut the arm's eyes for good
    newest = state.measured_stamp if at.mono - state.measured_at <= stale else 0
    position = intake.check_joints(sample, newest, names)
    why = ""
    if newest and state.measured is not None and state.torque:  # with torque off a hand may carry it anywhere
        elapsed = (sample.header.stamp - newest) * 1e-9
        joint = plausible.jumped(state.measured, position, elapsed, ceiling)
        if joint >= 0:
            state.jumps += 1
            text = f"{names[joint]} measured at {position[joint]:.3f} rad, {elapsed:.3f} s after {state.measured[joint]:.3f} rad"
            if state.jumps < plausible.IN_A_ROW:
                raise intake.Refused(f"joint state: got {text}, allowed no faster than {ceiling:g} rad/s; check encoder and bus")
            why = text
    state.jumps = 0
    state.measured, state.measured_at, state.measured_stamp = position, at.mono, sample.header.stamp
    if state.instance is not None and not state.torque:
        seed(state, position)
    return why


def take_driver(at: Instant, state: ArmState, sample: DriverState, names: tuple[str, ...], stale: int) -> str:
    """Take over a driver's state and return what makes the reference a new one, empty when it stays.

    The reference is seeded when the guard first hears the driver, when it restarted, when its torque changed, and when
    its e-stop latched or was reset (a latched driver drops commands, so the last of them may not be where it holds): from
    its goal with torque on, from the measurement with torque off. Otherwise the goal is not looked at: holding means
    repeating the reference.

    Raises:
        Refused: bad values.
    """
    goal = intake.check_driver(sample, names)
    change = ""
    if state.instance is None:
        change = "driver heard"
    elif state.instance != sample.instance:
        change = "driver restarted"
    elif state.torque != sample.torque_on:
        change = "torque on" if sample.torque_on else "torque off"
    elif state.driver_estop != sample.estop:
        change = "driver latched" if sample.estop else "driver reset"
    state.instance, state.torque, state.driver_at = sample.instance, sample.torque_on, at.mono
    state.driver_estop, state.driver_error = sample.estop, sample.error
    if change:
        fresh = state.measured is not None and at.mono - state.measured_at <= stale
        seed(state, goal if sample.torque_on else state.measured if fresh else None)
    return change


def stalled(at: Instant, state: ArmState, arm: int, settings: Settings, names: tuple[str, ...]) -> str:
    """Return the joint that has been stalled long enough, empty for none; ``arm`` is the number of arm joints."""
    if state.authority not in MOVED or state.reference is None or state.measured is None:
        state.stalled_since = ()
        return ""
    found = stall.suspects(state.reference, state.measured, arm, settings.stall_share * settings.leash)
    if not found:
        state.stalled_since = ()
        return ""
    state.stalled_since, state.stalled_at = stall.watch_still(
        state.stalled_since, state.stalled_at, found, at.mono, state.measured, settings.stall_speed * settings.stall_time
    )
    for i in found:
        if at.mono - state.stalled_since[i] >= ns(settings.stall_time):
            return names[i]
    return ""


def strained(at: Instant, state: ArmState, sample: DriverState, arm: int, settings: Settings, names: tuple[str, ...]) -> str:
    """Return what a joint that has pushed in vain for long enough does, in words, empty for none.

    A driver that tells no load, or that of other joints, is not watched. ``arm`` is the number of arm joints.
    """
    load = dict(zip(sample.name, sample.load))
    if state.authority not in MOVED or state.reference is None or state.measured is None or not set(names) <= set(load):
        state.strained_since, state.strain_of = (), -1
        return ""
    loads = [load[name] for name in names]
    error = stall.errors(state.reference, state.measured)
    if state.strain_of != state.since:
        state.strained_since, state.strain_rest, state.strain_of = (), error, state.since
    found = stall.strained(loads, error, state.strain_rest, arm, settings.effort_load, settings.effort_error)
    state.strained_since, state.strained_at = stall.watch_still(
        state.strained_since, state.strained_at, found, at.mono, state.measured, settings.effort_still
    )
    for i in found:
        passed = (at.mono - state.strained_since[i]) * 1e-9
        if passed >= settings.effort_time:
            return f"{names[i]}: {abs(loads[i]):.0%} of its torque and {error[i]:.2f} rad off for {passed:.1f} s"
    return ""
