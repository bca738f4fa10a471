"""Latency of the graph: stamp of the operator's frame to stamp of the command, beside three empty hops, in one run.

The simulated graph runs as `./teleop sim` runs it, without pages and cameras. This process plays the headset: in turn it
drives both arms for a block, then sends the same frames at the same rate through three processes that only hand bytes
on. So pipeline and floor see the same machine at the same minute, and neither loads the other.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from std_msgs.msg import String
from std_srvs.srv import Trigger

from teleop_bringup.testing import Hand
from teleop_common import qos, records
from teleop_common.enums import Authority, PoseFlags
from teleop_common.testing import Probe, free_domain, probe, process
from teleop_common.ticker import Ticker
from teleop_interfaces.srv import SessionCommand

RATE = 90.0  # [Hz]
BLOCK = 7.5  # [s] of measured frames in a block
SETTLE = 1.6  # [s] of a driving block that the countdown takes
SECONDS = float(os.environ.get("TELEOP_BENCH_SECONDS", "60"))
ESTOPS = 20


@dataclass
class Player:
    """Plays the operator: 90 Hz frames whose hands move in slow circles."""

    node: Probe
    sequence: int = 0
    sent: dict[int, int] = field(default_factory=dict)

    def frame(self, squeeze: float, estop: bool = False) -> records.TeleopFrame:
        """Return the next frame, stamped now; ``estop``: with the right hand's e-stop button down."""
        self.sequence += 1
        t = self.sequence / RATE
        hands = []
        for side in (-1.0, 1.0):
            position = (0.25 * side + 0.05 * math.sin(t), 1.2 + 0.03 * math.sin(1.3 * t), -0.4 + 0.04 * math.cos(t))
            hands.append(Hand(position, squeeze=squeeze).record())
        head = records.TrackedPose(records.Pose((0.0, 1.6, 0.0)), int(PoseFlags.ALL))
        stamp = self.node.now_ns()
        return records.TeleopFrame(
            records.Header(stamp, "bench"),
            "external",
            1,
            self.sequence,
            time.monotonic_ns(),
            head=head,
            left=hands[0],
            right=hands[1]._replace(secondary=estop),
        )


def _play(seconds: float, send: Any) -> None:
    """Call ``send`` at the frame rate for ``seconds``."""
    due, end = time.monotonic(), time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        if due > now:
            time.sleep(due - now)
        send()
        due = max(due + 1.0 / RATE, time.monotonic() - 0.02)


def _percentiles(name: str, values_ms: list[float]) -> dict[str, float]:
    if not values_ms:
        raise RuntimeError(f"{name}: nothing was measured; is the graph driving? (run ./teleop sim input:=debug to see)")
    return {f"p{p}": float(np.percentile(values_ms, p)) for p in (50, 95, 99)}


def run() -> dict[str, Any]:
    """Measure and return the figures of ``pipeline``."""
    with free_domain() as domain:
        environment = os.environ | {"ROS_DOMAIN_ID": str(domain)}
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        launch = [
            "ros2",
            "launch",
            "teleop_bringup",
            "sim.launch.py",
            "input:=external",
            "web:=false",
            "cameras:=false",
            "log_level:=warn",
        ]
        children = [subprocess.Popen(launch, env=environment, stdout=sys.stderr)]
        for a, b in (("0", "1"), ("1", "2")):
            command = [sys.executable, "-m", "bench.relay", f"hop_{b}", f"/bench/hop_{a}", f"/bench/hop_{b}"]
            children.append(subprocess.Popen(command, env=environment))
        try:
            with probe(domain) as node:
                return _measure(node, domain)
        finally:
            for child in children:
                child.send_signal(signal.SIGINT)
            for child in children:
                child.wait(15)


