"""The whole graph under test: started by its launch file, driven by a played operator, read by a probe."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from teleop_bringup.recordings import REAL_DATA as REAL_DATA
from teleop_common import cell, limits, paths, qos, records, spatial
from teleop_common.enums import Authority, Command, PoseFlags, Session
from teleop_common.records import IDENTITY_QUAT, Quat, Vec3
from teleop_common.testing import Probe, probe
from teleop_common.ticker import Ticker
from teleop_description import models
from teleop_interfaces.srv import Home, SessionCommand

# launch arguments of a graph without pages and pictures
QUIET = ("web:=false", "cameras:=false", "log_level:=warn")
# where the played hands are at first, in OpenXR axes [m]
AT_FIRST: dict[str, Vec3] = {"left": (-0.25, 1.2, -0.4), "right": (0.25, 1.2, -0.4)}


@dataclass
class Hand:
    """One played hand, in OpenXR axes (x right, y up, -z forward) [m]."""

    position: Vec3
    orientation: Quat = IDENTITY_QUAT
    trigger: float = 0.0
    squeeze: float = 0.0
    tracked: bool = True
    connected: bool = True
    primary: bool = False
    secondary: bool = False
    thumbstick_click: bool = False

    def record(self) -> records.Controller:
        """Return the controller as a headset would report it."""
        if not self.connected:
            return records.Controller()
        pose = records.TrackedPose(records.Pose(self.position, self.orientation), int(PoseFlags.ALL) if self.tracked else 0)
        return records.Controller(
            True, pose, pose, self.trigger, self.squeeze,
            primary=self.primary, secondary=self.secondary, thumbstick_click=self.thumbstick_click,
        )  # fmt: skip


@dataclass
class Operator:
    """Plays a headset: publishes frames at a fixed rate from its own thread until closed.

    Args:
        node: the probe to publish with.
        hz: frame rate [Hz].
    """

    node: Probe
    hz: float = 90.0
    left: Hand = field(default_factory=lambda: Hand(AT_FIRST["left"]))
    right: Hand = field(default_factory=lambda: Hand(AT_FIRST["right"]))
    head: records.TrackedPose = records.TrackedPose(records.Pose((0.0, 1.6, 0.0)), int(PoseFlags.ALL))
    connection: int = 1
    recentred: bool = False
    paused: bool = False

    def __post_init__(self) -> None:
        """Start publishing."""
        self.sequence = 0
        self.sent: list[records.TeleopFrame] = []
        self._publisher = self.node.talk(records.TeleopFrame, "/teleop/input/external/frame")
        self._lock = threading.Lock()
        self._ticker = Ticker(self.hz, self._tick, self._lock, self.node.fail)

    def _tick(self) -> None:
        if not self.paused:
            self.publish(self.frame())

    def frame(self) -> records.TeleopFrame:
        """Return the next frame, stamped now."""
        self.sequence += 1
        frame = records.TeleopFrame(
            records.Header(self.node.now_ns(), "played"), "external", self.connection, self.sequence, time.monotonic_ns(),
            head=self.head, left=self.left.record(), right=self.right.record(), recentred=self.recentred,
        )  # fmt: skip
        self.recentred = False
        return frame

    def publish(self, frame: records.TeleopFrame) -> None:
        """Publish one frame."""
        self.sent.append(frame)
        self._publisher.publish(frame)

    def hand(self, side: str) -> Hand:
        """Return the hand of ``side``."""
        return self.left if side == "left" else self.right

    def move(self, seconds: float, **deltas: Vec3) -> None:
        """Move hands by ``deltas`` [m] (``right=(dx, dy, dz)``) in a straight, smooth line that takes ``seconds``."""
        starts = {side: self.hand(side).position for side in deltas}
        began = time.monotonic()
        while (part := min(1.0, (time.monotonic() - began) / seconds)) < 1.0:
            self._place(starts, deltas, part * part * (3.0 - 2.0 * part))
            time.sleep(0.5 / self.hz)
        self._place(starts, deltas, 1.0)

    def _place(self, starts: dict[str, Vec3], deltas: dict[str, Vec3], share: float) -> None:
        with self._lock:
            for side, (x, y, z) in starts.items():
                dx, dy, dz = deltas[side]
                self.hand(side).position = (x + share * dx, y + share * dy, z + share * dz)

    def set(self, side: str, **values: Any) -> None:
        """Set fields of a hand between two frames."""
        with self._lock:
            for name, value in values.items():
                setattr(self.hand(side), name, value)

    def reset(self) -> None:
        """Play hands with open grips where they were at first."""
        with self._lock:
            self.left, self.right = Hand(AT_FIRST["left"]), Hand(AT_FIRST["right"])
            self.paused = False

    def close(self) -> None:
        """Stop publishing."""
        self._ticker.stop()


def lead(command: records.JointCommand) -> float:
    """Return how far the committed arm joints are behind what was asked [rad]: little where nothing limits them."""
    return max(abs(r - p) for r, p in zip(command.requested[:-1], command.position[:-1], strict=True))


def envelope_violations(commands: list[records.JointCommand], joints: tuple[limits.JointLimits, ...]) -> list[str]:
    """Return what in ``commands`` leaves the limits, or exceeds the speed from one commit to the next heard."""
    found = []
    for before, now in zip(commands, commands[1:], strict=False):
        for joint, old, new in zip(joints, before.position, now.position, strict=True):
            if not joint.lower - 1e-9 <= new <= joint.upper + 1e-9:
                found.append(f"commit {now.commit}: {joint.name} at {new} rad, allowed {joint.lower} to {joint.upper}")
            if now.commit == before.commit + 1 and abs(new - old) > joint.velocity * min(now.dt, 0.025) + 1e-9:
                found.append(f"commit {now.commit}: {joint.name} moved {new - old} rad in {now.dt} s")
    return found


class Tool:
    """Forward kinematics of one arm's tool in world."""

    def __init__(self, arm: str) -> None:
        """Load the arm's model and its mount."""
        robot = limits.load(paths.config("limits/so101.yaml"))
        self.names = robot.arm_names(arm)
        self._model = models.arm_model(robot)
        self._data = self._model.createData()
        self._frame = models.tool_frame_id(self._model, robot)
        self._mount = cell.load(paths.config("cell.yaml")).mount(arm)

    def __call__(self, positions: tuple[float, ...]) -> np.ndarray:
        """Return the tool's position (3,) in world [m] at joint ``positions`` [rad], in the order of the limits file."""
        pinocchio.framesForwardKinematics(self._model, self._data, np.array(positions))
        placement = self._data.oMf[self._frame]
        local = tuple(float(x) for x in placement.translation)
        return np.array(spatial.compose(self._mount, records.Pose(local)).position)  # type: ignore[arg-type]


