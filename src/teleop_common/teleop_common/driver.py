"""What every driver of an arm does with commands, whatever moves the arm: the rules of acceptance, torque and e-stop.

The simulation executes the goal in MuJoCo, a ros2_control driver hands it to a controller. Time comes in: seconds of the
monotonic clock for ages, nanoseconds of the ROS clock where a stamp is meant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, Header, JointCommand

if TYPE_CHECKING:  # its module needs ROS, this one does not
    from teleop_common.driver_params import CommonDriverParams

# defaults of every driver [s], see DriverConfig
STEP_TIME, STALE, TIMEOUT = 0.05, 0.2, 0.2
Positions = tuple[float, ...]
REFUSALS = ("stale", "malformed", "estop", "torque_off", "first_step", "paused")


@dataclass(frozen=True)
class DriverConfig:
    """Settings of one arm's driver.

    Attributes:
        arm: name of the arm.
        names: joint names, prefixed, in the order of commands and states.
        lower: smallest position [rad], per joint.
        upper: largest position [rad], per joint.
        step_bound: farthest from the goal that the first command after a start or torque-on may lie [rad], per joint.
        stale: largest |now − stamp| of a command on arrival [s].
        timeout: age of the last command at which the driver counts as commanded by nobody and holds [s].
        estop_release: the e-stop turns torque off; else it holds.
    """

    arm: str
    names: tuple[str, ...]
    lower: Positions
    upper: Positions
    step_bound: Positions
    stale: float = 0.2
    timeout: float = 0.2
    estop_release: bool = False


def driver_config(
    arm: str,
    limits: RobotLimits,
    *,
    step_time: float = STEP_TIME,
    stale: float = STALE,
    timeout: float = TIMEOUT,
    estop_release: bool = False,
) -> DriverConfig:
    """Return the settings of ``arm``'s driver; the step bound is what a joint may travel in ``step_time`` [s]."""
    joints = limits.all_joints
    return DriverConfig(
        arm=arm,
        names=limits.arm_names(arm),
        lower=tuple(j.lower for j in joints),
        upper=tuple(j.upper for j in joints),
        step_bound=tuple(j.velocity * step_time for j in joints),
        stale=stale,
        timeout=timeout,
        estop_release=estop_release,
    )


def configured(arm: str, limits: RobotLimits, params: CommonDriverParams, *, estop_release: bool = False) -> DriverConfig:
    """Return the settings of ``arm``'s driver by a node's parameters."""
    return driver_config(
        arm,
        limits,
        step_time=params.first_step_time,
        stale=params.command_stale,
        timeout=params.command_timeout,
        estop_release=estop_release,
    )


@dataclass(frozen=True)
class Memory:
    """All that a driver remembers; plain values, so that it can be stored and compared.

    Attributes:
        instance: number of this start; a new one tells the guard to take its reference from ``goal`` again.
        goal: position that the arm holds or moves to [rad], per joint.
        torque_on: the servos pull.
        estop: the e-stop is latched.
        unproven: no command was executed since the start or torque-on.
        command_time: monotonic time of the last executed command [s], or None.
        executed: count of executed commands.
        refused: counts of refused commands, in the order of ``REFUSALS``.
    """

    instance: int
    goal: Positions
    torque_on: bool
    estop: bool = False
    unproven: bool = True
    command_time: float | None = None
    executed: int = 0
    refused: tuple[int, ...] = field(default=(0,) * len(REFUSALS))


