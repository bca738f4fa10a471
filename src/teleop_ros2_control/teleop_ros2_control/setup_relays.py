"""From parameters and a limits file to the relays and topics of every arm: all that may refuse a start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from teleop_common.driver import configured
from teleop_common.errors import ConfigError
from teleop_common.limits import RobotLimits, check_arms
from teleop_ros2_control.relay import Relay, RelayConfig

if TYPE_CHECKING:  # its module needs ROS, this one does not
    from teleop_ros2_control.driver_params import DriverParams


class Output(NamedTuple):
    """One controller's command topic.

    Attributes:
        topic: its name.
        kind: ``trajectory`` or ``array``.
        names: the controller's joint names.
        joints: which of the arm's joints these are.
    """

    topic: str
    kind: str
    names: tuple[str, ...]
    joints: slice


class Wiring(NamedTuple):
    """One arm's relay and topics.

    Attributes:
        relay: the core.
        outputs: where its commands go.
        states: where its joint states come from.
        stop: service of the robot that the e-stop calls as well; empty: none.
    """

    relay: Relay
    outputs: tuple[Output, ...]
    states: str
    stop: str = ""


def wire(params: DriverParams, limits: RobotLimits, instances: Sequence[int]) -> dict[str, Wiring]:
    """Return the wiring of every arm.

    Args:
        params: parameters of the node.
        limits: the robot.
        instances: a random number an arm.

    Raises:
        ConfigError: no arm or one twice, a template with an unknown field, arms that would share a controller or a joint, a
            gripper topic for a robot without gripper, joint states from the driver's own topic.
    """
    check_arms(params.arms)
    if params.gripper_topic and limits.gripper is None:
        remedy = "leave it empty, or add the gripper to the limits file"
        raise ConfigError("parameter", "gripper_topic", params.gripper_topic, "empty for a robot without gripper", remedy)
    wirings: dict[str, Wiring] = {}
    for arm, instance in zip(params.arms, instances, strict=True):
        prefix = _filled(params, "joint_prefix", arm)
        hardware = tuple(prefix + name for name in limits.names)
        config = RelayConfig(configured(arm, limits, params), hardware, params.feedback_timeout)
        apart = len(limits.joints) if params.gripper_topic else len(hardware)
        outputs = [Output(_filled(params, "command_topic", arm), params.command, hardware[:apart], slice(0, apart))]
        if params.gripper_topic:
            topic = _filled(params, "gripper_topic", arm)
            outputs.append(Output(topic, params.gripper_command, hardware[apart:], slice(apart, None)))
        relay = Relay(config, instance, params.torque_on)
        states = _filled(params, "joint_states_topic", arm)
        if states == f"/{arm}/joint_states":
            remedy = "remap the broadcaster's topic"
            raise ConfigError("parameter", "joint_states_topic", states, "any topic but the driver's own", remedy)
        wirings[arm] = Wiring(relay, tuple(outputs), states, _filled(params, "stop_service", arm))
    _disjoint(wirings)
    return wirings


def _filled(params: DriverParams, name: str, arm: str) -> str:
    """Return a template parameter with the arm's name filled in."""
    template = getattr(params, name)
    try:
        return str(template.format(arm=arm))
    except (KeyError, IndexError, ValueError) as error:
        raise ConfigError("parameter", name, template, "text in which {arm} stands for the arm's name", "mend it") from error


def _disjoint(wirings: dict[str, Wiring]) -> None:
    topics: dict[str, str] = {}
    joints: dict[tuple[str, str], str] = {}
    for arm, wiring in wirings.items():
        for output in wiring.outputs:
            if output.topic in topics:
                remedy = "put {arm} into command_topic and gripper_topic, or give the gripper a topic of its own"
                raise ConfigError("topic", output.topic, arm, f"one output only, it is {topics[output.topic]}'s", remedy)
            topics[output.topic] = arm
        for name in wiring.relay.config.hardware:
            key = (wiring.states, name)
            if key in joints:
                remedy = "put {arm} into joint_prefix or joint_states_topic"
                raise ConfigError("joint", name, arm, f"one arm only, it is {joints[key]}'s", remedy)
            joints[key] = arm