def _measure(node: Probe, domain: int) -> dict[str, Any]:
    player = Player(node)
    out = node.talk(records.TeleopFrame, "/teleop/input/external/frame")
    first_hop = node.talk(records.TeleopFrame, "/bench/hop_0")
    commands = node.listen(records.JointCommand, "/right/joint_command", qos.STREAM)
    authority = node.listen(records.AuthorityState, "/teleop/authority", qos.STREAM)
    floor_ms: list[float] = []

    def arrived(frame: records.TeleopFrame) -> None:
        floor_ms.append((node.now_ns() - frame.header.stamp) * 1e-6)

    from teleop_common.transport import subscribe

    subscribe(node, records.TeleopFrame, "/bench/hop_2", arrived, qos.STREAM)
    node.until(lambda: commands, 40.0, "first joint command of the graph")
    _play(1.0, lambda: out.publish(player.frame(0.0)))
    for command in (SessionCommand.Request.CONNECT, SessionCommand.Request.START):
        _play(0.3, lambda: out.publish(player.frame(0.0)))
        answer = node.call(SessionCommand, "/teleop/session/command", command=command, provider="external")
        if not answer.success:
            raise RuntimeError(f"session: {answer.message}")

    latency_ms: list[float] = []
    frames = lost = 0
    while frames < SECONDS * RATE:
        _play(0.3, lambda: out.publish(player.frame(0.0)))
        _play(SETTLE, lambda: out.publish(player.frame(1.0)))
        if authority[-1].arms[-1].state != Authority.DRIVING:
            raise RuntimeError(f"guard: {authority[-1].arms[-1].reason}, not driving after the countdown")
        commands.clear()
        start = player.sequence
        _play(BLOCK, lambda: out.publish(player.frame(1.0)))
        wanted = range(start + 1, player.sequence + 1)
        _play(0.1, lambda: out.publish(player.frame(1.0)))
        moved = {c.frame_sequence: (c.header.stamp - c.origin_stamp) * 1e-6 for c in reversed(commands) if c.dt > 0.0}
        latency_ms += [moved[s] for s in wanted if s in moved]
        frames += len(wanted)
        lost += sum(s not in moved for s in wanted)
        _play(BLOCK, lambda: first_hop.publish(player.frame(1.0)))
    jitter_ms = _tick_jitter(commands)
    ticks: list[int] = []
    ticker = Ticker(100.0, lambda: ticks.append(time.monotonic_ns()), node.lock, node.fail)
    time.sleep(10.0)
    ticker.stop()
    ours, floor = _percentiles("pipeline", latency_ms), _percentiles("floor", floor_ms)
    return {
        **{f"{key}_ms": value for key, value in ours.items()},
        "floor_p50_ms": floor["p50"],
        "floor_p99_ms": floor["p99"],
        "frames": frames,
        "lost": lost,
        "tick_jitter_p99_ms": jitter_ms,
        "floor_jitter_p99_ms": float(np.percentile(np.abs(np.diff(ticks) * 1e-6 - 10.0), 99)),
        **_estop(node, domain, player, out, commands),
    }


def _tick_jitter(commands: list[records.JointCommand]) -> float:
    """Return the 99th percentile of |interval - 10 ms| of the guard's idle ticks [ms]."""
    commands.clear()
    time.sleep(10.0)
    times = np.array([c.commit_time_ns for c in commands])
    return float(np.percentile(np.abs(np.diff(times) * 1e-6 - 10.0), 99))


def _estop(node: Probe, domain: int, player: Player, out: Any, commands: Any) -> dict[str, float]:
    """Return the 99th percentiles of the time from an e-stop to the last command that still moved [ms].

    In turn by the guard's service, by a controller's button, and by the request that a page's button sends.
    """
    client = node.create_client(Trigger, "/teleop/estop")
    client.wait_for_service(2.0)
    took: dict[str, list[float]] = {"service": [], "button": [], "page": []}
    with ExitStack() as open_:
        folder = open_.enter_context(TemporaryDirectory())
        settings = {"bind": "127.0.0.1", "https_port": 0, "http_port": 0, "certificate_dir": folder}
        open_.enter_context(process("teleop_web", "web_gateway", domain, settings))
        press = open_.enter_context(ThreadPoolExecutor(1))
        page = _page_button(node)
        calls: dict[str, Callable[[], Any] | None] = {
            "service": lambda: client.call_async(Trigger.Request()),
            "button": None,
            "page": lambda: press.submit(page),
        }
        for way in [*took] * ESTOPS:
            took[way].append(_stop_once(node, player, out, commands, calls[way]))
    worst = {f"estop_{way}_p99_ms": float(np.percentile(values, 99)) for way, values in took.items()}
    return {"estop_p99_ms": max(worst.values()), **worst}


def _page_button(node: Probe) -> Callable[[], None]:
    """Return what sends the request of the page's e-stop button."""
    heard: list[String] = []
    node.create_subscription(String, "/teleop/web/url", heard.append, qos.LATCHED)
    node.until(lambda: heard, 20.0, "address of the pages")
    found = json.loads(heard[-1].data)
    request = urllib.request.Request(f"{found['http']}/api/estop", b"{}", {"X-Pairing-Code": found["code"]}, method="POST")

    def press() -> None:
        with urllib.request.urlopen(request, timeout=2.0) as answer:
            answer.read()

    return press


def _stop_once(node: Probe, player: Player, out: Any, commands: Any, call: Callable[[], Any] | None) -> float:
    """Drive, stop by ``call`` or (None) by the button, and return the time to the last command that still moved [ms]."""
    _play(0.3, lambda: out.publish(player.frame(0.0)))
    _play(SETTLE, lambda: out.publish(player.frame(1.0)))
    commands.clear()
    called = time.monotonic_ns()
    future = call() if call is not None else None
    _play(0.3, lambda: out.publish(player.frame(1.0, call is None)))
    if future is not None:
        node.until(future.done, 2.0, "answer to the e-stop")
        future.result()
    moving = [c.commit_time_ns for c in commands if c.commit_time_ns > called and c.dt > 0.0]
    _play(0.1, lambda: out.publish(player.frame(0.0)))
    node.call(Trigger, "/teleop/estop/reset")
    return max(0.0, (max(moving, default=called) - called) * 1e-6)