class Driver:
    """One arm's driver core."""

    def __init__(self, config: DriverConfig, instance: int, goal: Sequence[float], torque_on: bool = True) -> None:
        """Start holding ``goal`` [rad] (or limp)."""
        self.config = config
        self.memory = Memory(instance & 0xFFFFFFFF, tuple(goal), torque_on)
        self.last_refusal = ""

    def command(self, command: JointCommand, now_ns: int, now: float, *, paused: bool = False) -> bool:
        """Take a command on arrival; afterwards ``memory.goal`` is what to execute.

        Args:
            command: the guard's.
            now_ns: ROS clock [ns].
            now: monotonic clock [s].
            paused: the arm cannot move at all now (a paused simulation).

        Returns:
            True when it is to be executed; else it is counted and ``last_refusal`` says why.
        """
        memory, config = self.memory, self.config
        age = (now_ns - command.header.stamp) * 1e-9
        if command.name != config.names or len(command.position) != len(config.names):
            return self._refuse("malformed", f"joints {list(command.name)}, allowed {list(config.names)} with a position each")
        if not all(map(math.isfinite, command.position)):
            return self._refuse("malformed", f"positions {list(command.position)}, allowed finite numbers")
        if not abs(age) <= config.stale:
            return self._refuse("stale", f"age {age:.3f} s, allowed ±{config.stale:g} s")
        if memory.estop:
            return self._refuse("estop", "the e-stop is latched")
        if not memory.torque_on:
            return self._refuse("torque_off", "torque is off")
        if paused:
            return self._refuse("paused", "the simulation is paused, or shows a recording")
        if memory.unproven:
            for name, held, asked, bound in zip(config.names, memory.goal, command.position, config.step_bound, strict=True):
                if abs(asked - held) > bound:
                    return self._refuse(
                        "first_step", f"{name} {asked:.4f} rad, allowed {held:.4f} ± {bound:.4f} rad on the first command"
                    )
        goal = tuple(
            # last resort: the interval spanned by limits and goal, so that a joint outside its limits is not dragged in
            min(max(asked, min(low, held)), max(high, held))
            for asked, held, low, high in zip(command.position, memory.goal, config.lower, config.upper, strict=True)
        )
        self.memory = replace(memory, goal=goal, unproven=False, command_time=now, executed=memory.executed + 1)
        return True

    def _refuse(self, kind: str, text: str) -> bool:
        refused = list(self.memory.refused)
        refused[REFUSALS.index(kind)] += 1
        self.memory = replace(self.memory, refused=tuple(refused))
        self.last_refusal = f"command for '{self.config.arm}' refused ({kind}): {text}"
        return False

    def latch_estop(self, measured: Sequence[float]) -> None:
        """Latch the e-stop: hold the goal, or release the torque when so configured."""
        self.memory = replace(self.memory, estop=True)
        if self.config.estop_release:
            self.torque(False, measured)

    def reset_estop(self) -> None:
        """Release the latch; never turns torque on, and the next command must lie near the goal again."""
        self.memory = replace(self.memory, estop=False, unproven=True)

    def torque(self, on: bool, measured: Sequence[float]) -> str:
        """Turn torque on or off; on, the goal becomes the measured positions [rad].

        Returns:
            Empty on success, else why not.
        """
        if on and self.memory.estop:
            return f"torque of '{self.config.arm}': got on, allowed off while the e-stop is latched; reset the e-stop first"
        if on != self.memory.torque_on:
            self.memory = replace(self.memory, torque_on=on, goal=tuple(measured), unproven=True)
        return ""

    def restart(self, goal: Sequence[float]) -> None:
        """Begin a new instance that holds ``goal`` [rad]: the arm was moved by other means. Latch and torque stay."""
        instance = (self.memory.instance + 1) & 0xFFFFFFFF
        self.memory = replace(self.memory, instance=instance, goal=tuple(goal), unproven=True, command_time=None)

    def follow(self, measured: Sequence[float]) -> None:
        """Let the goal follow the measured positions [rad] while torque is off."""
        if not self.memory.torque_on:
            self.memory = replace(self.memory, goal=tuple(measured))

    def holding(self, now: float) -> bool:
        """Return whether no command was executed within the time-out, so that the driver holds its goal."""
        last = self.memory.command_time
        return last is None or now - last > self.config.timeout

    def state(
        self, stamp: int, now: float, *, load: Sequence[float], write_hz: float, read_hz: float, error: str = ""
    ) -> DriverState:
        """Return the state to publish.

        Args:
            stamp: ROS clock [ns].
            now: monotonic clock [s].
            load: share of the torque limit in use, -1 to 1, per joint.
            write_hz: commands executed per second [Hz].
            read_hz: measurements per second [Hz].
            error: fault of the arm, in words.
        """
        memory = self.memory
        age = -1.0 if memory.command_time is None else now - memory.command_time
        count = len(self.config.names)
        return DriverState(
            header=Header(stamp, ""),
            instance=memory.instance,
            name=self.config.names,
            torque_on=memory.torque_on,
            estop=memory.estop,
            goal=memory.goal,
            command_age=age,
            status=(0,) * count,
            load=tuple(load),
            sample_age=(0.0,) * count,
            write_hz=write_hz,
            read_hz=read_hz,
            error=error,
        )
