"""The composed cell: framing of the cameras, what is physical and what is not, and whether the task can be done in it."""

import dataclasses
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from teleop_common import cell as cell_module
from teleop_common import limits as limits_module
from teleop_common.errors import ConfigError
from teleop_description import arm_spec, cameras, scene
from teleop_description.models import arm_model, tool_frame_id

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")
CELL = cell_module.load(REPOSITORY / "config/cell.yaml")
ARMS = ("left", "right")
HOME = [j.home for j in LIMITS.all_joints]


@pytest.fixture(scope="module")
def model():
    return scene.build(ARMS, CELL, LIMITS)


def at_home(model):
    data = mujoco.MjData(model)
    for arm in ARMS:
        for name, home in zip(LIMITS.arm_names(arm), HOME, strict=True):
            data.joint(name).qpos[0] = home
            data.actuator(name).ctrl[0] = home
    mujoco.mj_forward(model, data)
    return data


def picture_position(model, data, camera, point, aspect=4 / 3):
    """Return the place of a world point in the picture: right and up, -1 to 1 inside; depth must be positive."""
    index = model.camera(camera).id
    local = data.cam_xmat[index].reshape(3, 3).T @ (np.asarray(point) - data.cam_xpos[index])
    half = np.tan(np.radians(model.cam_fovy[index]) / 2)
    assert local[2] < 0.0, "behind the camera"
    return np.array([local[0] / -local[2] / half / aspect, local[1] / -local[2] / half])


def workspace_points(model):
    zone = model.geom(scene.PLACE_ZONE)
    points = [zone.pos + [dx, dy, 0] for dx in (-zone.size[0], zone.size[0]) for dy in (-zone.size[0], zone.size[0])]
    points += [np.array([x, y, z]) for x, y in CELL.cube_slots for z in (CELL.bench_height, CELL.bench_height + scene.CUBE_EDGE)]
    return points + [np.array(CELL.mount(arm).position) for arm in ARMS]


@pytest.mark.parametrize("camera", ["overshoulder", "overhead", "front"])
def test_operator_camera_frames_cubes_zone_and_mounts_and_looks_down(model, camera):
    data = at_home(model)
    for point in workspace_points(model):
        assert np.all(np.abs(picture_position(model, data, camera, point)) < 0.97), f"{camera} does not see {point}"
    aim = -data.cam_xmat[model.camera(camera).id].reshape(3, 3)[:, 2]
    assert aim[2] < -0.3


@pytest.mark.parametrize(("camera", "sign"), [("overshoulder", 1), ("overhead", 1), ("front", -1)])
def test_operators_left_is_left_in_the_picture_behind_and_right_from_the_front(model, camera, sign):
    data = at_home(model)
    left = picture_position(model, data, camera, data.body("left_gripper_link").xpos)
    right = picture_position(model, data, camera, data.body("right_gripper_link").xpos)
    assert sign * (right[0] - left[0]) > 0.2


@pytest.mark.parametrize("arm", ARMS)
def test_wrist_camera_sees_both_finger_tips_near_the_middle(model, arm):
    data = at_home(model)
    for pad in arm_spec.PADS:
        assert np.all(np.abs(picture_position(model, data, f"{arm}_wrist", data.geom(f"{arm}_{pad}").xpos)) < 0.5)
    aim = -data.cam_xmat[model.camera(f"{arm}_wrist").id].reshape(3, 3)[:, 2]
    assert aim[2] < 0.0


def test_at_home_nothing_touches_but_cubes_and_bench(model):
    data = at_home(model)
    for contact in data.contact:
        bodies = {model.body(model.geom_bodyid[g]).name for g in (contact.geom1, contact.geom2)}
        assert "world" in bodies
        assert (bodies - {"world"}).pop() in scene.CUBES


def test_backdrop_and_place_zone_are_not_physical_but_bench_and_obstacles_are(model):
    for name in (scene.BACKDROP, scene.PLACE_ZONE):
        assert model.geom(name).contype[0] == model.geom(name).conaffinity[0] == 0
    assert model.geom(scene.BENCH).contype[0] == 1
    walled = dataclasses.replace(CELL, boxes=(cell_module.Box("wall", (0.2, 0.6, 0.1), (0.5, 0.02, 0.2), 0.3),))
    wall = scene.build(ARMS, walled, LIMITS).geom("box_wall")
    assert wall.contype[0] == 1
    assert wall.size == pytest.approx([0.25, 0.01, 0.1])


def test_cube_swept_off_the_bench_comes_to_rest_on_the_floor(model):
    data = at_home(model)
    data.joint("cube_red").qpos[:3] = [0.25, 1.0, 0.1]
    mujoco.mj_step(model, data, nstep=1500)
    assert data.body("cube_red").xpos[2] == pytest.approx(model.geom(scene.FLOOR).pos[2] + scene.CUBE_EDGE / 2, abs=0.002)
    assert np.linalg.norm(data.joint("cube_red").qvel) < 0.05


