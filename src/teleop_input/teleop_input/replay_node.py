"""The node ``replay_input``: recorded operator input as if it came from a device now."""

from __future__ import annotations

import json
import random
import threading
import time

from std_msgs.msg import String
from std_srvs.srv import SetBool

from teleop_common import params, qos, records
from teleop_common.enums import Session
from teleop_common.runner import TeleopNode
from teleop_common.transport import RecordPublisher, subscribe
from teleop_input import bag
from teleop_input.params import ReplayParams
from teleop_input.player import LEAD, Playback, Player, renew
from teleop_input.report import provider_report
from teleop_interfaces.srv import ReplaySeek

REPORT_HZ = 1.0
CLOCK_SET = 10_000_000  # [ns] between ROS and monotonic time from which on the clock has been set
_READY = (Session.CONNECTED, Session.RUNNING)


class ReplayInput(TeleopNode):
    """Publishes a bag's frames, paced by their recorded stamps."""

    def __init__(self) -> None:
        """Read the bag and join the graph."""
        super().__init__("replay_input")
        p = params.load(self, ReplayParams)
        self._bag = p.bag
        self._recording = bag.read(p.bag, p.topic)
        self._player = Player(self._recording.times, self._recording.connections, p.loop, random.getrandbits(32))
        self._frames = RecordPublisher(self, records.TeleopFrame, "/teleop/input/replay/frame", qos.STREAM)
        self._reports = RecordPublisher(self, records.ProviderReport, "/teleop/devices/replay", qos.STREAM)
        self._state = self.create_publisher(String, "/teleop/input/replay/state", qos.LATCHED)
        self._offset = self.now_ns() - time.monotonic_ns()
        self._announced: Playback | None = None
        self.serve(ReplaySeek, "/teleop/input/replay/seek", self._on_seek)
        self.serve(SetBool, "/teleop/input/replay/loop", self._on_loop)
        if p.wait_for_session:
            subscribe(self, records.SessionState, "/teleop/session/state", self._on_session, qos.LATCHED)
        else:
            self._player.start(time.monotonic())
        self.get_logger().info(
            f"{p.bag}: {len(self._recording.data)} frames of {self._recording.topic}, {self._player.duration:.2f} s"
        )
        for line in self._recording.report:
            self.get_logger().info(line)
        self.publish_config({"parameters": vars(p), "connection": self._player.connection})
        self._report()
        self.every(REPORT_HZ, self._report)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._pace, name="pace", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the pacing thread."""
        self._stopping.set()
        self._thread.join(2.0)
        super().close()

    def _pace(self) -> None:
        try:
            while not self._stopping.is_set():
                with self.lock:
                    self._send()
                    wait = self._player.wait(time.monotonic())
                # time.sleep, not Event.wait: it runs on the monotonic clock everywhere
                time.sleep(min(wait, LEAD))
        except BaseException as error:  # noqa: BLE001 - handed to the main thread, which ends the process
            self.fail(error)

    def _send(self) -> None:
        offset = self.now_ns() - time.monotonic_ns()
        for due in self._player.due(time.monotonic()):
            # stamped with the moment it was due, not the one it went out: intervals are then those of the recording, exactly
            at = round(due.at * 1e9)
            self._frames.publish(renew(self._recording.frame(due.number), due.connection, at + self._kept(offset), at))
        if self._player.state != self._announced:
            before, self._announced = self._announced, self._player.state
            self._say()
            if before is not None:
                self.get_logger().info(f"replay {self._player.state}")

    def _kept(self, offset: int) -> int:
        """Return ROS time less monotonic time [ns]: kept from frame to frame until the clock has really been set."""
        if abs(offset - self._offset) > CLOCK_SET:
            self._offset = offset
        return self._offset

    def _say(self) -> None:
        player = self._player
        state = {
            "state": player.state.value,
            "time": player.time,
            "duration": player.duration,
            "loop": player.loop,
            "index": player.index,
            "frames": len(player.times),
            "stalls": player.stalls,
            "bag": self._bag,
            "topic": self._recording.topic,
        }
        self._state.publish(String(data=json.dumps(state)))

    def _report(self) -> None:
        sending = self._player.state != Playback.ENDED
        self._reports.publish(provider_report("replay", sending, self.now_ns(), time.monotonic_ns()))
        self._say()

    def _on_session(self, state: records.SessionState) -> None:
        # the session may be heard before it hears: its subscription must be there, or the first frames are lost
        listening = self._frames.publisher.get_subscription_count() > 0
        if state.provider == "replay" and state.state in _READY and listening:
            self._player.start(time.monotonic())

    def _on_seek(self, request: ReplaySeek.Request, response: ReplaySeek.Response) -> ReplaySeek.Response:
        problem = self._player.seek(time.monotonic(), request.time)
        response.success, response.message = not problem, problem or f"at {self._player.time:.3f} s"
        self._say()
        return response

    def _on_loop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._player.loop = request.data
        response.success, response.message = True, "loops" if request.data else "ends"
        self._say()
        return response
