"""Cutting surfaces into convex pieces: nothing of the surface is left outside, and little else is inside."""

import fcntl
import time

import numpy as np
import pinocchio as pin
import pytest
from guard_space import MARGIN, fine, made
from guard_world import HOME, ROBOT
from test_collision import blend, inward, moved
from test_shapes import URDF, one_joint

from teleop_description import hulls
from teleop_description.pinocchio_compat import coal, convex_hull
from teleop_safety import pieces, refine, splitting
from teleop_safety.decompose import decompose


def box(low, high):
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return hulls._faces(corners)


def area(triangles):
    sides = triangles[:, 1:] - triangles[:, :1]
    return 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum()


def angle():
    """Two bars of 20 mm that meet at a right angle, 100 mm each."""
    return np.concatenate((box((0, 0, 0), (0.1, 0.02, 0.02)), box((0, 0, 0), (0.02, 0.1, 0.02))))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cut_keeps_the_area_and_each_half_its_side(axis):
    rng = np.random.default_rng(axis)
    triangles = rng.normal(size=(200, 3, 3))
    low, high = splitting.cut(triangles, axis, 0.3)
    assert low[:, :, axis].max() <= 0.3 + 1e-9
    assert high[:, :, axis].min() >= 0.3 - 1e-9
    assert area(low) + area(high) == pytest.approx(area(triangles))


def test_angle_is_cut_at_its_corner_and_not_without_need():
    parts = splitting.split(angle(), 8)
    volumes = [convex_hull(np.unique(part.reshape(-1, 3), axis=0), faces=True).computeVolume() for part in parts]
    true = 0.02 * 0.02 * (0.1 + 0.08)
    assert sum(volumes) == pytest.approx(true, rel=0.1)
    assert len(splitting.split(box((0, 0, 0), (0.1, 0.1, 0.1)), 8)) == 1


def test_thinned_corners_inflated_contain_all_points():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    points *= 0.03 / np.linalg.norm(points, axis=1)[:, None]
    corners, radius = splitting.thin(points, 40, 3e-4)
    assert len(corners) <= 41
    assert 0.0 < radius < 0.006
    assert splitting._outside(points, convex_hull(corners, faces=True)).max() <= radius


def test_flat_surface_becomes_a_slab():
    corners, radius = splitting.thin(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]]), 40, 3e-4)
    assert np.ptp(corners[:, 2]) >= 1e-4
    assert radius < 1e-3


def test_every_point_of_the_meshes_is_inside_a_piece_of_its_link():
    rng = np.random.default_rng(2)
    here = pin.SE3.Identity()
    for joint, triangles in hulls.surfaces(ROBOT).items():
        chosen = triangles[rng.integers(0, len(triangles), 150)]
        weights = rng.dirichlet((0.7, 0.7, 0.7), 150)
        points = (chosen * weights[:, :, None]).sum(axis=1)
        own = [(convex_hull(p.corners, faces=True), p.radius) for p in made() if p.joint == joint]
        for point in points:
            place, ball = pin.SE3(np.eye(3), point), coal.Sphere(1e-6)
            out = [coal.distance(ball, place, s, here, coal.DistanceRequest(), coal.DistanceResult()) - r for s, r in own]
            assert min(out) <= 1e-6


def test_pieces_are_made_once_and_read_from_the_cache(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    assert pieces.cached(robot, tmp_path / "cache") is None
    assert decompose(robot.source, tmp_path / "cache")
    found = pieces.cached(robot, tmp_path / "cache")
    assert [piece.joint for piece in found] == [0, 1]
    assert np.ptp(found[1].corners[:, 0]) == pytest.approx(0.2, abs=1e-6)
    kept = pieces.cache(robot, tmp_path / "cache").read_bytes()
    for damaged in (b"damaged", b"", kept[:300]):
        pieces.cache(robot, tmp_path / "cache").write_bytes(damaged)
        assert pieces.cached(robot, tmp_path / "cache") is None


def test_second_process_leaves_the_work_to_the_first(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    path = pieces.cache(robot, tmp_path)
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not decompose(robot.source, tmp_path)


def test_refinement_hands_on_pieces_that_a_process_beside_it_made(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot, got = one_joint(tmp_path, small), []
    beside = refine.Refinement(robot, robot.source, got.append, tmp_path / "cache")
    beside._thread.join(60.0)
    beside.close()
    assert len(got) == 1
    assert len(got[0]) == 2


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_cache_that_cannot_be_written_is_told_with_a_remedy_and_pieces_come_once_it_can(tmp_path, monkeypatch):
    monkeypatch.setattr(refine, "_AGAIN", 0.2)
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot, got, home = one_joint(tmp_path, small), [], tmp_path / "home"
    home.write_text("a file where a folder ought to be")
    beside = refine.Refinement(robot, robot.source, got.append, home / "cache")
    try:
        assert within(60.0, lambda: beside.trouble)
        for part in (str(home / "cache"), "'Not a directory'", "XDG_CACHE_HOME", "hulls meanwhile"):
            assert part in beside.trouble
        home.unlink()
        assert within(60.0, lambda: got)
        assert within(5.0, lambda: not beside.trouble)
    finally:
        beside.close()


def test_cutting_that_is_killed_or_cannot_read_its_robot_says_so(tmp_path):
    small = tmp_path / "one.urdf"
    small.write_text(URDF)
    robot = one_joint(tmp_path, small)
    beside = refine.Refinement(ROBOT, ROBOT.source, lambda made: None, tmp_path / "cache")
    try:
        assert within(60.0, lambda: beside._child)
        beside._child.kill()
        assert within(5.0, lambda: "signal 9" in beside.trouble)
    finally:
        beside.close()
    beside = refine.Refinement(robot, str(tmp_path / "gone.yaml"), lambda made: None, tmp_path / "cache")
    try:
        assert within(60.0, lambda: "gone.yaml" in beside.trouble)
    finally:
        beside.close()


def test_what_fails_again_and_again_is_tried_less_and_less_often():
    pauses = [refine.pause(n) for n in range(10)]
    assert pauses[:4] == [20.0, 20.0, 40.0, 80.0]
    assert pauses[-1] == pauses[-2] == 640.0
    assert refine.pause(5000) == 640.0


def test_refinement_that_is_closed_leaves_no_process(tmp_path):
    beside = refine.Refinement(ROBOT, ROBOT.source, lambda made: None, tmp_path / "cache")
    beside.close()
    assert not beside._thread.is_alive()
    assert beside._child is None or beside._child.wait(5.0) is not None


def test_arms_driven_together_stop_at_the_margin_of_their_pieces():
    guard, pose = fine(), inward(0.0)
    for _ in range(200):
        goal = {arm: moved(pose[arm], j0=0.02 if arm == "left" else -0.02) for arm in pose}
        verdict = guard.judge(pose, goal, pose)
        pose = blend(pose, goal, verdict.scale)
    assert verdict.scale < 0.01
    assert guard.geometry == "pieces"
    clearance = guard.clearance(pose, pose)
    assert MARGIN - 2e-6 <= clearance.committed <= MARGIN + 1e-3
    pair = clearance.pairs[0]
    assert np.linalg.norm(np.subtract(*pair.points)) == pytest.approx(pair.distance, abs=1e-4)
    apart = {arm: moved(pose[arm], j0=-0.02 if arm == "left" else 0.02) for arm in pose}
    assert guard.judge(pose, apart, pose).scale == 1.0


def test_home_is_farther_from_everything_than_by_hulls():
    both = {"left": HOME, "right": HOME}
    assert fine().clearance(both, both).committed >= 2 * MARGIN
