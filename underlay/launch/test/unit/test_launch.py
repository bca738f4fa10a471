"""What this workspace expects of launch; passes on the real package as well."""

import signal
import sys
import textwrap

import pytest

launch = pytest.importorskip("launch")

from launch import LaunchContext, LaunchDescription, LaunchService  # noqa: E402
from launch.actions import (  # noqa: E402
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    TimerAction,
)
from launch.conditions import IfCondition, UnlessCondition  # noqa: E402
from launch.event_handlers import OnProcessExit  # noqa: E402
from launch.launch_description_sources import AnyLaunchDescriptionSource, PythonLaunchDescriptionSource  # noqa: E402
from launch.substitutions import (  # noqa: E402
    Command,
    EnvironmentVariable,
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
    TextSubstitution,
)
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions  # noqa: E402


def run(*actions, **options):
    """Run a launch to its end and return its exit status."""
    service = LaunchService(**options)
    service.include_launch_description(LaunchDescription(list(actions)))
    return service.run()


def note(into, value):
    """An action that appends the text of ``value`` to a list."""
    return OpaqueFunction(
        function=lambda context: into.append(perform_substitutions(context, normalize_to_list_of_substitutions(value)))
    )


def sleeper(seconds=30, **options):
    return ExecuteProcess(cmd=["sleep", str(seconds)], **options)


def python(code, **options):
    return ExecuteProcess(cmd=[sys.executable, "-u", "-c", textwrap.dedent(code)], **options)


def exits_into(into):
    return RegisterEventHandler(OnProcessExit(on_exit=lambda event, context: into.append((event.process_name, event.returncode))))


# Substitutions


@pytest.mark.parametrize(
    ("substitution", "text"),
    [
        (TextSubstitution(text="a"), "a"),
        (LaunchConfiguration("speed"), "3"),
        (LaunchConfiguration("none", default="d"), "d"),
        (LaunchConfiguration(["sp", "eed"]), "3"),
        (PathJoinSubstitution(["a", TextSubstitution(text="b"), ["c", LaunchConfiguration("speed")]]), "a/b/c3"),
        (EnvironmentVariable("TELEOP_X"), "env"),
        (EnvironmentVariable("TELEOP_NONE", default_value="d"), "d"),
        (PythonExpression([LaunchConfiguration("speed"), " + 1"]), "4"),
        (PythonExpression(["'", LaunchConfiguration("word"), "' == 'web'"]), "True"),
        (PythonExpression(["floor(2.5)"]), "2"),
        (Command(["echo -n ", LaunchConfiguration("word")]), "web"),
    ],
)
def test_substitution_in_a_context_gives_its_text(substitution, text, monkeypatch):
    monkeypatch.setenv("TELEOP_X", "env")
    context = LaunchContext()
    context.launch_configurations.update(speed="3", word="web")
    assert substitution.perform(context) == text


@pytest.mark.parametrize(
    "substitution",
    [
        LaunchConfiguration("none"),
        EnvironmentVariable("TELEOP_NONE"),
        Command("false"),
        PythonExpression(["1 +"]),
    ],
)
def test_substitution_without_a_value_raises(substitution):
    with pytest.raises(Exception):  # noqa: B017 (the classes differ between versions)
        substitution.perform(LaunchContext())


@pytest.mark.parametrize(("text", "truth"), [("true", True), ("True", True), ("1", True), ("false", False), ("0", False)])
def test_condition_of_a_boolean_text_follows_it(text, truth):
    context = LaunchContext()
    assert IfCondition(text).evaluate(context) is truth
    assert UnlessCondition(text).evaluate(context) is not truth


def test_condition_of_another_text_raises():
    with pytest.raises(Exception, match="maybe"):
        IfCondition("maybe").evaluate(LaunchContext())


# Arguments, groups, includes


def test_argument_with_default_is_set_unless_given():
    seen = []
    assert run(DeclareLaunchArgument("a", default_value="1"), note(seen, LaunchConfiguration("a"))) == 0
    assert (
        run(SetLaunchConfiguration("a", "2"), DeclareLaunchArgument("a", default_value="1"), note(seen, LaunchConfiguration("a")))
        == 0
    )
    assert seen == ["1", "2"]


