"""The direct wrist: its joints ride the hand's attitude, a gain per axis, and position is left alone."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_common.errors import ConfigError
from teleop_common.spatial import quat_from_axis_angle, quat_from_yaw, quat_multiply, quat_rotate, quat_to_rotvec
from teleop_ik import wrist
from teleop_ik.kinematics import forward
from teleop_ik.params import RetargeterParams
from teleop_ik.setup_arms import from_parameters

HAND = (0.3, -0.2, 1.0)
SOLVERS = ["analytic", "differential", "velocity", "levenberg_marquardt", "point_dls"]
AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}
NOD = math.radians(11.0)
WRIST, ROLL = 3, 4  # joints


def turned(rig, axis, angle, frames=120):
    """Turn the hand about ``axis`` in 0.7 s and wait; return the joints' change and the farthest the tool was from its place."""
    rig.step(HAND)
    start, tool, worst = rig.reference, rig.tool, 0.0
    for k in range(frames):
        rig.step(HAND, quat_from_axis_angle(axis, angle * min(1.0, k / 60)))
        worst = max(worst, math.dist(rig.tool, tool))
    return [a - b for a, b in zip(rig.reference, start)], worst


def level(so101):
    """Return a start whose tool is level: there roll turns the last joint alone, and yaw neither of the two."""
    joints = [*so101.home[:3], 0.0, *so101.home[4:]]
    joints[WRIST] = -joints[1] - joints[2]
    return tuple(joints)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("axis", "joint"), [("roll", ROLL), ("pitch", WRIST)])
def test_each_axis_of_the_hand_turns_its_joint_by_its_gain(so101, solver, axis, joint):
    gains = tuple(1.5 if name == axis else 0.5 for name in AXES)
    by, worst = turned(so101.rig(solver, start=level(so101), wrist="direct", wrist_gains=gains), AXES[axis], NOD)
    other = WRIST + ROLL - joint
    assert abs(by[joint]) == pytest.approx(1.5 * NOD, rel=2e-3)
    assert abs(by[other]) < 1e-3
    assert worst < 4e-3  # ``velocity`` trails by its time constant; the others keep the place to a tenth of a millimetre
    assert worst < 1e-4 or solver == "velocity"


def test_the_way_of_each_joint_is_the_way_of_the_hand(so101):
    """Nodding down lowers the tool's approach; a hand that rolls to the right rolls the tool to the right."""
    for axis in ("roll", "pitch"):
        rig = so101.rig("analytic", start=level(so101), wrist="direct", wrist_gains=(1.0, 1.0, 1.0))
        rig.step(HAND)
        before = forward(so101.chain, rig.measured[:5])
        by, _ = turned(rig, AXES[axis], NOD)
        after = before.axes[ROLL - (axis == "pitch")]
        told = tuple(by[ROLL - (axis == "pitch")] * a for a in after)
        assert told == pytest.approx(tuple(NOD * a for a in AXES[axis]), abs=2e-3)


def test_yaw_turns_a_level_tool_not_and_rolls_one_that_points_down(so101):
    """Five joints have no yaw of the approach; towards the vertical yaw is roll."""
    gains = (0.0, 0.0, 1.5)
    by, _ = turned(so101.rig("analytic", start=level(so101), wrist="direct", wrist_gains=gains), AXES["yaw"], NOD)
    assert max(abs(by[WRIST]), abs(by[ROLL])) < 1e-3
    down = [*level(so101)]
    down[1], down[2] = -0.4, 0.9
    down[WRIST] = 0.5 * math.pi - down[1] - down[2]
    by, _ = turned(so101.rig("analytic", start=tuple(down), wrist="direct", wrist_gains=gains), AXES["yaw"], NOD)
    assert abs(by[ROLL]) == pytest.approx(1.5 * NOD, rel=5e-3)
    assert abs(by[WRIST]) < 1e-3


def test_the_ride_is_exaggerated_by_default(so101):
    by, _ = turned(so101.rig("analytic", start=level(so101), wrist="direct"), AXES["pitch"], NOD)
    assert RetargeterParams().wrist == "ik"
    assert by[WRIST] == pytest.approx(1.5 * NOD, rel=2e-3)


