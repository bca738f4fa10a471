"""The services that buttons and commands call."""

from __future__ import annotations

from typing import Any

from rclpy.client import Client
from rclpy.task import Future
from std_srvs.srv import Trigger

from teleop_common.runner import TeleopNode
from teleop_interfaces.srv import EpisodeCommand, Home, ReplaySeek

REPLAYER = "/teleop/replayer/state"  # who publishes it replays a take, as a picture or onto arms


class Actions:
    """Calls services by the name of the action, never waiting for an answer.

    Args:
        node: who calls.
        arms: the arms whose drivers have an e-stop of their own.
    """

    def __init__(self, node: TeleopNode, arms: tuple[str, ...]) -> None:
        """Create the clients."""
        self._node = node
        self._absent: set[str] = set()
        stops = ["/teleop/estop", *(f"/{arm}/estop" for arm in arms)]
        self._calls: dict[str, list[tuple[Client, Any]]] = {
            # each latches by itself: a dead guard must not keep the drivers from hearing it
            "estop": [(node.create_client(Trigger, name), Trigger.Request()) for name in stops],
            "home": [(node.create_client(Home, "/teleop/home"), Home.Request())],
            "record_toggle": [
                (
                    node.create_client(EpisodeCommand, "/teleop/recorder/command"),
                    EpisodeCommand.Request(command=EpisodeCommand.Request.TOGGLE),
                )
            ],
            "rewind": [(node.create_client(ReplaySeek, "/teleop/input/replay/seek"), ReplaySeek.Request(time=0.0))],
        }

    def call(self, action: str) -> None:
        """Call what ``action`` stands for; a service that is not there is warned of once.

        Recording is not toggled while a take is replayed: whoever lives says so, so that a killed replayer bars nothing.
        """
        if action == "record_toggle" and self._node.count_publishers(REPLAYER):
            self._node.get_logger().warning("action 'record_toggle': a take is being replayed; end the replay first")
            return
        for client, request in self._calls[action]:
            name = client.srv_name
            if not client.service_is_ready():
                if name not in self._absent:
                    self._absent.add(name)
                    self._node.get_logger().warning(f"action '{action}': no service '{name}' is there; start its node")
                continue
            self._absent.discard(name)
            client.call_async(request).add_done_callback(lambda future, name=name: self._answered(action, name, future))
        self._node.get_logger().info(f"action '{action}'")

    def _answered(self, action: str, name: str, future: Future) -> None:
        answer = future.result()
        if answer is not None and not answer.success:
            self._node.get_logger().warning(f"action '{action}': {name} answers: {answer.message}")
