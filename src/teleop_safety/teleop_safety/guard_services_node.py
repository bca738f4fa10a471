"""The guard's services, and its calls of the drivers' e-stops. Nothing here waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.client import Client
from rclpy.task import Future
from std_srvs.srv import Trigger

from teleop_interfaces.srv import ArmOwner, Home

if TYPE_CHECKING:
    from teleop_safety.guard_node import GuardNode


class GuardServices:
    """Offers the e-stop, home and owner services of ``node`` and calls the e-stops of ``arms``."""

    def __init__(self, node: GuardNode, arms: tuple[str, ...]) -> None:
        """Create servers and clients."""
        self._node, self._arms = node, arms
        self._drivers: dict[str, Client] = {}
        for what in ("estop", "estop/reset"):
            for arm in arms:
                self._drivers[f"/{arm}/{what}"] = node.create_client(Trigger, f"/{arm}/{what}")
        node.serve(Trigger, "/teleop/estop", self._on_stop)
        node.serve(Home, "/teleop/home", self._on_home)
        node.serve(ArmOwner, "/teleop/arm_owner", self._on_owner)
        self._resets = list[Callable[[bool, str], None]]()
        node.serve_later(Trigger, "/teleop/estop/reset", self._on_reset)

    def call(self, what: str) -> None:
        """Call ``/<arm>/<what>`` of every driver that is there, without waiting for the answers."""
        for arm in self._arms:
            client = self._drivers[f"/{arm}/{what}"]
            if not client.service_is_ready():
                self._node.get_logger().warning(
                    f"/{arm}/{what}: no such service, the driver of {arm} is not there", throttle_duration_sec=2.0
                )
                continue
            future = client.call_async(Trigger.Request())
            future.add_done_callback(lambda done, arm=arm: self._answered(arm, what, done))

    def _answered(self, arm: str, what: str, future: Future) -> None:
        answer = future.result()
        if answer is not None and not answer.success:
            self._node.get_logger().error(f"/{arm}/{what}: {answer.message}")

    def _on_stop(self, _request: Any, response: Any) -> Any:
        self._node.send(self._node.core.stop(self._node.at(), "service"))
        response.success, response.message = True, "e-stop latched"
        return response

    def _on_reset(self, _request: Any, answer: Callable[[bool, str], None]) -> None:
        self._resets.append(answer)
        self._node.send(self._node.core.reset(self._node.at(), self._node.params.reset_timeout))

    def settle(self) -> None:
        """Answer the resets that have an outcome."""
        if not self._resets:
            return
        core = self._node.core
        if not core.shared.latched:
            self._answer_resets(True, "e-stop reset; torque as it was")
        elif not core.shared.resetting:
            self._answer_resets(False, "still latched: " + ("; ".join(core.reset_blockers(self._node.at())) or "try again"))

    def _answer_resets(self, success: bool, message: str) -> None:
        resets, self._resets = self._resets, []
        for answer in resets:
            answer(success, message)

    def _on_home(self, request: Any, response: Any) -> Any:
        answer = self._node.core.home(self._node.at(), tuple(request.arms))
        self._node.send(answer.out)
        response.success, response.message = answer.success, answer.message
        return response

    def _on_owner(self, request: Any, response: Any) -> Any:
        answer = self._node.core.own(self._node.at(), request.arm, request.owner, request.acquire)
        self._node.send(answer.out)
        response.success, response.message, response.current_owner = answer.success, answer.message, answer.owner
        return response
