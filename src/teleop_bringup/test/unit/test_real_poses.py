"""Forward kinematics against reality: 24 poses of a real SO-101, its encoders and what a camera saw of a marker on its hand.

If the kinematics are those of the arm, one camera pose and one marker pose explain all of them. The data are not part of this
repository (legalaspro/so101-ros-physical-ai, Apache-2.0): the tests skip where they are absent.
"""

from pathlib import Path

import numpy as np
import pytest
import yaml

from teleop_bringup.recordings import REAL_DATA
from teleop_common import limits
from teleop_description.assets import urdf_path
from teleop_ik.kinematics import forward
from teleop_ik.setup_arms import read_chain

SAMPLES = REAL_DATA / "so101_static_poses/legalaspro_eye_on_base.samples.yaml"
ROBOT = limits.load(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")
pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the real arm's poses are not beside the repository")


@pytest.fixture(scope="module")
def samples():
    """Joints (24, 5) by name, and the marker in the camera (24, 4, 4)."""
    rows = yaml.safe_load(SAMPLES.read_text())
    named = [dict(zip(row["joint_names"], row["joint_values"], strict=True)) for row in rows]
    joints = np.array([[values[joint.name] for joint in ROBOT.joints] for values in named])
    return joints, np.array([row["tracking"] for row in rows])


def tools(joints):
    """Return the tool in the base (n, 4, 4)."""
    chain = read_chain(urdf_path(ROBOT.urdf), ROBOT)
    poses = np.tile(np.eye(4), (len(joints), 1, 1))
    for pose, row in zip(poses, joints, strict=True):
        posture = forward(chain, tuple(row.tolist()))
        pose[:3, :3], pose[:3, 3] = np.reshape(posture.rotation, (3, 3)), posture.position
    return poses


def rotation(matrix):
    """Return the rotation nearest to a matrix of either sign."""
    u, _, v = np.linalg.svd(matrix * np.sign(np.linalg.det(matrix)))
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v


def camera_and_marker(tool, seen):
    """Return camera in base and marker in tool that explain tool · marker = camera · seen best.

    Rotations from the first singular vectors of Σ R_seen ⊗ R_tool, positions by least squares.
    [M. Shah, Solving the Robot-World/Hand-Eye Calibration Problem Using the Kronecker Product, J. Mechanisms Robotics 2013]
    """
    u, _, v = np.linalg.svd(sum(np.kron(b[:3, :3], a[:3, :3]) for a, b in zip(tool, seen, strict=True)))
    camera, marker = np.eye(4), np.eye(4)
    camera[:3, :3] = rotation(u[:, 0].reshape(3, 3, order="F"))
    marker[:3, :3] = rotation(v[0].reshape(3, 3, order="F"))
    rows = np.concatenate([np.hstack([a[:3, :3], -np.eye(3)]) for a in tool])
    right = np.concatenate([camera[:3, :3] @ b[:3, 3] - a[:3, 3] for a, b in zip(tool, seen, strict=True)])
    found = np.linalg.lstsq(rows, right, rcond=None)[0]
    marker[:3, 3], camera[:3, 3] = found[:3], found[3:]
    return camera, marker


def residuals(joints, seen):
    """Return the distance [mm] and the angle [deg] between each seen marker and where it should be."""
    tool = tools(joints)
    camera, marker = camera_and_marker(tool, seen)
    expected = np.linalg.inv(camera) @ tool @ marker
    cosine = (np.trace(np.swapaxes(expected[:, :3, :3], 1, 2) @ seen[:, :3, :3], axis1=1, axis2=2) - 1.0) / 2.0
    return 1e3 * np.linalg.norm(expected[:, :3, 3] - seen[:, :3, 3], axis=1), np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def test_one_camera_and_one_marker_explain_all_poses(samples):
    distance, angle = residuals(*samples)
    print(f"position {rms(distance):.1f} mm rms, {np.median(distance):.1f} median, {distance.max():.1f} max;", end=" ")
    print(f"attitude {rms(angle):.1f} deg rms, {np.median(angle):.1f} median, {angle.max():.1f} max")
    # a marker of a few centimetres, half a metre from a webcam, is seen to a centimetre and some degrees
    assert rms(distance) < 12.0
    assert np.median(distance) < 8.0
    assert np.median(angle) < 6.0


@pytest.mark.parametrize("joint", range(5))
def test_turning_any_joint_the_other_way_round_explains_them_no_more(samples, joint):
    joints, seen = samples
    wrong = joints.copy()
    wrong[:, joint] *= -1.0
    assert rms(residuals(wrong, seen)[0]) > 4.0 * rms(residuals(joints, seen)[0])


def test_the_order_in_which_they_are_written_explains_them_no_more(samples):
    joints, seen = samples
    assert rms(residuals(joints[:, ::-1], seen)[0]) > 4.0 * rms(residuals(joints, seen)[0])
