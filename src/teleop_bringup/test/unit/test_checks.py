import os

import pytest
import yaml
from launch import LaunchContext

from teleop_bringup import checks, graph
from teleop_common import paths
from teleop_common.errors import ConfigError

KNOWN = ("arms", "duration", "params_file")
NODES = ("guard", "retargeter")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"armz": "left"}, "armz"),
        ({"param_file": "x"}, "params_file"),
        ({"duration": "-1"}, "-1"),
        ({"duration": "long"}, "long"),
        ({"https_port": "abc"}, "'https_port': got 'abc'"),
        ({"http_port": "70000"}, "65535"),
        ({"cubes_seed": "1.5"}, "cubes_seed"),
    ],
)
def test_a_slip_of_an_argument_is_refused_with_what_is_meant(given, words):
    with pytest.raises(ConfigError, match=words):
        checks.arguments(given, KNOWN)


@pytest.mark.parametrize("arms", ["left,left", "", "left,right,left", "left,"])
def test_arms_that_cannot_be_are_refused(arms):
    with pytest.raises(ConfigError, match="arm"):
        checks.files({"arms": arms, "cell_file": str(paths.config("cell.yaml"))})


@pytest.mark.parametrize(
    ("argument", "name", "key"),
    [
        ("cell_file", "cell.yaml", "bench"),
        ("limits_file", "limits/so101.yaml", "leash"),
        ("bindings_file", "bindings.yaml", "presets"),
    ],
)
def test_a_key_missing_in_a_file_is_named_with_the_file(tmp_path, argument, name, key):
    tree = yaml.safe_load(paths.config(name).read_text())
    del tree[key]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(ConfigError, match=f"mine.yaml: key '{key}': got nothing"):
        checks.files({"arms": "left", argument: str(path)})


@pytest.mark.parametrize("bind", ["192.0.2.1", "no such host", "300.1.1.1"])
def test_an_address_of_another_machine_is_refused(bind):
    with pytest.raises(ConfigError, match="'bind'.*0.0.0.0 for all"):
        checks.address(bind)


def test_addresses_of_this_machine_pass():
    checks.address("127.0.0.1")
    checks.address("0.0.0.0")


def test_installed_files_and_the_default_arguments_pass():
    installed = {"cell_file": "cell.yaml", "limits_file": "limits/so101.yaml", "bindings_file": "bindings.yaml"}
    given = {argument: str(paths.config(name)) for argument, name in installed.items()}
    checks.files({"arms": "left,right", **given})
    checks.arguments({"https_port": "8443", "http_port": "-1", "cubes_seed": "0"}, ("https_port", "http_port", "cubes_seed"))


def test_known_arguments_and_those_of_another_launch_file_are_left_alone():
    checks.arguments({"arms": "left", "duration": "3.5", "camera_serial": "7"}, KNOWN)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("guard:\n  countdown: 0.5\n", "ros__parameters"),
        ("gaurd:\n  ros__parameters: {countdown: 0.5}\n", "guard"),
        ("guard: 3\n", "guard"),
        ("[1, 2]\n", "ros__parameters"),
        ("a: [b\n", "YAML"),
        ("guard_node:\n  ros__parameters: {countdown: 0.5}\n", "guard, retargeter"),
        ("safety:\n  ros__parameters: {countdown: 0.5}\n", "guard, retargeter"),
        ("/teleop/guard:\n  ros__parameters: {countdown: 0.5}\n", "such as guard"),
        ("teleop:\n  guard:\n    ros__parameters: {countdown: 0.5}\n", "such as guard"),
        ("1:\n  ros__parameters: {}\n", "guard, retargeter|a node's name"),
        ("true:\n  ros__parameters: {}\n", "a node's name"),
        ("guard:\n  ros__parameters: 3\n", "a mapping"),
        ("guard:\n  ros__parameters: {3: 4}\n", "a mapping"),
        ("guard:\n  ros__parameters: {}\nguard:\n  ros__parameters: {}\n", "stands twice"),
    ],
)
def test_a_parameter_file_of_another_shape_is_refused(tmp_path, text, words):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        checks.parameters(path, NODES)


def test_a_parameter_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_bytes(b"\xff\n")
    with pytest.raises(ConfigError, match="p.yaml"):
        checks.parameters(path, NODES)


def test_arms_description_is_made_of_files_in_a_folder_with_a_space(tmp_path):
    folder = tmp_path / "a cell"
    folder.mkdir()
    for name in ("cell.yaml", "limits/so101.yaml"):
        (folder / name.rpartition("/")[2]).write_text(paths.config(name).read_text())
    context = LaunchContext()
    chosen = {"arms": "left", "cell_file": str(folder / "cell.yaml"), "limits_file": str(folder / "so101.yaml")}
    context.launch_configurations.update(chosen)
    assert "left_shoulder_pan" in graph.description().perform(context)


def test_a_parameter_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="nothing.yaml"):
        checks.parameters(tmp_path / "nothing.yaml", NODES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/**:\n  ros__parameters: {arms: [left]}\n",
        "/guard:\n  ros__parameters: {}\n/:\n  retargeter:\n    ros__parameters: {}\n/**/guard:\n  ros__parameters: {}\n",
    ],
)
def test_good_parameter_files_pass(tmp_path, text):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    checks.parameters(path, NODES)


def test_the_installed_parameter_file_passes():
    checks.parameters(paths.config("params.yaml"), ("guard",))


def test_every_launch_argument_is_known():
    assert {"arms", "duration", "params_file", "solver"} <= set(graph.ARGUMENTS)


def test_each_arm_gets_its_port():
    assert checks.ports("auto", ["left", "right"]) == {"left": "auto", "right": "auto"}
    given = "right:/dev/serial/by-id/usb-1a86:0-if00,left:/dev/ttyACM0"
    assert checks.ports(given, ["left", "right"]) == {
        "left": "/dev/ttyACM0",
        "right": "/dev/serial/by-id/usb-1a86:0-if00",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("left:/dev/a", "a port for each of left, right; write ports:=left:/dev/ttyACM0,right:/dev/ttyACM1"),
        ("left:/dev/a,rigth:/dev/b", "a port for each of left, right"),
        ("left:/dev/a,left:/dev/b", "a port for each of left, right"),
        ("left:/dev/a,right:", "a port for each of left, right"),
        ("left:/dev/a,right:/dev/a", "another port for each arm"),
        ("", "a port for each of left, right"),
    ],
)
def test_ports_that_cannot_be_say_what_to_write(text, says):
    with pytest.raises(ConfigError, match="launch argument 'ports'") as caught:
        checks.ports(text, ["left", "right"])
    assert says in str(caught.value)


def test_pseudo_terminal_is_told_from_an_adapter(tmp_path):
    ours, theirs = os.openpty()
    link = tmp_path / "left"
    link.symlink_to(os.ttyname(theirs))
    assert checks.emulated(str(link))
    assert not checks.emulated("/dev/ttyACM0")
    assert not checks.emulated("auto")
    os.close(ours)
    os.close(theirs)


def test_a_pairing_code_that_is_no_code_is_refused_before_it_becomes_part_of_an_expression():
    context = LaunchContext()
    given = {"arms": "left", "web": "true", "side": "all", "bind": "127.0.0.1", "pairing_code": "12'34"}
    context.launch_configurations.update(given)
    with pytest.raises(RuntimeError, match="'pairing_code'.*6 to 64 letters and digits"):
        graph.surroundings()[0].execute(context)
