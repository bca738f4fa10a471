"""Plays everything around a guard that runs as a process: session, frames, targets and the driver of one arm."""

import threading
import time

from guard_world import HOME, ROBOT
from std_srvs.srv import Trigger

from teleop_common import qos, records
from teleop_common.enums import Authority, PoseFlags, Session

ARM = "right"
NAMES = ROBOT.arm_names(ARM)
ALL = int(PoseFlags.ALL)


class Player:
    """Plays everything around the guard at 90 Hz, in a thread, until told to stop."""

    def __init__(self, node):
        self.node = node
        self.squeeze, self.tracked, self.goal, self.offset = 0.0, True, HOME, 0.0
        self.estop, self.resettable, self.frames = False, True, True
        self.engage, self.reference, self.sequence = 0, HOME, 0
        self.commands = node.listen(records.JointCommand, f"/{ARM}/joint_command", qos.COMMAND)
        self.authority = node.listen(records.AuthorityState, "/teleop/authority")
        self.events = node.listen(records.GuardEvent, "/teleop/guard/events", qos.EVENTS)
        self.estops = node.listen(records.EstopState, "/teleop/estop_state", qos.LATCHED)
        self.states = node.listen(records.GuardState, "/teleop/guard/state")
        self._session = node.talk(records.SessionState, "/teleop/session/state", qos.LATCHED)
        self._frame = node.talk(records.TeleopFrame, "/teleop/frame")
        self._targets = node.talk(records.JointTargets, "/teleop/joint_targets")
        self._joints = node.talk(records.JointState, f"/{ARM}/joint_states")
        self._driver = node.talk(records.DriverState, f"/{ARM}/driver_state")
        node.serve(Trigger, f"/{ARM}/estop", self._on_estop)
        node.serve(Trigger, f"/{ARM}/estop/reset", self._on_reset)
        self.going = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _on_estop(self, _request, answer):
        self.estop, answer.success = True, True
        return answer

    def _on_reset(self, _request, answer):
        if self.resettable:
            self.estop = False
        answer.success = self.resettable
        return answer

    def stop(self):
        self.going = False
        self.thread.join(2.0)

    def state(self):
        return self.authority[-1].arms[0].state if self.authority else None

    def _run(self):
        beat = 0
        while self.going:
            now = self.node.now_ns()
            stamp = records.Header(now)
            if self.commands:
                self.goal = self.commands[-1].position
            if self.authority:
                self.engage, self.reference = self.authority[-1].arms[0].engage, self.authority[-1].arms[0].reference
            if beat % 9 == 0:
                self._driver.publish(records.DriverState(stamp, 1, NAMES, True, self.estop, self.goal))
            if beat % 18 == 0:
                self._session.publish(
                    records.SessionState(stamp, int(Session.RUNNING), "debug", epoch=3, arm=(ARM,), hand=(ARM,))
                )
            self._joints.publish(records.JointState(stamp, NAMES, self.goal, (0.0,) * len(NAMES)))
            if self.frames:
                self.sequence += 1
                tracked = records.TrackedPose(records.Pose(), ALL if self.tracked else 0)
                hand = records.Controller(True, tracked, tracked, squeeze=self.squeeze)
                head = records.TrackedPose(records.Pose(), ALL)
                self._frame.publish(records.TeleopFrame(stamp, "debug", 9, self.sequence, head=head, right=hand))
                if self.reference:
                    asked = (HOME[0] + self.offset, *self.reference[1:])
                    target = records.JointTarget(ARM, "operator", self.engage, (0,) * len(NAMES), NAMES, asked)
                    self._targets.publish(records.JointTargets(stamp, now, 9, self.sequence, 0, 3, arms=(target,)))
            beat += 1
            time.sleep(1 / 90)


def drive(player):
    """Squeeze until the arm is driven; a stall of a busy machine may end a countdown, as it should, and asks for another."""
    for _attempt in range(4):
        player.squeeze = 0.0
        player.node.until(lambda: player.authority[-1].arms[0].reason == "ready", 5.0, "ready")
        player.squeeze = 1.0
        try:
            player.node.until(lambda: player.state() == Authority.DRIVING, 2.0, "DRIVING")
        except TimeoutError:
            continue
        return
    raise AssertionError(f"never DRIVING: {player.authority[-1].arms[0]}")
