"""What surrounds the guard in a fuzz run: a clock, a session, two hands, drivers that obey. Deterministic, no randomness here.

Everything that reaches the guard goes through ``World.send``: one call, judged at once by the oracle.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

from teleop_common.enums import Authority, PoseFlags, Session
from teleop_common.limits import RobotLimits
from teleop_common.records import (
    Controller,
    DriverState,
    Header,
    JointState,
    JointTarget,
    JointTargets,
    Pose,
    SessionState,
    TeleopFrame,
    TrackedPose,
)
from teleop_safety.envelope import Envelope, Open
from teleop_safety.fuzz import wall
from teleop_safety.fuzz.heard import Call, Request
from teleop_safety.fuzz.oracle import Oracle
from teleop_safety.fuzz.solids import solids
from teleop_safety.guard import Guard
from teleop_safety.settings import Instant, Settings
from teleop_safety.state import Joints

FRAME_NS = 11_111_111
ARMS: tuple[str, ...] = ("left", "right")
START = Instant(1_000_000_000_000, 1_700_000_000_000_000_000)
RESET_TIMEOUT = 1.0  # [s]
_HISTORY = 60  # messages that can come again


class Setup(NamedTuple):
    """How a run begins.

    Attributes:
        quick: countdown and grace of 50 ms, so that more happens in fewer steps.
        low_pass: time constant of the guard's low-pass [s].
        walls: a stand-in for the collision filter that bites.
        real: the collision filter itself, on the links' hulls.
        start: where the arms stand [rad]; empty: at home.
        torque: the drivers start with torque on.
    """

    quick: bool = False
    low_pass: float = 0.01
    walls: bool = False
    real: bool = False
    start: Joints = ()
    torque: bool = True

    def settings(self) -> Settings:
        """Return the guard's numbers."""
        if self.quick:
            return Settings(countdown=0.05, grace=0.05, low_pass=self.low_pass)
        return Settings(low_pass=self.low_pass)


@dataclass
class Driver:
    """One arm's driver and servos.

    Attributes:
        goal, measured: joints [rad].
        target: where the operator's hand asks the arm to be [rad].
        speed: at which the target goes there [rad/s], inf at once.
        instance, torque, estop, error, load: what its state says.
        blocked: the joints do not move, whatever the goal.
        deaf: it hears no e-stop calls.
        joints_alive, state_alive: it publishes.
        owner: who has the arm without a hand, as its answer said, and goes on sending targets.
    """

    goal: Joints
    measured: Joints
    target: Joints
    speed: float = math.inf
    instance: int = 11
    torque: bool = True
    estop: bool = False
    error: str = ""
    load: Joints = ()
    blocked: bool = False
    deaf: bool = False
    owner: str = ""
    joints_alive: bool = True
    state_alive: bool = True


def pose(tracked: bool = True) -> TrackedPose:
    """Return a pose that is tracked, or not."""
    return TrackedPose(Pose(), int(PoseFlags.ALL) if tracked else 0)


def hand(squeeze: float = 0.0, tracked: bool = True, connected: bool = True) -> Controller:
    """Return a controller."""
    if not connected:
        return Controller()
    return Controller(connected=True, grip=pose(tracked), aim=pose(tracked), squeeze=squeeze)


