"""What the pages show of the graph: newest records in, one JSON-ready state out. Pure; times are monotonic seconds."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from teleop_common import haptics, records
from teleop_common.enums import Authority, Reason, Session
from teleop_web import device_tree
from teleop_web.liveness import Rate, Watch, percentiles


@dataclass(frozen=True)
class JointRange:
    """One joint's name (without the arm's prefix) and limits [rad]."""

    name: str
    lower: float
    upper: float


def _round(value: float, digits: int = 4) -> float | None:
    """Round for the page; None for what JSON cannot say."""
    return round(value, digits) if -1e9 < value < 1e9 else None


def _name(kind: Any, value: int) -> str:
    """Return the lower-case name of an enumeration value, or the number when it is unknown."""
    try:
        return str(kind(value).name).lower()
    except ValueError:
        return str(value)


@dataclass
class _Arm:
    """Newest records of one arm, and what executes its commands: ``simulation``, ``hardware``, or empty while not known."""

    authority: records.ArmAuthority | None = None
    command: records.JointCommand | None = None
    joints: records.JointState | None = None
    driver: records.DriverState | None = None
    joints_at: float = -1e9
    sink: str = ""
    sink_asked: float = 0.0


_SINK_PATIENCE = 1.0  # [s] for which a driver that started may leave open what it drives
_OLD = 1.0  # [s] after which a measurement is history


@dataclass
class Status:
    """Collects what the graph says.

    Attributes:
        arms: names of the arms.
        joints: joints of each arm in order, with their limits.
    """

    arms: tuple[str, ...]
    joints: tuple[JointRange, ...]
    watches: dict[str, Watch] = field(init=False)
    rates: dict[str, Rate] = field(init=False)

    def __post_init__(self) -> None:
        """Start with nothing heard."""
        listed = [
            Watch("session", "no frame reaches the arms", 1.0),
            Watch("retargeter", "hands do not become joint targets", 2.5),
            Watch("guard", "no command reaches the arms", 0.5),
        ]
        listed += [Watch(f"driver {arm}", f"the {arm} arm executes nothing", 0.6) for arm in self.arms]
        self.watches = {w.name: w for w in listed}
        self.rates = {name: Rate() for name in ("frames", "finalised", "targets", "commits")}
        self._arm = {arm: _Arm() for arm in self.arms}
        self._session: records.SessionState | None = None
        self._bindings: list[dict[str, Any]] = []
        self._estop: records.EstopState | None = None
        self._guard: records.GuardState | None = None
        self._geometry_asked = ""
        self._recorder: records.RecorderState | None = None
        self._estop_at = 0.0
        self._latency: deque[float] = deque(maxlen=512)
        self._last_commit = 0
        self._sim_rtf = 0.0
        self._devices: records.StatusSnapshot | None = None
        self._devices_at = 0.0
        self._errors: dict[str, str] = {}
        self._finalised_at = self._targets_at = -1e9

    def heard(self, node: str, now: float, *, does: str = "", limit: float = 2.5) -> None:
        """Note a sign of life of ``node``; one that is new is watched from now on.

        Args:
            node: its name.
            now: time of the sign [s].
            does: what stands still without it, for a new one.
            limit: oldest sign that counts [s], for a new one.
        """
        self.watches.setdefault(node, Watch(node, does or "what it shows is missing", limit)).heard = now

    def on_session(self, state: records.SessionState, now: float) -> None:
        """Take the session's state."""
        self._session = state
        self.heard("session", now)

    def on_session_config(self, text: str) -> None:
        """Take what the session latches of itself: which button does what."""
        found = json.loads(text).get("bindings", [])
        self._bindings = [{key: row[key] for key in ("hand", "button", "event", "action", "seconds")} for row in found]

    def on_guard_config(self, text: str) -> None:
        """Take what the guard latches of itself: which geometry it was told to measure."""
        self._geometry_asked = str(json.loads(text).get("parameters", {}).get("geometry", ""))

    def on_authority(self, state: records.AuthorityState, now: float) -> None:
        """Take the authority of every arm."""
        for arm in state.arms:
            if arm.arm in self._arm:
                self._arm[arm.arm].authority = arm
        self.heard("guard", now)

    def on_command(self, arm: str, command: records.JointCommand, now: float) -> None:
        """Take a committed command and, once a commit, its latency."""
        self._arm[arm].command = command
        if command.commit != self._last_commit:
            self._last_commit = command.commit
            self.rates["commits"].tick(now)
            # a repeated or frame-less commit says nothing of the way from the frame
            if command.origin_stamp > 0 and 0 < command.header.stamp - command.origin_stamp < 100_000_000:
                self._latency.append((command.header.stamp - command.origin_stamp) * 1e-6)

    def on_joints(self, arm: str, state: records.JointState, now: float) -> None:
        """Take measured joints."""
        self._arm[arm].joints, self._arm[arm].joints_at = state, now

    def on_driver(self, arm: str, state: records.DriverState, now: float) -> None:
        """Take a driver's state."""
        newest = self._arm[arm]
        if newest.driver is None or newest.driver.instance != state.instance:
            # a real arm stays one until a simulation is heard; a simulated one may have given way to a real one
            newest.sink, newest.sink_asked = newest.sink if newest.sink == "hardware" else "", now
        newest.driver = state
        self.heard(f"driver {arm}", now)
        self._judge_sink(arm, now)

    def _is_heard(self, node: str, now: float) -> bool:
        return node in self.watches and self.watches[node].report(now)["state"] == "ok"

    def _judge_sink(self, arm: str, now: float) -> None:
        """Find out what a driver that is heard drives; what was found stays true while the driver is silent."""
        newest = self._arm[arm]
        if self._is_heard(f"hw/{arm}", now):
            newest.sink = "hardware"
        elif self._is_heard("sim", now):
            newest.sink = "simulation"
        elif not newest.sink and now - newest.sink_asked > _SINK_PATIENCE:
            newest.sink = "hardware"  # nobody says that it is simulated

    def on_estop(self, state: records.EstopState, now: float) -> None:
        """Take the e-stop latch."""
        self._estop, self._estop_at = state, now

    def on_guard(self, state: records.GuardState, _now: float) -> None:
        """Take the collision filter's view."""
        self._guard = state

    def on_sim(self, state: records.SimState, now: float) -> None:
        """Note that the arms are simulated."""
        self._sim_rtf = state.real_time_factor
        self.heard("sim", now, does="the simulated arms and cameras stand still", limit=0.6)
        for arm in self.arms:
            if self._is_heard(f"driver {arm}", now):
                self._judge_sink(arm, now)

    def on_recorder(self, state: records.RecorderState, now: float) -> tuple[records.Haptics, ...]:
        """Take the recorder's state and return what the operator feels of it."""
        before, self._recorder = self._recorder, state
        return haptics.of_take(before, state)

    def on_provider(self, name: str, report: records.ProviderReport, now: float) -> None:
        """Take a provider's report: a sign of life of the node that sends it."""
        self.heard(name, now)
        if report.error:
            self._errors[name] = report.error
        else:
            self._errors.pop(name, None)

    def on_devices(self, snapshot: records.StatusSnapshot, now: float) -> None:
        """Take the status of every provider and device."""
        self._devices, self._devices_at = snapshot, now
        self.heard("device_status", now, does="what is wrong with a device is not shown")

    def on_finalised(self, now: float) -> None:
        """Count a finalised frame."""
        self.rates["finalised"].tick(now)
        self._finalised_at = now

    def on_targets(self, now: float) -> None:
        """Count joint targets."""
        self.rates["targets"].tick(now)
        self._targets_at = now
        self.heard("retargeter", now)

    def _joint_rows(self, arm: str, now: float) -> list[dict[str, Any]]:
        newest = self._arm[arm]
        fresh = newest.joints if now - newest.joints_at < _OLD else None
        measured = dict(zip(fresh.name, fresh.position)) if fresh else {}
        command = newest.command
        committed = dict(zip(command.name, command.position)) if command else {}
        requested = dict(zip(command.name, command.requested)) if command else {}
        reasons = dict(zip(command.name, command.reason)) if command else {}
        rows = []
        for joint in self.joints:
            name = f"{arm}_{joint.name}"
            row: dict[str, Any] = {"name": joint.name, "lower": _round(joint.lower), "upper": _round(joint.upper)}
            for key, source in (("measured", measured), ("committed", committed), ("requested", requested)):
                row[key] = _round(source[name]) if name in source else None
            row["reason"] = _name(Reason, reasons.get(name, 0))
            rows.append(row)
        return rows

    def _arm_state(self, arm: str, now: float) -> dict[str, Any]:
        newest = self._arm[arm]
        authority, driver = newest.authority, newest.driver
        known = self._is_heard("guard", now)
        return {
            "name": arm,
            "authority": _name(Authority, authority.state) if authority and known else "unknown",
            "hand": authority.hand if authority else "",
            "owner": authority.owner if authority else "",
            "must_open": bool(authority and authority.must_open),
            "countdown": _round(authority.countdown_remaining, 2) if authority else 0.0,
            "engage": authority.engage if authority else 0,
            "reason": authority.reason if authority else "",
            "counters": list(authority.counters) if authority else [],
            "joints": self._joint_rows(arm, now),
            "driver": None
            if driver is None
            else {
                "heard": self._is_heard(f"driver {arm}", now),
                "torque_on": driver.torque_on,
                "estop": driver.estop,
                "error": driver.error,
                "write_hz": _round(driver.write_hz, 1),
                "read_hz": _round(driver.read_hz, 1),
                "temperature": [_round(t, 1) for t in driver.temperature],
                "voltage": [_round(v, 2) for v in driver.voltage],
            },
            "sink": newest.sink or ("unknown" if driver else "none"),
        }

    def _nodes(self, now: float) -> list[dict[str, Any]]:
        rows = [watch.report(now) | {"error": self._errors.get(watch.name, "")} for watch in self.watches.values()]
        # while frames flow, targets must follow them: a dead retargeter shows in half a second, not at its next report
        if now - self._finalised_at < 0.3 and now - self._targets_at > 0.5 and self.rates["finalised"].hz(now) > 10.0:
            row = next(r for r in rows if r["name"] == "retargeter")
            if row["state"] == "ok" and self._targets_at > 0:
                row.update(
                    state="gone",
                    age=round(now - self._targets_at, 3),
                    remedy="frames flow, targets do not; it respawns within 1 s",
                )
        return rows

    def snapshot(self, now: float) -> dict[str, Any]:
        """Return everything that the pages show of the graph, ready for JSON.

        Args:
            now: monotonic time [s].
        """
        session, estop, guard, recorder = self._session, self._estop, self._guard, self._recorder
        latched_drivers = [arm for arm in self.arms if (d := self._arm[arm].driver) is not None and d.estop]
        return {
            "session": {
                "state": _name(Session, session.state) if session else "unknown",
                "provider": session.provider if session else "",
                "profile": session.profile if session else "",
                "epoch": session.epoch if session else 0,
                "stance": session.stance if session else "",
                "view": session.view if session else "",
                "yaw": _round(session.yaw) if session else 0.0,
                "scale": _round(session.scale) if session else 1.0,
                "pairing": dict(zip(session.arm, session.hand)) if session else {},
                "error": session.error if session else "",
                "bindings": self._bindings,
            },
            "estop": {
                "latched": bool(estop and estop.latched) or bool(latched_drivers),
                "source": estop.source if estop and estop.latched else ", ".join(f"driver {a}" for a in latched_drivers),
                "latched_drivers": sorted(set(latched_drivers) | set(estop.latched_drivers if estop else ())),
                "age": round(now - self._estop_at, 3) if estop else None,
            },
            "guard": None
            if guard is None
            else {
                "enabled": guard.enabled,
                "geometry": guard.geometry,
                "geometry_asked": self._geometry_asked,
                "holding": guard.holding,
                "clearance_committed": _round(guard.clearance_committed),
                "clearance_measured": _round(guard.clearance_measured),
                "scale": _round(guard.scale, 3),
                "pairs": [
                    {"links": list(p.links), "distance": _round(p.distance), "blocking": p.blocking} for p in guard.pairs[:4]
                ],
            },
            "recorder": recorder and {key: value for key, value in recorder._asdict().items() if key != "header"},
            "arms": [self._arm_state(arm, now) for arm in self.arms],
            "rates": {name: round(rate.hz(now), 1) for name, rate in self.rates.items()},
            "latency_ms": {k: None if v is None else round(v, 2) for k, v in percentiles(self._latency).items()},
            "real_time_factor": _round(self._sim_rtf, 3) if self._is_heard("sim", now) else None,
            "nodes": self._nodes(now),
            "devices": device_tree.tree(self._devices, self._devices_at, now),
        }
