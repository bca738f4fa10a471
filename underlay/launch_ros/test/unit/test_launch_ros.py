"""What this workspace expects of launch_ros; passes on the real package as well. No node runs: a script shows its arguments."""

import re

import pytest
import yaml

pytest.importorskip("launch_ros")

from launch import LaunchContext, LaunchDescription, LaunchService  # noqa: E402
from launch.actions import GroupAction, SetLaunchConfiguration  # noqa: E402
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, TextSubstitution  # noqa: E402
from launch_ros.actions import Node, PushROSNamespace, SetParameter  # noqa: E402
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue  # noqa: E402
from launch_ros.substitutions import ExecutableInPackage, FindPackagePrefix, FindPackageShare  # noqa: E402


@pytest.fixture(autouse=True)
def prefix(tmp_path, monkeypatch):
    """An install prefix with one package ``demo`` whose executable writes its arguments and the parameter files to a file."""
    (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/demo").touch()
    (tmp_path / "share/demo").mkdir()
    (tmp_path / "lib/demo").mkdir(parents=True)
    script = tmp_path / "lib/demo/show"
    script.write_text(
        f"""#!/bin/sh
        out={tmp_path}/out.$$
        for word in "$@"; do
            echo "arg $word" >> $out
            case $word in /*launch_params*|*.yaml) sed 's/^/yaml /' "$word" >> $out; echo "yaml ---" >> $out;; esac
        done
        echo "env $DEMO" >> $out
        """
    )
    script.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    return tmp_path


class Seen:
    """Arguments, parameter files and environment that a started executable saw."""

    def __init__(self, text):
        lines = [line.split(" ", 1) for line in text.splitlines()]
        self.args = [value for key, value in lines if key == "arg"]
        self.files = [d for d in yaml.safe_load_all("\n".join(v for k, v in lines if k == "yaml")) if d]
        self.env = [value for key, value in lines if key == "env"][0]
        self.rules = [b for a, b in zip(self.args, self.args[1:]) if a in ("-r", "--remap")]

    @property
    def parameters(self):
        return {key: value for file in self.files for node in file.values() for key, value in node["ros__parameters"].items()}


def start(prefix, *actions):
    """Run a launch and return what each started executable saw, in the order of their numbers."""
    service = LaunchService()
    service.include_launch_description(LaunchDescription(list(actions)))
    assert service.run() == 0
    return [Seen(path.read_text()) for path in sorted(prefix.glob("out.*"), key=lambda p: p.stat().st_mtime_ns)]


def show(**options):
    return Node(package="demo", executable="show", **options)


def parameters_of(prefix, *parameters):
    return start(prefix, SetLaunchConfiguration("n", "3"), SetLaunchConfiguration("s", "007"), show(parameters=[*parameters]))[
        0
    ].parameters


def test_package_substitutions_find_the_install(prefix):
    context = LaunchContext()
    assert FindPackagePrefix("demo").perform(context) == str(prefix)
    assert FindPackageShare(TextSubstitution(text="demo")).perform(context) == str(prefix / "share/demo")
    assert PathJoinSubstitution([FindPackageShare("demo"), "config"]).perform(context) == str(prefix / "share/demo/config")
    assert ExecutableInPackage("show", "demo").perform(context) == str(prefix / "lib/demo/show")


@pytest.mark.parametrize("missing", [FindPackageShare("nothing"), ExecutableInPackage("nothing", "demo")])
def test_package_or_executable_that_is_missing_raises(missing):
    with pytest.raises(Exception, match="nothing"):
        missing.perform(LaunchContext())


def test_missing_executable_fails_the_launch():
    service = LaunchService()
    service.include_launch_description(LaunchDescription([Node(package="demo", executable="nothing")]))
    assert service.run() == 1


def test_node_gets_name_namespace_remappings_arguments_and_environment(prefix):
    seen = start(
        prefix,
        SetLaunchConfiguration("target", "/there"),
        show(
            name="guard",
            namespace="left",
            remappings=[("here", LaunchConfiguration("target"))],
            arguments=["--fast", ["a", "b"]],
            ros_arguments=["--log-level", "warn"],
            additional_env={"DEMO": "yes"},
        ),
    )[0]
    assert seen.args[:3] == ["--fast", "ab", "--ros-args"]
    assert "__node:=guard" in seen.rules
    assert [rule.replace("/", "") for rule in seen.rules if rule.startswith("__ns")] == ["__ns:=left"]
    assert "here:=/there" in seen.rules
    assert "--log-level" in seen.args
    assert seen.env == "yes"


def test_node_without_options_gets_no_rules(prefix):
    seen = start(prefix, show())[0]
    assert seen.rules == []
    assert seen.files == []


def test_parameters_of_a_dictionary_keep_their_types(prefix):
    values = {"i": 1, "f": 0.5, "b": True, "s": "1", "l": ["a", "true"], "m": [1, 2.5], "nested": {"deep": {"x": 2}}}
    assert parameters_of(prefix, values) == {
        "i": 1,
        "f": 0.5,
        "b": True,
        "s": "1",
        "l": ["a", "true"],
        "m": [1.0, 2.5],
        "nested.deep.x": 2,
    }


def test_parameters_from_substitutions_are_read_as_yaml_unless_typed(prefix):
    found = parameters_of(
        prefix,
        {
            "number": LaunchConfiguration("n"),
            "joined": [LaunchConfiguration("n"), ".5"],
            "text": ParameterValue(LaunchConfiguration("s"), value_type=str),
            "float": ParameterValue(LaunchConfiguration("n"), value_type=float),
            "list": ParameterValue(["[", LaunchConfiguration("n"), ", 4]"]),
            LaunchConfiguration("s"): "key",
        },
    )
    assert found == {"number": 3, "joined": 3.5, "text": "007", "float": 3.0, "list": [3, 4], "007": "key"}
    assert isinstance(found["float"], float)


@pytest.mark.parametrize("value", [[], ParameterValue("[1, a]"), ParameterValue("{a: 1}")])
def test_parameter_that_ros_cannot_hold_fails_the_launch(value):
    service = LaunchService()
    service.include_launch_description(LaunchDescription([show(parameters=[{"p": value}])]))
    assert service.run() == 1


def test_parameters_that_are_no_list_raise():
    with pytest.raises(Exception):  # noqa: B017 (the classes differ between versions)
        start(None, show(parameters="file.yaml"))


def test_parameter_files_are_passed_in_order(prefix):
    first, second = prefix / "first.yaml", prefix / "second.yaml"
    for path in (first, second):
        path.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"who": path.stem}}}))
    context_path = PathJoinSubstitution([str(prefix), "second.yaml"])
    seen = start(prefix, show(parameters=[str(first), {"a": 1}, ParameterFile(context_path)]))[0]
    assert [list(file.values())[0]["ros__parameters"] for file in seen.files] == [{"who": "first"}, {"a": 1}, {"who": "second"}]


