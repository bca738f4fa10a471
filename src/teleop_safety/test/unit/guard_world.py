"""A small world around the core: a clock, a session, an operator's frames and obedient drivers."""

from pathlib import Path

from teleop_common import limits
from teleop_common.enums import Authority, PoseFlags, Session
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
from teleop_safety.envelope import Open
from teleop_safety.guard import Guard
from teleop_safety.settings import Instant, Settings

ARMS = ("left", "right")
ROBOT = limits.load(Path(__file__).parents[4] / "config" / "limits" / "so101.yaml")
HOME = tuple(j.home for j in ROBOT.all_joints)
FRAME = 11_111_111
EPOCH = 7
START = Instant(1_000_000_000_000, 1_700_000_000_000_000_000)


def pose(tracked=True):
    return TrackedPose(Pose(), int(PoseFlags.ALL) if tracked else 0)


def hand(squeeze=0.0, tracked=True, connected=True, trigger=0.0):
    if not connected:
        return Controller()
    return Controller(connected=True, grip=pose(tracked), aim=pose(tracked), squeeze=squeeze, trigger=trigger)


class World:
    """Drives a guard by hand; ``outs`` keeps everything it returned."""

    def __init__(self, arms=ARMS, envelope=None, settings=None, start=None, torque=True, robot=ROBOT):
        self.arms = arms
        self.guard = Guard(arms, robot, settings or Settings(), envelope or Open(), dict.fromkeys(arms, 4294967294))
        self.names = {arm: robot.arm_names(arm) for arm in arms}
        self.now = START
        self.sequence, self.connection, self.epoch = 0, 5, EPOCH
        self.goal = {arm: tuple(start or HOME) for arm in arms}
        self.measured = dict(self.goal)
        self.torque = dict.fromkeys(arms, torque)
        self.instance = dict.fromkeys(arms, 11)
        self.estop = dict.fromkeys(arms, False)
        self.error = dict.fromkeys(arms, "")
        self.session_state = Session.RUNNING
        self.hands = {"left": hand(), "right": hand()}
        self.head = pose()
        self.commands = {arm: [] for arm in arms}
        self.authorities, self.events, self.haptics = [], [], []
        self.estop_calls = 0
        self.alive = dict.fromkeys(("session", "frames", "joints", "drivers"), True)
        self.step_count = 0

    # --- out
    def take(self, out):
        for arm, command in out.commands:
            self.commands[arm].append(command)
            if self.torque[arm] and not self.estop[arm]:
                self.goal[arm] = command.position
                self.measured[arm] = command.position
        if out.authority is not None:
            self.authorities.append(out.authority)
        self.events += out.events
        self.haptics += out.haptics
        self.estop_calls += out.estop
        return out

    def arm(self, name="right"):
        return self.guard.arms[name]

    def state(self, name="right"):
        return Authority(self.guard.arms[name].authority)

    def last(self, name="right"):
        return self.commands[name][-1]

    # --- in
    def advance(self, nanoseconds):
        self.now = Instant(self.now.mono + nanoseconds, self.now.ros + nanoseconds)

    def session(self, **fields):
        state = SessionState(
            Header(self.now.ros), int(self.session_state), "debug", epoch=self.epoch, arm=self.arms, hand=self.arms
        )
        return self.take(self.guard.on_session(self.now, state._replace(**fields)))

    def joints(self, arm, **fields):
        sample = JointState(Header(self.now.ros), self.names[arm], self.measured[arm], (0.0,) * len(self.names[arm]))
        return self.take(self.guard.on_joint_state(self.now, arm, sample._replace(**fields)))

    def driver(self, arm, **fields):
        sample = DriverState(
            Header(self.now.ros),
            self.instance[arm],
            self.names[arm],
            self.torque[arm],
            self.estop[arm],
            self.goal[arm],
            error=self.error[arm],
        )
        return self.take(self.guard.on_driver_state(self.now, arm, sample._replace(**fields)))

    def frame(self, **fields):
        self.sequence += 1
        sample = TeleopFrame(
            Header(self.now.ros),
            "debug",
            self.connection,
            self.sequence,
            head=self.head,
            left=self.hands["left"],
            right=self.hands["right"],
        )
        return self.take(self.guard.on_frame(self.now, sample._replace(**fields)))

    def target(self, positions, *, arms=None, engage=None, **fields):
        """Send targets: ``positions`` is arm → joints."""
        each = tuple(
            JointTarget(
                arm,
                "operator",
                self.guard.arms[arm].engage if engage is None else engage,
                (0,) * len(self.names[arm]),
                self.names[arm],
                tuple(q),
            )._replace(**(arms or {}))
            for arm, q in positions.items()
        )
        message = JointTargets(Header(self.now.ros), self.now.ros, self.connection, self.sequence, 0, self.epoch, arms=each)
        return self.take(self.guard.on_targets(self.now, message._replace(**fields)))

    def external(self, positions, *, name="policy", engage=None, arms=None, **fields):
        """Send an external owner's targets: ``positions`` is arm → joints."""
        each = tuple(
            JointTarget(
                arm, name, self.arm(arm).engage if engage is None else engage, (0,) * len(q), self.names[arm], tuple(q)
            )._replace(**(arms or {}))
            for arm, q in positions.items()
        )
        message = JointTargets(Header(self.now.ros), arms=each)
        return self.take(self.guard.on_external(self.now, message._replace(**fields)))

    def home(self, *arms):
        """Ask for the way home; return the answer."""
        answer = self.guard.home(self.now, arms)
        self.take(answer.out)
        return answer

    def own(self, arm="right", name="policy", acquire=True):
        """Ask for an arm, or give it back; return the answer."""
        answer = self.guard.own(self.now, arm, name, acquire)
        self.take(answer.out)
        return answer

    def tick(self):
        return self.take(self.guard.tick(self.now))

    def feed(self):
        """Everything that comes by itself: joint states each 10 ms, driver states and session at 10 Hz and 5 Hz, a tick."""
        for arm in self.arms:
            if self.alive["drivers"] and self.step_count % 9 == 0:
                self.driver(arm)
            if self.alive["joints"]:
                self.joints(arm)
        if self.alive["session"] and self.step_count % 15 == 0:
            self.session()
        self.step_count += 1

    def run(self, seconds, targets=None):
        """Let frames, states and ticks come for ``seconds``; ``targets(world)`` gives arm → joints for each frame."""
        end = self.now.mono + round(seconds * 1e9)
        while self.now.mono < end:
            self.feed()
            if self.alive["frames"]:
                self.frame()
                if targets is not None:
                    self.target(targets(self))
            self.advance(FRAME // 2)
            self.tick()
            self.advance(FRAME - FRAME // 2)

    def squeeze(self, *sides):
        for side in sides:
            self.hands[side] = hand(1.0)

    def release(self, *sides):
        for side in sides:
            self.hands[side] = hand(0.0)

    def hold_targets(self):
        """Targets that equal the references, as a retargeter gives them for a hand that does not move."""
        return {arm: state.reference for arm, state in self.guard.arms.items() if state.reference is not None}

    def drive(self, *sides):
        """Bring sides into DRIVING with still hands."""
        self.run(0.1)
        self.squeeze(*sides)
        self.run(1.1, World.hold_targets)
        for side in sides:
            assert self.state(side) is Authority.DRIVING
        return self
