"""Emulated servos against a real follower arm: the same targets must give the same motion, above all the same lag.

The recording is not part of this repository (Muurrphy/bipu, MIT, 32 rows of ``startled.jsonl``): the test skips where it is
absent. Run with ``-s`` to see the figures.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from teleop_common import cell, limits
from teleop_hw_so101.emulator.dynamics import Dynamics
from teleop_hw_so101.emulator.servo import Servo

ROOT = Path(__file__).resolve().parents[4]
FILE = next(ROOT.parent.glob("*/data/real/so101_motion_excerpt/startled_first_32_rows.csv"), None)
pytestmark = pytest.mark.skipif(FILE is None, reason="the real arm's motion is not beside the repository")
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
MOVED = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex")
ARM = (*MOVED, "wrist_roll")
STEPS_PER_DEGREE = 4096 / 360
SENT = 0.002  # [s], by how much a loop sends its target after it has read: assumed


@pytest.fixture(scope="module")
def recording():
    """Times [s], targets and measured positions (32, 5) [deg]."""
    rows = list(csv.DictReader(FILE.open()))
    times = np.array([float(row["t"]) for row in rows])
    return times, *(np.array([[float(row[f"{kind}.{j}.pos"]) for j in ARM] for row in rows]) for kind in ("action", "observed"))


@pytest.fixture(scope="module")
def emulated(recording):
    """Positions of the emulated arm at the same times (32, 5) [deg], with the gains that the recording's software sets."""
    times, targets, measured = recording
    dynamics = Dynamics(["left"], cell.load(ROOT / "config/cell.yaml"), ROBOT, [2048.0] * 6)
    dynamics.place(np.append(np.radians(measured[0]), 0.0))
    servos = [Servo(number, [("p_gain", 16), ("d_gain", 32)]) for number in range(1, 7)]
    for servo, sensed in zip(servos, dynamics.sense()):
        servo.boot(sensed)
        servo.write(41, b"\xfe", 0.0)

    def send(degrees):
        for servo, angle in zip(servos, degrees):
            servo.write(42, round(2048 + angle * STEPS_PER_DEGREE).to_bytes(2, "little"), dynamics.time)

    def until(time):
        while dynamics.time < time - 1e-9:
            dynamics.step([s.step(m, dynamics.time, dynamics.period) for s, m in zip(servos, dynamics.sense())])

    start, found = 0.5, []
    send(targets[0])
    until(start)
    for time, target in zip(times, targets):
        until(start + time)
        found.append([(servo.present_position() - 2048) / STEPS_PER_DEGREE for servo in servos[:5]])
        until(start + time + SENT)
        send(target)
    return np.array(found)


def lag(times, target, measured):
    """Return the delay of ``target`` that explains ``measured`` best, a constant error apart [s]."""
    late = times[times >= 0.2]
    shifts = np.arange(0.0, 0.2, 0.0025)
    errors = [np.interp(late, times, measured) - np.interp(late - shift, times, target) for shift in shifts]
    return shifts[np.argmin([np.std(error) for error in errors])]


@pytest.mark.parametrize("joint", range(len(MOVED)), ids=MOVED)
def test_emulated_joint_lags_its_target_as_the_real_one_does(recording, emulated, joint):
    times, targets, measured = recording
    real, ours = lag(times, targets[:, joint], measured[:, joint]), lag(times, targets[:, joint], emulated[:, joint])
    apart = np.sqrt(np.mean((emulated[:, joint] - measured[:, joint]) ** 2))
    print(f"{MOVED[joint]}: lag {1000 * real:.1f} ms real, {1000 * ours:.1f} ms emulated; {apart:.2f}° rms apart")
    assert ours == pytest.approx(real, abs=0.020)
    assert apart < 0.6
    assert np.max(np.abs(emulated[:, joint] - measured[:, joint])) < 1.5


def test_joint_whose_target_moves_less_than_the_dead_band_stands_still(recording, emulated):
    _, _, measured = recording
    assert np.ptp(measured[:, 4]) == 0.0
    assert np.ptp(emulated[:, 4]) <= 1.5 / STEPS_PER_DEGREE
