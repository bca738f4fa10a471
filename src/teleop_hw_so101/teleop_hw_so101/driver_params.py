"""Parameters of the node ``so101_driver``."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.driver_params import CommonDriverParams
from teleop_common.params import param


@dataclass(frozen=True)
class DriverParams(CommonDriverParams):
    """See each description."""

    arm: str = param("left", "arm that this driver drives")
    port: str = param("auto", "serial port of the arm; auto: found by its adapter's serial number and what its servos hold")
    calibration: str = param("", "the arm's calibration file; empty: <arm>.json where ./teleop arm keeps them")
    limits_file: str = param("", "limits file of the robot; empty: limits/so101.yaml of teleop_bringup")
    baud_rate: int = param(1_000_000, "speed of the bus", unit="bit/s", minimum=38400, maximum=1_000_000)
    loop_hz: float = param(100.0, "rate of the bus cycle", unit="Hz", minimum=20.0, maximum=500.0)
    write_hz: float = param(100.0, "rate at which goals are written, the loop's at most", unit="Hz", minimum=1.0, maximum=500.0)
    position_hz: float = param(
        100.0, "rate at which position, speed and load are read, the loop's at most", unit="Hz", minimum=1.0, maximum=500.0
    )
    slow_hz: float = param(
        30.0, "rate at which the slow registers are read, one servo at a time", unit="Hz", minimum=1.0, maximum=500.0
    )
    reply_timeout: float = param(0.005, "longest silence before a reply", unit="s", minimum=0.0005, maximum=0.1)
    retries: int = param(2, "how often a request without a good reply is sent again", minimum=0, maximum=10)
    sample_timeout: float = param(
        0.2, "age of a joint's reading from which no joint states are published", unit="s", minimum=0.02, maximum=2.0
    )
    suspect_after: float = param(
        0.06, "silence after which a servo is written only when its torque was read again", unit="s", minimum=0.02, maximum=1.0
    )
    degraded_misses: int = param(10, "lost readings in a row from which a joint counts as failed", minimum=2, maximum=1000)
    reconnect_time: float = param(0.5, "time between two attempts to reach the arm", unit="s", minimum=0.1, maximum=10.0)
    speed_bound: float = param(
        4.7, "last resort: no goal moves faster, whatever is commanded", unit="rad/s", minimum=0.1, maximum=10.0
    )
    servo_speed: float = param(4.7, "speed limit set in the servos", unit="rad/s", minimum=0.1, maximum=5.2)
    servo_acceleration: int = param(
        254, "acceleration limit set in the servos, 0 none", unit="100 step/s²", minimum=0, maximum=254
    )
    torque_limit: float = param(1.0, "share of full torque that arm joints may use", minimum=0.05, maximum=1.0)
    gripper_torque_limit: float = param(
        0.5, "share of full torque that the gripper may use; it squeezes things", minimum=0.05, maximum=1.0
    )
    voltage_min: float = param(6.0, "least supply at which torque goes on", unit="V", minimum=4.0, maximum=14.0)
    voltage_max: float = param(13.5, "greatest supply at which torque goes on", unit="V", minimum=5.0, maximum=16.0)
    temperature_max: float = param(60.0, "greatest temperature at which torque goes on", unit="°C", minimum=30.0, maximum=80.0)
    estop_release: bool = param(False, "the e-stop turns torque off instead of holding: a raised arm falls")
    park: bool = param(False, "at the end, ease the arm to its rest pose and release torque; else it holds")
    park_positions: tuple[float, ...] = param(
        (0.0, -1.7, 1.55, 1.2, 0.0486795, -0.174533),
        "rest pose: where the arm lies without torque, all joints",
        unit="rad",
        minimum=-4.0,
        maximum=4.0,
    )
    park_speed: float = param(2.0, "largest speed of a joint on the way to rest", unit="rad/s", minimum=0.1, maximum=4.7)
    park_time: float = param(3.0, "longest way to rest; what is farther holds", unit="s", minimum=0.5, maximum=3.5)
