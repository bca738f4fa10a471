"""The envelope as a state machine: whatever is sent, in whatever order, these things never happen."""

import math

import pytest
from guard_space import MARGIN, collision, scene, true_distances
from guard_world import HOME, ROBOT, World, hand
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from teleop_common.enums import Authority as A
from teleop_common.enums import Session
from teleop_common.records import Controller, Header
from teleop_safety.authority import ACTIVE, BORROWED, MOVED
from teleop_safety.settings import Instant, Settings

SIDES = st.sampled_from(("left", "right"))
LIMITS = ROBOT.all_joints
JOINTS = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(tuple)
OFF = st.integers(-300_000_000, 300_000_000)
NAMES = st.sampled_from(("policy", "replay", "other", "operator"))
ERRORS = st.sampled_from(("", "", "", "overload"))
WILD = st.lists(st.floats(), max_size=7).map(tuple)
QUICK = Settings(countdown=0.05, grace=0.05)


class Envelope(RuleBasedStateMachine):
    """Sends anything; checks every command as it comes."""

    def __init__(self):
        super().__init__()
        self.world = World(settings=QUICK)
        self.checked = {"left": 0, "right": 0}
        self.last = {}
        self.begun, self.credited = {}, {}

    @initialize(start=JOINTS)
    def begin(self, start):
        self.world.goal = dict.fromkeys(self.world.arms, start)
        self.world.measured = dict(self.world.goal)

    # --- the ordinary
    @rule(seconds=st.floats(0.0, 0.3), goal=JOINTS)
    def play(self, seconds, goal):
        self.world.run(seconds, lambda _world: {"left": goal, "right": goal})

    @rule(side=SIDES, squeeze=st.sampled_from((0.0, 0.39, 0.5, 0.61, 1.0, math.nan, 2.0)), tracked=st.booleans())
    def grip(self, side, squeeze, tracked):
        self.world.hands[side] = hand(squeeze, tracked)

    @rule(side=SIDES)
    def unplug(self, side):
        self.world.hands[side] = Controller()

    @rule(side=SIDES, goal=JOINTS)
    def drive(self, side, goal):
        world = self.world
        world.hands[side] = hand(0.0)
        world.run(0.03)
        world.hands[side] = hand(1.0)
        world.run(0.1, World.hold_targets)
        world.run(0.1, lambda _world: {side: goal})

    # --- the late, the lost, the doubled
    @rule(what=st.sampled_from(("session", "frames", "joints", "drivers")), alive=st.booleans())
    def silence(self, what, alive):
        self.world.alive[what] = alive

    @rule(nanoseconds=st.integers(0, 400_000_000), ticks=st.integers(0, 3))
    def wait(self, nanoseconds, ticks):
        for _ in range(ticks + 1):
            self.world.advance(nanoseconds // (ticks + 1))
            self.world.tick()

    @rule(hours=st.sampled_from((-1, 1)))
    def set_clock(self, hours):
        now = self.world.now
        self.world.now = Instant(now.mono, now.ros + hours * 3_600_000_000_000)

    @rule(
        sequence=st.integers(0, 2**20),
        connection=st.integers(0, 7),
        off=st.integers(-300_000_000, 300_000_000),
        again=st.booleans(),
    )
    def odd_frame(self, sequence, connection, off, again):
        header = self.header(off)
        for _ in range(1 + again):
            self.world.frame(sequence=sequence, connection=connection, header=header, recentred=again)

    @rule(
        goal=JOINTS | WILD,
        engage=st.none() | st.integers(0, 2**32 - 1),
        ahead=st.integers(-3, 3),
        off=st.integers(-300_000_000, 300_000_000),
    )
    def odd_target(self, goal, engage, ahead, off):
        world = self.world
        world.target(
            {"left": goal, "right": goal}, engage=engage, frame_sequence=max(0, world.sequence + ahead), header=self.header(off)
        )

    @rule(side=SIDES, position=JOINTS | WILD)
    def odd_joints(self, side, position):
        self.world.joints(side, position=position)

    @rule(
        side=SIDES,
        goal=JOINTS | WILD,
        restart=st.booleans(),
        torque=st.booleans(),
        error=st.sampled_from(("", "", "", "overload")),
    )
    def odd_driver(self, side, goal, restart, torque, error):
        world = self.world
        world.instance[side] += restart
        world.torque[side], world.error[side] = torque, error
        world.driver(side, goal=goal)

    @rule(epoch=st.integers(0, 3), state=st.sampled_from(tuple(Session)))
    def odd_session(self, epoch, state):
        self.world.epoch = epoch
        self.world.session_state = state if epoch == 0 else Session.RUNNING
        self.world.session()

    # --- arms without a hand
    @rule(arms=st.sets(SIDES), seconds=st.floats(0.0, 0.3))
    def home(self, arms, seconds):
        driven = {arm for arm in self.world.arms if self.world.state(arm) in ACTIVE}
        self.world.home(*arms)
        for arm in self.world.arms:
            assert self.world.state(arm) in ACTIVE if arm in driven else self.world.state(arm) not in ACTIVE
        self.world.run(seconds)

    @rule(side=SIDES, name=NAMES, acquire=st.booleans())
    def own(self, side, name, acquire):
        before, owner = self.world.state(side), self.world.guard.arms[side].owner
        self.world.own(side, name, acquire)
        if acquire and before != A.IDLE:
            assert (self.world.state(side), self.world.guard.arms[side].owner) == (before, owner)

    @rule(side=SIDES, name=NAMES, goal=JOINTS | WILD, off=OFF, engage=st.none() | st.just(3), times=st.integers(1, 5))
    def external(self, side, name, goal, off, engage, times):
        for _ in range(times):
            self.world.external({side: goal}, name=name, engage=engage, header=self.header(off))
            self.world.run(0.02)

    @rule(side=SIDES, name=NAMES, goal=JOINTS)
    def follow(self, side, name, goal):
        self.world.own(side, name)
        for _ in range(5):
            self.world.external({side: goal}, name=name)
            self.world.run(0.02)

    # --- the e-stop
    @rule()
    def stop(self):
        self.world.take(self.world.guard.stop(self.world.now, "test"))
        assert {self.world.state(arm) for arm in self.world.arms} == {A.ESTOP}

    @rule(confirmed=st.booleans())
    def reset(self, confirmed):
        world = self.world
        world.guard.reset(world.now, 1.0)
        if confirmed:
            world.advance(1000)
            for arm in world.arms:
                world.estop[arm] = False
                world.driver(arm)

    def header(self, off):
        return Header(self.world.now.ros - off)

    # --- what never happens
    @invariant()
    def commands_keep_the_envelope(self):
        for arm in self.world.arms:
            for command in self.world.commands[arm][self.checked[arm] :]:
                self.check(arm, command)
            self.checked[arm] = len(self.world.commands[arm])

    def check(self, arm, command):
        assert all(map(math.isfinite, command.position))
        assert 0.0 <= command.dt <= 0.025
        before, fresh = self.last.get(arm), 9 in command.reason
        if before is not None and not fresh:
            for i, limit in enumerate(LIMITS):
                low, high = min(limit.lower, before.position[i]), max(limit.upper, before.position[i])
                assert low <= command.position[i] <= high
                moved = abs(command.position[i] - before.position[i])
                assert moved <= limit.velocity * min(command.dt, 0.025) + 1e-12
                if command.authority not in MOVED:
                    assert moved == 0.0
        # however frames, ticks and stamps fall: no more motion than time
        self.begun.setdefault(arm, command.commit_time_ns)
        self.credited[arm] = self.credited.get(arm, 0.0) + command.dt
        assert self.credited[arm] <= (command.commit_time_ns - self.begun[arm]) * 1e-9 + 1e-9
        self.last[arm] = command

    @invariant()
    def an_open_untracked_or_stale_hand_never_drives(self):
        world = self.world
        for arm in world.arms:
            state = world.guard.arms[arm]
            if state.authority == A.DRIVING:
                assert state.closed
                assert state.tracked
                assert not state.must_open
                assert state.torque
                assert not world.guard.shared.latched

    @invariant()
    def an_arm_without_a_hand_has_an_owner_a_session_and_torque_and_no_other_arm_has(self):
        world = self.world
        for arm in world.arms:
            state = world.guard.arms[arm]
            assert bool(state.owner) == (state.authority in BORROWED)
            assert (state.owner == "replay") == (state.authority == A.REPLAY)
            if state.authority in (A.HOMING, *BORROWED):
                assert state.torque
                assert world.guard.shared.session == Session.RUNNING

    @invariant()
    def the_latch_holds_every_arm(self):
        if self.world.guard.shared.latched:
            assert {self.world.state(arm) for arm in self.world.arms} == {A.ESTOP}


TestEnvelope = Envelope.TestCase
TestEnvelope.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)


