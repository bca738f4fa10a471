"""One arm's retargeting: a pure step from hand, authority and feedback to a joint target."""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_common.enums import Authority, PoseFlags, Reason, TargetStatus
from teleop_common.limits import JointLimits, RobotLimits
from teleop_common.records import ArmAuthority, Controller, JointState, JointTarget, Pose, Vec3
from teleop_common.spatial import compose, quat_conjugate, quat_normalized, quat_rotate
from teleop_description.hand import Hand
from teleop_ik import floor, gripper, leash, pace
from teleop_ik.anchor import Anchor, Mapping, moved, tool_target
from teleop_ik.kinematics import Joints, forward, mat_from_quat
from teleop_ik.solver import Bounds, Solution, Solver, Target, limit_step, sane, within

UNREACHABLE = 1e-3  # [m], excess above which the operator is told
ABSORB = 1e-4  # [m], excess above which it is forgiven
SHARE = 0.95  # of speed and acceleration; with the rest the guard makes up for frames that come unevenly
ENGAGED = (Authority.COUNTDOWN, Authority.DRIVING, Authority.GRACE)


class ArmConfig(NamedTuple):
    """What does not change while the process lives.

    Attributes:
        name: arm.
        limits: limits of the robot.
        mount: base of the arm in world.
        bench: height of the bench in world [m].
        leash: largest distance of target from measured joints [rad].
        hand: what is kept above the bench besides the joints.
        pose: ``grip`` or ``aim``: which pose of the controller drives.
        gains: translation gains along forward, left and up.
        dead_zone: of the trigger, at either end.
        trigger_gain: of what lies between.
        stale: age from which feedback is no longer used [s].
        feedback: ``closed``: solves start from the measured joints and the leash ties targets to them; ``open``: the last
            command stands for the arm.
    """

    name: str
    limits: RobotLimits
    mount: Pose
    bench: float
    leash: float
    hand: Hand = Hand()
    pose: str = "grip"
    gains: Vec3 = (1.0, 1.0, 1.0)
    dead_zone: float = 0.03
    trigger_gain: float = 1.0
    stale: float = 0.2
    feedback: str = "closed"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, prefixed, the gripper last."""
        return self.limits.arm_names(self.name)

    @property
    def floor(self) -> floor.Floor:
        """The level that the hand keeps above."""
        up = quat_rotate(quat_conjugate(self.mount.orientation), (0.0, 0.0, 1.0))
        return floor.Floor(up, self.bench + self.limits.floor_clearance - self.mount.position[2], self.hand)

    @property
    def bounds(self) -> Bounds:
        """Limits of the arm joints, less what the guard keeps in hand."""
        return _bounds(self.limits.joints)


def _bounds(joints: tuple[JointLimits, ...]) -> Bounds:
    return Bounds(
        tuple(j.lower for j in joints),
        tuple(j.upper for j in joints),
        tuple(SHARE * j.velocity for j in joints),
        tuple(SHARE * j.acceleration for j in joints),
    )


class ArmState(NamedTuple):
    """All that one arm carries from frame to frame.

    Attributes:
        anchor: the anchor, or None before the next tracked frame of an engaged arm.
        key: engage, connection and epoch for which it holds.
        previous: last target [rad], arm joints.
        rate: its speed [rad/s]; empty: at rest.
        leashes: leash of each arm joint [rad].
        level: floor in force [m].
        rest: height that the floor raised the last target to [m], far below when it did not.
        grip: where the gripper is to go [rad].
        trigger: gripper position that the trigger asked for one frame earlier [rad].
        taken: whether the trigger has the gripper.
        opening: where the gripper is on its way there, within its speed and acceleration [rad].
        opens: how fast [rad/s].
    """

    anchor: Anchor | None = None
    key: tuple[int, int, int] = (0, 0, 0)
    previous: Joints = ()
    rate: Joints = ()
    leashes: Joints = ()
    level: float = 0.0
    rest: float = floor.NOWHERE
    grip: float = 0.0
    trigger: float = 0.0
    taken: bool = False
    opening: float = 0.0
    opens: float = 0.0


class ArmInput(NamedTuple):
    """What one frame brings for one arm.

    Attributes:
        authority: the guard's word on this arm.
        hand: the paired controller, poses in the tracking space; None when no hand is paired.
        world_from_tracking: the tracking space in world.
        heading: yaw of the operator in world [rad], or None while unknown.
        yaw: of the stance [rad].
        scale: translation scale.
        connection: of the frame.
        epoch: of the session.
        recentred: the play space moved.
        feedback: newest joint state, or None.
        age: its age [s].
        dt: time since the frame before [s].
    """

    authority: ArmAuthority
    hand: Controller | None
    world_from_tracking: Pose
    heading: float | None
    yaw: float
    scale: float
    connection: int
    epoch: int
    recentred: bool
    feedback: JointState | None
    age: float
    dt: float


def ordered(names: tuple[str, ...], given: tuple[str, ...], values: tuple[float, ...]) -> Joints | None:
    """Return ``values`` of joints ``given`` in the order of ``names``; None when one is missing or absurd."""
    if len(values) < len(given):
        return None
    if given != names:
        table = dict(zip(given, values))
        if any(name not in table for name in names):
            return None
        values = tuple([table[name] for name in names])
    return tuple(values[: len(names)]) if sane(values) else None


def tracked_hand(hand: Controller | None, which: str, world_from_tracking: Pose) -> Pose | None:
    """Return the hand's pose in world; None unless it is tracked, finite and a rotation."""
    if hand is None or not hand.connected:
        return None
    sample = hand.grip if which == "grip" else hand.aim
    if sample.flags != PoseFlags.ALL or not all(map(math.isfinite, sample.pose.position)):
        return None
    try:
        pose = Pose(sample.pose.position, quat_normalized(sample.pose.orientation))
    except ValueError:
        return None
    world = compose(world_from_tracking, pose)
    return world if all(map(math.isfinite, world.position + world.orientation)) else None


