"""Waiting for the start, the output and the end of processes.

Each function exists as a coroutine, for tests in the loop of the launch, and with ``_sync`` for tests beside it.
``wait_for_...`` returns whether it came true in time; ``assert_...`` raises AssertionError otherwise. Output needs
``cached_output=True``. A ``validate_output`` gets the output so far; it returns False or raises AssertionError for "not yet".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from launch import LaunchContext
from launch.actions import ExecuteProcess
from launch.subset import absent

Validate = Callable[[str], Any]
_PERIOD = 0.02  # [s] between looks


def _holds(read: Callable[[], str], validate: Validate) -> bool:
    try:
        return validate(read()) is not False
    except AssertionError:
        return False


async def _wait(condition: Callable[[], bool], timeout: float | None) -> bool:
    end = None if timeout is None else time.monotonic() + timeout
    while not condition():
        if end is not None and time.monotonic() > end:
            return condition()
        await asyncio.sleep(_PERIOD)
    return True


def _wait_sync(condition: Callable[[], bool], timeout: float | None) -> bool:
    return asyncio.run(_wait(condition, timeout))


def _report(read: Callable[[], str], validate: Validate) -> None:
    """Let the validator itself say what is wrong."""
    text = read()
    if validate(text) is False:
        raise AssertionError(f"output did not validate in time:\n{text}")


async def wait_for_output(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> bool:
    """Wait until standard output validates, at most ``timeout`` [s]."""
    return await _wait(lambda: _holds(execute_process_action.get_stdout, validate_output), timeout)


def wait_for_output_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> bool:
    """Wait until standard output validates, at most ``timeout`` [s]."""
    return _wait_sync(lambda: _holds(execute_process_action.get_stdout, validate_output), timeout)


async def assert_output(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> None:
    """Assert that standard output validates within ``timeout`` [s]."""
    if not await wait_for_output(launch_context, execute_process_action, validate_output, timeout):
        _report(execute_process_action.get_stdout, validate_output)


def assert_output_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> None:
    """Assert that standard output validates within ``timeout`` [s]."""
    if not wait_for_output_sync(launch_context, execute_process_action, validate_output, timeout):
        _report(execute_process_action.get_stdout, validate_output)


async def wait_for_stderr(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> bool:
    """Wait until standard error validates, at most ``timeout`` [s]."""
    return await _wait(lambda: _holds(execute_process_action.get_stderr, validate_output), timeout)


def wait_for_stderr_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> bool:
    """Wait until standard error validates, at most ``timeout`` [s]."""
    return _wait_sync(lambda: _holds(execute_process_action.get_stderr, validate_output), timeout)


async def assert_stderr(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> None:
    """Assert that standard error validates within ``timeout`` [s]."""
    if not await wait_for_stderr(launch_context, execute_process_action, validate_output, timeout):
        _report(execute_process_action.get_stderr, validate_output)


def assert_stderr_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, validate_output: Validate, timeout: float | None = None
) -> None:
    """Assert that standard error validates within ``timeout`` [s]."""
    if not wait_for_stderr_sync(launch_context, execute_process_action, validate_output, timeout):
        _report(execute_process_action.get_stderr, validate_output)


def _started(action: ExecuteProcess) -> bool:
    return action.process_details is not None and "pid" in action.process_details


def _exited(action: ExecuteProcess) -> bool:
    return action.return_code is not None


async def wait_for_start(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Wait until the process has started, at most ``timeout`` [s]."""
    return await _wait(lambda: _started(execute_process_action), timeout)


def wait_for_start_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Wait until the process has started, at most ``timeout`` [s]."""
    return _wait_sync(lambda: _started(execute_process_action), timeout)


async def wait_for_exit(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Wait until the process has ended, at most ``timeout`` [s]."""
    return await _wait(lambda: _exited(execute_process_action), timeout)


def wait_for_exit_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Wait until the process has ended, at most ``timeout`` [s]."""
    return _wait_sync(lambda: _exited(execute_process_action), timeout)


__getattr__ = absent("launch_pytest", __name__)
