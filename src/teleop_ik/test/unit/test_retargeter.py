"""The rules of anchor, leash, reach, floor, gripper and feedback, seen from outside: frames in, targets out."""

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_common import records
from teleop_common.enums import Authority, PoseFlags, Reason, TargetStatus
from teleop_common.errors import ConfigError
from teleop_common.spatial import quat_from_axis_angle
from teleop_description.assets import urdf_path
from teleop_ik.retargeter import Retargeter, from_json, to_json
from teleop_ik.setup_arms import make_arms, model_hash

HAND = (0.3, -0.2, 1.0)
HZ = 90.0
SOLVERS = ["analytic", "differential"]


def moved(by):
    return tuple(a + b for a, b in zip(HAND, by))


def away(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


# ---- anchor
@pytest.mark.parametrize("solver", SOLVERS)
@given(data=st.data())
def test_engaging_changes_nothing_for_any_hand_scale_droop_and_start(so101, solver, data):
    """Also outside the limits, drooping, with any attitude: the first target is the reference and a still hand keeps it."""
    limits = so101.robot.all_joints
    margin = so101.robot.mechanical_margin
    start = tuple(data.draw(st.floats(j.lower - margin, j.upper + margin)) for j in limits)
    droop = tuple(data.draw(st.floats(-0.05, 0.05)) for _ in limits)
    axis = data.draw(st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda a: math.hypot(*a) > 0.1))
    attitude = quat_from_axis_angle(axis, data.draw(st.floats(-3.0, 3.0)))
    rig = so101.rig(solver, start=start, droop=droop, scale=data.draw(st.floats(0.1, 5.0)))
    trigger = data.draw(st.floats(0.0, 1.0))
    first = rig.step(HAND, attitude, trigger=trigger)
    assert first.position == rig.reference == start
    for _ in range(5):
        target = rig.step(HAND, attitude, trigger=trigger, commit=False)
        if target.reason[5] != Reason.TAKE_OVER:
            return  # the jaw moves, and near the bench the arm gives way to it
        assert away(target.position[:5], start[:5]) < 1e-3
        assert target.reason[:5] == (0,) * 5 or target.reason[0] == Reason.FLOOR


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("droop", [(0.0,) * 6, (0.0, 0.035, 0.035, 0.02, 0.0, 0.0)])
def test_ten_squeezes_with_a_still_hand_creep_nowhere(so101, solver, droop):
    rig = so101.rig(solver, droop=droop, lag=0.06, delay=1)
    start = rig.tool
    for _ in range(10):
        rig.engage += 1
        for _ in range(20):
            rig.step(HAND)
    assert away(rig.reference, so101.home) < 1e-4
    assert math.dist(rig.tool, start) < 2e-4


def test_a_joint_three_degrees_outside_its_limit_stays_and_only_comes_back(so101):
    over = so101.robot.joints[1].lower - math.radians(3.0)
    start = (0.0, over, 1.0, 0.6, 0.05, 0.0)
    rig = so101.rig("differential", start=start)
    path = [rig.step(moved((0.0005 * k if k > 10 else 0.0, 0.0, 0.0))).position for k in range(120)]
    assert path[10][:5] == pytest.approx(start[:5], abs=1e-9)
    lifts = [p[1] for p in path]
    assert min(lifts) >= over - 1e-12
    assert lifts[-1] > over


@pytest.mark.parametrize("change", ["engage", "connection", "epoch", "recentred", "gap"])
def test_each_reason_to_anchor_anew_starts_from_the_newest_reference(so101, change):
    rig = so101.rig()
    for k in range(30):
        rig.step(moved((0.001 * k, 0.0, 0.0)))
    before = rig.reference
    rig.sequence = 0 if change == "connection" else rig.sequence
    rig.engage += change == "engage"
    rig.connection += change == "connection"
    rig.epoch += change == "epoch"
    if change == "gap":
        lost = rig.step(moved((0.2, 0.1, 0.0)), flags=int(PoseFlags.POSITION_VALID | PoseFlags.ORIENTATION_VALID))
        assert (lost.position, lost.status) == (before, TargetStatus.HELD)
    target = rig.step(moved((0.25, 0.1, 0.0)), recentred=change == "recentred")
    assert target.position == before
    assert target.status == TargetStatus.OK


