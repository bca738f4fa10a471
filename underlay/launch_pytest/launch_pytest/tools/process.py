"""Waiting for the start, the output and the end of processes.

Each function exists as a coroutine, for tests in the loop of the launch, and with ``_sync`` for tests beside it. The arguments
are ``(launch_context, execute_process_action, timeout=None)`` [s], for output with ``validate_output`` before the timeout.
``wait_for_...`` returns whether it came true in time; ``assert_...`` raises AssertionError otherwise. Output needs
``cached_output=True``. A ``validate_output`` gets the output so far; it returns False or raises AssertionError for "not yet".
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from launch.actions import ExecuteProcess as Process
from launch.subset import absent

Read = Callable[[Process], str]
Validate = Callable[[str], Any]
_PERIOD = 0.02  # [s] between looks


async def _until(
    holds: Callable[[Process], bool], launch_context: object, execute_process_action: Process, timeout: float | None = None
) -> bool:
    end = float("inf") if timeout is None else time.monotonic() + timeout
    while not (held := holds(execute_process_action)) and time.monotonic() < end:
        await asyncio.sleep(_PERIOD)
    return held


async def _validates(
    read: Read, launch_context: object, execute_process_action: Process, validate_output: Validate, timeout: float | None = None
) -> bool:
    def holds(action: Process) -> bool:
        try:
            return validate_output(read(action)) is not False
        except AssertionError:
            return False

    return await _until(holds, launch_context, execute_process_action, timeout)


async def _assert(
    read: Read, launch_context: object, execute_process_action: Process, validate_output: Validate, timeout: float | None = None
) -> None:
    if not await _validates(read, launch_context, execute_process_action, validate_output, timeout):
        text = read(execute_process_action)
        assert validate_output(text) is not False, f"output did not validate in time:\n{text}"  # or what the validator says


def _sync(function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    return lambda *args, **kwargs: asyncio.run(function(*args, **kwargs))


wait_for_start = partial(_until, lambda action: "pid" in action.process_details)
wait_for_exit = partial(_until, lambda action: action.return_code is not None)
wait_for_output, wait_for_stderr = partial(_validates, Process.get_stdout), partial(_validates, Process.get_stderr)
assert_output, assert_stderr = partial(_assert, Process.get_stdout), partial(_assert, Process.get_stderr)

wait_for_start_sync, wait_for_exit_sync = _sync(wait_for_start), _sync(wait_for_exit)
wait_for_output_sync, wait_for_stderr_sync = _sync(wait_for_output), _sync(wait_for_stderr)
assert_output_sync, assert_stderr_sync = _sync(assert_output), _sync(assert_stderr)

__getattr__ = absent(__name__)
