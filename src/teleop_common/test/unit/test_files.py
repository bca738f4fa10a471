"""The limits and cell files: the shipped ones load, each kind of mistake is named with file, key, value and range."""

from pathlib import Path

import pytest
import yaml

from teleop_common import cell, limits
from teleop_common.errors import ConfigError

CONFIG = Path(__file__).parents[4] / "config"


def edited(tmp_path, name, change):
    tree = yaml.safe_load((CONFIG / name).read_text())
    change(tree)
    path = tmp_path / Path(name).name
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    return path


def test_shipped_limits_load_in_chain_order():
    robot = limits.load(CONFIG / "limits/so101.yaml")
    assert robot.names == ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
    assert robot.arm_names("left")[0] == "left_shoulder_pan"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda t: t["joints"]["elbow_flex"].update(lower=2.0), "joints.elbow_flex.lower"),
        (lambda t: t["joints"]["elbow_flex"].update(velocity=9.0), "joints.elbow_flex.velocity"),
        (lambda t: t["joints"]["elbow_flex"].update(home=float("nan")), "joints.elbow_flex.home"),
        (lambda t: t["joints"]["elbow_flex"].update(speed=1.0), "joints.elbow_flex.speed"),
        (lambda t: t["joints"]["elbow_flex"].pop("upper"), "joints.elbow_flex.upper"),
        (lambda t: t.update(leash={"simulation": 0.25}), "leash.hardware"),
        (lambda t: t.update(joints={}), "joints"),
        (lambda t: t.update(colour="red"), "colour"),
        (lambda t: t.update(joints=[1]), "joints"),
    ],
)
def test_wrong_limits_are_named(tmp_path, change, key):
    path = edited(tmp_path, "limits/so101.yaml", change)
    with pytest.raises(ConfigError) as caught:
        limits.load(path)
    assert f"'{key}'" in str(caught.value)
    assert str(path) in str(caught.value)


def test_shipped_cell_loads_and_unknown_arm_is_named():
    room = cell.load(CONFIG / "cell.yaml")
    assert room.mount("left").position[1] > 0 > room.mount("right").position[1]
    with pytest.raises(ConfigError, match="'third'.*one of left, right"):
        room.mount("third")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda t: t["bench"].update(height="low"), "bench.height"),
        (lambda t: t["mounts"]["left"].update(position=[0, 0]), "mounts.left.position"),
        (lambda t: t.update(boxes=[{"name": "wall", "position": [0, 0, 0], "size": [0, 1, 1]}]), "boxes[0].size"),
        (lambda t: t.update(walls=[]), "walls"),
    ],
)
def test_wrong_cell_is_named(tmp_path, change, key):
    with pytest.raises(ConfigError) as caught:
        cell.load(edited(tmp_path, "cell.yaml", change))
    assert f"'{key}'" in str(caught.value)


def test_absent_and_broken_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match="nowhere.yaml"):
        limits.load(tmp_path / "nowhere.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1, 2")
    with pytest.raises(ConfigError, match="valid YAML"):
        limits.load(broken)


@pytest.mark.parametrize(("name", "read"), [("cell.yaml", cell.load), ("limits/so101.yaml", limits.load)])
def test_a_key_that_stands_twice_is_named_with_its_file_and_line(tmp_path, name, read):
    text = (CONFIG / name).read_text()
    key = next(line for line in text.splitlines() if line and line[0].isalpha()).partition(":")[0]
    path = tmp_path / "twice.yaml"
    path.write_text(f"{text}\n{key}: 1\n")
    with pytest.raises(ConfigError, match=f'twice.yaml.*"{key}" stands twice.*line {len(text.splitlines()) + 2}'):
        read(path)
