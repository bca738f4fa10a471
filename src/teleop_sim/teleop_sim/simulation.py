"""Physics, drivers and pacing together: the core of the ``sim`` node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import mujoco

from teleop_common.driver import REFUSALS, Driver
from teleop_common.enums import Device, DeviceReason
from teleop_common.records import DeviceReport, DriverState, Header, JointCommand, JointState, SimState
from teleop_common.schedule import Rate
from teleop_sim.pacing import Pacer
from teleop_sim.physics import Physics

SLOW = 0.9  # real-time factor below which the simulation says that it is slow
SHOWN = 1.0  # [s] without a state to show, after which whoever sent them is gone and the simulation goes on
# degraded? → state and reason of a device report
_HEALTH = {
    False: (Device.CONNECTED, DeviceReason.NONE),
    True: (Device.DEGRADED, DeviceReason.PARTIAL_FUNCTIONALITY),
}


class Simulation:
    """The simulated cell as its node sees it.

    Args:
        physics: the world.
        drivers: a driver core an arm.
        pacer: paces the steps.
        start: start pose an arm [rad]; home where absent.
        seed: seed of the cubes.
        read_hz: rate at which joints are published [Hz].
    """

    def __init__(
        self,
        physics: Physics,
        drivers: Mapping[str, Driver],
        pacer: Pacer,
        start: Mapping[str, Sequence[float]],
        seed: int,
        read_hz: float,
    ) -> None:
        """Put the world into its start state."""
        self.physics, self.drivers, self.pacer = physics, dict(drivers), pacer
        self.start, self.seed, self.read_hz = dict(start), seed, read_hz
        self.playing = True
        self._kept: mujoco.MjData | None = None
        self._shown_at = 0.0
        self._rates = {arm: Rate() for arm in self.drivers}
        self._reported = {arm: (0,) * len(REFUSALS) for arm in self.drivers}
        self.physics.reset(self.start, seed)
        self._apply()

    def advance(self, now: float) -> int:
        """Do the steps that are due at ``now`` (monotonic [s]) and return their number."""
        if self._kept is not None and now - self._shown_at > SHOWN:
            self.replay(False, now)
        if not self.playing or self.replaying:
            return 0
        count = self.pacer.due(now)
        self.physics.step(count)
        if count:
            for arm, driver in self.drivers.items():
                if not driver.memory.torque_on:
                    driver.follow(self.physics.joints(arm).position)
        return count

    def command(self, arm: str, command: JointCommand, now_ns: int, now: float) -> bool:
        """Hand a command to the arm's driver; accepted, it acts from the next step on."""
        driver = self.drivers[arm]
        accepted = driver.command(command, now_ns, now, paused=not self.playing or self.replaying)
        if accepted:
            self.physics.set_goal(arm, driver.memory.goal)
        return accepted

    @property
    def replaying(self) -> bool:
        """Whether recorded states are shown; physics and drivers sleep meanwhile."""
        return self._kept is not None

    def show(self, positions: Sequence[float], now: float) -> str:
        """Show a recorded state: ``positions`` of all joints of the model. Return empty, else why not."""
        if not self.replaying:
            return "state to show: got one, allowed none before /sim/replay; call it with true"
        wanted = self.physics.model.nq
        if len(positions) != wanted or not all(map(math.isfinite, positions)):
            return f"state to show: got {len(positions)} positions, allowed {wanted} finite ones; choose a take of this scene"
        self.physics.show(positions)
        self._shown_at = now
        return ""

    # what services ask for; each returns empty on success, else why not

    def estop(self, arm: str) -> str:
        """Latch the e-stop of ``arm``."""
        self.drivers[arm].latch_estop(self.physics.joints(arm).position)
        self._apply()
        return ""

    def reset_estop(self, arm: str) -> str:
        """Release the e-stop of ``arm``; torque stays as it is."""
        self.drivers[arm].reset_estop()
        return ""

    def replay(self, on: bool, now: float) -> str:
        """Begin to show recorded states, or end it: then everything is as it was, but for drivers' new instances."""
        if on and not self.replaying:
            self._kept, self._shown_at = self.physics.keep(), now
            self.physics.show(self.physics.state()[0])
        elif not on and self._kept is not None:
            self.physics.put_back(self._kept)
            self._kept = None
            self.pacer.restart(now)
            self._restart_drivers()
        return ""

    def _asleep(self, what: str) -> str:
        return f"{what}: got a request, allowed none while a recording is shown; stop the replay first" if self.replaying else ""

    def torque(self, arm: str, on: bool) -> str:
        """Turn the torque of ``arm`` on or off."""
        if asleep := self._asleep(f"torque of '{arm}'"):
            return asleep
        refusal = self.drivers[arm].torque(on, self.physics.joints(arm).position)
        self._apply()
        return refusal

    def reset(self) -> str:
        """Back to the start state. Drivers begin a new instance, so that the guard takes its reference anew."""
        if asleep := self._asleep("reset"):
            return asleep
        self.physics.reset(self.start, self.seed)
        self._restart_drivers()
        return ""

    def cubes(self, seed: int) -> str:
        """Set the cubes from ``seed``, unless an arm is in the way."""
        refusal = self._asleep("cubes") or self.physics.set_cubes(seed)
        if not refusal:
            self.seed = seed
        return refusal

    def play(self, on: bool, now: float) -> str:
        """Run or pause. Commands in a pause are refused, and after it drivers begin a new instance: nothing catches up."""
        if asleep := self._asleep("play"):
            return asleep
        if on and not self.playing:
            self.pacer.restart(now)
            self._restart_drivers()
        self.playing = on
        return ""

    def _restart_drivers(self) -> None:
        for arm, driver in self.drivers.items():
            driver.restart(self.physics.goal(arm))
            driver.follow(self.physics.joints(arm).position)
        self._apply()

    def _apply(self) -> None:
        for arm, driver in self.drivers.items():
            self.physics.set_torque(arm, driver.memory.torque_on)
            self.physics.set_goal(arm, driver.memory.goal)

    def joint_state(self, arm: str, stamp: int) -> JointState:
        """Return the measured joints of ``arm``; ``stamp`` is the ROS clock [ns]."""
        joints = self.physics.joints(arm)
        return JointState(Header(stamp, ""), self.drivers[arm].config.names, joints.position, joints.velocity, joints.effort)

    def sim_state(self, stamp: int, model_hash: str) -> SimState:
        """Return the whole state for renderers; ``stamp`` is the ROS clock [ns]."""
        qpos, qvel = self.physics.state()
        factor = self.pacer.real_time_factor if self.playing and not self.replaying else 0.0
        return SimState(Header(stamp, "world"), self.physics.time, self.physics.steps, qpos, qvel, factor, model_hash)

    @property
    def slow(self) -> bool:
        """Whether the machine does not keep up with real time."""
        return self.playing and not self.replaying and self.pacer.real_time_factor < SLOW

    def driver_state(self, arm: str, stamp: int, now: float) -> DriverState:
        """Return the state of the arm's driver; ``stamp`` is the ROS clock [ns]."""
        driver = self.drivers[arm]
        write_hz = self._rates[arm].update(driver.memory.executed, now)
        state = driver.state(stamp, now, load=self.physics.load(arm), write_hz=write_hz, read_hz=self.read_hz)
        if self.replaying:  # nothing pulls: the arm is where the picture is
            return state._replace(torque_on=False, goal=self.physics.joints(arm).position)
        return state

    def devices(self) -> tuple[DeviceReport, ...]:
        """Return the devices of a provider report: each arm, and the pace. Call it once a report: it resets the counts."""
        reports = []
        for arm, driver in self.drivers.items():
            now, before = driver.memory.refused, self._reported[arm]
            self._reported[arm] = now
            new = {kind: a - b for kind, a, b in zip(REFUSALS, now, before, strict=True) if a > b}
            text = ", ".join(f"{count} {kind}" for kind, count in new.items())
            # what torque, e-stop and pause refuse is as it should be; the rest is somebody's fault
            faulty = {"stale", "malformed", "first_step"} & new.keys()
            reports.append(DeviceReport(f"arm/{arm}", *_HEALTH[bool(faulty)], f"commands refused: {text}" if text else ""))
        text = f"real-time factor {self.pacer.real_time_factor:.2f}, {self.pacer.dropped:.2f} s dropped" if self.slow else ""
        if self.replaying:
            text = "asleep: a recording is shown"
        return (*reports, DeviceReport("physics", *_HEALTH[bool(text)], text))
