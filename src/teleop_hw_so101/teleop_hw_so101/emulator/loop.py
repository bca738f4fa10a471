"""What a servo's firmware does with its goal: ramp, position, speed, PWM and step loops. Pure; one call a control period.

The gain from error to duty has three sources that agree: published drivers measure a droop of load/9 steps at P = 16 (0.9 %
duty a step), a test measured 20 to 30 steps under 50 % of the torque at P = 32, and the stiffness 17.8 Nm/rad of the arm's
published simulation model is 0.93 % a step. ``D_DUTY`` is fitted to a recording of a real arm, see ``dynamics``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from teleop_hw_so101.registers import PHASE_SPEED_ZERO_IS_MAX, REGISTERS

P_DUTY = 0.009 / 16  # [duty/step] for each unit of the P gain
D_DUTY = 5.0e-6  # [duty/(step/s)] for each unit of the D gain
I_DUTY = P_DUTY / 4.0  # [duty/(step·s)] for each unit of the I gain; the arm's drivers leave I at 0
SPEED_DUTY = 2.0e-5  # [duty/(step/s)] for each unit of the speed loop's P gain
NO_LOAD = 3070.0  # [step/s], 45 rpm at 12 V
PHASE_FINE_SPEED = 0x04  # speeds count 1 step/s, else 50
_POSITION, _SPEED, _PWM, _STEP = range(4)


@dataclass
class Loop:
    """State of one servo's control loop.

    Attributes:
        setpoint: where the ramp to the goal stands [step], or None while torque is off.
        rate: speed of the ramp [step/s].
        sum: integral of the error [step·s].
    """

    setpoint: float | None = None
    rate: float = 0.0
    sum: float = 0.0

    def rest(self) -> None:
        """Begin anew from wherever the shaft will be."""
        self.setpoint, self.rate, self.sum = None, 0.0, 0.0

    def duty(self, get: Callable[[str], int], goal: float, present: float, speed: float, dt: float) -> float:
        """Return the duty that the firmware asks for, before limits [1, unbounded].

        Args:
            get: value of a register by name [count].
            goal: clamped goal in position and step mode [step].
            present: position in the same counting as ``goal`` [step].
            speed: [step/s].
            dt: control period [s].
        """
        mode = get("mode")
        if mode == _PWM:
            return get("goal_time") / 1000.0
        if mode == _SPEED:
            wanted = get("goal_velocity") * speed_unit(get("phase"))
            return wanted / NO_LOAD + get("velocity_p_gain") * SPEED_DUTY * (wanted - speed)
        error = self._ramp(get, goal, present, dt) - present
        dead = get("dead_zone_cw") if error > 0 else get("dead_zone_ccw")
        if abs(error) <= dead:
            return 0.0
        self.sum += error * dt
        asked = P_DUTY * get("p_gain") * error + I_DUTY * get("i_gain") * self.sum - D_DUTY * get("d_gain") * speed
        least = get("min_start_force") * REGISTERS["min_start_force"].scale
        return math.copysign(max(abs(asked), least), asked)

    def _ramp(self, get: Callable[[str], int], goal: float, present: float, dt: float) -> float:
        """Move the setpoint towards ``goal`` within the acceleration and speed that the registers allow."""
        if self.setpoint is None:
            self.setpoint, self.rate = present, 0.0
        acceleration = get("acceleration") * REGISTERS["acceleration"].scale
        fastest = abs(get("goal_velocity")) * speed_unit(get("phase"))
        if not fastest:
            fastest = math.inf if get("phase") & PHASE_SPEED_ZERO_IS_MAX else 0.0
        left = goal - self.setpoint
        rate = left / dt
        if acceleration:
            # the fastest that still stops at the goal, the period in which it brakes taken into account
            braking = acceleration * dt / 2
            allowed = math.sqrt(braking * braking + 2.0 * acceleration * abs(left)) - braking
            rate = math.copysign(min(abs(rate), allowed), left)
            rate = min(max(rate, self.rate - acceleration * dt), self.rate + acceleration * dt)
        rate = min(max(rate, -fastest), fastest)
        self.rate = rate
        self.setpoint += rate * dt
        return self.setpoint


def speed_unit(phase: int) -> float:
    """Return what one count of a speed register means [step/s]."""
    return 1.0 if phase & PHASE_FINE_SPEED else 50.0
