"""Who may move, through the core: the authority table, the tracking rules, cases 1, 2, 12, 29, 30, 33, 36."""

import math

import pytest
from guard_world import HOME, World, hand, pose
from hypothesis import given
from hypothesis import strategies as st

from teleop_common.enums import Authority as A
from teleop_common.enums import Reason, Session
from teleop_common.records import Controller, Pose, TrackedPose


def frames(world, count):
    for _ in range(count):
        world.run(0.011, World.hold_targets)


def test_grip_held_at_the_guards_start_must_open_first():
    world = World()
    world.squeeze("right")
    world.run(2.0)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    world.release("right")
    world.run(0.05)
    world.squeeze("right")
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING


def test_countdown_lasts_one_second_and_counts_down():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    world.run(0.9)
    assert world.state() is A.COUNTDOWN
    assert 0.0 < world.authorities[-1].arms[1].countdown_remaining < 0.2
    world.run(0.15)
    assert world.state() is A.DRIVING


def test_squeeze_between_the_thresholds_neither_closes_nor_opens():
    world = World()
    world.run(0.1)
    world.hands["right"] = hand(0.5)
    world.run(0.1)
    assert world.state() is A.IDLE
    world.drive("right")
    world.hands["right"] = hand(0.5)
    world.run(0.3, World.hold_targets)
    assert world.state() is A.DRIVING
    world.hands["right"] = hand(0.39)
    world.run(0.02)
    assert world.state() is A.IDLE


def test_release_ends_driving_with_that_frame_and_the_other_arm_drives_on():
    world = World().drive("left", "right")
    world.release("right")
    world.feed()
    out = world.frame()
    assert world.state("right") is A.IDLE
    assert world.state("left") is A.DRIVING
    assert out.authority is not None


def test_engage_grows_by_two_until_driving_and_wraps():
    world = World()
    first = world.arm().engage
    world.drive("right")
    assert world.arm().engage == (first + 2) % 2**32


def test_short_loss_of_tracking_holds_and_drives_on_with_a_new_engage():
    world = World().drive("left", "right")
    engage = world.arm().engage
    held = world.last().position
    world.hands["right"] = hand(1.0, tracked=False)
    frames(world, 40)
    assert world.state() is A.GRACE
    assert world.state("left") is A.DRIVING
    assert world.last().reason == (Reason.UNTRACKED,) * 6
    world.hands["right"] = hand(1.0)
    frames(world, 1)
    assert world.state() is A.DRIVING
    assert world.arm().engage == engage + 1
    assert world.last().position == held


def test_long_loss_of_tracking_ends_in_idle_and_the_grip_must_open():
    world = World().drive("right")
    world.hands["right"] = hand(1.0, tracked=False)
    frames(world, 90)
    world.hands["right"] = hand(1.0)
    frames(world, 200)
    assert world.state() is A.IDLE
    assert world.arm().must_open


def test_release_while_untracked_ends_grace_without_more_ado():
    world = World().drive("right")
    world.hands["right"] = hand(1.0, tracked=False)
    frames(world, 5)
    world.hands["right"] = hand(0.0, tracked=False)
    frames(world, 1)
    assert world.state() is A.IDLE
    assert not world.arm().must_open


def test_tracking_lost_in_countdown_asks_for_an_open_grip():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    world.run(0.3)
    world.hands["right"] = hand(1.0, tracked=False)
    frames(world, 1)
    assert world.state() is A.IDLE
    world.hands["right"] = hand(1.0)
    world.run(1.5)
    assert world.state() is A.IDLE


@pytest.mark.parametrize(
    ("last", "must_open"),
    [(hand(1.0, tracked=False), True), (Controller(), True), (hand(0.0), False)],
    ids=["untracked", "gone", "open"],
)
def test_frame_that_would_end_the_countdown_ends_in_idle_when_its_hand_is_not_there(last, must_open):
    world = World()
    world.run(0.1)
    world.squeeze("right")
    world.run(0.95)
    assert world.state() is A.COUNTDOWN
    world.hands["right"] = last
    world.advance(world.arm().since + 1_000_000_000 - world.now.mono)  # when it is over
    world.feed()
    world.frame()
    assert world.state() is A.IDLE
    assert world.arm().must_open is must_open
    if must_open:
        world.squeeze("right")
        world.run(1.5)
        assert world.state() is A.IDLE


