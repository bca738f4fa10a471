"""Parameters of the ``sim`` node."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common.driver_params import CommonDriverParams
from teleop_common.params import param


@dataclass(frozen=True)
class SimParams(CommonDriverParams):
    """Parameters of the ``sim`` node; units and ranges in the fields."""

    arms: tuple[str, ...] = param(("left", "right"), "arms to simulate, mounts of the cell file")
    limits_file: str = param("", "limits file of the robot; empty: the installed limits/so101.yaml")
    cell_file: str = param("", "cell file; empty: the installed cell.yaml")
    cubes_seed: int = param(0, "seed of the cubes' places", minimum=0, maximum=2**32 - 1)
    physics_hz: float = param(500.0, "physics steps per simulated second", unit="Hz", minimum=100.0, maximum=5000.0)
    tick_hz: float = param(200.0, "rate at which due physics steps are done", unit="Hz", minimum=50.0, maximum=1000.0)
    joint_state_hz: float = param(100.0, "rate of the joint states", unit="Hz", minimum=1.0, maximum=500.0)
    sim_state_hz: float = param(60.0, "rate of /sim/state, for renderers", unit="Hz", minimum=1.0, maximum=500.0)
    publish_clock: bool = param(False, "publish the simulated time on /clock")
    kp: float = param(998.22, "stiffness of the position servos", unit="Nm/rad", minimum=0.1, maximum=10000.0)
    kv: float = param(2.731, "damping of the position servos", unit="Nm s/rad", minimum=0.0, maximum=100.0)
    start_positions: tuple[float, ...] = param(
        (), "start positions of all joints of all arms in turn; empty: home", unit="rad", minimum=-10.0, maximum=10.0
    )
    max_behind: float = param(
        0.05, "most simulated time made up for at once; more is dropped", unit="s", minimum=0.005, maximum=1.0
    )
    estop_release: bool = param(False, "the e-stop turns torque off instead of holding")
