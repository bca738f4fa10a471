"""The ``replayer`` node of actions: a take played onto arms, through the guard."""

from __future__ import annotations

import dataclasses
import json
import signal
from functools import partial
from pathlib import Path
from typing import Any

from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from teleop_common import limits, paths, qos, records
from teleop_common.errors import ConfigError
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import RecordPublisher, subscribe
from teleop_interfaces.srv import ArmOwner
from teleop_recorder.replay import script
from teleop_recorder.replay.actions import OVER, OWNER, ActionReplay, Phase, Settings
from teleop_recorder.replay.cursor import Cursor
from teleop_recorder.replay.params import ActionsParams

WAIT = 10.0  # [s] for the guard and every driver
UNKNOWN = "_NODE_NAME_UNKNOWN_"  # what the middleware calls a node before it has heard its name
SIMULATION = "sim"  # the only node whose arms can hurt nobody


class ActionsNode(TeleopNode):
    """Shell around ``ActionReplay``."""

    def __init__(self) -> None:
        """Read the take, then ask the guard for its arms."""
        super().__init__("replayer")
        p = self._params = load(self, ActionsParams)
        robot = limits.load(paths.config("limits/so101.yaml", p.limits_file))
        take = script.load(Path(p.session), p.episode, robot, p.arms)
        names = {arm: robot.arm_names(arm) for arm in take.joints}
        cursor = Cursor(take.duration, p.loop, p.speed)
        self.core = ActionReplay(take, names, cursor, Settings(ease_speed=p.ease_speed))
        self._authority: records.AuthorityState | None = None
        self._said: Phase | None = None
        self._owned: set[str] = set()
        self._asked, self._begun = False, monotonic_s()
        self._targets = RecordPublisher(self, records.JointTargets, "/teleop/joint_targets_external", qos.STREAM)
        self._state = self.create_publisher(String, "/teleop/replayer/state", qos.LATCHED)
        self._client = self.create_client(ArmOwner, "/teleop/arm_owner")
        subscribe(self, records.AuthorityState, "/teleop/authority", self._hear, qos.NEWEST)
        self.serve(SetBool, "/teleop/replayer/play", self._on_play)
        self.serve(SetBool, "/teleop/replayer/loop", self._on_loop)
        self.serve(Trigger, "/teleop/replayer/stop", self._on_stop)
        self.get_logger().info(f"{take.name}: {', '.join(take.joints)}, {take.duration:.2f} s")
        self.publish_config({"parameters": dataclasses.asdict(p)})
        self.every(100.0, self._tick)

    def _hear(self, state: records.AuthorityState) -> None:
        self._authority = state

    def _tick(self) -> None:
        now = monotonic_s()
        if not self._asked:
            self._ask(now)
        elif self._authority is not None:
            targets = self.core.step(now, self.now_ns(), self._authority)
            if targets is not None:
                self._targets.publish(targets)
        if self.core.phase != self._said:
            self._said = self.core.phase
            self._say()
            if self.core.phase in OVER:
                self._give_back()

    def _ask(self, now: float) -> None:
        """Ask for every arm, once the guard and all drivers are there and none of them moves what it must not."""
        drivers = {arm: self._drivers(arm) for arm in self.core.script.joints}
        missing = [arm for arm, found in drivers.items() if not found or UNKNOWN in found]
        if self._authority is None or missing or not self._client.service_is_ready():
            if now - self._begun > WAIT:
                who = f"driver of {missing[0]}" if missing else "guard"
                self.fail(ConfigError("graph", who, "nobody", f"one within {WAIT:g} s", "start it"))
            return
        real = [arm for arm, found in drivers.items() if found != {SIMULATION}]
        if real and not self._params.real:
            remedy = "see that nobody is in their reach, then say --real"
            self.fail(ConfigError("arms", ", ".join(real), "real ones", "simulated ones without confirmation", remedy))
            return
        self._asked = True
        for arm in self.core.script.joints:
            request = ArmOwner.Request(arm=arm, owner=OWNER, acquire=True)
            self._client.call_async(request).add_done_callback(partial(self._answered, arm))

    def _drivers(self, arm: str) -> set[str]:
        """Return the names of the nodes that drive an arm."""
        return {each.node_name for each in self.get_publishers_info_by_topic(f"/{arm}/driver_state")}

    def _answered(self, arm: str, future: Any) -> None:
        with self.lock:
            answer = future.result()
            if answer.success:
                self._owned.add(arm)
            elif self.core.phase not in OVER:
                self.core.refused(answer.message)

    def _give_back(self) -> None:
        """Release the arms and end the process: with status 0 when the take was played to its end."""
        waiting = [self._release(arm) for arm in sorted(self._owned)]
        self._owned.clear()
        if waiting:
            waiting[-1].add_done_callback(lambda _: self._finish())
        else:
            self._finish()

    def _release(self, arm: str) -> Any:
        return self._client.call_async(ArmOwner.Request(arm=arm, owner=OWNER, acquire=False))

    def _finish(self) -> None:
        if self.core.phase is Phase.FAILED:
            self.fail(ConfigError("replay", self.core.script.name, self.core.reason, "a take played to its end"))
        else:
            signal.raise_signal(signal.SIGTERM)

    def _say(self) -> None:
        core = self.core
        self.get_logger().info(f"{core.phase} {core.reason}".rstrip())
        told = {"phase": core.phase, "reason": core.reason, "time": core.cursor.time, "duration": core.script.duration}
        self._state.publish(String(data=json.dumps(told | {"loop": core.cursor.loop, "take": core.script.name})))

    def _done(self, response: Any) -> Any:
        response.success, response.message = True, str(self.core.phase)
        return response

    def _on_play(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self.core.cursor.play(request.data)
        return self._done(response)

    def _on_loop(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self.core.cursor.loop = request.data
        return self._done(response)

    def _on_stop(self, _request: Trigger.Request, response: Trigger.Response) -> Any:
        self.core.stop()
        return self._done(response)

    def close(self) -> None:
        """Give the arms back; the guard takes them when it does not hear this."""
        super().close()
        for arm in self._owned:
            self._release(arm)
