import numpy as np
import pinocchio as pin
import pytest
from guard_space import FLOOR, MARGIN, collision, links, scene, true_distances
from guard_world import HOME, ROBOT
from hypothesis import given, settings
from hypothesis import strategies as st

from teleop_description.pinocchio_compat import coal
from teleop_safety.collision import TOLERANCE

LOW = np.array([j.lower for j in ROBOT.all_joints])
HIGH = np.array([j.upper for j in ROBOT.all_joints])
GRIP = len(ROBOT.joints)
BOTH = {"left": HOME, "right": HOME}


def moved(joints, **changes):
    values = list(joints)
    for index, change in changes.items():
        values[int(index[1:])] += change
    return tuple(values)


def inward(pan):
    """Both arms stretched forwards and panned towards each other by ``pan`` [rad]; +pan turns an arm to its own right."""
    stretched = (0.0, 0.4, -0.2, 0.3, 0.0486795, 0.0)
    return {"left": moved(stretched, j0=pan), "right": moved(stretched, j0=-pan)}


def blend(start, goal, scale):
    return {
        arm: tuple(s + scale * (g - s) if i < GRIP else s for i, (s, g) in enumerate(zip(start[arm], goal.get(arm, start[arm]))))
        for arm in start
    }


def test_home_is_clear_of_everything_by_twice_the_margin():
    assert collision().clearance(BOTH, BOTH).committed > 2 * MARGIN


def test_step_far_from_contact_is_kept_whole():
    verdict = collision().judge(BOTH, {"left": moved(HOME, j0=0.02)}, BOTH)
    assert verdict.scale == 1.0
    assert verdict.floor == {}


def test_arms_driven_together_stop_at_the_margin_and_name_the_pair():
    guard, pose, verdict = collision(), inward(0.0), None
    for _ in range(200):
        goal = {arm: moved(pose[arm], j0=0.02 if arm == "left" else -0.02) for arm in pose}
        verdict = guard.judge(pose, goal, pose)
        pose = blend(pose, goal, verdict.scale)
    least = min(true_distances(scene(), pose))
    assert verdict.scale < 0.01
    assert MARGIN - 1e-4 <= least <= MARGIN + 2e-3
    assert {name.split("_")[0] for name in verdict.pair} == {"left", "right"}


def test_pulling_apart_from_the_margin_passes_at_once():
    guard, pose = collision(), inward(0.0)
    for _ in range(200):
        goal = {arm: moved(pose[arm], j0=0.02 if arm == "left" else -0.02) for arm in pose}
        pose = blend(pose, goal, guard.judge(pose, goal, pose).scale)
    apart = {arm: moved(pose[arm], j0=-0.02 if arm == "left" else 0.02) for arm in pose}
    assert guard.judge(pose, apart, pose).scale == 1.0


def test_start_inside_the_margin_may_improve_but_not_worsen():
    guard, pose = collision(), inward(0.0)
    while min(true_distances(scene(), pose)) > 0.5 * MARGIN:
        pose = {arm: moved(pose[arm], j0=0.005 if arm == "left" else -0.005) for arm in pose}
    closer = {arm: moved(pose[arm], j0=0.01 if arm == "left" else -0.01) for arm in pose}
    apart = {arm: moved(pose[arm], j0=-0.01 if arm == "left" else 0.01) for arm in pose}
    assert guard.judge(pose, closer, pose).scale < 0.02
    assert guard.judge(pose, apart, pose).scale == 1.0


def test_way_from_a_lagging_measurement_counts_as_well_as_the_commit():
    guard, stretched = collision(), (0.0, 0.4, -0.2, 0.3, 0.0486795, 0.0)
    # right is stretched towards the left side; left was measured before it and is commanded behind it
    right = moved(stretched, j0=-0.75)
    committed = {"left": moved(stretched, j0=0.1), "right": right}
    measured = {"left": moved(stretched, j0=1.8), "right": right}
    ends = [min(true_distances(scene(), pose)) for pose in (committed, measured)]
    way = min(min(true_distances(scene(), blend(measured, committed, s))) for s in np.linspace(0, 1, 40))
    assert min(ends) > MARGIN
    assert way < 0.0
    goal = {"left": moved(committed["left"], j0=-0.01)}
    assert guard.judge(committed, goal, measured).scale == 0.0
    assert guard.judge(committed, goal, committed).scale == 1.0


def test_arm_never_heard_of_holds_every_arm():
    verdict = collision().judge({"left": HOME}, {"left": moved(HOME, j0=0.02)}, {"left": HOME})
    assert verdict.scale == 0.0
    assert "right" in verdict.why


def test_gripper_never_takes_part():
    guard = collision()
    opened = {"left": moved(HOME, j5=1.0)}
    assert guard.judge(BOTH, opened, BOTH).scale == 1.0
    pose = inward(0.0)
    for _ in range(200):
        goal = {arm: moved(pose[arm], j0=0.02 if arm == "left" else -0.02) for arm in pose}
        pose = blend(pose, goal, guard.judge(pose, goal, pose).scale)
    assert guard.judge(pose, {"left": moved(pose["left"], j5=1.5)}, pose).scale == 1.0


def test_pushing_into_the_bench_stops_above_it_for_that_arm_alone():
    guard, pose = collision(), dict(BOTH)
    share = 1.0
    for _ in range(200):
        goal = {"left": moved(pose["left"], j1=0.02), "right": moved(pose["right"], j0=-0.001)}
        verdict = guard.judge(pose, goal, pose)
        share = verdict.floor.get("left", 1.0)
        assert "right" not in verdict.floor
        step = {arm: blend({arm: pose[arm]}, {arm: goal[arm]}, verdict.kept(arm))[arm] for arm in pose}
        pose = step
        if share < 0.01:
            break
    assert share < 0.01
    heights = lowest(pose["left"])
    assert FLOOR - 1e-5 <= heights <= FLOOR + 2e-3


