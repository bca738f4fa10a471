"""What this workspace expects of the processes of launch; passes on the real package as well."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

launch = pytest.importorskip("launch")

from launch import LaunchDescription, LaunchService, events  # noqa: E402
from launch.actions import (  # noqa: E402
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown  # noqa: E402
from launch.substitutions import TextSubstitution  # noqa: E402
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


# Processes


def test_process_output_on_screen_is_labelled(capfd):
    assert run(ExecuteProcess(cmd=["echo", "one\ntwo"], name="say", output="screen")) == 0
    lines = capfd.readouterr().out.splitlines()
    labels = {line.split("] ")[0] for line in lines if line.endswith((" one", " two"))}
    assert len(labels) == 1
    assert labels.pop().startswith("[say-")


def test_process_output_to_log_stays_off_the_screen_but_errors_do_not(capfd, tmp_path):
    launch.logging.launch_config.log_dir = str(tmp_path / "here")
    run(ExecuteProcess(cmd=["sh", "-c", "echo quiet; echo loud >&2"], output="log"))
    shown = capfd.readouterr()
    assert "] quiet" not in shown.out + shown.err
    assert "] loud" in shown.out + shown.err
    assert "] quiet" in (tmp_path / "here" / "launch.log").read_text()


def test_process_gets_prefix_environment_and_directory(capfd, tmp_path):
    run(
        ExecuteProcess(
            cmd=["sh", "-c", "echo $A $B $C $PWD"],
            prefix="env C=c",
            additional_env={"A": ["a", TextSubstitution(text="a")], "B": "b"},
            cwd=str(tmp_path),
            output="screen",
        )
    )
    assert f"aa b c {tmp_path}" in capfd.readouterr().out


def test_process_with_env_sees_only_that(capfd, monkeypatch):
    monkeypatch.setenv("TELEOP_X", "leak")
    run(ExecuteProcess(cmd=["/usr/bin/env"], env={"ONLY": "1"}, output="screen"))
    shown = capfd.readouterr().out
    assert "ONLY=1" in shown
    assert "leak" not in shown


def test_process_killed_gives_the_negative_signal():
    exits = []
    run(exits_into(exits), ExecuteProcess(cmd=["sh", "-c", "kill -9 $$"], name="victim"))
    assert exits[0][0].startswith("victim-")
    assert exits[0][1] == -signal.SIGKILL


def test_process_that_cannot_start_does_not_end_the_others():
    exits = []
    run(exits_into(exits), ExecuteProcess(cmd=["/no/such/program"]), ExecuteProcess(cmd=["sleep", "0.3"]))
    assert [code for _, code in exits] == [0]


def test_start_event_comes_before_exit_event_with_the_pid():
    seen = []
    process = ExecuteProcess(cmd=["true"])
    run(
        RegisterEventHandler(OnProcessStart(target_action=process, on_start=lambda event, context: seen.append(event.pid))),
        RegisterEventHandler(OnProcessExit(target_action=process, on_exit=lambda event, context: seen.append(event.pid))),
        process,
        ExecuteProcess(cmd=["true"]),
    )
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_process_that_dies_is_started_again_after_the_delay_until_shutdown():
    starts, exits = [], []
    began = time.monotonic()
    assert (
        run(
            RegisterEventHandler(OnProcessStart(on_start=lambda event, context: starts.append(time.monotonic() - began))),
            exits_into(exits),
            ExecuteProcess(cmd=["sh", "-c", "sleep 0.1; kill -9 $$"], respawn=True, respawn_delay=0.4),
            TimerAction(period=1.4, actions=[Shutdown(reason="enough")]),
        )
        == 0
    )
    assert len(starts) == 3
    assert min(b - a for a, b in zip(starts, starts[1:])) >= 0.4
    assert len({name for name, _ in exits}) == 1


def test_respawn_stops_after_the_retries():
    exits = []
    run(exits_into(exits), ExecuteProcess(cmd=["false"], respawn=True, respawn_delay=0.05, respawn_max_retries=2))
    assert [code for _, code in exits] == [1, 1, 1]


def test_shutdown_while_waiting_to_respawn_ends_at_once():
    began = time.monotonic()
    run(ExecuteProcess(cmd=["false"], respawn=True, respawn_delay=20.0), TimerAction(period=0.3, actions=[Shutdown()]))
    assert time.monotonic() - began < 5.0


def test_on_exit_shutdown_ends_the_other_processes():
    exits = []
    run(
        exits_into(exits),
        sleeper(name="long"),
        ExecuteProcess(cmd=["false"], name="short", on_exit=Shutdown(reason="short ended")),
    )
    assert [(name.split("-")[0], code) for name, code in exits] == [("short", 1), ("long", -signal.SIGINT)]


def test_exception_behind_processes_in_the_same_description_ends_the_launch():
    exits = []
    began = time.monotonic()

    def fail(context):
        raise RuntimeError("wrong")

    assert run(exits_into(exits), sleeper(), sleeper(respawn=True), OpaqueFunction(function=fail)) == 1
    assert all(code == -signal.SIGINT for _, code in exits)  # if they were started at all
    assert time.monotonic() - began < 5.0


def test_on_exit_callable_gets_event_and_returns_actions():
    seen = []
    run(ExecuteProcess(cmd=["sh", "-c", "exit 3"], on_exit=lambda event, context: [note(seen, f"code {event.returncode}")]))
    assert seen == ["code 3"]


STUBBORN = """
    import signal, time
    signal.signal(signal.SIGINT, lambda *_: print("got INT"))
    signal.signal(signal.SIGTERM, lambda *_: print("got TERM"))
    print("ready")
    end = time.monotonic() + 30
    while time.monotonic() < end:
        time.sleep(0.05)