def test_pushed_namespace_holds_inside_its_group_only(prefix):
    groups = [
        GroupAction([PushROSNamespace("robot"), PushROSNamespace("left"), show(name="a", namespace="in")]),
        GroupAction([PushROSNamespace("right"), show(name="b", namespace="/alone")]),
    ]
    seen = start(prefix, *groups, show(name="c"))
    by_name = {re.search(r"__node:=(\w)", " ".join(s.rules)).group(1): [r for r in s.rules if r.startswith("__ns")] for s in seen}
    assert by_name == {"a": ["__ns:=/robot/left/in"], "b": ["__ns:=/alone"], "c": []}


def test_set_parameter_holds_for_later_nodes_of_the_scope(prefix):
    scope = GroupAction([SetParameter("use_sim_time", True), show(name="in", parameters=[{"p": 1}])])
    seen = {
        s.args[s.args.index("__node:=in")] if "__node:=in" in s.args else "out": s for s in start(prefix, scope, show(name="out"))
    }
    inside, outside = seen["__node:=in"], seen["out"]
    assert "use_sim_time" in str(inside.files) + str(inside.args)
    assert "use_sim_time" not in str(outside.files) + str(outside.args)


def test_process_label_is_the_executable_unless_given(prefix, capfd):
    start(prefix, show(name="node_name"), show(exec_name="label"))
    shown = capfd.readouterr()
    assert re.search(r"\[show-\d+\]", shown.out + shown.err)
    assert re.search(r"\[label-\d+\]", shown.out + shown.err)


def test_text_that_looks_like_a_number_to_rcl_is_quoted(prefix):
    start(prefix, show(parameters=[{"code": ParameterValue("035850", value_type=str)}]))
    (shown,) = prefix.glob("out.*")
    assert '"035850"' in shown.read_text()