@pytest.mark.parametrize(("kp", "droop_deg"), [(998.22, (0.0, 0.05)), (14.5, (1.5, 3.0))])
def test_arm_droops_as_its_gains_say(kp, droop_deg):
    options = scene.SceneOptions(arm=arm_spec.ArmOptions(kp=kp, kv=1.0))
    model = scene.build(ARMS, CELL, LIMITS, options)
    data = at_home(model)
    mujoco.mj_step(model, data, nstep=1500)
    droop = [abs(data.joint(name).qpos[0] - home) for name, home in zip(LIMITS.arm_names("left"), HOME, strict=True)]
    assert droop_deg[0] <= np.degrees(max(droop)) <= droop_deg[1]


def test_pads_hold_a_cube_that_is_carried_and_shaken(model):
    data = at_home(model)
    pads = [f"left_{pad}" for pad in arm_spec.PADS]
    gripper = data.joint("left_gripper")
    gripper.qpos[0] = 0.46  # pads parallel, 40 mm apart
    mujoco.mj_forward(model, data)
    cube = data.joint("cube_red")
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, data.geom(pads[0]).xmat)
    pose = np.concatenate([(data.geom(pads[0]).xpos + data.geom(pads[1]).xpos) / 2, quat])
    data.actuator("left_gripper").ctrl[0] = LIMITS.gripper.closed
    for _ in range(200):
        cube.qpos[:], cube.qvel[:] = pose, 0.0
        mujoco.mj_step(model, data)

    def in_hand():
        hand = data.body("left_gripper_link")
        return hand.xmat.reshape(3, 3).T @ (data.body("cube_red").xpos - hand.xpos)

    mujoco.mj_step(model, data, nstep=250)
    start = in_hand()
    for step in range(1500):
        data.actuator("left_shoulder_pan").ctrl[0] = 0.4 * np.sin(step * 0.002 * 2 * np.pi)
        data.actuator("left_shoulder_lift").ctrl[0] = HOME[1] + 0.2 * np.sin(step * 0.002 * 3 * np.pi)
        mujoco.mj_step(model, data)
    assert np.linalg.norm(in_hand() - start) < 0.004


@pytest.mark.parametrize("arm", ARMS)
def test_finger_tip_lands_in_the_place_zone_with_the_wrist_well_inside_its_limit(arm):
    """Both arms, at the middle and the edges of the zone, at bench level, pointing 60° down."""
    model = arm_model(LIMITS)
    data, tool = model.createData(), tool_frame_id(model, LIMITS)
    radius = CELL.place_zone_radius * 0.8
    for dx, dy in ((0, 0), (radius, 0), (-radius, 0), (0, radius), (0, -radius)):
        mount = CELL.mount(arm).position
        target = np.array([CELL.place_zone[0] + dx, CELL.place_zone[1] + dy, CELL.bench_height + 0.02]) - mount
        q = np.array(HOME)
        for _ in range(200):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            pitch = q[1] + q[2] + q[3]
            error = np.append(target - data.oMf[tool].translation, np.radians(60.0) - pitch)
            jacobian = pin.getFrameJacobian(model, data, tool, pin.LOCAL_WORLD_ALIGNED)[:3]
            jacobian = np.vstack([jacobian, [0, 1, 1, 1, 0, 0]])[:, :4]
            q[:4] += np.clip(jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(4), error), -0.2, 0.2)
        assert np.linalg.norm(error[:3]) < 1e-4
        margins = [min(j.upper - v, v - j.lower) for j, v in zip(LIMITS.joints, q, strict=False)]
        assert min(margins) > np.radians(10.0)
        assert abs(q[3]) < LIMITS.joints[3].upper - np.radians(20.0)


def test_hash_is_equal_for_equal_scenes_and_differs_with_any_number(model):
    assert scene.model_hash(scene.build(ARMS, CELL, LIMITS)) == scene.model_hash(model)
    assert scene.model_hash(scene.build(("right",), CELL, LIMITS)) != scene.model_hash(model)
    heavier = scene.SceneOptions(arm=arm_spec.ArmOptions(pad_friction=1.0))
    assert scene.model_hash(scene.build(ARMS, CELL, LIMITS, heavier)) != scene.model_hash(model)


def test_too_few_cube_slots_and_unknown_arm_are_refused():
    with pytest.raises(ConfigError, match="cube_slots"):
        scene.build(ARMS, dataclasses.replace(CELL, cube_slots=CELL.cube_slots[:4]), LIMITS)
    with pytest.raises(ConfigError, match="middle"):
        scene.build(("middle",), CELL, LIMITS)


def test_camera_matrix_looks_along_minus_z_with_up_up():
    matrix = cameras.look_at((0, 0, 1), (1, 0, 0), (0, 0, 1))
    assert -matrix[:, 2] == pytest.approx(np.array([1, 0, -1]) / np.sqrt(2))
    assert matrix[2, 1] > 0.0
    assert np.linalg.det(matrix) == pytest.approx(1.0)
