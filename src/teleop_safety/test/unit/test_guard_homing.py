"""The way home: asked for only, through the same limits and guard, and the hand outranks it."""

from pathlib import Path

import pytest
from guard_space import MARGIN, collision, scene, true_distances
from guard_world import HOME, ROBOT, World, hand
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common import limits
from teleop_common.enums import Authority as A
from teleop_common.enums import Reason, Session
from teleop_safety.settings import Settings

AWAY = (0.6, -0.5, 0.3, 0.6, -0.4, 0.5)


def world_away(*arms, **options):
    """A world whose arms stand away from home and whose grips are open."""
    world = World(arms or ("left", "right"), start=AWAY, **options)
    world.run(0.1)
    return world


def test_arm_goes_home_and_is_idle_there():
    world = world_away()
    answer = world.home()
    assert answer.success, answer.message
    assert world.state("left") is world.state("right") is A.HOMING
    assert world.authorities[-1].arms[0].owner == "homing"
    world.run(3.0)
    for arm in world.arms:
        assert world.state(arm) is A.IDLE
        assert world.last(arm).position == pytest.approx(HOME, abs=2e-4)
        assert not world.arm(arm).must_open


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_any_robot_goes_home_by_its_limits_file(name):
    robot = limits.load(Path(__file__).parents[4] / "config" / "limits" / f"{name}.yaml")
    home = tuple(j.home for j in robot.all_joints)
    world = World(("left",), robot=robot, start=tuple(j.home + 0.1 * (j.upper - j.home) for j in robot.all_joints))
    world.run(0.1)
    assert world.home().success
    world.run(2.0)
    assert world.state("left") is A.IDLE
    assert world.last("left").position == pytest.approx(home, abs=2e-4)


def test_nothing_goes_home_unasked():
    world = world_away()
    world.run(2.0)
    assert {command.position for arm in world.arms for command in world.commands[arm]} == {AWAY}


def test_named_arm_alone_goes_home():
    world = world_away()
    assert world.home("right").success
    world.run(3.0)
    assert world.last("right").position == pytest.approx(HOME, abs=2e-4)
    assert world.last("left").position == AWAY


def test_unknown_arm_is_refused_by_name_and_nothing_moves():
    world = world_away()
    answer = world.home("right", "middle")
    assert not answer.success
    assert "middle" in answer.message
    assert world.state("right") is A.IDLE


@given(st.lists(st.floats(-1.6, 1.6), min_size=6, max_size=6).map(tuple), st.floats(0.2, 2.0))
@settings(max_examples=25)
def test_no_step_home_exceeds_the_speed_of_the_way_home_or_the_acceleration(start, speed):
    world = World(("right",), start=start, settings=Settings(home_speed=speed))
    world.run(0.1)
    first = world.now.mono
    world.home()
    world.run(0.5)
    commands = [c for c in world.commands["right"] if c.commit_time_ns >= first]
    before, rate = start, (0.0,) * 6
    for command in commands:
        moved = [b - a for a, b in zip(before, command.position)]
        assert all(abs(m) <= speed * command.dt + 1e-12 for m in moved)
        if command.dt:
            now = [m / command.dt for m in moved]
            for joint, old, new in zip(ROBOT.all_joints, rate, now):
                grown = abs(new) - abs(old) if old * new >= 0.0 else abs(new)
                assert grown <= joint.acceleration * command.dt + 1e-9
            rate = now
        before = command.position


def test_way_home_is_straight_in_joints():
    world = world_away("right")
    world.home()
    world.run(0.8)
    shares = [(p - a) / (h - a) for p, a, h in zip(world.last().position, AWAY, HOME)][:5]
    assert 0.1 < min(shares) < 1.0
    assert max(shares) - min(shares) < 1e-6


def test_driving_side_is_skipped_by_name_and_the_other_goes():
    world = world_away().drive("left")
    answer = world.home()
    assert answer.success
    assert "skipped left: driven by the operator" in answer.message
    assert (world.state("left"), world.state("right")) == (A.DRIVING, A.HOMING)
    world.run(3.0, World.hold_targets)
    assert world.state("left") is A.DRIVING
    assert world.last("left").position == AWAY
    assert world.last("right").position == pytest.approx(HOME, abs=2e-4)


def test_refused_when_the_only_arm_is_driven():
    world = world_away("right").drive("right")
    answer = world.home()
    assert not answer.success
    assert "open its grip first" in answer.message


def test_squeeze_takes_the_arm_over_and_it_stands_in_the_countdown():
    world = world_away()
    world.home()
    world.run(0.3)
    engage = world.arm().engage
    world.squeeze("right")
    world.run(0.012)
    assert world.state() is A.COUNTDOWN
    assert world.arm().engage == (engage + 1) % 2**32
    held = world.last().position
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING
    assert world.last().position == held
    assert world.last("left").position == pytest.approx(HOME, abs=2e-4)


def test_squeeze_that_cannot_have_the_arm_ends_the_way_home_all_the_same():
    world = world_away()
    world.home()
    world.run(0.3)
    world.hands["right"] = hand(1.0, tracked=False)
    world.run(0.012)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    world.hands["right"] = hand(1.0)
    world.run(1.5)
    assert world.state() is A.IDLE


