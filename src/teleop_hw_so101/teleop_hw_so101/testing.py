"""An arm's driver on emulated servos, without ROS and on a clock of its own: what runs on hardware, down to the bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from teleop_common.cell import Cell
from teleop_common.driver import driver_config
from teleop_common.limits import RobotLimits
from teleop_common.records import DriverState, Header, JointCommand, JointState
from teleop_hw_so101 import arm_state
from teleop_hw_so101.arm_config import ArmConfig, ArmSetup
from teleop_hw_so101.arm_core import ArmCore
from teleop_hw_so101.arming import ArmingRules
from teleop_hw_so101.calibration import ArmCalibration
from teleop_hw_so101.emulator import faults
from teleop_hw_so101.emulator.loopback import Loopback
from teleop_hw_so101.emulator.servo import Servo
from teleop_hw_so101.emulator.testing import loopback
from teleop_hw_so101.rotation import Rotation
from teleop_hw_so101.servo_arm import ServoArm
from teleop_hw_so101.stream import ByteStream
from teleop_hw_so101.units import arm_scales

PERIOD = 0.01  # [s] of the bus cycle
EPOCH = 1_700_000_000_000_000_000  # [ns], the ROS clock at monotonic 0
REGISTERS = {"acceleration": 254, "goal_time": 0, "goal_velocity": 3064, "torque_limit": 1000}
# half of its torque: with all of it a gripper that holds something overloads within seconds
GRIPPER = {**REGISTERS, "torque_limit": 500}


class _Port:
    def __init__(self, loop: Loopback, arm: str) -> None:
        self.port, self._loop = arm, loop

    def __call__(self) -> ByteStream:
        return self._loop.stream(self.port)


class Bench:
    """A driver, the emulated arm on its port, and the time of both.

    Attributes:
        arm: the driver.
        loop: emulator and clock.
        taken: joint states and driver states published so far, as the node would.
    """

    def __init__(
        self,
        loop: Loopback,
        robot: RobotLimits,
        calibrations: Mapping[str, ArmCalibration],
        name: str = "left",
        *,
        port: str = "",
        estop_release: bool = False,
        instance: int = 7,
        torque_limit: float = 1.0,
        **changes: Any,
    ) -> None:
        """Begin unconnected.

        Args:
            loop: emulator and clock.
            robot: the limits file.
            calibrations: of all arms.
            name: of this arm.
            port: arm whose port it is given; empty: its own.
            estop_release: the e-stop turns torque off.
            instance: number of this start.
            torque_limit: share of full torque that the arm joints may use.
            changes: other fields of ``ArmConfig``.
        """
        self.loop, self.name = loop, name
        own = calibrations[name]
        ids = tuple(own.joint(joint).id for joint in robot.names)
        rest = tuple(joint.home for joint in robot.all_joints)
        registers = (*({**REGISTERS, "torque_limit": round(1000 * torque_limit)},) * len(robot.joints), GRIPPER)
        config = ArmConfig(
            driver_config(name, robot, estop_release=estop_release),
            robot.names,
            ids,
            arm_scales(own, robot),
            4.7,
            rest=rest,
            torque=tuple(counts["torque_limit"] / 1000 for counts in registers),
        )
        setup = ArmSetup(own, calibrations, ArmingRules(), registers)
        core = ArmCore(replace(config, **changes), instance)
        self.arm = ServoArm(
            core, setup, Rotation(len(ids), 100.0, 100.0, 30.0, tick=PERIOD), _Port(loop, port or name), nullcontext()
        )
        self.joints: list[JointState] = []
        self.states: list[DriverState] = []
        self._commits = self._published = 0

    @property
    def core(self) -> ArmCore:
        """State of the driver."""
        return self.arm.core

    @property
    def servos(self) -> Sequence[Servo]:
        """Emulated servos, base first."""
        return self.loop.emulator.servos[self.arm.port]

    @property
    def goals(self) -> list[int]:
        """Goals that act in the emulated servos [step]."""
        return [servo.goal_position() for servo in self.servos]

    @property
    def torques(self) -> list[bool]:
        """Torque switches of the emulated servos."""
        return [servo.torque_on for servo in self.servos]

    def now_ns(self) -> int:
        """Return the ROS clock [ns]."""
        return EPOCH + round(self.loop.time * 1e9)

    def tell(self, words: str) -> None:
        """Let a fault happen."""
        self.loop.emulator.tell(faults.parse(words), self.loop.time)

    def run(self, seconds: float, each: Callable[[], object] | None = None) -> None:
        """Let cycles pass, ``each`` before every one."""
        end = self.loop.time + seconds - 1e-9
        while self.loop.time < end:
            begun = self.loop.time
            if each is not None:
                each()
            self.cycle()
            self.loop.until(begun + PERIOD)

    def cycle(self) -> None:
        """Do one cycle and take what the node would publish."""
        self.arm.cycle(self.loop.time)
        now, motions = self.loop.time, self.core.tally.motions
        joints = arm_state.joint_state(self.core, now, self.now_ns()) if motions != self._published else None
        self._published = motions
        state = arm_state.state(self.core, now, self.now_ns(), 0.0, 0.0)
        self.joints += [joints] if joints is not None else []
        self.states += [state] if state is not None else []

    def torque(self, on: bool) -> str:
        """Ask for torque and return the answer."""
        answers: list[str] = []
        self.arm.ask(on, answers.append)
        for _ in range(200):
            self.run(PERIOD)
            if answers:
                return answers[0]
        raise AssertionError("the driver never answered")

    def command(self, position: Sequence[float]) -> bool:
        """Send a command for all joints [rad] and return whether it was accepted."""
        self._commits += 1
        names = self.core.config.driver.names
        command = JointCommand(header=Header(self.now_ns(), ""), commit=self._commits, name=names, position=tuple(position))
        return self.core.command(command, self.now_ns(), self.loop.time)

    def drift(self, joint: int = 0, speed: float = 0.5, obeyed: bool = True) -> Callable[[], None]:
        """Return what sends the next command of a motion from where the arm is held, a cycle each; the first is to stay there.

        Args:
            joint: index of the joint that moves.
            speed: its speed [rad/s].
            obeyed: every command must be accepted, AssertionError else.
        """
        assert self.core.driver is not None, "the arm was not heard yet"
        position, steps = list(self.core.driver.memory.goal), iter(range(10**6))

        def each() -> None:
            position[joint] += speed * PERIOD if next(steps) else 0.0
            assert self.command(position) or not obeyed, self.core.last_refusal

        return each

    def truth(self) -> tuple[float, ...]:
        """Return where the emulated joints really stand [rad]."""
        return self.loop.emulator.position(self.arm.port)

    def armed(self) -> Bench:
        """Connect, turn torque on, and return this."""
        self.run(0.3)
        answer = self.torque(True)
        assert not answer, answer
        return self


def emulated(
    robot: RobotLimits,
    cell: Cell,
    arms: Sequence[str] = ("left",),
    *,
    seed: int = 1,
    emulator: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> Bench:
    """Return the driver of an arm on emulated servos.

    Args:
        robot: the limits file.
        cell: the cell.
        arms: names of the emulated arms.
        seed: decides units and every chance.
        emulator: further options of the emulator.
        options: further ones of ``Bench``.
    """
    loop, calibrations = loopback(robot, cell, arms, seed=seed, **emulator)
    return Bench(loop, robot, calibrations, **options)