@pytest.mark.parametrize(
    "bad",
    [
        TrackedPose(Pose((0, 0, 0), (0, 0, 0, 0)), 15),
        TrackedPose(Pose((math.nan, 0, 0)), 15),
        TrackedPose(Pose((0, 0, 0), (0, 0, 0, 1.3)), 15),
        TrackedPose(Pose((1.0, 0, 0)), 3),
    ],
)
def test_pose_that_lies_about_being_tracked_is_untracked(bad):
    world = World().drive("right")
    world.hands["right"] = hand(1.0)._replace(grip=bad, aim=bad)
    frames(world, 1)
    assert world.state() is A.GRACE


def test_disconnected_controller_is_a_gap_not_an_opening():
    world = World().drive("right")
    world.hands["right"] = Controller()
    frames(world, 1)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    world.hands["right"] = hand(1.0)
    world.run(1.5)
    assert world.state() is A.IDLE


def test_frames_that_stop_end_driving_within_a_quarter_of_a_second_and_ask_for_an_open_grip():
    world = World().drive("right")
    world.alive["frames"] = False
    before = world.now.mono
    while world.state() is A.DRIVING:
        world.run(0.01)
    assert world.now.mono - before < 0.25e9
    world.alive["frames"] = True
    world.run(1.5)
    assert world.state() is A.IDLE


def test_targets_that_stop_end_driving_within_a_quarter_of_a_second():
    world = World().drive("right")
    before = world.now.mono
    while world.state() is A.DRIVING:
        world.run(0.01)
    assert world.now.mono - before < 0.25e9
    assert world.arm().must_open


@pytest.mark.parametrize("source", ["joints", "drivers"])
def test_driver_that_falls_silent_ends_driving(source):
    world = World().drive("right")
    world.alive[source] = False
    before = world.now.mono
    while world.state() is A.DRIVING:
        world.run(0.01, World.hold_targets)
    assert world.now.mono - before < 0.32e9  # the last word may be as old as a driver state's period
    assert world.arm().must_open


def test_new_connection_is_a_gap_even_with_the_grip_held():
    world = World().drive("right")
    world.connection, world.sequence = 6, 0
    world.run(1.5, World.hold_targets)
    assert world.state() is A.IDLE
    assert world.arm().must_open


def test_new_epoch_is_a_gap():
    world = World().drive("right")
    world.epoch += 1
    world.session()
    assert world.state() is A.IDLE
    assert world.arm().must_open


@pytest.mark.parametrize("state", [s for s in Session if s is not Session.RUNNING])
def test_only_a_running_session_lets_an_arm_be_driven(state):
    world = World()
    world.session_state = state
    world.run(0.1)
    world.squeeze("right")
    world.run(1.5)
    assert world.state() is A.IDLE
    assert "not running" in world.arm().reason or world.arm().must_open


def test_session_that_stops_running_ends_driving_without_a_new_epoch():
    world = World().drive("right")
    world.session(state=int(Session.CONNECTED))
    assert world.state() is A.IDLE


def test_silent_session_ends_driving():
    world = World().drive("right")
    world.alive["session"] = False
    world.run(1.3, World.hold_targets)
    assert world.state() is A.IDLE


def test_no_heading_no_countdown_and_the_reason_says_so():
    world = World()
    world.head = pose(False)
    world.run(0.1)
    world.squeeze("right")
    world.run(0.1)
    assert world.state() is A.IDLE
    assert any("heading" in event.text for event in world.events)


def test_heading_seen_within_a_second_still_counts():
    world = World()
    world.run(0.1)
    world.head = pose(False)
    world.run(0.5)
    world.squeeze("right")
    world.run(1.3, World.hold_targets)
    assert world.state() is A.DRIVING