def connections(node: Probe) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return (node → topics it publishes, node → topics it reads) of all other nodes, as discovery knows them."""
    names = [n for n, namespace in node.get_node_names_and_namespaces() if n != node.get_name() and not n.startswith("_")]
    publishers = {n: {t for t, _ in node.get_publisher_names_and_types_by_node(n, "/")} for n in names}
    subscribers = {n: {t for t, _ in node.get_subscriber_names_and_types_by_node(n, "/")} for n in names}
    return publishers, subscribers


@dataclass
class Graph:
    """A running graph."""

    node: Probe
    process: subprocess.Popen[bytes]
    log_path: Path
    arms: tuple[str, ...]

    def __post_init__(self) -> None:
        """Listen to what tests read."""
        listen = self.node.listen
        self.commands = {arm: listen(records.JointCommand, f"/{arm}/joint_command") for arm in self.arms}
        self.joints = {arm: listen(records.JointState, f"/{arm}/joint_states") for arm in self.arms}
        self.drivers = {arm: listen(records.DriverState, f"/{arm}/driver_state") for arm in self.arms}
        self.authority = listen(records.AuthorityState, "/teleop/authority")
        self.session = listen(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self.tools = {arm: Tool(arm) for arm in self.arms}
        self.robot = limits.load(paths.config("limits/so101.yaml"))

    @property
    def log(self) -> str:
        """Everything that the launch printed so far."""
        return self.log_path.read_text(errors="replace")

    def torque_on(self, timeout: float = 40.0) -> None:
        """Turn the torque of every arm on, as soon as it is measured."""
        for arm in self.arms:
            self.until(lambda arm=arm: self.joints[arm] and self.drivers[arm], timeout, f"first measurement of {arm}")
            answer = self.node.call(SetBool, f"/{arm}/torque", data=True)
            assert answer.success, answer.message

    def ready(self, timeout: float = 40.0) -> Graph:
        """Wait until every arm measures and is commanded."""
        for arm in self.arms:
            self.until(lambda arm=arm: self.joints[arm] and self.commands[arm], timeout, f"first command of {arm}")
        return self

    def until(self, condition: Callable[[], Any], timeout: float = 5.0, what: str = "condition") -> Any:
        """Wait for a condition; the error shows the end of the launch's output."""
        try:
            return self.node.until(condition, timeout, what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; authority {self.state()}; the launch printed:\n{self.log[-4000:]}") from None

    def state(self) -> dict[str, tuple[str, str]]:
        """Return each arm's authority and why."""
        if not self.authority:
            return {}
        return {a.arm: (Authority(a.state).name, a.reason) for a in self.authority[-1].arms}

    def authority_of(self, arm: str) -> records.ArmAuthority:
        """Return the newest authority of ``arm``."""
        return next(a for a in self.authority[-1].arms if a.arm == arm)

    def is_in(self, arm: str, state: Authority) -> bool:
        """Return whether ``arm`` is in ``state``."""
        return bool(self.authority) and self.authority_of(arm).state == state

    def start_session(self, provider: str = "external", timeout: float = 15.0) -> None:
        """CONNECT and START as a person would: again while a node of a fresh graph is not heard yet."""
        end = time.monotonic() + timeout
        for command in (Command.CONNECT, Command.START):
            while not (
                answer := self.node.call(SessionCommand, "/teleop/session/command", command=int(command), provider=provider)
            ).success:
                if time.monotonic() > end:
                    raise AssertionError(f"session {command.name}: {answer.message}\n{self.log[-3000:]}")
                time.sleep(0.3)
        self.until(lambda: self.session and self.session[-1].state == Session.RUNNING, 5.0, "session RUNNING")

    def engage(self, operator: Operator, *arms: str) -> None:
        """Close the grips of ``arms`` and wait until they drive; squeeze again where a starved machine left a gap."""
        for attempt in range(3):
            for arm in arms:
                operator.set(arm, squeeze=0.0)
            time.sleep(0.15)
            for arm in arms:
                operator.set(arm, squeeze=1.0)
            try:
                self.until(lambda: all(self.is_in(arm, Authority.DRIVING) for arm in arms), 2.5, f"{arms} DRIVING")
                return
            except TimeoutError:
                if attempt == 2:
                    raise

    def release(self, operator: Operator, *arms: str) -> None:
        """Open the grips of ``arms`` and wait until they idle."""
        for arm in arms:
            operator.set(arm, squeeze=0.0)
        for arm in arms:
            self.until(lambda arm=arm: self.is_in(arm, Authority.IDLE), 2.0, f"{arm} IDLE")

    def release_estop(self) -> None:
        """Reset the e-stop where it is latched, again while a driver keeps it closed."""
        end = time.monotonic() + 10.0
        while any(self.is_in(arm, Authority.ESTOP) for arm in self.arms):
            answer = self.node.call(Trigger, "/teleop/estop/reset")
            if time.monotonic() > end:
                raise AssertionError(f"the e-stop stays latched: {answer.message}; {self.state()}")
            time.sleep(0.2)

    def at_home(self, arm: str) -> bool:
        """Return whether ``arm`` idles at its home pose."""
        away = np.abs(np.subtract(self.commands[arm][-1].position, [j.home for j in self.robot.all_joints]))
        return self.is_in(arm, Authority.IDLE) and float(away.max()) < 2e-4

    def bring_home(self) -> None:
        """Bring all arms home by the service, again where a starved machine ended it on the way."""
        end = time.monotonic() + 30.0
        while not all(self.at_home(arm) for arm in self.arms):
            if time.monotonic() > end:
                raise AssertionError(f"the arms do not come home: {self.state()}\n{self.log[-3000:]}")
            self.node.call(Home, "/teleop/home", arms=[])
            with suppress(TimeoutError):
                self.node.until(lambda: all(self.at_home(arm) for arm in self.arms), 5.0)

    def replay_to_its_end(self, timeout: float = 60.0) -> None:
        """Wait until ``replay_input`` has announced the end of its bag."""
        states: list[str] = []
        self.node.create_subscription(
            String, "/teleop/input/replay/state", lambda m: states.append(json.loads(m.data)["state"]), qos.LATCHED
        )
        self.until(lambda: "ended" in states, timeout, "end of the replay")

    def tool(self, arm: str) -> np.ndarray:
        """Return the measured tool position of ``arm`` (3,) in world [m]."""
        return self.tools[arm](self.measured(arm))

    def measured(self, arm: str) -> tuple[float, ...]:
        """Return the newest measured joints of ``arm`` in the order of the limits file [rad]."""
        sample = self.joints[arm][-1]
        by_name = dict(zip(sample.name, sample.position, strict=True))
        return tuple(by_name[name] for name in self.tools[arm].names)

    def pid_of(self, executable: str) -> int | None:
        """Return the process of the launch's own child that runs ``executable``, or the node of that name; None without one."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        for pid in children:
            command = subprocess.run(["ps", "-ww", "-o", "args=", "-p", pid], capture_output=True, text=True).stdout
            if re.search(rf"(/|__node:=){executable}( |$)", command):
                return int(pid)
        return None

    def stop(self, timeout: float = 10.0) -> int:
        """End the launch as Ctrl-C does and return its exit status."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout)


@contextmanager
def graph(
    domain: int, *arguments: str, arms: tuple[str, ...] = ("left", "right"), file: str = "sim.launch.py"
) -> Iterator[Graph]:
    """Run a launch file in its own domain and yield the graph; it is ended as Ctrl-C would.

    Args:
        domain: ROS domain id.
        arguments: launch arguments, ``name:=value``.
        arms: arms that the graph has.
        file: launch file of teleop_bringup.
    """
    with tempfile.TemporaryDirectory(prefix="teleop-graph-") as folder, probe(domain) as node:
        log = Path(folder) / "launch.log"
        with log.open("wb") as sink:
            child = subprocess.Popen(
                ["ros2", "launch", "teleop_bringup", file, *arguments],
                stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
                env=os.environ | {"ROS_DOMAIN_ID": str(domain), "ROS_LOG_DIR": folder, "PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        running = Graph(node, child, log, arms)
        try:
            yield running
        finally:
            try:
                running.stop()
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                raise AssertionError(f"the launch did not end within 10 s of Ctrl-C:\n{running.log[-4000:]}") from None
