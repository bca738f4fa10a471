"""What is published of an arm: its joints as they were measured, what is wrong, and its driver's state. Pure."""

from __future__ import annotations

from teleop_common.records import DriverState, Header, JointState
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.registers import status_text


def joint_state(core: ArmCore, now: float, now_ns: int) -> JointState | None:
    """Return the measured joints, stamped with the time of the newest reading; None while there is nothing to tell.

    A joint whose last reply was lost rides along with its last position for ``sample_timeout``; its age is in the
    driver's state. After that the arm counts as not measured: old numbers with new stamps would be lies.
    """
    motions = [servo.motion for servo in core.samples.servos if servo.motion is not None]
    measured = core.measured()
    if measured is None or core.read_time is None or not core.samples.complete(now, core.config.sample_timeout):
        return None
    speeds = tuple(s.speed(m.velocity) for s, m in zip(core.config.scales, motions))
    stamp = now_ns - round((now - core.read_time) * 1e9)
    return JointState(Header(stamp, ""), core.config.driver.names, measured, speeds, ())


def error(core: ArmCore, now: float) -> str:
    """Return what is wrong, in words, empty when all is well."""
    if not core.connected:
        return core.problem
    found = [core.fault] if core.fault else []
    live = [name for name, ident in zip(core.config.joints, core.config.ids) if ident in core.releasing]
    if live:
        found.append(f"torque still on at {', '.join(live)}, asked off; it is tried on and on")
    for name, servo in zip(core.config.joints, core.samples.servos):
        if servo.misses >= core.config.degraded_misses:
            found.append(f"{name} gave no reading {servo.misses} times in a row")
        if servo.status:
            found.append(f"{name} reports {status_text(servo.status)}")
    return "; ".join(found)


def state(core: ArmCore, now: float, stamp: int, write_hz: float, read_hz: float) -> DriverState | None:
    """Return the state to publish, None before every servo was heard once."""
    if core.driver is None:
        return None
    servos = core.samples.servos
    nan = float("nan")
    # of what the joint may use, not of full duty: a joint that pushes at its limit pushes with all that it has
    shares = core.config.torque or (1.0,) * len(servos)
    signed = [share if scale.radians_per_tick > 0 else -share for scale, share in zip(core.config.scales, shares)]
    load = [nan if s.motion is None else min(max(s.motion.load / most, -1.0), 1.0) for s, most in zip(servos, signed)]
    base = core.driver.state(stamp, now, load=load, write_hz=write_hz, read_hz=read_hz, error=error(core, now))
    return base._replace(
        torque_on=base.torque_on or bool(core.releasing),
        status=tuple(s.status for s in servos),
        voltage=tuple(s.slow.voltage for s in servos),
        temperature=tuple(s.slow.temperature for s in servos),
        current=tuple(s.slow.current for s in servos),
        sample_age=tuple(min(s.age(now), 1e6) for s in servos),
    )