def arm_distances(references):
    """Distances of all pairs without a jaw, which the filter takes as measured."""
    space = scene()
    distances = true_distances(space, references)
    names = [tuple(space.bodies[i].name for i in pair) for pair in space.pairs[: space.floor]]
    return [d for d, pair in zip(distances, names) if not any("jaw" in name for name in pair)]


NEAR = st.lists(st.floats(-1.2, 1.2), min_size=12, max_size=12)


@settings(max_examples=12)
@given(st.lists(NEAR, min_size=2, max_size=6))
def test_any_drive_of_both_arms_lets_no_pair_come_nearer_than_the_rule(goals):
    world = World(envelope=collision()).drive("left", "right")
    for goal in goals:
        asked = {arm: tuple(h + g for h, g in zip(HOME, goal[6 * i : 6 * i + 6])) for i, arm in enumerate(world.arms)}
        world.run(0.25, lambda _world, asked=asked: asked)
    before = arm_distances({"left": HOME, "right": HOME})
    last = None
    for authority in world.authorities:
        references = {arm.arm: arm.reference for arm in authority.arms}
        if () in references.values() or references == last:
            continue
        last = references
        after = arm_distances(references)
        for old, new in zip(before, after):
            assert new >= min(MARGIN, old) - 2e-5
        before = after


@pytest.mark.parametrize("arms", [("left", "right"), ("right",)])
def test_machine_world_can_drive_at_all(arms):
    world = World(arms, settings=QUICK)
    world.run(0.1)
    world.hands["right"] = hand(1.0)
    world.run(0.2, World.hold_targets)
    world.run(0.3, lambda _world: {"right": (HOME[0] + 0.1, *HOME[1:])})
    assert world.last("right").position[0] == pytest.approx(HOME[0] + 0.1, abs=1e-3)
