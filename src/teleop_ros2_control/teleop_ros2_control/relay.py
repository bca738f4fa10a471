"""One arm between the guard and its ros2_control controllers: rules of a driver, names of two worlds, age of the feedback.

The rules of acceptance, time-out and e-stop are those of every driver (``teleop_common.driver``). What is particular here: the
controller holds its last command by itself, so to hold is to send nothing; it may serve other joints in the same joint states,
in any order, an arm and its gripper in different messages; and it may go away and come back somewhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from teleop_common.driver import REFUSALS, Driver, DriverConfig
from teleop_common.records import DriverState, Header, JointCommand, JointState

Positions = tuple[float, ...]


@dataclass(frozen=True)
class RelayConfig:
    """Settings of one arm's relay.

    Attributes:
        driver: the driver's rules; its names are the graph's.
        hardware: the controller's names of the same joints, in the same order.
        feedback_timeout: age from which a joint's feedback counts as gone [s].
    """

    driver: DriverConfig
    hardware: tuple[str, ...]
    feedback_timeout: float = 0.2


class Reading(NamedTuple):
    """What is known of one joint.

    Attributes:
        position: [rad or m].
        velocity: [rad/s or m/s], 0 where the controller tells none.
        effort: [Nm or N], 0 where it tells none.
        at: monotonic time of arrival [s].
    """

    position: float
    velocity: float
    effort: float
    at: float


class Relay:
    """One arm's core. It has a driver from the first complete feedback on: before, there is nothing to hold."""

    def __init__(self, config: RelayConfig, instance: int, torque_on: bool = True) -> None:
        """Wait for feedback.

        Args:
            config: settings.
            instance: random number of this start.
            torque_on: forward commands from the start.
        """
        self.config = config
        self.driver: Driver | None = None
        self.samples = 0
        self.refused = 0
        self.last_refusal = ""
        self._first = (instance, torque_on)
        self._latched = False
        self._readings: dict[str, Reading] = {}
        self._complete_at = -math.inf

    def feedback(self, sample: JointState, now_ns: int, now: float) -> JointState | None:
        """Take joint states of the controller; return the arm's own to publish, None when they complete nothing.

        A sample counts when it carries the arm's first joint; the others' may have come in messages of their own. A stamp of
        zero means that the controller stamps nothing: then arrival counts.

        Args:
            sample: joint states of any joints.
            now_ns: ROS clock [ns].
            now: monotonic clock [s].
        """
        names, stamp = self.config.hardware, sample.header.stamp or now_ns
        mine = [(i, name) for i, name in enumerate(sample.name) if name in names]
        if not mine:
            return None
        age = (now_ns - stamp) * 1e-9
        if not abs(age) <= self.config.driver.stale:
            self._refuse(f"stamp {age:.3f} s old, allowed ±{self.config.driver.stale:g} s; synchronise the clocks")
            return None
        if len(sample.position) < len(sample.name):
            self._refuse(f"{len(sample.position)} positions for {len(sample.name)} names")
            return None
        bad = [name for i, name in mine if not math.isfinite(sample.position[i])]
        if bad:
            self._refuse(f"position of {', '.join(bad)} is no number")
            return None
        for i, name in mine:
            self._readings[name] = Reading(sample.position[i], _at(sample.velocity, i), _at(sample.effort, i), now)
        if names[0] not in sample.name:
            return None
        gone = self._gone(now)
        if gone:
            self._refuse(f"no fresh state of {', '.join(gone)}")
            return None
        readings = [self._readings[name] for name in names]
        self._measured(tuple([r.position for r in readings]), now)
        return JointState(
            Header(stamp, sample.header.frame_id),
            self.config.driver.names,
            tuple([r.position for r in readings]),
            tuple([r.velocity for r in readings]),
            tuple([r.effort for r in readings]),
        )

    def _refuse(self, text: str) -> None:
        """Count refused joint states and keep why."""
        self.refused += 1
        self.last_refusal = f"joint states of '{self.config.driver.arm}' refused: {text}"

    def _gone(self, now: float) -> list[str]:
        """Return the joints without fresh feedback."""
        oldest = now - self.config.feedback_timeout
        return [n for n in self.config.hardware if n not in self._readings or self._readings[n].at < oldest]

    def _measured(self, positions: Positions, now: float) -> None:
        silence, self._complete_at = now - self._complete_at, now
        self.samples += 1
        if self.driver is None:
            instance, torque_on = self._first
            self.driver = Driver(self.config.driver, instance, positions, torque_on)
            if self._latched:
                self.driver.latch_estop(positions)
        elif silence > self.config.feedback_timeout:
            # the controller was away: the arm may have been moved by other means, and nothing may pull it back
            self.driver.restart(positions)
        self.driver.follow(positions)

    def command(self, command: JointCommand, now_ns: int, now: float) -> Positions | None:
        """Take the guard's command; return the positions to send on, None when it is refused (``last_refusal`` says why)."""
        if self.driver is None or now - self._complete_at > self.config.feedback_timeout:
            self.last_refusal = f"command for '{self.config.driver.arm}' refused: {self.error(now)}"
            return None
        if self.driver.command(command, now_ns, now):
            return self.driver.memory.goal
        self.last_refusal = self.driver.last_refusal
        return None

    # what services ask for; each returns empty on success, else why not

    def estop(self) -> str:
        """Latch the e-stop: from now on nothing is sent, and the controller holds what it was sent last."""
        self._latched = True
        if self.driver is not None:
            self.driver.latch_estop(self.driver.memory.goal)
        return ""

    def reset_estop(self) -> str:
        """Release the e-stop."""
        self._latched = False
        if self.driver is not None:
            self.driver.reset_estop()
        return ""

    def torque(self, on: bool) -> str:
        """Forward commands, or drop them. The controller itself keeps holding: only the robot's own means release it."""
        if self.driver is None:
            return f"torque of '{self.config.driver.arm}': no joint states yet; start the controller first"
        return self.driver.torque(on, [self._readings[name].position for name in self.config.hardware])

    def error(self, now: float) -> str:
        """Return what is wrong with the arm at ``now`` [s], in words; empty when nothing is."""
        gone = self._gone(now)
        return f"no joint states of {', '.join(gone)} from the controller" if gone else ""

    def state(self, stamp: int, now: float, *, write_hz: float, read_hz: float) -> DriverState | None:
        """Return the state to publish, None before the first feedback.

        Args:
            stamp: ROS clock [ns].
            now: monotonic clock [s].
            write_hz: commands sent per second [Hz].
            read_hz: joint states relayed per second [Hz].
        """
        if self.driver is None:
            return None
        load = (math.nan,) * len(self.config.hardware)  # not told by joint states, whose efforts are in N m
        state = self.driver.state(stamp, now, load=load, write_hz=write_hz, read_hz=read_hz, error=self.error(now))
        ages = tuple([now - self._readings[name].at for name in self.config.hardware])
        return state._replace(sample_age=ages)

    def faults(self) -> tuple[int, ...]:
        """Return the counts of refused commands, in the order of ``REFUSALS``, then of refused joint states."""
        return (*(self.driver.memory.refused if self.driver else (0,) * len(REFUSALS)), self.refused)


def _at(values: Positions, index: int) -> float:
    """Return an optional value; 0 where it is absent or no number."""
    return values[index] if index < len(values) and math.isfinite(values[index]) else 0.0
