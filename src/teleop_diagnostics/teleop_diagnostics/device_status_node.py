"""The node ``device_status``: hears every provider, watches their processes, starts plugins, tells everybody."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray

from teleop_common import limits, params, paths, qos, records
from teleop_common.runner import TeleopNode
from teleop_common.schedule import Schedule
from teleop_common.transport import RecordPublisher, subscribe, type_name
from teleop_diagnostics import declarations, diagnostics, manifest
from teleop_diagnostics.conversions import diagnostic_array, from_array
from teleop_diagnostics.params import DeviceStatusParams
from teleop_diagnostics.processes import Children, Watcher
from teleop_diagnostics.repeat import Repeat
from teleop_diagnostics.status import Inventory
from teleop_diagnostics.verdict import Exit

TICK_HZ = 10.0
DISCOVERY_HZ = 2.0
_TOPICS = "/teleop/devices/"


class DeviceStatusNode(TeleopNode):
    """Publishes the latched snapshot, /diagnostics and the aggregated tree."""

    def __init__(self) -> None:
        """Read parameters and manifests, join the graph, start the plugins."""
        super().__init__("device_status")
        p = params.load(self, DeviceStatusParams)
        self._params = p
        robot = limits.load(paths.config("limits/so101.yaml", p.limits_file))
        joints = [joint.name for joint in robot.all_joints]
        declare = partial(declarations.of_node, arms=p.arms, joints=joints)
        self.inventory = Inventory(platform.node(), declare, p.replay)
        folders = [Path(text.strip()) for text in p.plugins.split(",") if text.strip()]
        plugins = manifest.load_all(folders) if not p.replay else ()
        self._watcher, self._children = Watcher(), Children()
        self._discovery, self._diagnosis = Schedule(DISCOVERY_HZ), Schedule(1.0)
        self._said, self._others = Repeat(), dict[str, tuple[diagnostics.Status, int]]()
        self._heard: set[str] = set()
        self._snapshots = RecordPublisher(self, records.StatusSnapshot, "/teleop/devices", qos.LATCHED)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.STREAM)
        self._tree = self.create_publisher(DiagnosticArray, "/diagnostics_agg", qos.STREAM)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.FOREIGN)
        subscribe(self, records.ProcessExit, "/teleop/process_exits", self._on_process_exit, qos.RECORD_LATCHED)
        for provider in p.expected:
            self.inventory.declare(declare(provider))
        for plugin in plugins:
            self._start(plugin)
        self.publish_config({"parameters": asdict(p), "plugins": [plugin.root for plugin in plugins]})
        self.every(TICK_HZ, self._tick)

    def _start(self, plugin: manifest.Plugin) -> None:
        """Start a plugin; one that is monitored is listed and heard from before it runs."""
        declaration = plugin.declaration()
        if plugin.monitored:
            self.inventory.declare(declaration, starting=True)
            self._hear(f"{_TOPICS}{declaration.id}")
        try:
            pid = self._children.start(plugin.root, plugin.command, plugin.folder)
        except OSError as error:
            self.inventory.on_start_failed(declaration.id, str(error))
            self.get_logger().error(f"plugin '{plugin.root}' in {plugin.folder}: {error}; mend its plugin.yaml")
            return
        self.inventory.on_launch(declaration.id, pid)
        self.get_logger().info(f"plugin '{plugin.root}' runs as process {pid}")

    # ---- heard
    def _discover(self) -> None:
        kind = type_name(records.ProviderReport)
        for topic, kinds in self.get_topic_names_and_types():
            if topic.startswith(_TOPICS) and kind in kinds:
                self._hear(topic)

    def _hear(self, topic: str) -> None:
        if topic not in self._heard:
            self._heard.add(topic)
            take = partial(self._on_report, topic.removeprefix(_TOPICS))
            subscribe(self, records.ProviderReport, topic, take, qos.STREAM)

    def _on_report(self, topic: str, report: records.ProviderReport) -> None:
        now = time.monotonic_ns()
        pid = self.inventory.on_report(topic, report, now)
        if not pid:
            return
        try:
            self._watcher.watch(pid)
            self.inventory.on_watched(pid)
        except ProcessLookupError:
            self.inventory.on_exit(pid, Exit(), now)
        except OSError as error:
            self.inventory.on_unobservable(pid, f"process {pid} cannot be watched: {error}")

    def _on_process_exit(self, exited: records.ProcessExit) -> None:
        how = Exit(None, exited.term_signal) if exited.term_signal else Exit(exited.exit_code, 0)
        self.inventory.on_exit_told(exited.pid, how, time.monotonic_ns())

    def _on_diagnostics(self, array: Any) -> None:
        with self.lock:
            now = time.monotonic_ns()
            for status in from_array(array):
                if not status.name.startswith("device_status:"):
                    self._others[status.name] = (status, now)

    # ---- said
    def _tick(self) -> None:
        now = time.monotonic_ns()
        for pid, how in self._children.ended():
            self.get_logger().warning(f"plugin: {how.text(pid)}")
            self.inventory.on_exit(pid, how, now)
        for pid in self._watcher.ended():
            self.inventory.on_exit(pid, Exit(), now)
        if self._discovery.due(now * 1e-9):
            self._discover()
        self._say(now)

    def _say(self, now: int) -> None:
        snapshot = self.inventory.snapshot(self.now_ns(), now)
        if self._said.due((snapshot.providers, snapshot.devices), now):
            self._snapshots.publish(snapshot)
        if self._diagnosis.due(now * 1e-9):
            own = diagnostics.statuses(snapshot, now, self._params.own_diagnostics)
            self._diagnostics.publish(diagnostic_array(own, snapshot.header.stamp))
            self._tree.publish(diagnostic_array(diagnostics.tree(snapshot, now, self._others), snapshot.header.stamp))

    def close(self) -> None:
        """End the plugins, on purpose, and say so."""
        with self.lock:
            self.inventory.on_teardown()
            self._say(time.monotonic_ns())
        super().close()
        self._children.stop(self._params.stop_patience)
        self._watcher.close()
