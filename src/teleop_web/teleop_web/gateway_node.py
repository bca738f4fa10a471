"""The web gateway's shell: rclpy on the main thread, the HTTPS server on its own."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from std_msgs.msg import String

from teleop_common import limits, paths, qos, records
from teleop_common.enums import Provider
from teleop_common.params import load
from teleop_common.runner import monotonic_s
from teleop_common.transport import RecordPublisher
from teleop_diagnostics.repeat import Repeat
from teleop_web import certificate, devices
from teleop_web.cameras import CameraRoom
from teleop_web.clients import Operators, Pairing, new_code
from teleop_web.graph_node import GraphNode
from teleop_web.hub import Hub, Limits
from teleop_web.params import GatewayConfig, check_code, web_root
from teleop_web.rest import Rest
from teleop_web.server import Server
from teleop_web.services import Stops
from teleop_web.status import JointRange, Status

# the server's thread waits for the interpreter while a subscription is handled; the default of 5 ms is half a frame
_SWITCH_INTERVAL = 0.0002  # [s]


class GatewayNode(GraphNode):
    """Publishes what the headset said; shows the graph to the pages."""

    def __init__(self) -> None:
        """Read parameters, listen, subscribe."""
        super().__init__("web_gateway")
        config = load(self, GatewayConfig)
        check_code(config.pairing_code)
        root = web_root(config.web_root)
        robot = limits.load(paths.config("limits/so101.yaml", config.limits_file))
        sys.setswitchinterval(_SWITCH_INTERVAL)
        code = config.pairing_code or new_code()
        pairing = Pairing(code)
        frames = RecordPublisher(self, records.TeleopFrame, "/teleop/input/webxr/frame", qos.STREAM)
        self._headsets, self._host = devices.Headsets(), socket.gethostname()
        self._devices, self._repeats = dict[str, RecordPublisher](), dict[str, Repeat]()
        self._url = self.create_publisher(String, "/teleop/web/url", qos.LATCHED)
        limit = Limits(config.max_frame_hz, config.max_message_hz)
        stops = Stops(self, config.arms)
        self.hub = Hub(pairing, Operators(secrets.randbits(32)), frames.publish, limit, self.event, stops.press)
        self.room = CameraRoom(self, pairing)
        self.server = Server(self, self.hub, Rest(self, self.hub, pairing, stops, config.arms), self.room, root)
        self.watch_graph(Status(config.arms, tuple(JointRange(j.name, j.lower, j.upper) for j in robot.all_joints)), config.arms)
        self._listen(config, code)
        self.every(10.0, self._report)

    def _listen(self, config: GatewayConfig, code: str) -> None:
        """Open the ports and announce them."""
        directory = Path(config.certificate_dir) if config.certificate_dir else certificate.default_directory()
        sites: list[Any] = [("https_port", config.bind, config.https_port, certificate.context(directory, datetime.now(UTC)))]
        if config.http_port >= 0:
            sites.append(("http_port", "127.0.0.1", config.http_port, None))
        ports = self.server.start(sites, self.fail)
        hosts = certificate.local_addresses() if config.bind == "0.0.0.0" else [config.bind]
        http = f"http://127.0.0.1:{ports[1]}" if config.http_port >= 0 else ""
        headset = [f"https://{host}:{ports[0]}/vr?code={code}" for host in hosts]
        desktop = f"{http}/?code={code}" if http else ""
        announced = {
            "https": f"https://{hosts[0]}:{ports[0]}",
            "http": http,
            "headset": headset,
            "desktop": desktop,
            "code": code,
        }
        self._url.publish(String(data=json.dumps(announced)))
        lines = [
            "",
            *(f"  headset page:  {url}" for url in headset[:3]),
            f"  desktop page:  {desktop or 'off'}",
            f"  pairing code:  {code}",
        ]
        self.get_logger().info("\n".join(lines))

    def _report(self) -> None:
        """Publish the state of the gateway and of each headset, each second and on change."""
        hub, now = self.hub, monotonic_s()
        pages = {p.client.key: p.client.name for p in list(hub.peers.values()) if p.client.wants_to_operate}
        age = None if hub.last_frame_at is None else now - hub.last_frame_at
        found = self._headsets.reports(pages, hub.operators.key, hub.last_frame, age)
        for ident, (state, rows) in ({"webxr": (Provider.AVAILABLE, ())} | found).items():
            at = self.clock()
            if self._repeats.setdefault(ident, Repeat()).due((state, rows), at.monotonic_ns):
                if ident not in self._devices:
                    topic = f"/teleop/devices/{ident}"
                    self._devices[ident] = RecordPublisher(self, records.ProviderReport, topic, qos.STREAM)
                header = records.Header(at.stamp_ns)
                self._devices[ident].publish(
                    records.ProviderReport(header, 1, at.monotonic_ns, self._host, os.getpid(), ident, int(state), "", rows)
                )

    def on_picture(self, camera: str, jpeg: bytes) -> None:
        """Hand a picture to the server's thread."""
        self.server.soon(self.room.picture, camera, jpeg)

    def on_guard_event(self, event: records.GuardEvent, now: float) -> None:
        """Show an event of the guard on every page."""
        message = {
            "type": "event",
            "kind": event.kind,
            "arm": event.arm,
            "text": event.text,
            "unix_ms": event.header.stamp // 1_000_000,
        }
        self.server.soon(self.hub.broadcast, message)

    def on_haptics(self, buzz: records.Haptics, now: float) -> None:
        """Forward a buzz to the operator."""
        self.server.soon(self.hub.haptics, buzz)

    def on_recorder(self, state: records.RecorderState, now: float) -> None:
        """Show the recorder, and let the operator feel that a take starts (one long pulse) or ends (a short one)."""
        for buzz in self.status.on_recorder(state, now):
            self.server.soon(self.hub.haptics, buzz)

    def close(self) -> None:
        """Close the sockets, then the node."""
        self.server.stop()
        super().close()
