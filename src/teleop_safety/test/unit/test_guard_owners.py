"""Owners other than the operator: one an arm, asked for, through the same limits, gone when silent."""

import math

import pytest
from guard_world import HOME, ROBOT, World, hand
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common.enums import Authority as A
from teleop_common.enums import Session, TargetStatus
from teleop_common.records import Header

GOAL = (HOME[0] + 0.3, *HOME[1:])


def owned(name="policy", arm="right"):
    """A world in which ``name`` has an arm."""
    world = World()
    world.run(0.1)
    answer = world.own(arm, name)
    assert answer.success, answer.message
    return world


def follow(world, seconds, goal=GOAL, name="policy", arm="right"):
    """Let the owner send ``goal`` each 20 ms."""
    for _ in range(round(seconds / 0.02)):
        world.external({arm: goal}, name=name)
        world.run(0.02)


@pytest.mark.parametrize(("name", "state"), [("policy", A.EXTERNAL), ("replay", A.REPLAY)])
def test_owner_moves_its_arm_to_its_target(name, state):
    world = owned(name)
    assert world.state() is state
    assert world.authorities[-1].arms[1].owner == name
    follow(world, 1.0, name=name)
    assert world.last().position == pytest.approx(GOAL, abs=1e-3)
    assert world.last().authority == state
    assert (world.last().connection, world.last().frame_sequence) == (0, 0)
    assert world.last("left").position == HOME


def test_owned_arm_stands_until_its_first_target():
    world = owned()
    world.run(1.0)
    assert world.state() is A.EXTERNAL
    assert {command.position for command in world.commands["right"]} == {HOME}


def test_first_command_after_being_acquired_equals_the_held_one():
    world = owned()
    held = world.last().position
    count = len(world.commands["right"])
    world.external({"right": GOAL})
    assert len(world.commands["right"]) == count  # only a tick moves it
    assert world.last().position == held


def test_engage_is_new_for_each_owner_and_after_it():
    world = World()
    world.run(0.1)
    first = world.arm().engage
    world.own()
    assert world.arm().engage == (first + 1) % 2**32
    world.own(acquire=False)
    assert world.arm().engage == (first + 2) % 2**32


def test_target_without_the_engage_moves_nothing_and_the_refusal_names_it():
    world = owned()
    world.external({"right": GOAL}, engage=7)
    world.run(0.1)
    assert world.last().position == HOME
    assert any(event.kind == "refused" and str(world.arm().engage) in event.text for event in world.events)


def test_targets_of_another_owner_or_of_none_move_nothing():
    world = owned()
    world.external({"right": GOAL, "left": GOAL}, name="thief")
    world.external({"right": GOAL}, name="operator")
    world.run(0.1)
    assert world.last("right").position == world.last("left").position == HOME
    assert world.arm("right").counters[2] >= 2


def test_external_targets_of_an_arm_nobody_asked_for_move_nothing():
    world = World()
    world.run(0.1)
    for _ in range(20):
        world.external({"right": GOAL, "left": GOAL})
        world.run(0.02)
    assert world.last("right").position == world.last("left").position == HOME


def test_operators_targets_do_not_move_an_owned_arm():
    world = owned()
    world.run(0.5, lambda _world: {"right": GOAL})
    assert world.last().position == HOME


def test_silent_owner_loses_the_arm_within_a_quarter_of_a_second():
    world = owned()
    follow(world, 0.1)
    before = world.now.mono
    while world.state() is A.EXTERNAL:
        world.run(0.01)
    assert 0.15e9 < world.now.mono - before < 0.25e9
    assert world.arm().must_open
    assert world.authorities[-1].arms[1].owner == ""
    stood = world.last().position
    follow(world, 0.5)  # it comes back, and has to ask again
    assert world.last().position == stood
    assert world.own().success


def test_owner_that_never_sends_a_target_loses_the_arm():
    world = owned()
    world.run(2.2)
    assert world.state() is A.IDLE


