"""The filter's distances and step checks against two others: MuJoCo's contacts of the same pieces, and the original triangles."""

import functools
import os

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from guard_space import CELL, fine, scene
from guard_world import ROBOT

from bench.clearance import draw
from teleop_description.assets import package_dirs, urdf_path
from teleop_description.models import arm_model
from teleop_description.pinocchio_compat import coal
from teleop_safety.space import _se3

NIGHTLY = bool(os.environ.get("TELEOP_NIGHTLY"))
CONFIGURATIONS = 1_000_000 if NIGHTLY else 400
STEPS = 100_000 if NIGHTLY else 60
pytestmark = pytest.mark.timeout(6 * 3600 if NIGHTLY else 300)  # a million take some two hours
LOW = np.array([j.lower for j in ROBOT.all_joints] * 2)
HIGH = np.array([j.upper for j in ROBOT.all_joints] * 2)
ARMS = ("left", "right")


@functools.cache
def meshes():
    """Original meshes: for each pair of bodies the indices of their parts, with all parts' shapes, joints and placements."""
    model, urdf = arm_model(ROBOT), urdf_path(ROBOT.urdf)
    parts = pin.buildGeomFromUrdf(
        model, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(f) for f in package_dirs(urdf)]
    ).geometryObjects
    made_of, found = {}, []
    for arm in ARMS:
        first = next(body.joint for body in scene().bodies if body.arm == arm and body.joint) - 1
        for part in parts:
            joint = part.parentJoint + first if part.parentJoint else 0
            base = pin.SE3.Identity() if joint else _se3(CELL.mount(arm))
            body = next(i for i, b in enumerate(scene().bodies) if b.arm == arm and b.joint == joint)
            made_of.setdefault(body, []).append(len(found))
            found.append((part.geometry, joint, base * part.placement))
    return made_of, found


def touching(q):
    """Return the watched pairs of bodies whose original triangles meet at ``q``."""
    made_of, parts = meshes()
    model = scene().model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    places = [data.oMi[joint] * place for _shape, joint, place in parts]
    request, result = coal.CollisionRequest(), set()
    for k, (a, b) in enumerate(scene().pairs[: scene().floor]):
        for i in made_of[a]:
            for j in made_of[b]:
                if coal.collide(parts[i][0], places[i], parts[j][0], places[j], request, coal.CollisionResult()):
                    result.add(k)
    return result


@functools.cache
def simulated():
    """A MuJoCo model of the same pieces, each a body of its own that is put where it belongs."""
    layer, spec = fine()._fine, mujoco.MjSpec()
    for i, each in enumerate(layer.solids):
        mesh = spec.add_mesh(name=f"m{i}", uservert=each.corners.flatten().tolist())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        body = spec.worldbody.add_body(name=f"b{i}")  # free: what stands still is not collided
        body.add_freejoint()
        body.add_geom(name=f"g{i}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"m{i}")
    model = spec.compile()
    for i in range(len(layer.solids)):
        assert model.geom(f"g{i}").id == i
    return model, mujoco.MjData(model), {(p.one, p.two): p.group for p in layer.pairs}


def contacts(q):
    """Return the watched pairs of bodies whose pieces MuJoCo finds in contact at ``q``."""
    model, data, groups = simulated()
    layer, own = fine()._fine, scene().model.createData()
    pin.forwardKinematics(scene().model, own, q)
    turn = np.empty(4)
    for i, each in enumerate(layer.solids):
        mujoco.mju_mat2Quat(turn, own.oMi[each.joint].rotation.flatten())
        data.qpos[7 * i : 7 * i + 7] = *own.oMi[each.joint].translation, *turn
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    found = {tuple(sorted(map(int, contact.geom))) for contact in data.contact if contact.dist < -1e-5}
    return {groups[pair] for pair in found if pair in groups}


def test_whatever_meshes_or_simulator_call_contact_is_no_distance_for_the_filter():
    rng, seen = np.random.default_rng(4), [0, 0]
    for _ in range(CONFIGURATIONS):
        q = draw(rng, LOW, HIGH)
        ours = fine().distances(q)
        for which, theirs in enumerate((touching(q), contacts(q))):
            seen[which] += bool(theirs)
            for k in theirs:
                assert ours[k] <= 1e-6, (q.tolist(), k)
    assert min(seen) > CONFIGURATIONS / 20, "too few contacts to show anything"


def test_step_that_passes_is_free_of_contact_all_the_way():
    rng, judged = np.random.default_rng(5), 0
    while judged < STEPS:
        q = draw(rng, LOW, HIGH)
        if min(fine().distances(q)) < 0.002:
            continue
        delta, lag = rng.uniform(-0.05, 0.05, 12), rng.uniform(-0.12, 0.12, 12)
        before, after, now = q, q + delta, q + lag
        if min(fine().distances(now)) < 0.002:
            continue
        # the gripper takes no part: it is where it was measured
        before[[5, 11]] = after[[5, 11]] = now[[5, 11]]
        poses = [{arm: tuple(v[6 * i : 6 * i + 6]) for i, arm in enumerate(ARMS)} for v in (before, after, now)]
        verdict = fine().judge(*poses)
        kept = before.copy()
        for i, arm in enumerate(ARMS):
            part = slice(6 * i, 6 * i + 6)
            kept[part] = before[part] + verdict.kept(arm) * (after[part] - before[part])
        if min(fine().distances(before)) < 0.002:
            continue
        judged += 1
        for share in np.linspace(0.0, 1.0, 7):
            assert not touching(before + share * (kept - before))
            if verdict.least > 0.0:
                assert not touching(now + share * (kept - now))
