"""The mesh cache: lighter, near the original, made once, whole under contention."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from teleop_common.errors import ConfigError
from teleop_description import assets, meshes

SOURCE = assets.mesh_dir("so101") / "wrist_roll_follower_so101_v1.stl"


def extent(triangles):
    return np.stack([triangles.min((0, 1)), triangles.max((0, 1))])


def test_decimated_mesh_has_a_fifth_of_the_triangles_and_the_same_extent(tmp_path):
    full = meshes.read_stl(SOURCE)
    light = meshes.read_stl(meshes.decimated(SOURCE, 0.06, 0.0005, folder=tmp_path))
    assert len(light) < len(full) / 5
    assert extent(light) == pytest.approx(extent(full), abs=0.0005)


def test_second_call_uses_the_cached_file(tmp_path):
    path = meshes.decimated(SOURCE, 0.06, 0.0005, folder=tmp_path)
    written = path.stat().st_mtime_ns
    assert meshes.decimated(SOURCE, 0.06, 0.0005, folder=tmp_path) == path
    assert path.stat().st_mtime_ns == written


def test_changed_source_or_settings_give_another_file(tmp_path):
    changed = tmp_path / SOURCE.name
    changed.write_bytes(meshes.stl_bytes(meshes.read_stl(SOURCE)[:2000]))
    paths = {
        meshes.decimated(SOURCE, 0.06, 0.0005, folder=tmp_path / "cache"),
        meshes.decimated(SOURCE, 0.1, 0.0005, folder=tmp_path / "cache"),
        meshes.decimated(changed, 0.06, 0.0005, folder=tmp_path / "cache"),
    }
    assert len(paths) == 3


def make(folder):
    return meshes.decimated(SOURCE, 0.06, 0.0005, folder=Path(folder)).read_bytes()


def test_two_processes_at_once_leave_one_whole_file_and_no_scraps(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.map(make, [str(tmp_path)] * 2)
    assert first == second
    assert len(list(tmp_path.iterdir())) == 1


def test_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        meshes.write_atomically(tmp_path / "mesh.stl", None)
    assert list(tmp_path.iterdir()) == []


def test_truncated_or_missing_file_is_refused_with_its_path(tmp_path):
    broken = tmp_path / "broken.stl"
    broken.write_bytes(SOURCE.read_bytes()[:-10])
    for path in (broken, tmp_path / "absent.stl"):
        with pytest.raises(ConfigError, match=path.name):
            meshes.decimated(path, 0.06, 0.0005, folder=tmp_path / "cache")