def test_only_an_idle_arm_is_given_away_and_the_owner_is_named():
    world = owned()
    for name in ("other", "policy", "replay"):
        answer = world.own(name=name)
        assert not answer.success
        assert answer.owner == "policy"
        assert "policy" in answer.message
    world.drive("left")
    answer = world.own("left")
    assert not answer.success
    assert answer.owner == "operator"
    assert world.state("left") is A.DRIVING


def test_arm_on_its_way_home_is_not_given_away_and_an_owned_arm_does_not_go_home():
    world = World(start=(0.8, *HOME[1:]))
    world.run(0.1)
    assert world.own("left").success
    assert world.home().success
    answer = world.own("right")
    assert not answer.success
    assert answer.owner == "homing"
    assert (world.state("left"), world.state("right")) == (A.EXTERNAL, A.HOMING)
    assert "owned by 'policy'" in world.home("left").message


@pytest.mark.parametrize("name", ["", "operator", "homing", "x" * 65, "two\nlines"])
def test_name_that_is_none_is_refused(name):
    world = World()
    world.run(0.1)
    assert not world.own(name=name).success
    assert world.state() is A.IDLE


def test_unknown_arm_is_refused_by_name():
    answer = World().own("middle")
    assert not answer.success
    assert "middle" in answer.message


def test_release_is_the_owners_alone_and_asks_for_an_open_grip():
    world = owned()
    answer = world.own(name="other", acquire=False)
    assert not answer.success
    assert answer.owner == "policy"
    assert world.own(acquire=False).success
    assert world.state() is A.IDLE
    assert world.arm().must_open
    assert world.own(acquire=False).success


def test_release_does_not_take_an_arm_from_the_operator_or_from_its_way_home():
    world = World(start=(0.8, *HOME[1:])).drive("left")
    world.home("right")
    for arm, has in (("left", "operator"), ("right", "homing")):
        answer = world.own(arm, has, acquire=False)
        assert not answer.success
    assert (world.state("left"), world.state("right")) == (A.DRIVING, A.HOMING)


def test_squeeze_on_an_owned_arm_is_refused_with_the_owners_name_and_has_to_be_made_again():
    world = owned()
    world.squeeze("right")
    follow(world, 0.3)
    assert world.state() is A.EXTERNAL
    assert any(event.kind == "refused" and "policy" in event.text for event in world.events)
    assert world.own(acquire=False).success
    world.run(1.5)
    assert world.state() is A.IDLE
    world.release("right")
    world.run(0.05)
    world.squeeze("right")
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING


def test_hand_of_the_other_arm_drives_while_one_is_owned():
    world = owned("policy", "right")
    follow(world, 0.1)
    world.squeeze("left")
    end = world.now.mono + 1_500_000_000
    while world.now.mono < end:
        world.external({"right": GOAL})
        world.run(0.02, lambda w: {"left": w.arm("left").reference})
    assert (world.state("left"), world.state("right")) == (A.DRIVING, A.EXTERNAL)
    assert world.last("right").position == pytest.approx(GOAL, abs=1e-3)


def estop(world):
    world.take(world.guard.stop(world.now, "test"))


def stop_session(world):
    world.session_state = Session.CONNECTED
    world.session()


def new_epoch(world):
    world.epoch += 1
    world.session()


def restart_driver(world):
    world.instance["right"] += 1
    world.driver("right")


def lose_buttons(world):
    world.hands = {side: hand(connected=False) for side in world.hands}
    world.frame()


@pytest.mark.parametrize("end", [estop, stop_session, new_epoch, restart_driver, lose_buttons])
def test_arm_is_taken_from_its_owner_at_once_and_not_given_back(end):
    world = owned()
    follow(world, 0.06)
    end(world)
    assert world.state() is not A.EXTERNAL
    stood = world.last().position
    follow(world, 0.5)
    assert world.last().position == stood
    assert world.authorities[-1].arms[1].owner == ""


