"""Rendering: pictures show the state, markers and shadows change them, other scenes' states are refused."""

import dataclasses
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

os.environ.setdefault("MUJOCO_GL", "egl")

from teleop_common import cell as cell_module  # noqa: E402
from teleop_common import limits as limits_module  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_description import scene  # noqa: E402
from teleop_sim.physics import Physics  # noqa: E402
from teleop_sim.rendering import SceneRenderer  # noqa: E402
from teleop_sim.views import load_views  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[4]
LIMITS = limits_module.load(REPOSITORY / "config/limits/so101.yaml")
CELL = cell_module.load(REPOSITORY / "config/cell.yaml")
ARMS = ("left", "right")
VIEWS = {view.name: view for view in load_views(REPOSITORY / "config/cameras.yaml", ARMS)}


@pytest.fixture(scope="module")
def setting():
    model = scene.build(ARMS, CELL, LIMITS)
    renderer = SceneRenderer(model, [f"{arm}_{LIMITS.tip_link}" for arm in ARMS], CELL.bench_height)
    yield renderer, Physics(model, ARMS, LIMITS, CELL)
    renderer.close()


def count(picture, near, tolerance=45):
    return int(np.sum(np.all(np.abs(picture.astype(int) - near) < tolerance, axis=2)))


def test_every_shipped_view_has_its_camera_and_another_name_is_refused(setting):
    renderer, _ = setting
    renderer.check(list(VIEWS.values()))
    with pytest.raises(ConfigError, match=r"'basement'.*overshoulder"):
        renderer.check([dataclasses.replace(VIEWS["overhead"], name="basement")])


def test_default_view_shows_both_arms_cubes_and_zone(setting):
    renderer, physics = setting
    renderer.set_state(physics.state()[0])
    picture = renderer.picture(VIEWS["overshoulder"])
    assert picture.shape == (480, 640, 3)
    half = picture.shape[1] // 2
    assert count(picture[:, :half], (250, 200, 40)) > 1000  # left arm
    assert count(picture[:, half:], (70, 170, 230)) > 1000  # right arm
    assert count(picture, (40, 200, 150)) > 500  # place zone
    assert count(picture, (220, 40, 35)) > 80  # red cube


def test_moved_arm_moves_in_the_picture(setting):
    renderer, physics = setting
    view = dataclasses.replace(VIEWS["overhead"], width=160, height=120)
    renderer.set_state(physics.state()[0])
    before = renderer.picture(view).copy()
    qpos = np.array(physics.state()[0])
    qpos[renderer.model.joint("left_shoulder_pan").qposadr[0]] += 0.5
    assert renderer.set_state(qpos)
    assert np.mean(np.any(renderer.picture(view) != before, axis=2)) > 0.01


@pytest.mark.parametrize("change", [{"markers": False}, {"shadows": True}, {"antialias": True}])
def test_options_change_the_picture(setting, change):
    renderer, physics = setting
    renderer.set_state(physics.state()[0])
    view = dataclasses.replace(VIEWS["overshoulder"], width=320, height=240)
    plain = renderer.picture(view).copy()
    assert np.any(renderer.picture(dataclasses.replace(view, **change)) != plain)


def test_jpeg_decodes_to_the_configured_size(setting):
    renderer, _ = setting
    view = dataclasses.replace(VIEWS["left_wrist"], width=320, height=200)
    image = Image.open(io.BytesIO(renderer.jpeg(view)))
    assert (image.format, image.size) == ("JPEG", (320, 200))


@pytest.mark.parametrize("bad", [[0.0] * 46, [float("nan")] * 47, []])
def test_state_of_another_scene_is_refused_and_changes_nothing(setting, bad):
    renderer, physics = setting
    renderer.set_state(physics.state()[0])
    before = renderer.data.qpos.copy()
    assert not renderer.set_state(bad)
    assert np.array_equal(renderer.data.qpos, before)


def test_focal_length_fits_the_field_of_view(setting):
    renderer, _ = setting
    view = VIEWS["overhead"]
    fovy = np.radians(renderer.model.camera("overhead").fovy[0])
    assert 2 * np.arctan(view.height / 2 / renderer.focal_length(view)) == pytest.approx(fovy)