class World:
    """The surroundings of one run.

    Args:
        robot: the robot of both arms.
        setup: how it begins.
    """

    def __init__(self, robot: RobotLimits, setup: Setup) -> None:
        """Put everything in its place; nothing has been sent."""
        self.robot, self.setup = robot, setup
        self.settings = setup.settings()
        self.names = {arm: robot.arm_names(arm) for arm in ARMS}
        self.now = START
        start = setup.start or tuple(j.home for j in robot.all_joints)
        self.drivers = {arm: Driver(start, start, start, torque=setup.torque) for arm in ARMS}
        self.hands = {"left": hand(), "right": hand()}
        self.head = pose()
        self.session_state, self.epoch = int(Session.RUNNING), 7
        self.pairing = ARMS
        self.connection, self.sequence = 5, 0
        self.frames_alive = self.session_alive = self.targets_alive = True
        self.engage = dict.fromkeys(ARMS, 0)
        self.states = dict.fromkeys(ARMS, int(Authority.IDLE))
        self.reference: dict[str, Joints] = {}
        self.history: deque[Call] = deque(maxlen=_HISTORY)
        self.steps = self.moves = self.periods = 0
        self.texts: list[str] = []
        apart = solids(robot, ARMS).broken if setup.real else wall.broken if setup.walls else None
        self.oracle = Oracle(robot, ARMS, self.settings, RESET_TIMEOUT, apart, setup.real)
        self.guard = self._make()

    def _make(self) -> Guard:
        envelope: Envelope = Open()
        if self.setup.real:
            envelope = solids(self.robot, ARMS).filter
        elif self.setup.walls:
            envelope = wall.Wall(ARMS, len(self.robot.joints))
        return Guard(ARMS, self.robot, self.settings, envelope, dict.fromkeys(ARMS, 4294967290))

    # --- the way in and out of the guard
    def send(self, kind: str, arm: str = "", record: Any = None) -> None:
        """Make one call of the guard and have it judged; what comes out reaches the drivers.

        Raises:
            Violation: the envelope was left.
        """
        call = Call(kind, arm, record, self.now)
        self.steps += 1
        if record is not None:
            self.history.append(call)
        self.oracle.before(call)
        out = self._call(call)
        self.oracle.after(call, out)
        for name, command in out.commands:
            driver = self.drivers[name]
            self.moves += command.dt > 0.0
            if driver.torque and not driver.estop:
                driver.goal = command.position
        if out.authority is not None:
            for each in out.authority.arms:
                self.engage[each.arm], self.states[each.arm] = each.engage, each.state
                self.reference[each.arm] = each.reference
        for driver in self.drivers.values():
            if not driver.deaf:
                driver.estop = (driver.estop or out.estop) and not out.reset
        self.texts += [event.text for event in out.events]

    def _call(self, call: Call) -> Any:
        guard, at, record = self.guard, call.at, call.record
        match call.kind:
            case "tick":
                return guard.tick(at)
            case "frame":
                return guard.on_frame(at, record)
            case "targets":
                return guard.on_targets(at, record)
            case "joints":
                return guard.on_joint_state(at, call.arm, record)
            case "driver":
                return guard.on_driver_state(at, call.arm, record)
            case "session":
                return guard.on_session(at, record)
            case "stop":
                return guard.stop(at, "fuzz")
            case "reset":
                return guard.reset(at, RESET_TIMEOUT)
            case "external":
                return guard.on_external(at, record)
            case "home":
                return guard.home(at, record).out
            case "own":
                answer = guard.own(at, call.arm, record.name, record.acquire)
                if answer.success and call.arm in self.drivers:
                    self.drivers[call.arm].owner = record.name if record.acquire else ""
                return answer.out
        raise KeyError(call.kind)

    def restart_guard(self) -> None:
        """The guard's process dies and comes back knowing nothing."""
        self.guard = self._make()
        self.oracle.restarted()

    def reload_guard(self) -> None:
        """The guard's state goes through its serialised form."""
        data, self.guard = self.guard.state(), self._make()
        self.guard.restore(data)

    # --- time
    def advance(self, nanoseconds: int) -> None:
        """Let time pass on both clocks."""
        self.now = Instant(self.now.mono + nanoseconds, self.now.ros + nanoseconds)

    def flow(self, periods: int) -> None:
        """Let everything that is alive send for ``periods`` frames, with a tick in each."""
        for _ in range(periods):
            for arm, driver in self.drivers.items():
                if driver.torque and not driver.blocked:
                    driver.measured = tuple([m + 0.5 * (g - m) for m, g in zip(driver.measured, driver.goal)])
                if driver.state_alive and self.periods % 9 == 0:
                    self.driver(arm)
                if driver.joints_alive:
                    self.joints(arm)
            if self.session_alive and self.periods % 15 == 0:
                self.session()
            if self.frames_alive:
                self.frame()
                if self.targets_alive:
                    self.targets()
            if self.targets_alive:
                for arm, driver in self.drivers.items():
                    if driver.owner and self.reference.get(arm):
                        self.external(arm, self._towards(arm))
            self.advance(FRAME_NS // 2)
            self.send("tick")
            self.advance(FRAME_NS - FRAME_NS // 2)
            self.periods += 1

    def aim(self, arm: str, target: list[float], speed: float) -> None:
        """Whoever has ``arm`` asks it to go to ``target`` [rad], at ``speed`` [rad/s]."""
        self.drivers[arm].target, self.drivers[arm].speed = tuple(target), speed

    # --- messages: what is true, with ``fields`` put in its place
    def header(self, late: float = 0.0) -> Header:
        """Return a header stamped ``late`` [s] ago."""
        return Header(self.now.ros - round(late * 1e9))

    def session(self, **fields: Any) -> None:
        """Send the session's state."""
        state = SessionState(self.header(), self.session_state, "debug", epoch=self.epoch, arm=ARMS, hand=self.pairing)
        self.send("session", record=state._replace(**fields))

    def joints(self, arm: str, **fields: Any) -> None:
        """Send an arm's measurement."""
        self.send("joints", arm, JointState(self.header(), self.names[arm], self.drivers[arm].measured)._replace(**fields))

    def driver(self, arm: str, **fields: Any) -> None:
        """Send a driver's state."""
        d = self.drivers[arm]
        state = DriverState(self.header(), d.instance, self.names[arm], d.torque, d.estop, d.goal, load=d.load, error=d.error)
        self.send("driver", arm, state._replace(**fields))

    def frame(self, **fields: Any) -> None:
        """Send the next frame."""
        self.sequence += 1
        frame = TeleopFrame(
            self.header(),
            "debug",
            self.connection,
            self.sequence,
            head=self.head,
            left=self.hands["left"],
            right=self.hands["right"],
        )
        self.send("frame", record=frame._replace(**fields))

    def target(self, arm: str, position: Joints, **fields: Any) -> JointTarget:
        """Return one arm's target; an arm that does not exist has the first one's joints."""
        names = self.names.get(arm, self.names[ARMS[0]])
        return JointTarget(arm, "operator", self.engage.get(arm, 0), (0,) * len(names), names, position)._replace(**fields)

    def targets(self, arms: tuple[JointTarget, ...] | None = None, **fields: Any) -> None:
        """Send targets; by default on the way from the reference to where each hand asks its arm to be."""
        if arms is None:
            arms = tuple([self.target(arm, self._towards(arm)) for arm in ARMS if self.reference.get(arm)])
        message = JointTargets(self.header(), self.now.ros, self.connection, self.sequence, 0, self.epoch, arms=arms)
        self.send("targets", record=message._replace(**fields))

    def external(self, arm: str, position: Joints, owner: str = "", engage: int = 0, **fields: Any) -> None:
        """Send an owner's target."""
        owner = owner or (self.drivers[arm].owner if arm in self.drivers else "")
        target = self.target(arm, position, owner=owner)
        target = target._replace(engage=(target.engage + engage) % 2**32)
        self.send("external", record=JointTargets(self.header(), arms=(target,))._replace(**fields))

    def request(self, arm: str, name: str, acquire: bool) -> None:
        """Ask for an arm, or give it back."""
        self.send("own", arm, Request(name, acquire))

    def _towards(self, arm: str) -> Joints:
        driver, reference = self.drivers[arm], self.reference[arm]
        if self.states[arm] not in (Authority.DRIVING, Authority.REPLAY, Authority.EXTERNAL):
            return reference
        if math.isinf(driver.speed):
            return driver.target
        most = driver.speed * FRAME_NS * 1e-9
        return tuple([r + min(max(t - r, -most), most) for r, t in zip(reference, driver.target)])