@pytest.mark.parametrize("end", [estop, stop_session])
def test_refused_while_nothing_may_move(end):
    world = World()
    world.run(0.1)
    end(world)
    assert not world.own().success


@pytest.mark.parametrize("off", [0.21, -0.21, 3600.0])
def test_target_with_a_stamp_off_by_more_than_a_fifth_of_a_second_is_refused(off):
    world = owned()
    world.external({"right": GOAL}, header=Header(world.now.ros - round(off * 1e9)))
    world.run(0.1)
    assert world.last().position == HOME


def test_target_that_names_a_frame_is_refused():
    world = owned()
    world.external({"right": GOAL}, connection=5)
    world.run(0.1)
    assert world.last().position == HOME


def test_repeated_and_older_targets_are_counted_and_keep_nobody_alive():
    world = owned()
    stamp = Header(world.now.ros)
    for _ in range(15):
        world.external({"right": GOAL}, header=stamp)
        world.run(0.02)
    assert world.state() is A.IDLE
    assert world.arm().counters[1] >= 9


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e9])
def test_target_that_is_no_number_is_refused(bad):
    world = owned()
    world.external({"right": (bad, *HOME[1:])})
    world.run(0.1)
    assert world.last().position == HOME


def test_target_that_says_hold_holds():
    world = owned()
    follow(world, 0.06)
    world.external({"right": GOAL}, arms={"status": int(TargetStatus.HELD)})
    world.tick()
    stood = world.last().position
    world.run(0.1)
    assert world.last().position == stood


def test_origin_that_the_owner_gives_is_passed_on():
    world = owned()
    world.external({"right": GOAL}, origin_stamp=123)
    world.run(0.02)
    assert world.last().origin_stamp == 123


GRIPS = st.lists(st.sampled_from((0.0, 0.3, 0.5, 0.7, 1.0)), min_size=1, max_size=12)


@given(GRIPS, st.sampled_from(("release", "silence")))
@settings(max_examples=30)
def test_no_grip_whatever_moves_an_owned_arm_or_drives_after_it_without_having_opened(grips, end):
    world = owned()
    for squeeze in grips:
        world.hands["right"] = hand(squeeze)
        world.external({"right": HOME})
        world.run(0.02)
        assert world.state() is A.EXTERNAL
        assert world.last().position == HOME
    if end == "release":
        world.own(acquire=False)
    world.run(1.6, World.hold_targets)
    assert world.state() is A.IDLE
    assert world.arm().must_open == (grips[-1] >= 0.4)


def test_fault_of_an_owned_arm_with_no_operator_there_ends_with_the_e_stops_reset():
    world = World()
    world.alive["frames"] = False
    world.run(0.1)
    assert world.own().success
    world.error["right"] = "overload"
    world.driver("right")
    assert world.state() is A.FAULT
    world.error["right"] = ""
    world.run(0.3)
    assert world.state() is A.FAULT
    world.take(world.guard.stop(world.now, "test"))
    world.guard.reset(world.now, 1.0)
    world.run(0.3)
    assert world.state() is A.IDLE
    assert world.own().success


JOINTS = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(tuple)


@given(st.lists(st.tuples(JOINTS, st.integers(1, 60_000_000), st.integers(1, 3)), min_size=1, max_size=25))
@settings(max_examples=40)
def test_whatever_an_owner_asks_for_however_fast_no_step_exceeds_speed_time_and_limits(asks):
    world = owned()
    before, begun, credited = world.last(), world.now.mono, 0.0
    count = len(world.commands["right"])
    for goal, wait, times in asks:
        for _ in range(times):
            world.external({"right": goal})
        world.advance(wait)
        world.feed()
        world.tick()
    for command in world.commands["right"][count:]:
        credited += command.dt
        for joint, old, new in zip(ROBOT.all_joints, before.position, command.position):
            assert min(joint.lower, old) <= new <= max(joint.upper, old)
            assert abs(new - old) <= joint.velocity * command.dt + 1e-12
        assert credited <= (command.commit_time_ns - begun) * 1e-9 + 0.03
        before = command
