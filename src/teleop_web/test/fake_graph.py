"""The rest of the graph, played by a probe: enough for the pages to have something to show."""

import io
import math
import time

from sensor_msgs.msg import CompressedImage
from std_srvs.srv import Trigger

from teleop_common import qos, records
from teleop_common.enums import Authority, Reason, Session
from teleop_interfaces.srv import EpisodeCommand, Home, SessionCommand

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


class FakeGraph:
    """Publishes a believable state at 20 Hz from ``publish``; services answer and are counted."""

    def __init__(self, probe, arms=("left", "right")):
        self.probe, self.arms = probe, arms
        self.calls = []
        self.estop = False
        self.silent = set()
        self.authority = dict.fromkeys(arms, Authority.IDLE)
        self.session = probe.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self.authorities = probe.talk(records.AuthorityState, "/teleop/authority")
        self.guard = probe.talk(records.GuardState, "/teleop/guard/state")
        self.guard_events = probe.talk(records.GuardEvent, "/teleop/guard/events", qos.EVENTS)
        self.estops = probe.talk(records.EstopState, "/teleop/estop_state", qos.LATCHED)
        self.sim = probe.talk(records.SimState, "/sim/state")
        self.reports = probe.talk(records.ProviderReport, "/teleop/devices/retargeter")
        self.commands = {a: probe.talk(records.JointCommand, f"/{a}/joint_command", qos.COMMAND) for a in arms}
        self.joints = {a: probe.talk(records.JointState, f"/{a}/joint_states") for a in arms}
        self.drivers = {a: probe.talk(records.DriverState, f"/{a}/driver_state") for a in arms}
        self.camera = probe.create_publisher(CompressedImage, "/teleop/cameras/overshoulder/image/compressed", qos.IMAGE)
        probe.create_publisher(CompressedImage, "/teleop/cameras/overhead/image/compressed", qos.IMAGE)
        for name in ("/teleop/estop", "/teleop/estop/reset", *(f"/{a}/estop" for a in arms)):
            probe.serve(Trigger, name, lambda _request, response, name=name: self._answer(name, response))
        probe.serve(SessionCommand, "/teleop/session/command", lambda r, response: self._answer(f"session {r.command}", response))
        probe.serve(Home, "/teleop/home", lambda r, response: self._answer(f"home {' '.join(r.arms)}".strip(), response))
        probe.serve(
            EpisodeCommand, "/teleop/recorder/command", lambda r, a: self._answer(f"record {r.command} {r.task}".strip(), a)
        )
        self.jpeg = jpeg()
        self.commit = 0
        self.start = time.monotonic()
        probe.every(20.0, self.publish)

    def _answer(self, name, response):
        self.calls.append(name)
        if name.endswith("estop"):
            self.estop = True
        elif name.endswith("reset"):
            self.estop = False
        response.success, response.message = True, f"{name} done"
        return response

    def publish(self):
        now = self.probe.now_ns()
        t = time.monotonic() - self.start
        header = records.Header(now, "")
        self.commit += 1
        if "session" not in self.silent:
            self.session.publish(
                records.SessionState(
                    header, int(Session.RUNNING), "webxr", "quest3", 7, "behind", "", 0.0, 1.0, self.arms, self.arms
                )
            )
        measured = {}
        for arm in self.arms:
            names = tuple(f"{arm}_{j}" for j in JOINTS)
            sign = 1 if arm == "left" else -1
            measured[arm] = tuple(sign * 0.6 * math.sin(0.7 * t + i) for i in range(5)) + (0.8 + 0.7 * math.sin(t),)
            goal = tuple(q + 0.03 for q in measured[arm])
            self.joints[arm].publish(records.JointState(header, names, measured[arm], (0.0,) * 6, (0.0,) * 6))
            self.drivers[arm].publish(
                records.DriverState(header, 5, names, True, self.estop, goal, 0.01, write_hz=100.0, read_hz=100.0)
            )
            reasons = tuple(int(Reason.SPEED_LIMIT) if i == 1 and arm == "left" else 0 for i in range(6))
            self.commands[arm].publish(
                records.JointCommand(
                    header,
                    now - 2_100_000,
                    self.commit,
                    300_000,
                    0.011,
                    1,
                    self.commit,
                    2,
                    names,
                    goal,
                    goal,
                    measured[arm],
                    now,
                    reasons,
                )
            )
        if "guard" not in self.silent:
            rows = tuple(
                records.ArmAuthority(
                    arm,
                    int(Authority.ESTOP if self.estop else self.authority[arm]),
                    3,
                    arm,
                    "operator" if self.authority[arm] == Authority.DRIVING else "",
                    False,
                    (),
                    (),
                    0.7 if self.authority[arm] == Authority.COUNTDOWN else 0.0,
                    "",
                    (0, 0, 0, 2, 14),
                )
                for arm in self.arms
            )
            self.authorities.publish(records.AuthorityState(header, self.commit, rows))
            self.guard.publish(records.GuardState(header, True, "capsules", False, 0.142, 0.139, 1.0))
            self.estops.publish(records.EstopState(header, self.estop, "operator" if self.estop else ""))
        self.sim.publish(records.SimState(header, t, int(500 * t), (), (), 0.998, "fake"))
        if self.commit % 20 == 0:
            self.reports.publish(records.ProviderReport(header, 1, 0, "test", 1, "node/retargeter", 1, ""))
        if self.jpeg and self.camera.get_subscription_count():
            self.camera.publish(CompressedImage(format="jpeg", data=self.jpeg))


def jpeg():
    """A picture with four coloured bars; empty where Pillow is missing."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        return b""
    image = Image.new("RGB", (640, 480))
    draw = ImageDraw.Draw(image)
    for i, colour in enumerate(((220, 40, 40), (40, 200, 60), (50, 80, 230), (230, 220, 40))):
        draw.rectangle([i * 160, 0, (i + 1) * 160, 480], fill=colour)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()
