"""Published clients of the servo bus, written by others, against the emulator over its pseudo-terminals."""

import json
import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("ament_index_python")
from teleop_hw_so101 import calibration
from teleop_hw_so101.emulator.testing import serving

HERE = Path(__file__).parent
PYTHON = Path(os.environ.get("SERVO_CLIENTS") or Path(__file__).resolve().parents[4] / ".venv/servo-clients/bin/python")
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the published clients are not installed (./teleop test node)")
IDS = range(1, 7)


def run(client, folder):
    """Return what the client says of the arm in ``folder``."""
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    command = [str(PYTHON), str(HERE / "clients" / client), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=bare)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_published_clients_find_an_so101_move_it_and_calibrate_it(tmp_path):
    with serving(tmp_path) as arms:
        lerobot, rustypot = run("client_lerobot.py", tmp_path), run("client_rustypot.py", tmp_path)
        pan, roll = arms.rows("left", 1), arms.rows("left", 5)
    units = {arm: calibration.load(tmp_path / f"{arm}.json") for arm in ("left", "right")}

    # LeRobot's bus
    assert lerobot["broadcast"] == {str(n): 777 for n in IDS}
    for joint in units["left"].joints:
        read = lerobot["calibration"][joint.name]
        assert read == {k: getattr(joint, k) for k in ("id", "drive_mode", "homing_offset", "range_min", "range_max")}
        assert joint.range_min <= lerobot["ticks"][joint.name] <= joint.range_max
        # the limp arm's hand has sunk to the bench, along which it rubs now
        assert lerobot["reached"][joint.name] == pytest.approx(lerobot["goal"][joint.name], abs=2.6)
    assert max(row.position for row in pan) - lerobot["ticks"]["shoulder_pan"] > 200
    assert lerobot["ticks"]["wrist_roll"] - min(row.position for row in roll) > 300
    assert set(lerobot["torque"].values()) == {1}
    assert set(lerobot["voltage"].values()) == {120}
    assert list(lerobot["half_turn"].values()) == pytest.approx([2047] * 6, abs=40)  # the limp arm sinks between the two reads
    least, most = lerobot["swept"]
    known = units["left"].joints[0]
    assert most - least == pytest.approx(known.range_max - known.range_min, abs=40)  # stops give way a little when pushed hard
    assert lerobot["is_calibrated"] is True
    assert lerobot["stopped"] == pytest.approx(least, abs=40)
    assert not pan[-1].torque  # it lets go when it disconnects

    # rustypot's
    assert rustypot["pings"] == [True] * 6
    assert rustypot["absent"] is False
    assert rustypot["models"] == [777] * 6
    joints = units["right"].joints
    # it hands on sign and magnitude as they are
    assert rustypot["offsets"] == [abs(j.homing_offset) | (1 << 11 if j.homing_offset < 0 else 0) for j in joints]
    assert rustypot["limits"] == [[j.range_min for j in joints], [j.range_max for j in joints]]
    assert rustypot["reached"] == pytest.approx(rustypot["goal"], abs=30)
    assert rustypot["torque"] == [True] * 6
    assert set(rustypot["temperature"]) <= {25, 26}