class Arm:
    """The step of one arm; holds configuration only."""

    def __init__(self, config: ArmConfig, solver: Solver) -> None:
        """Take configuration and solver."""
        self.config = config
        self.solver = solver
        self.names = config.names
        self.count = len(config.limits.joints)
        self.bounds = config.bounds
        self.fingers = _bounds((config.limits.gripper.limits,)) if config.limits.gripper else Bounds((), (), ())
        self.floor = config.floor

    def step(self, state: ArmState, given: ArmInput) -> tuple[ArmState, JointTarget | None]:
        """Return the next state and the target; no target while the guard has given no reference."""
        authority = given.authority
        reference = ordered(self.names, authority.name, authority.reference)
        if reference is None:
            return state._replace(anchor=None), None
        measured = None
        if given.feedback is not None:
            measured = ordered(self.names, given.feedback.name, given.feedback.position)
        if measured is None:
            status = TargetStatus.NO_FEEDBACK if given.feedback is None else TargetStatus.BAD_INPUT
            return state._replace(anchor=None), self._held(given, reference, status)
        if not sane((given.yaw, given.scale)):
            return state._replace(anchor=None), self._held(given, reference, TargetStatus.BAD_INPUT)
        engaged = authority.state in ENGAGED
        hand = tracked_hand(given.hand, self.config.pose, given.world_from_tracking) if engaged else None
        if hand is None or given.heading is None:
            bad = engaged and given.hand is not None and given.hand.connected and _claims_tracked(given.hand, self.config.pose)
            return state._replace(anchor=None), self._held(
                given, reference, TargetStatus.BAD_INPUT if bad and hand is None else TargetStatus.HELD
            )
        key = (authority.engage, given.connection, given.epoch)
        if state.anchor is None or state.key != key or given.recentred:
            return self._engage(given, key, hand, given.heading, reference, measured)
        return self._drive(state, given, state.anchor, hand, measured)

    def _engage(
        self, given: ArmInput, key: tuple[int, int, int], hand: Pose, heading: float, reference: Joints, measured: Joints
    ) -> tuple[ArmState, JointTarget]:
        """Anchor: by definition the target of this frame is the reference, whatever droop or limits."""
        n = self.count
        fresh = given.age <= self.config.stale
        seed = measured[:n] if fresh else reference[:n]
        posture = forward(self.solver.chain, seed)
        # bounds that do not bind: a joint at or outside its limits keeps its place
        wide = Bounds(tuple([q - 0.1 for q in seed]), tuple([q + 0.1 for q in seed]), self.bounds.velocity)
        solved = self.solver.solve(Target(posture.position, posture.rotation), seed, seed, wide, math.inf)
        offset = tuple([r - q for r, q in zip(reference, solved.joints)])
        trigger = self._asked(given)
        level = self.floor._replace(openings=reference[n:] + measured[n:], lead=offset)
        state = ArmState(
            anchor=Anchor(hand, heading, posture.pose, offset),
            key=key,
            previous=reference[:n],
            leashes=leash.lengths(reference[:n], seed, self.config.leash),
            level=floor.settled(level, -math.inf, solved.joints, self.solver.chain),
            grip=reference[n] if len(reference) > n else 0.0,
            trigger=trigger,
            taken=False,
            opening=reference[n] if len(reference) > n else 0.0,
        )
        status = TargetStatus.OK if fresh else TargetStatus.STALE_FEEDBACK
        reason = (0,) * n + (int(Reason.TAKE_OVER),) * (len(reference) - n)
        return state, self._target(given, reference, reason, posture.pose, 0.0, 0.0, seed, status)

    def _drive(
        self, state: ArmState, given: ArmInput, anchor: Anchor, hand: Pose, measured: Joints
    ) -> tuple[ArmState, JointTarget]:
        n = self.count
        chain = self.solver.chain
        fresh = given.age <= self.config.stale
        closed = fresh and self.config.feedback == "closed"
        mapping = Mapping(self.config.mount, given.yaw, given.scale, self.config.gains)
        asked = tool_target(anchor, hand, mapping)
        # the solver works with joints where the tool really is; the offset leads from there to commands
        previous = tuple([p - o for p, o in zip(state.previous, anchor.offset)])
        seed = measured[:n] if closed else previous
        bounds = self.bounds._replace(
            lower=tuple([low - o for low, o in zip(self.bounds.lower, anchor.offset)]),
            upper=tuple([high - o for high, o in zip(self.bounds.upper, anchor.offset)]),
        )
        state, last = self._grip(state, given)
        # the jaw as the guard sees it, and as it is about to be, so that the arm gives way in time
        level = self.floor._replace(openings=(state.opening, *measured[n:]) if last else (), lead=anchor.offset)
        level = level._replace(height=state.level)
        here = forward(chain, previous)
        inside = within(bounds, previous)
        target = Target(asked.position, mat_from_quat(asked.orientation))
        above = floor.room(level, chain, previous, here)
        high = above >= floor.LOOK and given.dt <= floor.QUICK

        def solve(wanted: Target) -> Solution:
            return self.solver.solve(wanted, seed, previous, bounds, given.dt, state.rate)

        if high:
            target = floor.raised_to(level, target)
            solved, rest = solve(target), floor.NOWHERE
        else:
            now = floor.approached(level, above, given.dt)
            target, solved, rest = floor.solve_above(now, chain, here, target, solve, state.rest)
        step, rate = stride = pace.step(previous, state.rate, solved.joints, solved.ahead, inside, given.dt)
        if not high:
            least = level.height - floor.SLACK
            step, rate = pace.clear(stride, previous, state.rate, inside, given.dt, lambda q: floor.clear(level, chain, q), least)
        joints = tuple([q + o for q, o in zip(step, anchor.offset)])
        reason = [int(Reason.FLOOR) if rest > floor.NOWHERE else int(Reason.NONE)] * n
        leashes = state.leashes
        if closed:
            leashes = leash.shortened(leashes, state.previous, measured, self.config.leash)
            # drawn towards the arm no faster than joints may move, so that a wrong measurement is no jump
            short = leash.clamped(joints, measured, leashes)
            if short != joints:
                allowed = within(self.bounds, state.previous)
                short = tuple([min(max(q, low), high) for q, low, high in zip(short, allowed.lower, allowed.upper)])
                short = limit_step(state.previous, short, self.bounds, given.dt)
                reason = [int(Reason.LEASH) if a != b else r for a, b, r in zip(short, joints, reason)]
                joints, rate = short, pace.speed(state.previous, short, given.dt)
                # what the arm cannot follow is forgiven: the tool is asked for without it from now on
                kept = tuple(
                    [q - o if cut == Reason.LEASH else g for q, o, g, cut in zip(joints, anchor.offset, solved.joints, reason)]
                )
                less = moved(asked, forward(chain, solved.joints).pose, forward(chain, kept).pose)
                anchor = anchor._replace(hand=hand, tool=less, absorbed=(0.0, 0.0, 0.0))
        excess = solved.residual_position
        if excess > ABSORB and Reason.LEASH not in reason:
            ax, ay, az = anchor.absorbed
            ex, ey, ez = solved.excess
            anchor = anchor._replace(absorbed=(ax + ex, ay + ey, az + ez))
        if state.level < self.floor.height:
            level = level._replace(height=self.floor.height)
            state = state._replace(level=floor.settled(level, state.level, step, chain))
        state = state._replace(anchor=anchor, previous=joints, rate=rate, leashes=leashes, rest=rest)
        status = TargetStatus.OK if excess <= UNREACHABLE else TargetStatus.UNREACHABLE
        if not fresh:
            status = TargetStatus.STALE_FEEDBACK
        if last:
            joints = (*joints, state.opening)
        pose = Pose(target.position, asked.orientation)
        done = self._target(given, joints, (*reason, *last), pose, excess, solved.residual_rotation, seed, status)
        return state, done

    def _asked(self, given: ArmInput) -> float:
        fingers = self.config.limits.gripper
        return (
            gripper.asked(fingers, given.hand.trigger, self.config.dead_zone, self.config.trigger_gain)
            if fingers and given.hand
            else 0.0
        )

    def _grip(self, state: ArmState, given: ArmInput) -> tuple[ArmState, tuple[int, ...]]:
        """Return the state with the gripper's new target, and its reason, where the robot has a gripper."""
        fingers = self.config.limits.gripper
        if fingers is None:
            return state, ()
        asked = self._asked(given)
        taken = state.taken or gripper.takes_over(fingers, state.grip, asked, state.trigger)
        grip = asked if taken else state.grip
        bounds = within(self.fingers, (state.opening,))
        (opening,), (opens,) = pace.step((state.opening,), (state.opens,), (grip,), (grip,), bounds, given.dt)
        reason = int(Reason.NONE if taken else Reason.TAKE_OVER)
        return state._replace(taken=taken, grip=grip, trigger=asked, opening=opening, opens=opens), (reason,)

    def _held(self, given: ArmInput, reference: Joints, status: TargetStatus) -> JointTarget:
        none = (int(Reason.NONE),) * len(reference)
        return self._target(given, reference, none, Pose(), 0.0, 0.0, (), status)

    def _target(
        self,
        given: ArmInput,
        joints: Joints,
        reason: tuple[int, ...],
        tool: Pose,
        excess: float,
        turned: float,
        seed: Joints,
        status: TargetStatus,
    ) -> JointTarget:
        feedback = given.feedback
        return JointTarget(
            arm=self.config.name,
            owner="operator",
            engage=given.authority.engage,
            reason=reason,
            name=self.names,
            position=joints,
            tool=tool,
            residual_position=excess,
            residual_rotation=turned,
            solver=self.solver.name,
            feedback_stamp=feedback.header.stamp if feedback else 0,
            feedback_age=given.age if feedback else -1.0,
            seed=seed,
            status=int(status),
        )


def _claims_tracked(hand: Controller, which: str) -> bool:
    return (hand.grip if which == "grip" else hand.aim).flags == PoseFlags.ALL
