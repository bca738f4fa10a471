"""What only this subset does: refuse by name, and end the processes on SIGTERM as well."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

launch = pytest.importorskip("launch")
pytest.importorskip("launch.subset")

from launch.actions import ExecuteProcess, GroupAction, LogInfo  # noqa: E402


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("actions", "ForLoop"),
        ("actions", "UnsetEnvironmentVariable"),
        ("substitutions", "AndSubstitution"),
        ("substitutions", "FindExecutable"),
        ("substitutions", "AnonName"),
        ("event_handlers", "OnProcessIO"),
        ("conditions", "LaunchConfigurationEquals"),
    ],
)
def test_class_outside_of_the_subset_is_refused_by_name(module, name):
    with pytest.raises(NotImplementedError, match=f"{name}.*ros-jazzy-launch"):
        getattr(getattr(launch, module), name)


def test_argument_outside_of_the_subset_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="emulate_tty.*ros-jazzy-launch"):
        ExecuteProcess(cmd=["true"], emulate_tty=True)
    with pytest.raises(NotImplementedError, match="forwarding.*GroupAction"):
        GroupAction([], forwarding=False)
    with pytest.raises(NotImplementedError, match="colour.*LogInfo"):
        LogInfo(msg="a", colour="red")


def test_unknown_lower_case_name_is_an_attribute_error():
    assert not hasattr(launch.actions, "no_such_thing")


def test_log_directory_that_cannot_be_made_is_told_and_the_launch_goes_on(tmp_path, capfd):
    (tmp_path / "file").touch()
    launch.logging.launch_config.log_dir = str(tmp_path / "file" / "log")
    service = launch.LaunchService()
    process = ExecuteProcess(cmd=["echo", "hello"], output="both")
    service.include_launch_description(launch.LaunchDescription([process]))
    assert service.run() == 0
    shown = capfd.readouterr().out
    assert shown.count("ROS_LOG_DIR") == 1
    assert "] hello" in shown


def test_sigterm_ends_the_launch_and_every_process():
    code = """
        import sys
        from launch import LaunchDescription, LaunchService
        from launch.actions import ExecuteProcess
        service = LaunchService()
        process = ExecuteProcess(cmd=["sh", "-c", "echo ready; exec sleep 30"], output="screen")
        service.include_launch_description(LaunchDescription([process]))
        sys.exit(service.run())
    """
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while "ready" not in child.stdout.readline():
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=15.0)
    assert child.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