def test_inertial_guesses_of_a_lost_hand_move_nothing(so101):
    """Twenty frames drifting with tracked bits clear, then 73 cm back: held, anchored anew, first step small."""
    rig = so101.rig()
    for k in range(20):
        rig.step(moved((0.001 * k, 0.0, 0.0)))
    held = rig.reference
    for k in range(20):
        assert rig.step(moved((0.02 + 0.01 * k, 0.0, 0.0)), flags=3).position == held
    assert rig.step(moved((-0.7, 0.0, 0.0))).position == held
    assert away(rig.step(moved((-0.7 + 0.001, 0.0, 0.0))).position, held) < 0.02


def test_idle_holds_the_reference_and_says_so(so101):
    rig = so101.rig()
    rig.state = Authority.IDLE
    for k in range(5):
        target = rig.step(moved((0.1 * k, 0.0, 0.0)), trigger=1.0)
        assert (target.position, target.status) == (so101.home, TargetStatus.HELD)
    assert rig.core.state.arms[0].anchor is None


# ---- heading
def test_turning_after_the_engage_does_not_swing_the_arm(so101):
    rig = so101.rig()
    rig.step(HAND)
    start = rig.tool
    for k in range(40):
        turned = records.Pose((0.0, 0.0, 1.6), quat_from_axis_angle((0, 0, 1), 0.03 * k))
        rig.head = records.TrackedPose(turned, int(PoseFlags.ALL))
        rig.step(moved((0.001 * k, 0.0, 0.0)))
    for _ in range(15):  # it comes to rest on the hand
        rig.step(moved((0.001 * k, 0.0, 0.0)))
    assert [a - b for a, b in zip(rig.tool, start)] == pytest.approx((0.039, 0.0, 0.0), abs=2e-4)


def test_without_a_heading_there_is_no_first_anchor_but_a_later_one_keeps_the_last(so101):
    rig = so101.rig()
    seen, rig.head = rig.head, records.TrackedPose()
    assert rig.step(HAND).status == TargetStatus.HELD
    rig.head = seen
    assert rig.step(HAND).status == TargetStatus.OK
    rig.head = records.TrackedPose()
    for _ in range(120):  # longer than a lost head's heading counts at a first engage
        assert rig.step(HAND).status == TargetStatus.OK
    rig.engage += 1
    assert rig.step(HAND).status == TargetStatus.OK


