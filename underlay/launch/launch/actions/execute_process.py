"""Processes: started, watched, written out, started again, ended."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shlex
import signal
from collections.abc import Iterable, Mapping
from typing import Any

from launch.action import Action
from launch.event import Event
from launch.event_handler import EventHandler, Reaction
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessStarted, ShutdownProcess, SignalProcess
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import Output, get_logger
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.subset import refuse
from launch.substitution import Substitution
from launch.substitutions import LaunchConfiguration
from launch.utilities import normalize_to_list_of_substitutions, parse_bool, perform_substitutions, text_of, to_entities

_numbers = itertools.count(1)  # one row of numbers for all processes of a launch, as in the real package
_DRAIN = 0.2  # [s] wait for the last output; a grandchild may hold the pipe open for ever


class _Protocol(asyncio.SubprocessProtocol):
    """Hands on the output and tells the end of one process."""

    def __init__(self, action: ExecuteProcess, loop: asyncio.AbstractEventLoop) -> None:
        self._action, self._loop = action, loop
        self._open = {1, 2}
        self._exited = False
        self.complete: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._action.on_started(transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._action.on_output(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if self._exited and not self._open:
            self._finish()

    def process_exited(self) -> None:
        self._exited = True
        if self._open:
            self._loop.call_later(_DRAIN, self._finish)
        else:
            self._finish()

    def _finish(self) -> None:
        if not self.complete.done():
            self.complete.set_result(None)


class ExecuteProcess(Action):
    """Runs a process until it ends, again if asked, and ends it with the launch."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        additional_env: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType = LaunchConfiguration("sigterm_timeout", default=5),  # noqa: B008 (immutable)
        sigkill_timeout: SomeSubstitutionsType = LaunchConfiguration("sigkill_timeout", default=5),  # noqa: B008
        output: SomeSubstitutionsType = "log",
        output_format: str = "[{this.process_name}] {line}",
        cached_output: bool = False,
        log_cmd: bool = False,
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
            shell: join ``cmd`` and give it to a shell.
            sigterm_timeout: from the request to end until SIGTERM [s].
            sigkill_timeout: from SIGTERM until SIGKILL [s].
            output: 'screen', 'log' or 'both'.
            output_format: of a line, with ``this`` (this action) and ``line``.
            cached_output: keep the output for :meth:`get_stdout` and :meth:`get_stderr`.
            log_cmd: log the command when it starts.
            on_exit: actions, or a callable ``(event, context)`` that returns some, at each end of the process.
            respawn: start again whenever the process ends, unless the launch is ending.
            respawn_delay: wait before that [s].
            respawn_max_retries: how often at most; negative: without end.
            **kwargs: see :class:`launch.Action`.
        """
        if isinstance(output, dict):
            raise refuse("launch", "output as a dictionary")
        super().__init__(**kwargs)
        self._cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self._prefix = LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        self._label, self._cwd, self._shell = name, cwd, shell
        self._env, self._additional_env = env, additional_env or {}
        self._timeouts = (sigterm_timeout, sigkill_timeout)
        self._output, self._output_format = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT", output), output_format
        self._cached, self._log_cmd, self._on_exit = cached_output, log_cmd, on_exit
        self._respawn = str(respawn) if isinstance(respawn, bool) else respawn
        self._respawn_delay, self._retries_left = respawn_delay or 0.0, respawn_max_retries
        self._details: dict[str, Any] | None = None
        self._pending: dict[int, bytes] = {1: b"", 2: b""}
        self._cache: dict[int, list[str]] = {1: [], 2: []}
        self._sink = Output("log")
        self._transport: asyncio.SubprocessTransport | None = None
        self._completed: asyncio.Future[None] | None = None
        self._ending: asyncio.Future[bool] | None = None  # its value: whether SIGINT has to be sent
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def cmd(self) -> list[list[Substitution]]:
        """Command and arguments."""
        return self._cmd

    @property
    def name(self) -> SomeSubstitutionsType | None:
        """Label that was asked for, or None."""
        return self._label

    @property
    def process_name(self) -> str:
        """Label ``name-N``, empty before the start."""
        return str(self._details["name"]) if self._details else ""

    @property
    def process_details(self) -> dict[str, Any] | None:
        """name, cmd, cwd, env and, once it runs, pid; None before the start."""
        return self._details

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

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the process has ended for good."""
        return self._completed

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions of ``on_exit``."""
        return [] if callable(self._on_exit) else to_entities(self._on_exit)

    def execute(self, context: LaunchContext) -> None:
        """Start the process.

        Raises:
            RuntimeError: it was executed before, or no launch runs.
        """
        loop = context.asyncio_loop
        if self._details is not None or loop is None:
            raise RuntimeError(f"process '{self.process_name}': executed twice or outside of a running LaunchService")
        self._prepare(context)
        if context.is_shutdown:
            return
        self._completed, self._ending = loop.create_future(), loop.create_future()
        for handler in (
            EventHandler(matcher=self._is_for_me, entities=self._on_request),
            OnShutdown(on_shutdown=self._on_shutdown),
            OnProcessExit(target_action=self, on_exit=self._on_exit),
        ):
            context.register_event_handler(handler)
        self._tasks = [loop.create_task(self._main(context, loop))]

    def _prepare(self, context: LaunchContext) -> None:
        """Work out every text now, in the scope in which the action stands; a respawn uses the same."""
        cmd = shlex.split(text_of(context, self._prefix)) + [perform_substitutions(context, part) for part in self._cmd]
        label = os.path.basename(cmd[0]) if self._label is None else text_of(context, self._label)
        env = dict(context.environment) if self._env is None else self._expand(context, self._env)
        self._details = {
            "name": f"{label}-{next(_numbers)}",
            "cmd": cmd,
            "cwd": None if self._cwd is None else text_of(context, self._cwd),
            "env": env | self._expand(context, self._additional_env),
        }
        self._sink = Output(text_of(context, self._output))
        self._respawns = parse_bool(text_of(context, self._respawn))
        self._seconds = tuple(float(text_of(context, timeout)) for timeout in self._timeouts)
        self._log = get_logger(self.process_name)

    @staticmethod
    def _expand(context: LaunchContext, variables: Mapping[SomeSubstitutionsType, SomeSubstitutionsType]) -> dict[str, str]:
        return {text_of(context, name): text_of(context, value) for name, value in variables.items()}

    async def _main(self, context: LaunchContext, loop: asyncio.AbstractEventLoop) -> None:
        assert self._completed is not None
        assert self._ending is not None
        try:
            while not self._ending.done() and await self._run_once(context, loop) and self._respawns and self._retries_left:
                self._retries_left -= 1
                await asyncio.wait([self._ending], timeout=self._respawn_delay)
        finally:
            self._completed.set_result(None)

    async def _run_once(self, context: LaunchContext, loop: asyncio.AbstractEventLoop) -> bool:
        """Run the process once and tell whether it could be started."""
        assert self._details is not None
        assert self._ending is not None
        facts = {key: self._details[key] for key in ("name", "cmd", "cwd", "env")}
        cmd, options = facts["cmd"], {"cwd": facts["cwd"], "env": facts["env"]}
        if self._log_cmd:
            self._log.info("process details: cmd='%s', cwd='%s'", " ".join(cmd), facts["cwd"])
        try:
            if self._shell:
                transport, protocol = await loop.subprocess_shell(lambda: _Protocol(self, loop), " ".join(cmd), **options)
            else:
                transport, protocol = await loop.subprocess_exec(lambda: _Protocol(self, loop), *cmd, **options)
        except (OSError, ValueError) as error:
            self._log.error("process could not be started: %s; cmd '%s'", error, " ".join(cmd))
            return False
        pid = self._details["pid"]
        context.emit_event_sync(ProcessStarted(action=self, pid=pid, **facts))
        # Asked to end while it was being started: the Ctrl-C of the terminal may have come before it existed.
        stopper = loop.create_task(self._end(protocol.complete, missed=self._ending.done()))
        await protocol.complete
        stopper.cancel()
        self._flush()
        code = transport.get_returncode()
        transport.close()
        assert code is not None
        if code == 0:
            self._log.info("process has finished cleanly [pid %d]", pid)
        else:
            self._log.error("process has died [pid %d, exit code %d, cmd '%s'].", pid, code, " ".join(cmd))
        context.emit_event_sync(ProcessExited(action=self, returncode=code, pid=pid, **facts))
        return True

    async def _end(self, complete: asyncio.Future[None], *, missed: bool) -> None:
        """Wait for the request to end, then ask with ever stronger signals until the process is gone."""
        assert self._ending is not None
        if await asyncio.shield(self._ending) or missed:
            self._send(signal.SIGINT)
        for seconds, kind in zip(self._seconds, (signal.SIGTERM, signal.SIGKILL), strict=True):
            await asyncio.wait([complete], timeout=seconds)
            if complete.done():
                return
            self._log.error("process still runs %g s after the last signal; escalating to %s", seconds, kind.name)
            self._send(kind)

    def _send(self, kind: signal.Signals) -> None:
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        self._log.info("sending signal '%s' to process[%s]", kind.name, self.process_name)
        with contextlib.suppress(ProcessLookupError):  # it may end at any moment
            self._transport.send_signal(kind)

    def _is_for_me(self, event: Event) -> bool:
        return isinstance(event, ShutdownProcess | SignalProcess) and event.process_matcher(self)

    def _on_request(self, event: Event, _context: LaunchContext) -> None:
        if isinstance(event, SignalProcess):
            self._send(event.signal)
        else:
            self._request_end(send_sigint=True)

    def _on_shutdown(self, event: Event, context: LaunchContext) -> None:
        by_terminal = isinstance(event, Shutdown) and event.due_to_sigint and not context.noninteractive
        self._request_end(send_sigint=not by_terminal)

    def _request_end(self, *, send_sigint: bool) -> None:
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(send_sigint)

    def on_started(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport of a new run, before its first output."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        assert self._details is not None
        self._transport = transport
        self._details["pid"] = transport.get_pid()
        self._log.info("process started with pid [%d]", transport.get_pid())

    def on_output(self, fd: int, data: bytes) -> None:
        """Take a piece of standard output (1) or standard error (2) and write its whole lines."""
        *lines, self._pending[fd] = (self._pending[fd] + data).split(b"\n")
        if self._cached:
            self._cache[fd].append(data.decode(errors="replace"))
        for line in lines:
            self._write(fd, line)

    def _flush(self) -> None:
        for fd, rest in self._pending.items():
            if rest:
                self._write(fd, rest)
            self._pending[fd] = b""

    def _write(self, fd: int, line: bytes) -> None:
        self._sink.write(fd, self._output_format.format(line=line.decode(errors="replace"), this=self))
