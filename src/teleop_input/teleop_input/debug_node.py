"""The node ``debug_input``: a scripted operator that needs no headset."""

from __future__ import annotations

import random
import time
from pathlib import Path

from teleop_common import params, paths, qos, records
from teleop_common.enums import Session
from teleop_common.errors import ConfigError
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe
from teleop_input.params import DebugParams
from teleop_input.path import DebugPath, load
from teleop_input.report import provider_report
from teleop_input.scripted import ScriptedOperator
from teleop_interfaces.srv import DebugPath as DebugPathSrv

REPORT_HZ = 1.0


def find_path(name: str) -> DebugPath:
    """Return the path of that name in ``config/debug_paths``, or of that file.

    Raises:
        ConfigError: no such path, or a file that is none.
    """
    if "/" in name or name.endswith(".yaml"):
        return load(name)
    folder = paths.config("debug_paths")
    known = sorted(p.stem for p in Path(folder).glob("*.yaml"))
    if name not in known:
        raise ConfigError("debug path", name, name, "one of " + ", ".join(known) + ", or a YAML file", "mend the name")
    return load(folder / f"{name}.yaml")


class DebugInput(TeleopNode):
    """Publishes the scripted operator's frames like a headset would."""

    def __init__(self) -> None:
        """Load the path and join the graph."""
        super().__init__("debug_input")
        p = params.load(self, DebugParams)
        self._operator = ScriptedOperator(find_path(p.path), random.getrandbits(32))
        self._frames = RecordPublisher(self, records.TeleopFrame, "/teleop/input/debug/frame", qos.STREAM)
        self._reports = RecordPublisher(self, records.ProviderReport, "/teleop/devices/debug", qos.STREAM)
        if p.wait_for_session:
            subscribe(self, records.SessionState, "/teleop/session/state", self._on_session, qos.LATCHED)
        else:
            self._operator.let(time.monotonic(), 0)
        self.serve(DebugPathSrv, "/teleop/input/debug/path", self._on_path)
        self.publish_config({"parameters": vars(p), "connection": self._operator.connection})
        self._report()
        self.every(REPORT_HZ, self._report)
        self.every(p.rate, self._send)

    def _send(self) -> None:
        ns = time.monotonic_ns()
        self._frames.publish(self._operator.frame(ns * 1e-9, self.now_ns(), ns))

    def _report(self) -> None:
        self._reports.publish(provider_report("debug", True, self.now_ns(), time.monotonic_ns()))

    def _on_session(self, state: records.SessionState) -> None:
        ours = state.state == Session.RUNNING and state.provider == "debug"
        self._operator.let(time.monotonic(), state.epoch if ours else None)

    def _on_path(self, request: DebugPathSrv.Request, response: DebugPathSrv.Response) -> DebugPathSrv.Response:
        try:
            path = find_path(request.path)
        except ConfigError as error:
            response.success, response.message = False, str(error)
            return response
        self._operator.take(time.monotonic(), path)
        response.success, response.message = True, f"{path.name}: {path.description}"
        self.get_logger().info(f"path {response.message}")
        return response