def test_recentre_gives_a_new_engage_and_drops_the_pending_target():
    world = World().drive("right")
    engage = world.arm().engage
    world.feed()
    world.frame(recentred=True)
    assert world.arm().engage == engage + 1
    assert world.arm().target is None
    assert world.state() is A.DRIVING


def test_edges_of_every_frame_in_a_burst_count():
    world = World().drive("right")
    world.feed()
    for squeeze in (1.0, 0.0, 1.0):
        world.hands["right"] = hand(squeeze)
        world.frame()
    assert world.state() is A.COUNTDOWN


def test_repeated_and_backward_frames_are_counted_and_change_nothing():
    world = World().drive("right")
    before = list(world.arm().counters)
    world.release("right")
    world.frame(sequence=world.sequence)
    world.frame(sequence=3)
    assert world.state() is A.DRIVING
    assert world.arm().counters[1] - before[1] == 2


@pytest.mark.parametrize("off", [0.21, -0.21, 3600.0, -3600.0])
def test_frame_with_a_stamp_off_by_more_than_a_fifth_of_a_second_is_refused(off):
    world = World()
    world.run(0.1)
    world.squeeze("right")
    header = world.authorities[-1].header._replace(stamp=world.now.ros - round(off * 1e9))
    world.frame(header=header)
    assert world.state() is A.IDLE
    assert world.arm().counters[0] == 1


def test_pairing_swaps_hands():
    world = World()
    world.run(0.1)
    world.session(hand=("right", "left"))
    world.frame()
    world.squeeze("left")
    world.session(hand=("right", "left"))
    world.frame()
    assert world.state("right") is A.COUNTDOWN
    assert world.state("left") is A.IDLE


def test_countdown_and_driving_are_felt_in_the_hand():
    world = World().drive("right")
    assert [pulse.hand for pulse in world.haptics] == ["right", "right"]


def test_aim_pose_decides_when_it_is_the_driving_pose():
    from teleop_safety.settings import Settings

    world = World(settings=Settings(pose="aim"))
    world.run(0.1)
    world.hands["right"] = hand(1.0)._replace(aim=pose(False))
    world.run(0.1)
    assert world.state() is A.IDLE
    world.hands["right"] = hand(1.0)._replace(grip=pose(False))
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING


def test_squeeze_with_torque_off_is_refused_and_must_be_made_again():
    world = World(torque=False)
    world.run(0.1)
    world.squeeze("right")
    world.run(0.1)
    assert any("torque is off" in event.text for event in world.events)
    world.torque["right"] = True
    world.run(1.5)
    assert world.state() is A.IDLE


def test_events_tell_of_each_change_in_order():
    world = World().drive("right")
    texts = [event.text for event in world.events if event.kind == "authority" and event.arm == "right"]
    assert [text.split(":")[0] for text in texts] == ["IDLE to COUNTDOWN", "COUNTDOWN to DRIVING"]


def test_untouched_world_holds_home_for_ever():
    world = World()
    world.run(1.0)
    assert {command.position for command in world.commands["left"]} == {HOME}


def test_arm_that_is_given_another_hand_holds_until_that_hand_has_opened():
    world = World().drive("left", "right")
    engage = {arm: world.arm(arm).engage for arm in world.arms}
    world.session(hand=("right", "left"))
    for arm in world.arms:
        assert world.state(arm) is A.IDLE
        assert world.arm(arm).must_open
        assert world.arm(arm).engage == engage[arm]


def test_one_arm_that_loses_its_hand_leaves_the_other_driving():
    world = World().drive("left", "right")
    world.session(arm=("right",), hand=("right",))
    assert world.state("left") is A.IDLE
    assert world.state("right") is A.DRIVING


def test_heading_of_another_connection_is_none_of_this_one():
    world = World()
    world.run(0.1)
    world.connection, world.sequence, world.head = 77, 0, pose(False)
    world.run(0.1)
    world.squeeze("right")
    world.run(0.05)
    assert world.state() is A.IDLE
    assert any("heading" in event.text for event in world.events)


