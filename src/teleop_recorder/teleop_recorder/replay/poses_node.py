"""The ``replayer`` node of poses: a take shown in the simulation, whose physics sleeps meanwhile."""

from __future__ import annotations

import dataclasses
import json
import signal
from typing import Any

from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from teleop_common import qos, records
from teleop_common.errors import ConfigError
from teleop_common.params import load
from teleop_common.runner import TeleopNode, monotonic_s
from teleop_common.transport import RecordPublisher, subscribe
from teleop_interfaces.srv import ReplaySeek
from teleop_recorder import layout, reading
from teleop_recorder.replay import poses
from teleop_recorder.replay.params import PosesParams

AGAIN = 0.25  # [s] after which a frame is sent again: the simulation gives a replay up that is silent for a second
WAIT = 10.0  # [s] for the simulation


class PosesNode(TeleopNode):
    """Shell around ``poses.Reel``."""

    def __init__(self) -> None:
        """Read the whole take, then ask the simulation to show it."""
        super().__init__("replayer")
        p = load(self, PosesParams)
        self._params = p
        with reading.episodes(layout.find(p.session), (p.episode,)) as (episode,):
            self.reel, self._hash = poses.reel(episode, p.loop, p.speed, p.still)
        if refusal := self.reel.cursor.seek(p.start):
            raise ConfigError("parameter", "start", p.start, refusal, "mend it")
        self._sim: records.SimState | None = None
        self._asked, self._showing, self._sent, self._begun = False, False, 0.0, monotonic_s()
        self._states = RecordPublisher(self, records.SimState, "/sim/replay/state", qos.STREAM)
        self._state = self.create_publisher(String, "/teleop/replayer/state", qos.LATCHED)
        self._client = self.create_client(SetBool, "/sim/replay")
        subscribe(self, records.SimState, "/sim/state", self._hear, qos.NEWEST)
        self.serve(SetBool, "/teleop/replayer/play", self._on_play)
        self.serve(SetBool, "/teleop/replayer/loop", self._on_loop)
        self.serve(Trigger, "/teleop/replayer/step", self._on_step)
        self.serve(Trigger, "/teleop/replayer/stop", self._on_stop)
        self.serve(ReplaySeek, "/teleop/replayer/seek", self._on_seek)
        self.get_logger().info(f"{p.session}: {layout.episode_name(p.episode)}, {len(self.reel.times)} frames")
        self.publish_config({"parameters": dataclasses.asdict(p)})
        self.every(200.0, self._tick)
        self.every(2.0, self._say)

    def _hear(self, state: records.SimState) -> None:
        if self._sim is None and state.model_hash != self._hash:
            remedy = "start it with the arms, cell and servos of the take"
            self.fail(ConfigError("simulation", "model", state.model_hash, f"{self._hash}, that of the take", remedy))
        self._sim = state

    def _tick(self) -> None:
        now = monotonic_s()
        if not self._showing:
            if not self._asked:
                self._ask(now)
            return
        number = self.reel.due(now)
        if number is not None or now - self._sent > AGAIN:
            self._send(self.reel.shown, now)
        cursor = self.reel.cursor
        if cursor.at_end and cursor.playing and not cursor.loop and not self._params.still:
            self._end()

    def _ask(self, now: float) -> None:
        """Ask the simulation, once it is there, to show what it is sent."""
        if now - self._begun > WAIT:
            self.fail(ConfigError("simulation", "/sim/replay", "no answer", f"one within {WAIT:g} s", "start ./teleop sim"))
        if self._sim is None or not self._client.service_is_ready():
            return
        self._asked = True
        self._client.call_async(SetBool.Request(data=True)).add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        with self.lock:
            answer = future.result()
            if answer.success:
                self._showing = True
                self._say()
            else:
                self.fail(ConfigError("simulation", "/sim/replay", answer.message, "a simulation that shows takes"))

    def _send(self, number: int, now: float) -> None:
        assert self._sim is not None
        qpos = self.reel.positions(number, self._sim.qpos)
        state = records.SimState(records.Header(self.now_ns(), "world"), self.reel.times[number], number, qpos)
        self._states.publish(state._replace(model_hash=self._hash))
        self._sent = now

    def _end(self) -> None:
        """Give the simulation back, then end the process."""
        if self._showing:
            self._showing = False
            again = self._client.call_async(SetBool.Request(data=False))
            again.add_done_callback(lambda _: signal.raise_signal(signal.SIGTERM))

    def _say(self) -> None:
        cursor, reel = self.reel.cursor, self.reel
        told = {"time": cursor.time, "duration": cursor.duration, "playing": cursor.playing, "loop": cursor.loop}
        told |= {"frame": reel.shown, "frames": len(reel.times), "showing": self._showing}
        self._state.publish(String(data=json.dumps(told | {"session": self._params.session, "episode": self._params.episode})))

    def _done(self, response: Any, refusal: str = "") -> Any:
        response.success, response.message = not refusal, refusal or f"at {self.reel.cursor.time:.3f} s"
        self._say()
        return response

    def _on_play(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self.reel.cursor.play(request.data)
        return self._done(response)

    def _on_loop(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self.reel.cursor.loop = request.data
        return self._done(response)

    def _on_step(self, _request: Trigger.Request, response: Trigger.Response) -> Any:
        self.reel.step()
        return self._done(response)

    def _on_seek(self, request: ReplaySeek.Request, response: ReplaySeek.Response) -> Any:
        return self._done(response, self.reel.cursor.seek(request.time))

    def _on_stop(self, _request: Trigger.Request, response: Trigger.Response) -> Any:
        self._end()
        return self._done(response)

    def close(self) -> None:
        """Give the simulation back; it goes on by itself when it does not hear this."""
        super().close()
        if self._showing:
            self._client.call_async(SetBool.Request(data=False))
