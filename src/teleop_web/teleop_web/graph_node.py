"""The graph as the pages see it, over rclpy: newest records in, services and cameras on demand."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

from rclpy.subscription import Subscription
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import SetBool, Trigger

from teleop_common import qos, records
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import subscribe
from teleop_interfaces.msg import JointTargets, TeleopFrame
from teleop_interfaces.srv import EpisodeCommand, Home, SessionCommand, SetStance, SimCubes
from teleop_web.eventlog import EventLog
from teleop_web.graph import Answer, Clock
from teleop_web.status import Status

_DEVICES = "/teleop/devices/"
_CAMERAS = ("/teleop/cameras/", "/image/compressed")


class GraphNode(TeleopNode):
    """Implements ``teleop_web.graph.Graph``; a subclass says what to do with pictures, events and haptics."""

    status: Status

    def watch_graph(self, status: Status, arms: tuple[str, ...]) -> None:
        """Subscribe to what the pages show and prepare the services that they call."""
        self.status = status
        self._log = EventLog(self.get_logger().info)
        # made now: a client or subscription added from the server's thread would race the executor
        self._pictures, self._providers = dict[str, Subscription](), dict[str, Subscription]()
        self._camera_names, self._wanted = list[str](), set[str]()
        kinds = [(SessionCommand, "/teleop/session/command"), (SetStance, "/teleop/session/set_stance"), (SimCubes, "/sim/cubes")]
        kinds += [(Home, "/teleop/home"), (EpisodeCommand, "/teleop/recorder/command")]
        kinds += [(Trigger, name) for name in ("/teleop/estop", "/teleop/estop/reset", "/sim/reset")]
        kinds += [(kind, f"/{arm}/{name}") for arm in arms for kind, name in ((Trigger, "estop"), (SetBool, "torque"))]
        self._service_clients = {name: self.create_client(kind, name) for kind, name in kinds}
        self._subscribe(status, arms)
        self.every(10.0, self._follow_cameras)
        self.every(1.0, self._discover)

    def _subscribe(self, status: Status, arms: tuple[str, ...]) -> None:
        def hear(record: type, topic: str, take: Any, profile: Any = qos.NEWEST) -> None:
            subscribe(self, record, topic, lambda sample: take(sample, monotonic_s()), profile)

        hear(records.SessionState, "/teleop/session/state", status.on_session, qos.LATCHED)
        hear(records.EstopState, "/teleop/estop_state", status.on_estop, qos.LATCHED)
        hear(records.AuthorityState, "/teleop/authority", status.on_authority)
        hear(records.GuardState, "/teleop/guard/state", status.on_guard)
        hear(records.GuardEvent, "/teleop/guard/events", self.on_guard_event, qos.EVENTS)
        hear(records.Haptics, "/teleop/haptics", self.on_haptics, qos.EVENTS)
        hear(records.SimState, "/sim/state", status.on_sim)
        hear(records.RecorderState, "/teleop/recorder/state", self.on_recorder, qos.LATCHED)
        hear(records.String, "/teleop/config/session", lambda said, _now: status.on_session_config(said.data), qos.LATCHED)
        hear(records.String, "/teleop/config/guard", lambda said, _now: status.on_guard_config(said.data), qos.LATCHED)
        hear(records.StatusSnapshot, "/teleop/devices", status.on_devices, qos.LATCHED)
        for arm in arms:
            hear(records.JointCommand, f"/{arm}/joint_command", lambda s, now, arm=arm: status.on_command(arm, s, now))
            hear(records.JointState, f"/{arm}/joint_states", lambda s, now, arm=arm: status.on_joints(arm, s, now))
            hear(records.DriverState, f"/{arm}/driver_state", lambda s, now, arm=arm: status.on_driver(arm, s, now))
        counted = {"frame": (TeleopFrame, status.on_finalised), "joint_targets": (JointTargets, status.on_targets)}
        for topic, (kind, take) in counted.items():  # only counted, so not decoded
            self.create_subscription(kind, f"/teleop/{topic}", lambda _, take=take: self._count(take), qos.NEWEST, raw=True)

    def _count(self, take: Any) -> None:
        with self.lock:
            take(monotonic_s())

    def clock(self) -> Clock:
        """Return the present instant."""
        return Clock((monotonic := time.monotonic_ns()) * 1e-9, monotonic, self.now_ns())

    def snapshot(self) -> dict[str, Any]:
        """Return the graph's state for the pages."""
        with self.lock:
            return self.status.snapshot(monotonic_s())

    def event(self, text: str) -> None:
        """Log something that an operator would want to read, without waiting for a terminal that does not take it."""
        self._log.say(text)

    def close(self) -> None:
        """Stop the log's thread and the tickers."""
        self._log.close()
        super().close()

    def call(self, name: str, **fields: Any) -> Future[Answer]:
        """Call a service; the future gets its answer, or ConnectionError when nobody offers it."""
        answer: Future[Answer] = Future()
        client = self._service_clients[name]
        if not client.service_is_ready():
            answer.set_exception(ConnectionError(name))
            return answer
        pending = client.call_async(client.srv_type.Request(**fields))

        def answered(future: Any) -> None:
            result = future.result()
            if result is not None and answer.set_running_or_notify_cancel():
                answer.set_result(Answer(bool(result.success), str(result.message)))

        def given_up(future: Future[Answer]) -> None:
            if future.cancelled():
                client.remove_pending_request(pending)

        answer.add_done_callback(given_up)
        pending.add_done_callback(answered)
        return answer

    def cameras(self) -> list[str]:
        """Return the names of the cameras that are published."""
        return self._camera_names

    def watch_cameras(self, names: set[str]) -> None:
        """Receive these cameras and no others, from the next tick on."""
        self._wanted = names

    def _follow_cameras(self) -> None:
        """Subscribe to the cameras that somebody looks at: an unwatched one is not even rendered."""
        for name in self._wanted - set(self._pictures):
            if name in self._camera_names:
                topic = f"{_CAMERAS[0]}{name}{_CAMERAS[1]}"
                take = lambda image, name=name: self.on_picture(name, bytes(image.data))  # noqa: E731
                self._pictures[name] = self.create_subscription(CompressedImage, topic, take, qos.NEWEST)
        for name in set(self._pictures) - self._wanted:
            self.destroy_subscription(self._pictures.pop(name))

    def _discover(self) -> None:
        """Look for cameras and providers, which are configuration and may come late."""
        topics = [name for name, _types in self.get_topic_names_and_types()]
        middle = slice(len(_CAMERAS[0]), -len(_CAMERAS[1]))
        self._camera_names = sorted(t[middle] for t in topics if t.startswith(_CAMERAS[0]) and t.endswith(_CAMERAS[1]))
        for topic in topics:
            name = topic.removeprefix(_DEVICES)
            if topic.startswith(_DEVICES) and name not in self._providers and not name.startswith(("webxr", "plugin/")):
                take = lambda report, name=name: self.status.on_provider(name, report, monotonic_s())  # noqa: E731
                self._providers[name] = subscribe(self, records.ProviderReport, topic, take, qos.NEWEST)

    def on_picture(self, camera: str, jpeg: bytes) -> None:
        """Take a picture; a subclass forwards it."""

    def on_guard_event(self, event: records.GuardEvent, now: float) -> None:
        """Take an event of the guard; a subclass forwards it."""

    def on_haptics(self, buzz: records.Haptics, now: float) -> None:
        """Take a buzz; a subclass forwards it."""