def test_required_argument_not_given_fails_the_launch(capfd):
    assert run(DeclareLaunchArgument("bag", description="path")) == 1
    assert "bag" in capfd.readouterr().out


def test_argument_outside_its_choices_fails_the_launch_and_names_them(capfd):
    assert run(SetLaunchConfiguration("input", "wob"), DeclareLaunchArgument("input", choices=["web", "debug"])) == 1
    shown = capfd.readouterr().out
    assert "wob" in shown
    assert "debug" in shown


def test_description_lists_its_arguments():
    inner = LaunchDescription([DeclareLaunchArgument("b", description="deep")])
    description = LaunchDescription(
        [
            DeclareLaunchArgument("a", default_value="1", choices=["1", "2"], description="first"),
            GroupAction([IncludeLaunchDescription(launch.LaunchDescriptionSource(inner))]),
        ]
    )
    found = {argument.name: argument for argument in description.get_launch_arguments()}
    assert list(found) == ["a", "b"]
    assert found["a"].choices == ["1", "2"]
    assert found["a"].description == "first"
    assert found["b"].default_value is None
    assert "".join(part.describe() for part in found["a"].default_value) == "'1'"


def test_scoped_group_forgets_configurations_and_environment():
    seen = []
    name, show = LaunchConfiguration("a", default="-"), EnvironmentVariable("TELEOP_G", default_value="-")
    changes = [SetLaunchConfiguration("a", "in"), SetEnvironmentVariable("TELEOP_G", "in")]
    run(
        GroupAction([*changes, note(seen, [name, show])]),
        note(seen, [name, show]),
        GroupAction(changes, scoped=False),
        note(seen, [name, show]),
    )
    assert seen == ["inin", "--", "inin"]


def test_group_with_configurations_sets_them_inside():
    seen = []
    run(GroupAction([note(seen, LaunchConfiguration("a"))], launch_configurations={"a": "x"}))
    assert seen == ["x"]


def test_action_whose_condition_fails_is_skipped():
    seen = []
    quiet = OpaqueFunction(function=lambda context: seen.append("no"), condition=UnlessCondition("true"))
    loud = OpaqueFunction(function=lambda context: seen.append("yes"), condition=IfCondition("true"))
    run(quiet, loud)
    assert seen == ["yes"]


@pytest.mark.parametrize("source", [PythonLaunchDescriptionSource, AnyLaunchDescriptionSource])
def test_included_file_gets_its_arguments(tmp_path, source):
    (tmp_path / "inner.launch.py").write_text(
        textwrap.dedent("""
            from launch import LaunchDescription
            from launch.actions import DeclareLaunchArgument, SetLaunchConfiguration
            from launch.substitutions import LaunchConfiguration

            def generate_launch_description():
                return LaunchDescription([
                    DeclareLaunchArgument("a", default_value="default"),
                    SetLaunchConfiguration("out", [LaunchConfiguration("a"), "@"]),
                ])
        """)
    )
    seen = []
    path = PathJoinSubstitution([str(tmp_path), "inner.launch.py"])
    assert (
        run(
            IncludeLaunchDescription(source(path), launch_arguments={"a": ["g", "iven"]}.items()),
            note(seen, LaunchConfiguration("out")),
        )
        == 0
    )
    assert seen == ["given@"]


def test_include_of_a_missing_file_fails_the_launch(tmp_path):
    assert run(IncludeLaunchDescription(PythonLaunchDescriptionSource(str(tmp_path / "none.launch.py")))) == 1


def test_function_that_raises_fails_the_launch_and_ends_its_processes(capfd):
    exits = []

    def fail(context):
        raise RuntimeError("the key 'x' is wrong")

    assert run(exits_into(exits), sleeper(), TimerAction(period=0.3, actions=[OpaqueFunction(function=fail)])) == 1
    assert [code for _, code in exits] == [-signal.SIGINT]
    assert "the key 'x' is wrong" in capfd.readouterr().out


def test_function_that_returns_actions_runs_them():
    seen = []
    run(OpaqueFunction(function=lambda context, what, *, end: [note(seen, what + end)], args=["a"], kwargs={"end": "b"}))
    assert seen == ["ab"]
