"""The inventory of a session: what was heard of providers and their processes in, one snapshot out. Pure; times in [ns].

Providers and devices are never taken off the list: after failure and shutdown they stay, with the reason.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from teleop_common.enums import Provider, ProviderType, StatusReason
from teleop_common.records import DeviceStatus, Header, ProviderReport, ProviderStatus, StatusSnapshot
from teleop_diagnostics import verdict
from teleop_diagnostics.declarations import PLUGIN, Declaration, is_live
from teleop_diagnostics.verdict import Evidence, Exit, Verdict

_REMEMBERED = 256  # exits of processes that nobody has reported yet


class Inventory:
    """Every provider and device of the session.

    Args:
        host: this machine's name.
        declare: says what a provider owns that has no manifest, by its id.
        replay: the session replays a recording, and therefore has no live providers.
    """

    def __init__(self, host: str, declare: Callable[[str], Declaration], replay: bool = False) -> None:
        """Start empty."""
        self._host, self._declare, self._replay = host, declare, replay
        self._known: dict[str, Evidence] = {}
        self._topics: dict[str, str] = {}
        self._exits: OrderedDict[int, tuple[Exit, int]] = OrderedDict()
        self._since: dict[str, tuple[int, int, int]] = {}

    def declare(self, declaration: Declaration, starting: bool = False) -> None:
        """List a provider before it says anything.

        Args:
            declaration: what it owns.
            starting: its process is being launched.
        """
        if not (self._replay and is_live(declaration.id)):
            self._known.setdefault(declaration.id, Evidence(declaration, self._host, starting=starting))

    # ---- reports
    def on_report(self, topic: str, report: ProviderReport, now_ns: int) -> int:
        """Take what came on a topic; return the process to watch from now on, 0 for none.

        Args:
            topic: where it came; the first id heard on a topic keeps it. A plugin's is fixed: ``.../plugin/<root>``.
            report: what came.
            now_ns: monotonic clock [ns].
        """
        evidence = self._evidence(topic, report)
        if evidence is None or evidence.torn_down:
            return 0
        local, ended = report.host == self._host, evidence.ended
        if ended is not None and local and report.pid == evidence.pid and report.report_time_ns <= evidence.ended_ns:
            return 0  # was under way when its process died
        fault = verdict.fault_of(report, evidence.declaration, now_ns, self._host)
        launched = evidence.declaration.type == ProviderType.PLUGIN and evidence.watched
        if fault is None and local and not launched and evidence.watched and report.pid != evidence.pid:
            text = f"processes {evidence.pid} and {report.pid} report as this provider; end one of them"
            fault = (StatusReason.MALFORMED_REPORT, text)
        if fault is not None:
            evidence.fault = fault
            return 0
        evidence.report, evidence.arrived_ns, evidence.fault = report, now_ns, None
        text = verdict.devices_fault(report.devices, evidence.declaration)
        if text and report.state == Provider.AVAILABLE:
            evidence.fault = (StatusReason.MALFORMED_REPORT, text)
        evidence.starting, evidence.start_failed = False, ""
        if not local or report.pid <= 0 or launched or (report.pid == evidence.pid and ended is None):
            return 0  # the process of a plugin is the one that was launched, whatever it starts in turn
        evidence.pid, evidence.ended, evidence.watched, evidence.unobservable = report.pid, None, False, ""
        return report.pid

    def _evidence(self, topic: str, report: ProviderReport) -> Evidence | None:
        owner = self._topics.get(topic)
        if owner is None:
            owner = report.provider_id
            if topic.startswith(PLUGIN):
                owner = topic  # whatever it calls itself
            elif owner in self._topics.values() or owner.startswith(PLUGIN):
                return None  # another topic speaks for it
            if self._replay and is_live(owner):
                return None
            self._topics[topic] = owner
        if owner not in self._known:
            if owner.startswith(PLUGIN):
                return None  # no manifest declares it
            self._known[owner] = Evidence(self._declare(owner), self._host)
        return self._known[owner]

    # ---- processes
    def on_launch(self, provider_id: str, pid: int) -> None:
        """Note that the process of a plugin was started."""
        evidence = self._known.get(provider_id)
        if evidence is not None:
            evidence.pid, evidence.starting, evidence.watched = pid, False, True

    def on_start_failed(self, provider_id: str, text: str) -> None:
        """Note why a plugin could not be started."""
        if provider_id in self._known:
            self._known[provider_id].start_failed = text

    def on_watched(self, pid: int) -> None:
        """Note that the end of a reported process will be noticed."""
        for evidence in self._known.values():
            if evidence.pid == pid and evidence.ended is None:
                evidence.watched = True

    def on_unobservable(self, pid: int, text: str) -> None:
        """Note why the process of a provider cannot be watched."""
        for evidence in self._known.values():
            if evidence.pid == pid and evidence.ended is None:
                evidence.unobservable = text

    def on_exit(self, pid: int, how: Exit, now_ns: int) -> None:
        """Note that a process of this machine ended.

        Args:
            pid: of the process.
            how: code and signal, as far as its watcher knows.
            now_ns: monotonic clock [ns].
        """
        if how == Exit():
            told, at_ns = self._exits.get(pid, (how, now_ns))
            how = told if now_ns - at_ns < verdict.STALE_NS else how
        for evidence in self._known.values():
            if evidence.pid == pid and evidence.ended is None and not evidence.torn_down:
                evidence.ended, evidence.ended_ns, evidence.watched = how, now_ns, False

    def on_exit_told(self, pid: int, how: Exit, now_ns: int) -> None:
        """Take from who started a process how it ended, before or after its end was noticed here.

        By itself it ends nothing: a launch of another machine may speak of the same number.
        """
        self._exits[pid] = (how, now_ns)
        while len(self._exits) > _REMEMBERED:
            self._exits.popitem(last=False)
        for evidence in self._known.values():
            if evidence.pid == pid and evidence.ended == Exit() and now_ns - evidence.ended_ns < verdict.STALE_NS:
                evidence.ended = how

    def on_teardown(self, provider_id: str | None = None) -> None:
        """Note that a provider, or every one, ends on purpose: what has failed already stays failed."""
        for name, evidence in self._known.items():
            if provider_id in (None, name) and evidence.ended is None and not evidence.start_failed:
                evidence.torn_down = True

    # ---- out
    def snapshot(self, stamp_ns: int, now_ns: int) -> StatusSnapshot:
        """Return the conclusions.

        Args:
            stamp_ns: ROS clock [ns].
            now_ns: monotonic clock [ns].
        """
        providers, devices = [], []
        for name, evidence in self._known.items():
            owner = verdict.provider(evidence, now_ns)
            providers.append(self._provider(evidence, owner, self._changed(f"provider {name}", owner, now_ns)))
            declaration = evidence.declaration
            for declared in declaration.devices:
                ident = declaration.device_id(declared.path)
                found = verdict.device(evidence, declared.path, owner)
                since = self._changed(f"{name} {ident}", found, now_ns)
                devices.append(DeviceStatus(ident, *declared, name, int(found.state), int(found.reason), found.error, since))
        return StatusSnapshot(Header(stamp_ns), now_ns, tuple(providers), tuple(devices))

    def _provider(self, e: Evidence, owner: Verdict, since: int) -> ProviderStatus:
        d, ended = e.declaration, e.ended
        code = 0 if ended is None else -1 if ended.code is None or ended.signal else ended.code
        signal = (ended.signal or 0) if ended is not None else 0
        return ProviderStatus(
            d.id, int(d.type), d.name, int(owner.state), int(owner.reason), owner.error, e.pid, code, signal, since
        )

    def _changed(self, key: str, found: Verdict, now_ns: int) -> int:
        """Return since when a state and its reason hold (monotonic) [ns]."""
        state, reason, since = self._since.get(key, (-1, -1, now_ns))
        if (state, reason) != (found.state, found.reason):
            since = now_ns
            self._since[key] = (int(found.state), int(found.reason), since)
        return since
