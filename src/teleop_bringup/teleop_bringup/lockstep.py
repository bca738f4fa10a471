"""The whole chain without ROS, in one process, on one virtual clock: session, retargeter, guard and physics.

The cores are those that the nodes run; what their shells do between them, this module does in a fixed order. Nothing reads a
clock, so that a run is as quick as the machine, and the same operator and options give the same bits. It serves acceptance of
the closed loop, studies of feedback age and frame rate, and determinism.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from teleop_bringup.lockstep_cores import Options, make_cores
from teleop_common.cell import Cell
from teleop_common.enums import Authority, Convention, Session
from teleop_common.limits import RobotLimits
from teleop_common.records import (
    AuthorityState,
    Controller,
    Header,
    JointCommand,
    JointState,
    JointTargets,
    SimState,
    TeleopFrame,
    TrackedPose,
)
from teleop_ik.retargeter import Feedback
from teleop_ik.solver import Solver
from teleop_safety.guard import Guard
from teleop_safety.outputs import Outputs
from teleop_safety.settings import Instant

_DATE = 1_700_000_000_000_000_000  # [ns], the ROS clock at the start
_PROVIDER = "external"
# who goes first at one moment
_SIM, _ARRIVAL, _GUARD, _SESSION, _FRAME = range(5)
# rates of the nodes [Hz]
_SESSION_HZ, _GUARD_HZ, _DRIVER_HZ = 10.0, 100.0, 20.0


class Hands(NamedTuple):
    """What the operator's devices say at one moment, OpenXR axes in the play space; as the fields of TeleopFrame."""

    head: TrackedPose
    left: Controller
    right: Controller
    recentred: bool = False
    connection: int = 1


class Operator(Protocol):
    """Whoever moves the hands."""

    def hands(self, now: float, seen: SimState) -> Hands:
        """Return head and hands at ``now`` [s since the start]; ``seen`` is the simulation's newest published state."""


class Absent:
    """Nobody there: nothing connected, nothing tracked."""

    def hands(self, now: float, seen: SimState) -> Hands:
        """Return devices that are not there."""
        return Hands(TrackedPose(), Controller(), Controller())


@dataclass
class Recorded:
    """An operator that plays recorded frames, one a frame, and then holds the last."""

    frames: list[TeleopFrame]
    _next: int = 0

    def hands(self, now: float, seen: SimState) -> Hands:
        """Return the next frame's hands."""
        frame = self.frames[min(self._next, len(self.frames) - 1)]
        self._next += 1
        return Hands(frame.head, frame.left, frame.right, frame.recentred)