def test_absurd_sequence_costs_a_new_squeeze_but_not_every_frame_after_it():
    world = World().drive("right")
    world.frame(sequence=2**64 - 2)
    world.run(0.3, World.hold_targets)
    assert world.state() is A.IDLE
    assert world.arm().must_open
    world.release("right")
    world.run(0.1)
    world.squeeze("right")
    world.run(1.2, World.hold_targets)
    assert world.state() is A.DRIVING


def told(world, kind):
    return [event.text for event in world.events if event.kind == kind]


def gone(world):
    world.hands = {side: hand(connected=False) for side in world.hands}


def silent(world):
    world.alive["frames"] = False


def reconnected(world):
    world.connection, world.sequence = 6, 0


@pytest.mark.parametrize("loss", [gone, silent, reconnected])
def test_losing_every_button_gives_one_stop_and_one_reset(loss):
    world = World().drive("left", "right")
    engage = {arm: world.arm(arm).engage for arm in world.arms}
    loss(world)
    world.run(1.0, World.hold_targets)
    assert len(told(world, "stop")) == len(told(world, "reset")) == 1
    for arm in world.arms:
        assert world.state(arm) is A.IDLE
        assert world.arm(arm).must_open
        assert world.arm(arm).engage == (engage[arm] + 1) % 2**32
        stops = [event for event in world.events if event.arm == arm and "to IDLE" in event.text]
        assert len(stops) == 1


def test_stop_comes_with_the_frame_that_has_no_controller():
    world = World().drive("left", "right")
    gone(world)
    world.feed()
    out = world.frame()
    assert {arm.state for arm in out.authority.arms} == {A.IDLE}


def test_one_controller_gone_of_two_is_no_loss_of_every_button():
    world = World().drive("left", "right")
    world.hands["right"] = hand(connected=False)
    world.run(0.1, World.hold_targets)
    assert told(world, "stop") == []
    assert world.state("left") is A.DRIVING


def test_buttons_found_and_lost_again_stop_again():
    world = World()
    for count in (1, 2):
        world.hands = {side: hand() for side in world.hands}
        world.run(0.05)
        gone(world)
        world.run(0.05)
        assert len(told(world, "stop")) == count


@pytest.mark.parametrize("loss", [gone, silent, reconnected])
def test_grip_held_while_every_button_was_lost_does_not_engage(loss):
    world = World().drive("right")
    loss(world)
    world.run(0.4)
    world.alive["frames"] = True
    world.hands["right"] = hand(1.0)
    world.run(2.0)
    assert world.state() is A.IDLE


@given(st.lists(st.sampled_from((True, False, None)), min_size=1, max_size=40))
def test_there_are_as_many_stops_and_resets_as_losses(connected):
    world = World()
    world.run(0.1)
    expected, present = 0, True
    for there in connected:
        if there is None:  # a silence
            world.alive["frames"] = False
            world.run(0.3)
            world.alive["frames"] = True
            expected, present = expected + present, False
        world.hands = {side: hand(connected=bool(there)) for side in world.hands}
        world.run(0.02)
        expected, present = expected + (present and not there), bool(there)
    assert len(told(world, "stop")) == len(told(world, "reset")) == expected


def test_idle_arm_given_another_hand_without_a_new_epoch_waits_until_that_hand_has_opened():
    world = World()
    world.run(0.1)
    world.squeeze("right")
    world.session(hand=("right", "left"))
    for _ in range(5):
        world.feed()
        world.session(hand=("right", "left"))
        world.frame()
    assert world.state("left") is A.IDLE
    assert world.arm("left").must_open


def test_commit_of_one_arm_between_late_ticks_does_not_show_the_other_driving_with_a_silent_driver():
    world = World().drive("left", "right")
    for _ in range(2):
        world.advance(110_000_000)
        world.driver("left")
        world.joints("left")
        world.frame()
        out = world.target({"left": HOME})
    assert [arm.state for arm in out.authority.arms] == [A.DRIVING, A.IDLE]
