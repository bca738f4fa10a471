"""The operator's frames of a pick, played again through the live graph: physics in real time, the cube ends at the same place."""

from pathlib import Path

import numpy as np

from teleop_bringup import tasks, testing
from teleop_bringup.lockstep import Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_bringup.testing import QUIET
from teleop_common import cell, limits, qos, records
from teleop_common.enums import Counter
from teleop_common.testing import free_domain
from teleop_common.transport import subscribe
from teleop_input import bag

ROOT = Path(__file__).resolve().parents[4]
CUBE = "cube_red"


def play(folder, address):
    """Play a bag through the whole graph; return where the cube lies, and whether the machine kept up with real time."""
    with free_domain() as domain, testing.graph(domain, "input:=replay", f"bag:={folder}", *QUIET) as graph:
        states = []
        subscribe(graph.node, records.SimState, "/sim/state", states.append, qos.NEWEST)
        graph.ready()
        graph.replay_to_its_end()
        stale = sum(graph.authority[-1].arms[0].counters[: Counter.STALE + 1])
        return np.array(states[-1].qpos[address : address + 3]), not stale and min(s.real_time_factor for s in states[60:]) > 0.95


def test_replayed_frames_put_the_cube_at_the_same_place(tmp_path):
    robot, room = limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml")
    done = tasks.pick(robot, room, Options(), cube=CUBE)
    assert done.success
    model = Lockstep(None, robot, room).cores.simulation.physics.model
    folder = tmp_path / "pick"
    bag.write(folder, done.log.frames, "/teleop/input/external/frame")
    for _ in range(3):  # again where a starved machine stood in the way
        lies, undisturbed = play(folder, int(model.joint(CUBE).qposadr[0]))
        if undisturbed:
            break
    assert np.linalg.norm(lies - done.cube[:3]) < 0.005, (lies, done.cube)