def test_the_axes_are_those_of_the_operators_heading(so101):
    """An operator who faces another way turns the same joint by the same nod."""
    heading = 1.1
    rig = so101.rig("analytic", start=level(so101), wrist="direct")
    rig.head = rig.head._replace(pose=rig.head.pose._replace(orientation=quat_from_yaw(heading)))
    by, _ = turned(rig, quat_rotate(quat_from_yaw(heading), AXES["pitch"]), NOD)
    assert by[WRIST] == pytest.approx(1.5 * NOD, rel=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_moving_a_hand_that_does_not_turn_leaves_the_wrist_alone(so101, solver):
    rig = so101.rig(solver, wrist="direct")
    rig.step(HAND)
    start, tool = rig.reference, rig.tool
    for k in range(120):
        rig.step(tuple(a + min(1.0, k / 60) * b for a, b in zip(HAND, (0.04, 0.03, 0.05))))
    assert [rig.reference[i] for i in (WRIST, ROLL)] == pytest.approx([start[i] for i in (WRIST, ROLL)], abs=1e-6)
    assert [a - b for a, b in zip(rig.tool, tool)] == pytest.approx((0.04, 0.03, 0.05), abs=2e-4)


@pytest.mark.parametrize("solver", ["analytic", "differential", "levenberg_marquardt"])
def test_where_a_riding_wrist_would_keep_the_tool_short_it_gives_way_and_comes_back(so101, solver):
    rig = so101.rig(solver, wrist="direct")
    rig.step(HAND)
    start, tool = rig.reference, rig.tool
    for k in range(240):
        rig.step((HAND[0] + 0.22 * min(1.0, k / 120), *HAND[1:]))
    # 3 cm more than with the wrist where it was, and about on the edge of reach
    assert [a - b for a, b in zip(rig.tool, tool)] == pytest.approx((0.22, 0.0, 0.0), abs=3e-3)
    assert abs(rig.reference[WRIST] - start[WRIST]) > 0.2
    for k in range(300):
        rig.step((HAND[0] + 0.22 * max(0.0, 1.0 - k / 120), *HAND[1:]))
    assert rig.reference[WRIST] == pytest.approx(start[WRIST], abs=1e-3)
    assert rig.tool == pytest.approx(tool, abs=1e-3)


@pytest.mark.parametrize("solver", ["analytic", "differential"])
@settings(max_examples=40)
@given(data=st.data())
def test_engaging_with_a_direct_wrist_changes_nothing(so101, solver, data):
    """Any attitude of the hand, scale, droop, and a start outside the limits."""
    margin = so101.robot.mechanical_margin
    start = tuple(data.draw(st.floats(j.lower - margin, j.upper + margin)) for j in so101.robot.all_joints)
    droop = tuple(data.draw(st.floats(-0.05, 0.05)) for _ in start)
    axis = data.draw(st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda a: math.hypot(*a) > 0.1))
    attitude = quat_from_axis_angle(axis, data.draw(st.floats(-3.0, 3.0)))
    rig = so101.rig(solver, start=start, droop=droop, scale=data.draw(st.floats(0.1, 5.0)), wrist="direct")
    assert rig.step(HAND, attitude).position == start
    for _ in range(5):
        target = rig.step(HAND, attitude, commit=False)
        assert max(abs(a - b) for a, b in zip(target.position[:5], start)) < 1e-3


def test_a_blocked_wrist_stores_no_ride(so101):
    """What the leash cuts of it is forgiven: turning back moves the wrist at once."""
    rig = so101.rig("analytic", start=level(so101), wrist="direct")
    rig.step(HAND)
    rig.blocked = True
    for k in range(90):
        rig.step(HAND, quat_from_axis_angle(AXES["pitch"], 0.01 * min(k, 60)))
    held = rig.reference[WRIST]
    for k in range(10):
        rig.step(HAND, quat_from_axis_angle(AXES["pitch"], 0.6 - 0.01 * k))
    assert rig.reference[WRIST] < held - 0.05


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3), st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_exaggeration_multiplies_each_component(vector, gains):
    angle = math.hypot(*vector)
    turn = quat_from_axis_angle(vector, angle) if angle > 1e-9 else (0.0, 0.0, 0.0, 1.0)
    by = wrist.exaggerated(turn, gains)
    told = tuple(k * v for k, v in zip(gains, vector))
    size = math.hypot(*told)
    expected = quat_from_axis_angle(told, size) if size > 1e-9 else (0.0, 0.0, 0.0, 1.0)
    apart = quat_to_rotvec(quat_multiply(by, (-expected[0], -expected[1], -expected[2], expected[3])))
    assert math.hypot(*apart) < 1e-6


def test_two_wrist_axes_in_line_share_a_turn():
    rows = wrist.riding(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    angles = wrist.wanted((0.0, 0.0, 0.0), rows, (0.0, 0.0, 0.4))
    assert angles == pytest.approx((0.2, 0.0, 0.2), abs=1e-3)


def test_gains_that_are_not_three_are_refused(so101):
    parameters = {name: getattr(RetargeterParams(), name) for name in RetargeterParams.__dataclass_fields__}
    with pytest.raises(ConfigError, match="roll, pitch, yaw"):
        from_parameters({**parameters, "wrist_gains": (1.0, 2.0)}, so101.robot, so101.cell)