"""


def test_process_that_ignores_signals_is_killed_in_the_end(capfd):
    exits = []
    run(
        exits_into(exits),
        python(STUBBORN, name="stubborn", output="screen", sigterm_timeout="0.3", sigkill_timeout=["0", ".3"]),
        TimerAction(period=1.0, actions=[Shutdown()]),
    )
    shown = capfd.readouterr().out
    assert shown.index("got INT") < shown.index("got TERM")
    assert [code for _, code in exits] == [-signal.SIGKILL]


def test_escalation_times_come_from_configurations():
    exits = []
    run(
        SetLaunchConfiguration("sigterm_timeout", "0.2"),
        SetLaunchConfiguration("sigkill_timeout", "0.2"),
        exits_into(exits),
        python(STUBBORN),
        TimerAction(period=1.0, actions=[Shutdown()]),
    )
    assert [code for _, code in exits] == [-signal.SIGKILL]


def test_emitted_shutdown_ends_the_launch_with_its_reason():
    exits, reasons = [], []
    handler = OnShutdown(on_shutdown=lambda event, context: reasons.append(event.reason))
    end = EmitEvent(event=events.Shutdown(reason="duration over"))
    assert run(RegisterEventHandler(handler), exits_into(exits), sleeper(), TimerAction(period=0.3, actions=[end])) == 0
    assert reasons == ["duration over"]
    assert [code for _, code in exits] == [-signal.SIGINT]


def test_cached_output_can_be_read():
    process = ExecuteProcess(cmd=["sh", "-c", "echo out; echo err >&2"], cached_output=True)
    run(process)
    assert process.get_stdout() == "out\n"
    assert process.get_stderr() == "err\n"
    assert process.return_code == 0


# The service


def test_idle_launch_ends_and_tells_why():
    reasons = []
    handler = OnShutdown(on_shutdown=lambda event, context: reasons.append(event.reason))
    assert run(RegisterEventHandler(handler), LogInfo(msg="hello")) == 0
    assert reasons == ["idle"]


def test_timer_is_dropped_at_shutdown():
    seen = []
    began = time.monotonic()
    run(TimerAction(period=20.0, actions=[note(seen, "late")]), TimerAction(period=0.2, actions=[Shutdown()]))
    assert seen == []
    assert time.monotonic() - began < 5.0


def test_service_in_a_thread_is_shut_down_from_outside():
    service = LaunchService()
    started, exits, status = threading.Event(), [], []
    service.include_launch_description(
        LaunchDescription(
            [RegisterEventHandler(OnProcessStart(on_start=lambda event, context: started.set())), exits_into(exits), sleeper()]
        )
    )
    thread = threading.Thread(target=lambda: status.append(asyncio.run(service.run_async())))
    thread.start()
    assert started.wait(5.0)
    service.shutdown()
    thread.join(10.0)
    assert status == [0]
    assert [code for _, code in exits] == [-signal.SIGINT]


LAUNCHER = """
    import sys
    from launch import LaunchDescription, LaunchService
    from launch.actions import ExecuteProcess
    service = LaunchService(noninteractive=sys.argv[1] == "noninteractive")
    service.include_launch_description(LaunchDescription([
        ExecuteProcess(
            cmd=["sh", "-c", "trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.05; done"], output="screen"
        ),
        ExecuteProcess(cmd=["sleep", "30"], respawn=True),
    ]))
    sys.exit(service.run())
"""


@pytest.mark.parametrize("how", ["process", "group"])
def test_sigint_ends_the_launch_and_every_process_with_status_zero(how):
    """Sent to the launch alone it is passed on if noninteractive; from a terminal the whole group gets it."""
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(LAUNCHER), "noninteractive" if how == "process" else "terminal"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    output = ""
    while "ready" not in output:
        line = child.stdout.readline()
        assert line, output
        output += line
    if how == "process":
        child.send_signal(signal.SIGINT)
    else:
        os.killpg(child.pid, signal.SIGINT)
    rest, _ = child.communicate(timeout=15.0)
    assert child.returncode == 0, output + rest
    assert rest.count("bye") == 1
    assert "Traceback" not in rest
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
