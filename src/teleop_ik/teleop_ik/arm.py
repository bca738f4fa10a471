"""One arm's retargeting: a pure step from hand, authority and feedback to a joint target."""

from __future__ import annotations

import math

from teleop_common import plausible
from teleop_common.enums import Authority, Reason, TargetStatus
from teleop_common.records import JointTarget, Pose
from teleop_common.spatial import quat_to_rotvec
from teleop_ik import floor, fold, gripper, leash, pace, wrist
from teleop_ik.anchor import Anchor, Mapping, moved, tool_target, turn_of
from teleop_ik.arm_data import ArmConfig, ArmInput, ArmState, bounds_of, claims_tracked, ordered, tracked_hand
from teleop_ik.goal import Goal
from teleop_ik.kinematics import Joints, forward, mat_from_quat
from teleop_ik.solver import Bounds, Solver, Target, limit_step, sane, within

UNREACHABLE = 1e-3  # [m], excess above which the operator is told
STOOD = 0.05  # [s] between two frames, after which the guard has let the arm stand
ABSORB = 1e-4  # [m], excess above which it is forgiven
ENGAGED = (Authority.COUNTDOWN, Authority.DRIVING, Authority.GRACE)


class Arm:
    """The step of one arm; holds configuration only."""

    def __init__(self, config: ArmConfig, solver: Solver) -> None:
        """Take configuration and solver."""
        self.config = config
        self.solver = solver
        self.names = config.names
        self.count = len(config.limits.joints)
        self.bounds = config.bounds
        self.fingers = bounds_of((config.limits.gripper.limits,)) if config.limits.gripper else Bounds((), (), ())
        self.floor = config.floor
        self.looks = fold.looks(config.folds, self.bounds, floor.QUICK)
        # joints of a wrist that rides the hand; inverse kinematics has the others
        self.riders = wrist.count(self.count) if config.wrist == "direct" else 0
        self.turns = config.wrist_gains if self.riders else (1.0, 1.0, 1.0)

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
            bad = engaged and given.hand is not None and given.hand.connected and claims_tracked(given.hand, self.config.pose)
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
        first = n - self.riders
        anchor = Anchor(hand, heading, posture.pose, offset)
        if self.riders:
            anchor = anchor._replace(wrist=solved.joints[first:], ride=wrist.riding(posture.axes[first:]))
        state = ArmState(
            anchor=anchor,
            key=key,
            previous=reference[:n],
            leashes=leash.lengths(reference[:n], seed, self.config.leash),
            held=seed,
            level=floor.settled(level, -math.inf, solved.joints, self.solver.chain),
            grip=reference[n] if len(reference) > n else 0.0,
            trigger=trigger,
            taken=False,
            opening=reference[n] if len(reference) > n else 0.0,
            overs=fold.overs(self.config.folds, reference),
            measured=measured[:n] if fresh else (),
            heard=given.feedback.header.stamp if given.feedback else 0,
        )
        status = TargetStatus.OK if fresh else TargetStatus.STALE_FEEDBACK
        reason = (0,) * n + (int(Reason.TAKE_OVER),) * (len(reference) - n)
        return state, self._target(given, reference, reason, posture.pose, 0.0, 0.0, seed, status)

    def _drive(
        self, state: ArmState, given: ArmInput, anchor: Anchor, hand: Pose, measured: Joints
    ) -> tuple[ArmState, JointTarget]:
        n = self.count
        chain = self.solver.chain
        state = self._believed(state, given, measured)
        fresh = given.age <= self.config.stale and state.measured == measured[:n]
        closed = fresh and self.config.feedback == "closed"
        # after frames were lost the arm has stood since
        rate = state.rate if given.dt <= STOOD else (0.0,) * n
        mapping = Mapping(self.config.mount, given.yaw, given.scale, self.config.gains, self.turns)
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
        target = Target(asked.position, mat_from_quat(asked.orientation))
        above = floor.room(level, chain, previous, here)
        high = above >= floor.LOOK and given.dt <= floor.QUICK
        fence = self._fence(state, anchor, previous, given.dt)
        ride = wrist.wanted(anchor.wrist, anchor.ride, quat_to_rotvec(turn_of(anchor, hand, mapping))) if self.riders else ()
        goal = Goal(self.solver, seed, previous, bounds, given.dt, rate, fence, ride)
        if high:
            target = floor.raised_to(level, target)
            solved, rest = goal.solve(target), floor.NOWHERE
        else:
            now = floor.approached(level, above, given.dt)
            target, solved, rest = floor.solve_above(now, chain, here, target, goal.solve, state.rest)
        inside = goal.inside
        stride = pace.step(previous, rate, solved.joints, goal.ahead(solved), inside, given.dt)
        if not high:
            least = level.height - floor.SLACK
            stride = pace.clear(stride, previous, rate, inside, given.dt, lambda q: floor.clear(level, chain, q), least)
        if fence is not None:
            stride = pace.clear(stride, previous, rate, inside, given.dt, fence.room, -fence.slack)
        step, rate = stride
        joints = tuple([q + o for q, o in zip(step, anchor.offset)])
        reason = [int(Reason.FLOOR) if rest > floor.NOWHERE else int(Reason.NONE)] * n
        for i in goal.bent(solved):
            reason[i] = int(Reason.POSITION_LIMIT)
        leashes, held = state.leashes, state.held
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
            cut = tuple([r == Reason.LEASH for r in reason])
            held = leash.come_to(held, joints, measured[:n], cut)
            if any(cut):
                # what the arm cannot follow is forgiven: the tool is asked for without it from now on
                drawn = tuple([q - o for q, o in zip(joints, anchor.offset)])
                kept = leash.forgiven(solved.joints, drawn, measured[:n], held, cut)
                less = moved(asked, forward(chain, solved.joints).pose, forward(chain, kept).pose)
                at = tuple([k if c else w for w, k, c in zip(ride, kept[n - self.riders :], cut[n - self.riders :])])
                anchor = anchor._replace(hand=hand, tool=less, absorbed=(0.0, 0.0, 0.0), wrist=at)
        excess = solved.residual_position
        if excess > ABSORB and Reason.LEASH not in reason:
            ax, ay, az = anchor.absorbed
            ex, ey, ez = solved.excess
            anchor = anchor._replace(absorbed=(ax + ex, ay + ey, az + ez))
        if state.level < self.floor.height:
            level = level._replace(height=self.floor.height)
            state = state._replace(level=floor.settled(level, state.level, step, chain))
        overs = fold.settled(state.overs, self.config.folds, joints)
        state = state._replace(anchor=anchor, previous=joints, rate=rate, leashes=leashes, held=held, rest=rest, overs=overs)
        status = TargetStatus.OK if excess <= UNREACHABLE else TargetStatus.UNREACHABLE
        if not fresh:
            status = TargetStatus.STALE_FEEDBACK
        if last:
            joints = (*joints, state.opening)
        pose = Pose(target.position, asked.orientation)
        done = self._target(given, joints, (*reason, *last), pose, excess, solved.residual_rotation, seed, status)
        return state, done

    def _believed(self, state: ArmState, given: ArmInput, measured: Joints) -> ArmState:
        """Return the state with the newest measurement that the arm can have come to."""
        now, stamp = measured[: self.count], given.feedback.header.stamp if given.feedback else 0
        elapsed, ceiling = 1e-9 * (stamp - state.heard), self.config.limits.velocity_ceiling
        if state.measured and stamp != state.heard and plausible.jumped(state.measured, now, elapsed, ceiling) >= 0:
            return state
        return state._replace(measured=now, heard=stamp)

    def _fence(self, state: ArmState, anchor: Anchor, previous: Joints, dt: float) -> fold.Fence | None:
        """Return the borders at which the arm would fold, None while they are far."""
        if not self.config.folds:
            return None
        fence = fold.Fence(self.config.folds, state.overs, anchor.offset)
        return fence if dt > floor.QUICK or fence.near(previous, self.looks) else None

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