# ---- reach, leash, floor
@pytest.mark.parametrize("solver", SOLVERS)
def test_pushed_far_past_reach_the_arm_comes_back_with_the_hand_at_once(so101, solver):
    rig = so101.rig(solver)
    x = 0.0
    for _ in range(180):
        x = min(x + 0.003, 0.4)
        out = rig.step(moved((x, 0.0, 0.05)))
    assert max(out.residual_position, abs(x - 0.4)) < 1e-3
    rest = rig.tool
    came = []
    for _ in range(100):
        x -= 0.0005
        rig.step(moved((x, 0.0, 0.05)))
        came.append(rest[0] - rig.tool[0])
    # leaving full stretch takes sqrt(2·distance·curvature) of joint travel, from rest: some frames for a start
    assert came[9] > 0.5e-3
    assert came[-1] == pytest.approx(0.05, abs=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_blocked_arm_stores_no_motion(so101, solver):
    rig = so101.rig(solver)
    rig.step(HAND)
    rig.blocked = True
    x = 0.0
    for _ in range(200):
        x += 0.002
        target = rig.step(moved((0.0, x, 0.0)))
        assert away(target.position[:5], rig.measured[:5]) <= so101.robot.leash_simulation + 1e-9
    assert Reason.LEASH in target.reason
    wound = target.position[0]
    for _ in range(10):
        x -= 0.002
        target = rig.step(moved((0.0, x, 0.0)))
    assert abs(target.position[0]) < abs(wound) - 0.05
    rig.blocked = False
    for _ in range(60):
        rig.step(moved((0.0, x, 0.0)))
    assert away(rig.measured, rig.reference) < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_pushed_below_the_bench_the_arm_slides_along_it(so101, solver):
    rig = so101.rig(solver)
    rig.step(HAND)
    start = rig.tool
    for k in range(120):
        target = rig.step(moved((0.0005 * k, 0.0, -0.003 * k)))
    assert Reason.FLOOR in target.reason
    assert so101.robot.floor_clearance < rig.tool[2] < 0.02
    assert rig.tool[0] - start[0] == pytest.approx(0.0005 * 119, abs=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_lagging_drooping_arm_follows_the_hand_and_settles_on_it(so101, solver):
    """60 ms lag, 12 ms delay, 2.8 degrees of droop."""
    rig = so101.rig(solver, droop=(0.0, 0.049, 0.03, 0.02, 0.0, 0.0), lag=0.06, delay=1)
    rig.step(HAND)
    start, worst = rig.tool, 0.0
    for k in range(300):
        x = 0.05 * (1.0 - math.cos(0.02 * k))
        target = rig.step(moved((x, 0.5 * x, 0.0)))
        worst = max(worst, away(target.position[:5], rig.measured[:5]))
        assert not any(target.reason[:5])
    for _ in range(60):
        rig.step(moved((x, 0.5 * x, 0.0)))
    assert worst < so101.robot.leash_simulation
    assert [a - b for a, b in zip(rig.tool, start)] == pytest.approx((x, 0.5 * x, 0.0), abs=1.5e-3)


# ---- gripper
def test_the_gripper_waits_for_the_trigger_and_then_follows_it(so101):
    rig = so101.rig()
    held = so101.home[5]
    rig.step(HAND, trigger=0.0)
    waiting = rig.step(HAND, trigger=0.3)
    assert waiting.position[5] == held
    assert waiting.reason[5] == Reason.TAKE_OVER
    met = rig.step(HAND, trigger=1.0)  # passed the held position between two frames
    assert met.reason[5] == Reason.NONE
    assert met.position[5] < held
    assert [rig.step(HAND, trigger=1.0).position[5] for _ in range(90)][-1] == so101.robot.gripper.closed
    path = [rig.step(HAND, trigger=0.0).position[5] for _ in range(120)]
    assert path[-1] == so101.robot.gripper.open
    fastest = max(HZ * abs(b - a) for a, b in zip(path, path[1:]))
    assert 0.9 * so101.robot.gripper.limits.velocity < fastest < so101.robot.gripper.limits.velocity
    rig.engage += 1
    assert rig.step(HAND, trigger=1.0).position[5] == so101.robot.gripper.open


def test_a_trigger_with_the_dead_man_open_moves_no_gripper(so101):
    rig = so101.rig()
    rig.state = Authority.IDLE
    for trigger in (0.0, 0.5, 1.0):
        assert rig.step(HAND, trigger=trigger).position == so101.home


# ---- feedback and bad input
def test_feedback_that_was_never_seen_holds(so101):
    rig = so101.rig()
    rig.measured = None
    target = rig.step(HAND)
    assert (target.position, target.status, target.feedback_age) == (so101.home, TargetStatus.NO_FEEDBACK, -1.0)


def test_stale_feedback_seeds_from_the_last_command(so101):
    rig = so101.rig("differential")
    rig.step(HAND)
    rig.blocked = True
    rig.age = 0.25
    target = rig.step(moved((0.003, 0.0, 0.0)))
    again = rig.step(moved((0.006, 0.0, 0.0)))
    assert target.status == again.status == TargetStatus.STALE_FEEDBACK
    assert again.seed == pytest.approx(target.position[:5], abs=1e-9)
    assert away(again.position, target.position) > 1e-3


@pytest.mark.parametrize(
    ("position", "orientation"),
    [
        ((math.nan, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
        (HAND, (0.0, 0.0, 0.0, 0.0)),
        (HAND, (math.inf, 0.0, 0.0, 1.0)),
    ],
)
def test_a_pose_that_is_no_pose_holds_although_it_claims_to_be_tracked(so101, position, orientation):
    rig = so101.rig()
    rig.step(HAND)
    target = rig.step(position, orientation)
    assert (target.position, target.status) == (so101.home, TargetStatus.BAD_INPUT)
    assert rig.step(HAND).status == TargetStatus.OK


def test_a_quaternion_of_another_length_is_the_same_attitude(so101):
    rig = so101.rig()
    rig.step(HAND)
    assert away(rig.step(HAND, (0.0, 0.0, 0.0, 1.3)).position, so101.home) < 1e-6


def test_joints_in_another_order_or_not_finite(so101):
    rig = so101.rig()
    rig.names, rig.reference, rig.measured = rig.names[::-1], rig.reference[::-1], rig.measured[::-1]
    target = rig.step(HAND)
    assert target.position == so101.home
    assert target.status == TargetStatus.OK
    rig = so101.rig()
    rig.measured = (math.nan, *so101.home[1:])
    assert rig.step(HAND).status == TargetStatus.BAD_INPUT


@given(
    position=st.tuples(*[st.floats()] * 3),
    orientation=st.tuples(*[st.floats()] * 4),
    trigger=st.floats(),
    measured=st.tuples(*[st.floats()] * 6),
    yaw=st.floats(),
    scale=st.floats(),
)
def test_no_frame_raises_and_every_target_is_finite(so101, position, orientation, trigger, measured, yaw, scale):
    rig = so101.rig("differential", yaw=yaw, scale=scale)
    rig.step(HAND)
    rig.blocked, rig.measured = True, measured
    target = rig.step(position, orientation, trigger=trigger, commit=False)
    assert all(map(math.isfinite, target.position))


# ---- state
def test_repeated_and_older_frames_are_counted_and_answered_by_nothing(so101):
    rig = so101.rig()
    rig.step(HAND)
    frame = rig.frame(HAND)
    inputs = (rig.authority(), rig.session(), rig.feedback())
    assert rig.core.step(rig.time, rig.time, frame, *inputs) is not None
    assert rig.core.step(rig.time, rig.time, frame, *inputs) is None
    assert rig.core.step(rig.time, rig.time, frame._replace(sequence=1), *inputs) is None
    assert rig.core.duplicates == 2


def test_numbers_that_begin_anew_after_a_silence_are_taken_up(so101):
    rig = so101.rig()
    rig.step(HAND)
    inputs = (rig.authority(), rig.session(), rig.feedback())
    absurd = rig.frame(HAND)._replace(sequence=2**64 - 1)
    assert rig.core.step(rig.time, rig.time, absurd, *inputs) is not None
    assert rig.core.step(rig.time + 100_000_000, rig.time, rig.frame(HAND), *inputs) is None
    assert rig.core.step(rig.time + 400_000_000, rig.time, rig.frame(HAND), *inputs) is not None


@pytest.mark.parametrize("space", [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)), ((math.nan, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))])
def test_a_tracking_space_that_is_no_place_holds_and_the_core_goes_on(so101, space):
    rig = so101.rig()
    rig.step(HAND)
    rig.space = records.Transform(*space)
    for recentred in (True, False):
        assert rig.step(HAND, recentred=recentred).position == so101.home
    rig.space = records.Transform()
    assert rig.step(HAND).status == TargetStatus.OK


def test_a_heading_belongs_to_its_connection(so101):
    rig = so101.rig()
    rig.step(HAND)
    rig.head = records.TrackedPose()
    assert rig.step(HAND).status == TargetStatus.OK
    rig.connection += 1
    assert rig.step(HAND).status == TargetStatus.HELD


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_core_restored_from_json_goes_on_to_the_bit(so101, solver):
    one, two = so101.rig(solver, lag=0.05), so101.rig(solver, lag=0.05)
    path = [(moved((0.002 * k, 0.001 * k, -0.001 * k)), quat_from_axis_angle((0, 1, 0), 0.01 * k)) for k in range(60)]
    for place, attitude in path[:30]:
        one.step(place, attitude, trigger=0.4)
        two.step(place, attitude, trigger=0.4)
    text = json.dumps(to_json(two.core.state))
    two.core = Retargeter(two.core.arms)
    two.core.state = from_json(json.loads(text))
    assert two.core.state == one.core.state
    for place, attitude in path[30:]:
        assert one.step(place, attitude) == two.step(place, attitude)


def test_one_arm_never_touches_the_other(so101):
    arms = make_arms(("left", "right"), so101.robot, so101.cell, so101.chain)
    rig = so101.rig()
    rig.core = Retargeter(arms)
    for k in range(5):
        rig.time += 11_000_000
        targets = rig.core.step(
            rig.time, rig.time, rig.frame(moved((0.01 * k, 0, 0))), rig.authority(), rig.session(), rig.feedback()
        )
        # the guard has said nothing about the left arm: it gets no target at all
        assert [arm.arm for arm in targets.arms] == ["right"]


# ---- configuration
def test_unknown_and_repeated_arms_are_refused(so101):
    for arms, said in ((("middle",), "middle"), (("left", "left"), "named once"), ((), "at least one")):
        with pytest.raises(ConfigError, match=said):
            make_arms(arms, so101.robot, so101.cell, so101.chain)


def test_the_model_hash_tells_models_apart(so101, tmp_path):
    text = urdf_path(so101.robot.urdf).read_text()
    other = tmp_path / "other.urdf"
    other.write_text(text.replace('lower="-2.74385"', 'lower="-2.7"', 1))
    assert other.read_text() != text
    assert model_hash(so101.robot) == model_hash(so101.robot)
    assert model_hash(dataclasses.replace(so101.robot, urdf=str(other))) != model_hash(so101.robot)
    assert model_hash(dataclasses.replace(so101.robot, tip_link="wrist")) != model_hash(so101.robot)


def test_a_state_with_numbers_that_are_none_survives_json(so101):
    rig = so101.rig()
    rig.step(HAND)
    state = rig.core.state
    state = state._replace(arms=(state.arms[0]._replace(level=math.inf, trigger=math.nan, grip=-0.0),))
    text = json.dumps(to_json(state), allow_nan=False)
    assert repr(from_json(json.loads(text))) == repr(state)


@pytest.mark.parametrize("solver", SOLVERS)
@given(st.lists(st.tuples(*[st.floats(-0.4, 0.4)] * 3, st.integers(1, 15)), min_size=1, max_size=6), st.floats(-2.0, 2.0))
def test_a_hand_that_leaps_anywhere_asks_no_more_speed_and_acceleration_than_joints_have(so101, solver, leaps, turn):
    rig = so101.rig(solver)
    path = [rig.step(HAND).position[:5]]
    for x, y, z, frames in leaps:
        attitude = quat_from_axis_angle((0, 1, 0), turn * x)
        path += [rig.step(moved((x, y, z)), attitude).position[:5] for _ in range(frames)]
    speed = [[HZ * (b - a) for a, b in zip(p, q)] for p, q in zip(path, path[1:])]
    for before, after in zip([[0.0] * 5, *speed], speed):
        for joint, v, w in zip(so101.robot.joints, before, after):
            assert abs(w) <= joint.velocity * (1.0 + 1e-6)
            assert abs(w - v) * HZ <= joint.acceleration * (1.0 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [0.6, -1.0, 6.2832])
def test_a_measurement_that_no_motor_can_make_true_draws_a_still_hands_arm_nowhere(so101, solver, offset):
    rig = so101.rig(solver)
    held = rig.step(HAND).position
    true = rig.measured
    for k in range(60):
        rig.measured = (true[0] + offset, *true[1:]) if k % 4 == 0 or k > 40 else true
        target = rig.step(HAND)
        assert target.position == pytest.approx(held, abs=1e-6)
    assert target.status == TargetStatus.STALE_FEEDBACK


def test_after_lost_frames_the_arm_starts_from_rest(so101):
    rig = so101.rig("analytic")
    for k in range(40):
        before = rig.step(moved((0.0, 0.006 * k, 0.0))).position
    rig.time += 130_000_000
    after = rig.step(moved((0.0, 0.3, 0.0))).position
    assert max(abs(a - b) for a, b in zip(after[:5], before[:5])) <= 20.0 * 0.1**2 + 1e-9
