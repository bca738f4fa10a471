"""Picks and stacks cubes with every solver and with the simulator's own Jacobian: ``python -m bench.closed_loop [SEEDS]``."""

from __future__ import annotations

import sys
from pathlib import Path

from teleop_bringup import tasks
from teleop_bringup.lockstep_cores import Options
from teleop_bringup.mujoco_dls import MujocoDls
from teleop_common import cell, limits
from teleop_description.assets import urdf_path
from teleop_ik.setup_arms import read_chain

ROOT = Path(__file__).resolve().parents[1]
WHO = ("analytic", "differential", "mujoco_dls")


def main() -> int:
    """Print a table; exit status 0 only when our solvers always succeed."""
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    baseline = MujocoDls(robot, read_chain(urdf_path(robot.urdf), robot))
    good = True
    print("| task | solver | succeeded | first try | mean time [s] | worst distance from the place [mm] |")
    print("|---|---|---|---|---|---|")
    for task in ("pick", "stack"):
        for who in WHO:
            solver = baseline if who == baseline.name else None
            outcomes = []
            for seed in range(seeds):
                options = Options(solver="differential" if solver else who, cubes_seed=seed)
                if task == "pick":
                    outcomes.append(tasks.pick(robot, room, options, solver=solver))
                else:
                    outcomes.append(tasks.stack(robot, room, options, ("left", "right")[seed % 2], solver=solver))
            done = [o for o in outcomes if o.success]
            good = good and (solver is not None or len(done) == seeds)
            first = sum(o.tries == 1 for o in done)
            mean, worst = sum(o.seconds for o in done) / max(len(done), 1), max((1e3 * o.off for o in done), default=0.0)
            print(f"| {task} | {who} | {len(done)} of {seeds} | {first} | {mean:.1f} | {worst:.1f} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
