"""Processes: started, watched, written out, started again, ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from launch.entities import Action, Reaction, to_entities
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited, ProcessStarted
from launch.launch_context import LaunchContext
from launch.logging import get_logger, launch_config, show
from launch.subset import refuse
from launch.substitutions import LaunchConfiguration
from launch.utilities import SomeSubstitutionsType, parse_bool, text_of

_numbers = itertools.count(1)  # one row of numbers for all processes of a launch, as in the real package
_DRAIN = 0.2  # [s] wait for the last output; a grandchild may hold the pipe open for ever
_Variables = Mapping[SomeSubstitutionsType, SomeSubstitutionsType]


class _Protocol(asyncio.SubprocessProtocol):
    """Hands on the start and the output of one process and tells its end and that of its output."""

    def __init__(self, action: ExecuteProcess, context: LaunchContext) -> None:
        self._action, self._context = action, context
        self.exited, self.closed = asyncio.Future[None](), asyncio.Future[None]()

    def connection_made(self, transport: Any) -> None:
        self._action.on_started(transport, self._context)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._action.on_output(fd, data)

    def process_exited(self) -> None:
        self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)


class ExecuteProcess(Action):
    """Runs a process until it ends, again if asked, and ends it with the launch.

    Attributes:
        process_details: name, cmd, cwd, env and, once it runs, pid; empty before the start.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: _Variables | None = None,
        additional_env: _Variables | None = None,
        sigterm_timeout: SomeSubstitutionsType = LaunchConfiguration("sigterm_timeout", default=5),  # noqa: B008 (immutable)
        sigkill_timeout: SomeSubstitutionsType = LaunchConfiguration("sigkill_timeout", default=5),  # noqa: B008
        output: SomeSubstitutionsType = "log",
        cached_output: bool = False,
        on_exit: Reaction = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        respawn_max_retries: int = -1,
        **kwargs: Any,
    ) -> None:
        """Keep what to run.

        Args:
            cmd: command and arguments; each item is one argument.
            prefix: words before the command, split as by a shell; default the configuration ``launch-prefix``.
            name: label; default the base name of the command.
            cwd: working directory.
            env: the whole environment.
            additional_env: variables beside the environment.
            sigterm_timeout: from the request to end until SIGTERM [s].
            sigkill_timeout: from SIGTERM until SIGKILL [s].
            output: 'screen', 'log' or 'both'.
            cached_output: keep the output for :meth:`get_stdout` and :meth:`get_stderr`.
            on_exit: actions, or a callable ``(event, context)`` that returns some, at each end of the process.
            respawn: start again whenever the process ends, unless the launch is ending.
            respawn_delay: wait before that [s].
            respawn_max_retries: how often at most; negative: without end.
            **kwargs: see :class:`launch.Action`.
        """
        super().__init__(**kwargs)
        self._cmd = list(cmd)
        self._prefix = LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        self._label, self._cwd, self._env, self._additional_env = name, cwd, env, additional_env or {}
        self._timeouts = (sigterm_timeout, sigkill_timeout)
        self._output, self._cached = output, cached_output
        self._on_exit, self.inner = on_exit, [] if callable(on_exit) else to_entities(on_exit)
        self._respawn: SomeSubstitutionsType = str(respawn) if isinstance(respawn, bool) else respawn
        self._respawn_delay, self._retries_left = respawn_delay or 0.0, respawn_max_retries
        self.process_details: dict[str, Any] = {}
        self._pending: dict[int, bytes] = {1: b"", 2: b""}
        self._cache: dict[int, list[str]] = {1: [], 2: []}
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def process_name(self) -> str:
        """Label ``name-N``, empty before the start."""
        return str(self.process_details.get("name", ""))

    @property
    def return_code(self) -> int | None:
        """Exit status of the newest run, None while it runs or before."""
        return None if self._transport is None else self._transport.get_returncode()

    def get_stdout(self) -> str:
        """Return what the process wrote to standard output so far; needs ``cached_output``."""
        return self._cached_text(1)

    def get_stderr(self) -> str:
        """Return what the process wrote to standard error so far; needs ``cached_output``."""
        return self._cached_text(2)

    def _cached_text(self, fd: int) -> str:
        if not self._cached:
            raise RuntimeError(f"process '{self.process_name}': its output is not kept; give cached_output=True")
        return "".join(self._cache[fd])

    def execute(self, context: LaunchContext) -> None:
        """Start the process.

        Raises:
            RuntimeError: it was executed before, or no launch runs.
        """
        if self.process_details:
            raise RuntimeError(f"process '{self.process_name}': executed twice")
        self._prepare(context)
        if not context.is_shutdown:
            context.register_event_handler(OnProcessExit(target_action=self, on_exit=self._on_exit))
            self.future = asyncio.get_running_loop().create_task(self._main(context))

    def _prepare(self, context: LaunchContext) -> None:
        """Work out every text now, in the scope in which the action stands; a respawn uses the same."""

        def texts(variables: _Variables) -> dict[str, str]:
            return {text_of(context, name): text_of(context, value) for name, value in variables.items()}

        cmd = shlex.split(text_of(context, self._prefix)) + [text_of(context, part) for part in self._cmd]
        label = os.path.basename(cmd[0]) if self._label is None else text_of(context, self._label)
        self.process_details = {
            "name": f"{label}-{next(_numbers)}",
            "cmd": cmd,
            "cwd": None if self._cwd is None else text_of(context, self._cwd),
            "env": (dict(context.environment) if self._env is None else texts(self._env)) | texts(self._additional_env),
        }
        output = self._output if isinstance(self._output, dict) else text_of(context, self._output)
        if output not in ("screen", "log", "both"):
            raise refuse("launch", f"output {output!r} (allowed here: screen, log, both)")
        self._screen, self._file = {1: output != "log", 2: True}, output != "screen"
        self._respawns = parse_bool(text_of(context, self._respawn))
        self._seconds = [float(text_of(context, timeout)) for timeout in self._timeouts]
        self._log = get_logger(self.process_name)

    async def _main(self, context: LaunchContext) -> None:
        while not context.ending.done() and await self._run_once(context) and self._respawns and self._retries_left:
            self._retries_left -= 1
            await asyncio.wait([context.ending], timeout=self._respawn_delay)

    async def _run_once(self, context: LaunchContext) -> bool:
        """Run the process once and tell whether it could be started."""
        loop, cmd = asyncio.get_running_loop(), self.process_details["cmd"]
        options = {key: self.process_details[key] for key in ("cwd", "env")}
        try:
            transport, protocol = await loop.subprocess_exec(lambda: _Protocol(self, context), *cmd, **options)
        except (OSError, ValueError) as error:
            self._log.error("process could not be started: %s; cmd '%s'", error, " ".join(cmd))
            return False
        # Asked to end while it was being started: the Ctrl-C of the terminal may have come before it existed.
        end = loop.create_task(self._end(context, transport, protocol.exited, missed=context.ending.done()))
        await protocol.exited
        end.cancel()
        await asyncio.wait([protocol.closed], timeout=_DRAIN)
        for fd, rest in self._pending.items():
            self._write(fd, [rest] if rest else [])
            self._pending[fd] = b""
        code, pid = transport.get_returncode(), transport.get_pid()
        if code == 0:
            self._log.info("process has finished cleanly [pid %d]", pid)
        else:
            self._log.error("process has died [pid %d, exit code %s, cmd '%s'].", pid, code, " ".join(cmd))
        context.emit_event_sync(ProcessExited(self))
        transport.close()
        return True

    async def _end(
        self, context: LaunchContext, transport: asyncio.SubprocessTransport, exited: asyncio.Future[None], *, missed: bool
    ) -> None:
        """Wait for the end of the launch, then ask with ever stronger signals until the process is gone."""
        await asyncio.wait([context.ending])
        steps = list(zip(self._seconds, (signal.SIGTERM, signal.SIGKILL), strict=True))
        if missed or context.noninteractive or not context.ending.result().due_to_sigint:
            steps.insert(0, (0.0, signal.SIGINT))
        for seconds, kind in steps:
            await asyncio.wait([exited], timeout=seconds)
            if exited.done():
                return
            if kind != signal.SIGINT:
                self._log.error("process still runs %g s after the last signal; escalating", seconds)
            self._log.info("sending signal '%s' to process[%s]", kind.name, self.process_name)
            with suppress(ProcessLookupError):  # it may end at any moment
                # not by the transport: it polls first, and a child reaped there has lost its status for the loop
                os.kill(transport.get_pid(), kind)

    def on_started(self, transport: asyncio.SubprocessTransport, context: LaunchContext) -> None:
        """Take the transport of a new run, before its first output."""
        self._transport, self.process_details["pid"] = transport, transport.get_pid()
        self._log.info("process started with pid [%d]", transport.get_pid())
        context.emit_event_sync(ProcessStarted(self))

    def on_output(self, fd: int, data: bytes) -> None:
        """Take a piece of standard output (1) or standard error (2) and write its whole lines."""
        *lines, self._pending[fd] = (self._pending[fd] + data).split(b"\n")
        if self._cached:
            self._cache[fd].append(data.decode(errors="replace"))
        self._write(fd, lines)

    def _write(self, fd: int, lines: list[bytes]) -> None:
        for text in lines:
            line = f"[{self.process_name}] {text.decode(errors='replace')}"
            if self._screen[fd]:
                show(line)
            if self._file:
                launch_config.write(line)