def lowest(joints):
    space = scene()
    data = space.model.createData()
    pin.forwardKinematics(space.model, data, np.array([*joints, *HOME]))
    points = []
    for body in space.bodies:
        if body.arm == "left" and body.joint > 1:
            place = data.oMi[body.joint]
            points.append((body.hull @ place.rotation.T + place.translation)[:, 2].min())
    return min(points)


JOINTS = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12)


def each(most):
    return st.lists(st.floats(-most, most), min_size=12, max_size=12)


@settings(max_examples=60)
@given(
    JOINTS, st.lists(st.floats(-0.05, 0.05), min_size=12, max_size=12), st.lists(st.floats(-0.1, 0.1), min_size=12, max_size=12)
)
def test_kept_part_of_any_step_lets_no_pair_get_worse_than_allowed(where, step, lag):
    pose = {arm: tuple(LOW + (HIGH - LOW) * where[6 * i : 6 * i + 6]) for i, arm in enumerate(("left", "right"))}
    goal = {arm: tuple(np.array(pose[arm]) + step[6 * i : 6 * i + 6]) for i, arm in enumerate(pose)}
    measured = {arm: tuple(np.array(pose[arm]) + lag[6 * i : 6 * i + 6]) for i, arm in enumerate(pose)}
    gripper = {arm: (*pose[arm][:GRIP], *measured[arm][GRIP:]) for arm in pose}
    verdict = collision().judge(pose, goal, measured)
    after = {arm: blend({arm: gripper[arm]}, {arm: goal[arm]}, verdict.kept(arm))[arm] for arm in pose}
    before = true_distances(scene(), gripper)
    for old, new in zip(before, true_distances(scene(), after)):
        assert new >= min(MARGIN, old) - TOLERANCE - 1e-5


@settings(max_examples=60)
@given(JOINTS)
def test_capsules_never_report_more_than_hulls(where):
    pose = {arm: tuple(LOW + (HIGH - LOW) * where[6 * i : 6 * i + 6]) for i, arm in enumerate(("left", "right"))}
    coarse = collision(geometry="capsules").clearance(pose, pose).committed
    assert coarse <= min(true_distances(scene(), pose)) + 1e-6 or coarse < 0.0


@settings(max_examples=100)
@given(JOINTS, each(0.3))
def test_no_pair_moves_nearer_than_its_bound_says(where, step):
    space = scene()
    delta = np.array(step)
    pose = {arm: tuple(LOW + (HIGH - LOW) * where[6 * i : 6 * i + 6]) for i, arm in enumerate(("left", "right"))}
    after = {arm: tuple(np.array(pose[arm]) + delta[6 * i : 6 * i + 6]) for i, arm in enumerate(pose)}
    bound = space.reach.sway @ np.abs(delta)
    for old, new, most in zip(true_distances(space, pose), true_distances(space, after), bound):
        if old > 0.0 and new > 0.0:
            assert new >= old - most - 1e-4


def test_pairs_are_all_but_adjacent_ones_and_wrist_with_jaw():
    space = scene()
    names = {tuple(space.bodies[i].name for i in pair) for pair in space.pairs[: space.floor]}
    own = {pair for pair in names if all(name.startswith("left_") for name in pair)}
    assert len(own) == 14
    assert ("left_wrist_link", "left_moving_jaw_so101_v1_link") not in own
    assert ("left_base_link", "left_shoulder_link") not in own
    cross = {pair for pair in names if {name.split("_")[0] for name in pair} == {"left", "right"}}
    assert len(cross) == 7 * 7 - 1  # both bases stand still


def test_pair_left_out_though_not_adjacent_cannot_touch():
    by_name = {shape.name: shape for shape in links()}
    wrist, jaw = by_name["wrist_link"], by_name["moving_jaw_so101_v1_link"]
    space = scene()
    bodies = [next(i for i, b in enumerate(space.bodies) if b.name == f"left_{s.name}") for s in (wrist, jaw)]
    a, b = (space.fine.geometryObjects[i].geometry for i in bodies)
    data, placed = space.model.createData(), space.fine.createData()
    for roll in np.linspace(LOW[4] - 0.17, HIGH[4] + 0.17, 25):
        for grip in np.linspace(LOW[5] - 0.17, HIGH[5] + 0.17, 15):
            q = np.array([0, 0, 0, 0, roll, grip, *HOME])
            pin.updateGeometryPlacements(space.model, data, space.fine, placed, q)
            answer = coal.DistanceResult()
            assert coal.distance(a, placed.oMg[bodies[0]], b, placed.oMg[bodies[1]], coal.DistanceRequest(), answer) > 0.002


def test_single_arm_needs_no_other():
    guard = collision(("right",))
    assert guard.judge({"right": HOME}, {"right": moved(HOME, j0=0.02)}, {"right": HOME}).scale == 1.0


def test_clearance_of_unknown_arm_is_not_a_number():
    assert np.isnan(collision().clearance({"left": HOME}, {}).committed)


@pytest.mark.parametrize("count", [4])
def test_nearest_pairs_carry_points_as_far_apart_as_their_distance(count):
    pose = inward(0.1)
    clearance = collision().clearance(pose, pose)
    assert len(clearance.pairs) == count
    for pair in clearance.pairs:
        gap = np.linalg.norm(np.array(pair.points[0]) - pair.points[1])
        assert gap == pytest.approx(pair.distance, abs=1e-4)
