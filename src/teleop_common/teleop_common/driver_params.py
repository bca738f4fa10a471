"""Parameters that every driver of an arm has, simulated or not."""

from __future__ import annotations

from dataclasses import dataclass

from teleop_common import driver
from teleop_common.params import param


@dataclass(frozen=True)
class CommonDriverParams:
    """See each description."""

    driver_state_hz: float = param(20.0, "rate of unchanged driver states", unit="Hz", minimum=1.0, maximum=100.0)
    command_stale: float = param(driver.STALE, "largest age of a command on arrival", unit="s", minimum=0.01, maximum=10.0)
    command_timeout: float = param(
        driver.TIMEOUT, "age of the last command at which the arm counts as held", unit="s", minimum=0.01, maximum=10.0
    )
    first_step_time: float = param(
        driver.STEP_TIME,
        "the first command may lie as far from the goal as a joint travels in this time",
        unit="s",
        minimum=0.001,
        maximum=1.0,
    )
