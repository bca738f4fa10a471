"""What this workspace expects of launch_pytest; passes on the real package as well."""

import sys

import pytest

launch_pytest = pytest.importorskip("launch_pytest")

from launch import LaunchDescription  # noqa: E402
from launch.actions import ExecuteProcess, TimerAction  # noqa: E402
from launch_pytest.actions import ReadyToTest  # noqa: E402
from launch_pytest.tools import process as tools  # noqa: E402

pytest_plugins = ["pytester"]

CODE = "import sys, time; print('hello', flush=True); print('oops', file=sys.stderr, flush=True); time.sleep({})"


@pytest.fixture(autouse=True, scope="module")
def _own_logs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        yield


def program(seconds):
    return ExecuteProcess(cmd=[sys.executable, "-c", CODE.format(seconds)], cached_output=True, output="screen")


@pytest.fixture
def long_process():
    return program(30)


@pytest.fixture
def short_process():
    return program(0.1)


@launch_pytest.fixture
def launched(long_process):
    return LaunchDescription([long_process, ReadyToTest()])


@launch_pytest.fixture
def launched_short(short_process):
    return LaunchDescription([short_process])


@launch_pytest.fixture
def launched_late(long_process):
    return LaunchDescription([long_process, TimerAction(period=0.5, actions=[ReadyToTest()])])


@launch_pytest.fixture(scope="module")
def shared():
    process = program(30)
    return LaunchDescription([process, ReadyToTest()]), process


def hello(output):
    assert output == "hello\n"


def nonsense(output):
    assert output == "nonsense\n"


@pytest.mark.launch(fixture=launched)
def test_function_beside_the_launch_sees_its_output(long_process, launch_context):
    assert tools.wait_for_start_sync(launch_context, long_process, timeout=10)
    tools.assert_output_sync(launch_context, long_process, hello, timeout=10)
    tools.assert_stderr_sync(launch_context, long_process, lambda text: "oops" in text, timeout=10)
    assert not tools.wait_for_output_sync(launch_context, long_process, nonsense, timeout=0.1)
    with pytest.raises(AssertionError):
        tools.assert_output_sync(launch_context, long_process, nonsense, timeout=0.1)
    assert not tools.wait_for_exit_sync(launch_context, long_process, timeout=0.1)


@pytest.mark.launch(fixture=launched)
async def test_coroutine_runs_beside_the_launch(long_process, launch_context):
    await tools.assert_output(launch_context, long_process, hello, timeout=10)
    await tools.assert_stderr(launch_context, long_process, lambda text: "oops" in text, timeout=10)


@pytest.mark.launch(fixture=launched_short)
def test_process_that_ends_keeps_its_exit_status(short_process, launch_context):
    assert tools.wait_for_exit_sync(launch_context, short_process, timeout=10)
    assert short_process.return_code == 0


@pytest.mark.launch(fixture=launched_late)
def test_test_begins_when_the_launch_is_ready(long_process):
    assert long_process.process_details["pid"] > 0


@pytest.fixture(scope="module")
def seen_pids():
    return []


@pytest.mark.launch(fixture=shared)
def test_shared_launch_runs_for_the_first(shared, seen_pids, launch_context):
    assert tools.wait_for_output_sync(launch_context, shared[1], hello, timeout=10)
    seen_pids.append(shared[1].process_details["pid"])
    assert shared[1].return_code is None


@pytest.mark.launch(fixture=shared)
def test_shared_launch_still_runs_for_the_second(shared, seen_pids, launch_context):
    assert tools.wait_for_start_sync(launch_context, shared[1], timeout=10)
    seen_pids.append(shared[1].process_details["pid"])
    assert shared[1].return_code is None
    assert len(set(seen_pids)) == 1


def test_unmarked_test_gets_no_launch_of_the_plugin(request):
    assert not [name for name in request.fixturenames if "launch" in name]


def test_test_after_the_shutdown_is_refused_and_names_the_real_package(pytester):
    pytester.makepyfile("""
        import launch_pytest, pytest
        from launch import LaunchDescription

        @launch_pytest.fixture
        def empty():
            return LaunchDescription([])

        @pytest.mark.launch(fixture=empty, shutdown=True)
        def test_late():
            pass
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert "ros-jazzy-launch-pytest" in result.stdout.str() + result.stderr.str()