@dataclass
class Log:
    """What went over the topics.

    Attributes:
        frames: raw operator frames.
        targets: unguarded targets.
        commands: committed commands per arm.
        joints: joint states per arm, as measured.
        events: the guard's events, for people.
    """

    frames: list[TeleopFrame] = field(default_factory=list)
    targets: list[JointTargets] = field(default_factory=list)
    commands: dict[str, list[JointCommand]] = field(default_factory=dict)
    joints: dict[str, list[JointState]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


class Lockstep:
    """The graph in lockstep.

    At one moment physics goes first, then feedback that arrives, the guard's tick, the session, the operator's frame. Messages
    between cores take no time but what the options say.

    Args:
        operator: moves the hands; None: hands that are not there, until ``operator`` is set.
        robot: the robot of every arm.
        cell: the cell.
        options: rates, delays, servos, solver.
        solver: a solver of one's own in place of the one that ``options`` names.

    Attributes:
        cores: the cores, to look at and to disturb (``cores.simulation.physics.push``).
        log: what went over the topics.
        elapsed: virtual time since the start [ns].
    """

    def __init__(
        self,
        operator: Operator | None,
        robot: RobotLimits,
        cell: Cell,
        options: Options | None = None,
        solver: Solver | None = None,
    ) -> None:
        """Put everything into its start state; nothing is heard yet."""
        self.options = o = options or Options()
        self.operator: Operator = operator or Absent()
        self.cores = make_cores(robot, cell, o, solver)
        self.log = Log(commands={arm: [] for arm in o.arms}, joints={arm: [] for arm in o.arms})
        self.elapsed, self._boot = 0, round(1e9 * o.uptime)
        self._seen = SimState()
        self._jitter = random.Random(o.jitter_seed)
        self._authority = AuthorityState()
        self._feedback: dict[str, JointState] = {}
        self._sequence = 0
        self._arrival = 0
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []
        self._serial = 0
        self._every(o.tick_hz, _SIM, self._advance)
        self._every(o.joint_state_hz, _SIM, self._measure)
        self._every(o.sim_state_hz, _SIM, self._look)
        self._every(_DRIVER_HZ, _SIM, self._report_drivers)
        self._every(_GUARD_HZ, _GUARD, lambda: self._send(self.cores.guard.tick(self._at())))
        self._every(_SESSION_HZ, _SESSION, self._watch)
        self._every(o.frame_hz, _FRAME, self._capture)

    # ---- for users
    @property
    def now(self) -> float:
        """Virtual time since the start [s]."""
        return 1e-9 * self.elapsed

    def run(self, seconds: float) -> None:
        """Let ``seconds`` of virtual time pass."""
        end = self.elapsed + round(1e9 * seconds)
        while self._queue[0][0] <= end:
            self.elapsed, _, _, action = heapq.heappop(self._queue)
            action()
        self.elapsed = end

    def run_until(self, holds: Callable[[], bool], longest: float, step: float = 0.1) -> bool:
        """Let time pass until ``holds`` returns true, looked at each ``step`` [s], or ``longest`` [s] have passed."""
        end = self.elapsed + round(1e9 * longest)
        while self.elapsed < end:
            if holds():
                return True
            self.run(step)
        return holds()

    def measured(self, arm: str) -> tuple[float, ...]:
        """Return the joints of ``arm`` as they are now [rad]."""
        return self.cores.simulation.physics.joints(arm).position

    def authority(self, arm: str) -> Authority:
        """Return what the guard last said of ``arm``."""
        return Authority(next((a.state for a in self._authority.arms if a.arm == arm), Authority.IDLE))

    def forget(self) -> None:
        """Empty the log: a run of hours would fill the memory."""
        self.log.frames.clear()
        self.log.targets.clear()
        self.log.events.clear()
        for arm in self.options.arms:
            self.log.commands[arm].clear()
            self.log.joints[arm].clear()

    def put(self, message: Callable[[Guard, Instant], Outputs]) -> None:
        """Hand the guard something of one's own, a service call or an owner's targets, and send what it returns."""
        self._send(message(self.cores.guard, self._at()))

    # ---- the virtual clock
    def _push(self, time: int, order: int, action: Callable[[], None]) -> None:
        self._serial += 1
        heapq.heappush(self._queue, (time, order, self._serial, action))

    def _every(self, hz: float, order: int, action: Callable[[], None], count: int = 0) -> None:
        def due() -> None:
            self._every(hz, order, action, count + 1)
            action()

        # from the count, not by adding periods: no rounding adds up
        self._push(round(1e9 * count / hz), order, due)

    def _at(self) -> Instant:
        return Instant(self._boot + self.elapsed, _DATE + self.elapsed)

    def _mono(self) -> float:
        return 1e-9 * (self._boot + self.elapsed)

    # ---- what the sim's shell does
    def _advance(self) -> None:
        self.cores.simulation.advance(self._mono())

    def _measure(self) -> None:
        for arm in self.options.arms:
            sample = self.cores.simulation.joint_state(arm, self._at().ros)
            self.log.joints[arm].append(sample)
            arrival = self.elapsed + round(1e9 * self.options.feedback_delay)
            self._push(arrival, _ARRIVAL, partial(self._hear_joints, arm, sample))

    def _look(self) -> None:
        self._seen = self.cores.simulation.sim_state(self._at().ros, "")

    def _report_drivers(self) -> None:
        at = self._at()
        for arm in self.options.arms:
            state = self.cores.simulation.driver_state(arm, at.ros, self._mono())
            self._send(self.cores.guard.on_driver_state(at, arm, state))

    # ---- what the shells of retargeter, guard and session do
    def _hear_joints(self, arm: str, sample: JointState) -> None:
        self._feedback[arm] = sample
        self._send(self.cores.guard.on_joint_state(self._at(), arm, sample))

    def _watch(self) -> None:
        now = self._mono()
        for peer in ("retargeter", "guard", *(f"driver {arm}" for arm in self.options.arms)):
            self.cores.session.on_peer(now, peer)
        self.cores.session.tick(now)
        self._send(self.cores.guard.on_session(self._at(), self.cores.session.session_state(self._at().ros)))

    def _capture(self) -> None:
        """Take the operator's sample of this moment; it arrives now or, with jitter, a little later, in order."""
        at = self._at()
        self._sequence += 1
        head, left, right, recentred, connection = self.operator.hands(self.now, self._seen)
        frame = TeleopFrame(
            Header(at.ros, "lockstep"), _PROVIDER, connection, self._sequence, at.mono, at.mono, at.mono, 0,
            int(Convention.OPENXR), head, left, right, recentred=recentred,
        )  # fmt: skip
        self.log.frames.append(frame)
        late = round(1e9 * self.options.frame_jitter * self._jitter.random())
        self._arrival = max(self.elapsed + late, self._arrival)
        self._push(self._arrival, _FRAME, lambda: self._hear_frame(frame))

    def _hear_frame(self, raw: TeleopFrame) -> None:
        at, cores = self._at(), self.cores
        frame, _ = cores.session.on_frame(self._mono(), at.ros, _PROVIDER, raw)
        if frame is None:
            return
        feedback = {arm: self._aged(state, 1e-9 * (at.ros - state.header.stamp)) for arm, state in self._feedback.items()}
        session = cores.session.session_state(at.ros)
        # the retargeter knows the authority of before this frame: what the guard makes of it comes a message later
        targets = cores.retargeter.step(at.mono, at.ros, frame, self._authority, session, feedback)
        self._send(cores.guard.on_frame(at, frame))
        if targets is not None:
            self.log.targets.append(targets)
            self._send(cores.guard.on_targets(at, targets))

    def _aged(self, state: JointState, age: float) -> Feedback:
        """Return a joint state of ``age`` [s] as the retargeter is to see it."""
        if self.options.extrapolate:
            state = state._replace(position=tuple([q + v * age for q, v in zip(state.position, state.velocity, strict=True)]))
        return Feedback(state, age)

    def _send(self, out: Outputs) -> None:
        at, simulation = self._at(), self.cores.simulation
        for arm, command in out.commands:
            self.log.commands[arm].append(command)
            simulation.command(arm, command, at.ros, self._mono())
        if out.authority is not None:
            self._authority = out.authority
        for arm in self.options.arms if out.estop else ():
            simulation.estop(arm)
        for arm in self.options.arms if out.reset else ():
            simulation.reset_estop(arm)
        self.log.events += [f"{1e-9 * self.elapsed:.3f} {event.kind} {event.arm}: {event.text}" for event in out.events]

    @property
    def running(self) -> bool:
        """Whether the session is RUNNING."""
        return self.cores.session.machine.state == Session.RUNNING