def test_grip_held_since_before_neither_ends_the_way_home_nor_drives_after_it():
    world = World(start=AWAY)
    world.squeeze("right")
    world.run(0.1)
    assert world.arm().must_open
    assert world.home().success
    world.run(3.0)
    assert world.state() is A.IDLE
    assert world.last().position == pytest.approx(HOME, abs=2e-4)
    world.run(1.5)
    assert world.state() is A.IDLE


def stop_session(world):
    world.session_state = Session.CONNECTED
    world.session()


def new_epoch(world):
    world.epoch += 1
    world.session()


def torque_off(world):
    world.torque["right"] = False
    world.driver("right")


def restart_driver(world):
    world.instance["right"] += 1
    world.driver("right")


def lose_buttons(world):
    world.hands = {side: hand(connected=False) for side in world.hands}
    world.frame()


@pytest.mark.parametrize("end", [stop_session, new_epoch, torque_off, restart_driver, lose_buttons])
def test_way_home_ends_at_once_with_what_it_needs(end):
    world = world_away()
    world.home()
    world.run(0.3)
    end(world)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    stood = world.last().position
    world.run(1.0)
    assert world.last().position == stood


def test_estop_ends_the_way_home_and_a_reset_does_not_begin_it_again():
    world = world_away()
    world.home()
    world.run(0.3)
    world.take(world.guard.stop(world.now, "test"))
    stood = {arm: world.last(arm).position for arm in world.arms}
    world.guard.reset(world.now, 1.0)
    world.run(2.0)
    assert world.state() is A.IDLE
    assert {arm: world.last(arm).position for arm in world.arms} == stood


@pytest.mark.parametrize("source", ["joints", "drivers", "session"])
def test_way_home_ends_when_what_it_needs_falls_silent(source):
    world = world_away(settings=Settings(home_speed=0.2))
    world.home()
    world.run(0.05)
    world.alive[source] = False
    world.run(1.3)
    assert world.state() is A.IDLE
    assert max(abs(p - h) for p, h in zip(world.last().position, HOME)) > 0.01


def test_frames_are_not_needed_when_none_came_to_begin_with():
    world = World(start=AWAY)
    world.alive["frames"] = False
    world.run(0.1)
    assert world.home().success
    world.run(3.0)
    assert world.last().position == pytest.approx(HOME, abs=2e-4)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (stop_session, "session not running"),
        (torque_off, "torque is off"),
        (lambda world: world.take(world.guard.stop(world.now, "test")), "e-stop"),
    ],
)
def test_refused_with_the_reason(change, word):
    world = world_away("right")
    change(world)
    answer = world.home()
    assert not answer.success
    assert word in answer.message


def test_way_home_that_comes_to_nothing_is_given_up():
    world = world_away("right")
    world.home()
    goal = world.goal["right"]
    end = world.now.mono + 3_500_000_000
    while world.now.mono < end and world.state() is A.HOMING:
        world.measured["right"] = goal  # a blocked arm; the stall watch is slower here, the leash holds the command
        world.run(0.011)
    assert world.state() in (A.IDLE, A.FAULT)
    assert world.now.mono < end


def test_home_again_on_the_way_is_no_new_start():
    world = world_away()
    world.home()
    world.run(0.3)
    engage = world.arm().engage
    assert world.home().success
    assert world.arm().engage == engage
    assert world.state() is A.HOMING


def test_commands_on_the_way_home_say_what_bounds_them_and_name_no_frame():
    world = world_away("right")
    world.home()
    world.run(0.3)
    last = world.last()
    assert set(last.reason) <= {int(Reason.HOMING), int(Reason.SPEED_LIMIT), int(Reason.ACCELERATION_LIMIT)}
    assert (last.origin_stamp, last.connection, last.frame_sequence) == (0, 0, 0)


@given(st.lists(st.sampled_from((0.0, 0.3, 0.5, 0.7, 1.0)), min_size=1, max_size=12), st.booleans())
@settings(max_examples=30)
def test_any_closing_of_the_grip_ends_the_way_home(grips, tracked):
    world = world_away("right", settings=Settings(home_speed=0.05))
    world.home()
    closed = False
    for squeeze in grips:
        world.hands["right"] = hand(squeeze, tracked)
        world.run(0.02)
        closed = closed or squeeze > 0.6
        assert (world.state() is A.HOMING) == (not closed)


NEAR = st.lists(st.floats(-1.2, 1.2), min_size=12, max_size=12)


@settings(max_examples=8)
@given(NEAR)
def test_both_arms_going_home_let_no_pair_come_nearer_than_the_rule(start):
    world = World(envelope=collision())
    world.goal = {arm: tuple(h + s for h, s in zip(HOME, start[6 * i : 6 * i + 6])) for i, arm in enumerate(world.arms)}
    world.measured = dict(world.goal)
    world.run(0.1)
    world.home()
    space = scene()
    names = [tuple(space.bodies[i].name for i in pair) for pair in space.pairs[: space.floor]]
    rigid = [i for i, pair in enumerate(names) if not any("jaw" in name for name in pair)]
    before = None
    for _ in range(12):
        world.run(0.06)
        after = [true_distances(space, {a: s.reference for a, s in world.guard.arms.items()})[i] for i in rigid]
        for old, new in zip(before or after, after):
            assert new >= min(MARGIN, old) - 2e-5
        before = after
