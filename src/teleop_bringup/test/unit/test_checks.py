import pytest

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
    ],
)
def test_a_slip_of_an_argument_is_refused_with_what_is_meant(given, words):
    with pytest.raises(ConfigError, match=words):
        checks.arguments(given, KNOWN)


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
    ],
)
def test_a_parameter_file_of_another_shape_is_refused(tmp_path, text, words):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        checks.parameters(path, NODES)


def test_a_parameter_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="nothing.yaml"):
        checks.parameters(tmp_path / "nothing.yaml", NODES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/**:\n  ros__parameters: {arms: [left]}\n",
        "/ns:\n  guard:\n    ros__parameters: {}\nmy_node:\n  ros__parameters: {}\n",
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
