"""Writes the golden recordings of the retargeter, against which every machine's re-simulation is held to 1e-9.

Run it after a change that is meant to change joint targets, and say so in the changelog:
``./teleop exec python tools/golden.py``.
"""

from __future__ import annotations

import lzma
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from teleop_common import cell, limits
from teleop_ik import testing
from teleop_ik.params import RetargeterParams

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src/teleop_ik/test/golden"
SOLVERS = ("differential", "analytic")
SECONDS = 3.0  # of the drive; it turns to its last connection at 2.7


def main() -> int:
    """Write one bag per solver, packed."""
    os.chdir(ROOT)
    # relative paths: nothing of this machine goes into a recording that is committed
    robot = limits.load(Path("config/limits/so101.yaml"))
    work_cell = cell.load(Path("config/cell.yaml"))
    FOLDER.mkdir(exist_ok=True)
    for solver in SOLVERS:
        drive = testing.Drive({**asdict(RetargeterParams()), "solver": solver}, robot, work_cell, seed=2).play(SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            testing.write(Path(folder, "bag"), drive.rows)
            (file,) = Path(folder, "bag").glob("*.mcap")
            packed = lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        (FOLDER / f"{solver}.mcap.xz").write_bytes(packed)
        print(f"{solver}: {len(drive.recording.targets)} targets, {len(packed)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
