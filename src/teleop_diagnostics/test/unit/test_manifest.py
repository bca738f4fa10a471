"""plugin.yaml."""

import pytest

from teleop_common.errors import ConfigError
from teleop_diagnostics import manifest

GOOD = """
name: pedals
command: python3 pedals.py
args: [--device, /dev/pedal]
version: 1.2
description: two foot pedals
devices:
  - {path: /left, type: pedal, description: the left one}
  - {path: /right}
"""


def write(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / manifest.FILE).write_text(text)
    return folder


def test_manifest_says_how_to_start_and_what_it_owns(tmp_path):
    plugin = manifest.load(write(tmp_path, GOOD))
    assert plugin.command == ("python3", "pedals.py", "--plugin-root-id=pedals", "--device", "/dev/pedal")
    assert plugin.monitored
    declaration = plugin.declaration()
    assert declaration.id == "plugin/pedals"
    assert [declaration.device_id(d.path) for d in declaration.devices] == ["pedals/left", "pedals/right"]


def test_manifest_without_devices_is_not_monitored(tmp_path):
    assert not manifest.load(write(tmp_path, "name: quiet\ncommand: ./run\n")).monitored


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("name: pedals", "name: foot pedals"), "name"),
        (("name: pedals", ""), "name"),
        (("command: python3 pedals.py", "command: ' '"), "command"),
        (("command: python3 pedals.py", ""), "command"),
        (("path: /right", "path: right"), "devices\\[1\\].path"),
        (("path: /right", "path: /left"), "each path once"),
        (("version: 1.2", "vresion: 1.2"), "vresion"),
        (("args: [--device, /dev/pedal]", "args: --device"), "a list of words"),
    ],
)
def test_wrong_manifest_is_refused_with_the_key(tmp_path, change, words):
    with pytest.raises(ConfigError, match=words):
        manifest.load(write(tmp_path, GOOD.replace(*change)))


def test_folders_of_plugins_are_found_one_level_down(tmp_path):
    write(tmp_path / "a", GOOD)
    write(tmp_path / "b", GOOD.replace("pedals", "gloves"))
    assert [p.root for p in manifest.load_all([tmp_path])] == ["pedals", "gloves"]
    assert [p.root for p in manifest.load_all([tmp_path / "b"])] == ["gloves"]


def test_name_that_two_plugins_have_and_folder_without_one_are_refused(tmp_path):
    write(tmp_path / "a", GOOD)
    write(tmp_path / "b", GOOD)
    with pytest.raises(ConfigError, match="each name once"):
        manifest.load_all([tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"no plugin\.yaml"):
        manifest.load_all([tmp_path / "empty"])
