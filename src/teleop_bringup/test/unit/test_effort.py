"""The watchdog on measured load against physics: a joint held by force stops both arms; ordinary work does not."""

from pathlib import Path

from teleop_bringup import tasks
from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")


class Still:
    """Both hands close their grips after half a second and keep still."""

    def hands(self, now, seen):
        tracked = TrackedPose(Pose((0.0, 1.0, -0.3)), int(PoseFlags.ALL))
        grip = Controller(True, tracked, tracked, squeeze=1.0 if now > 0.5 else 0.0)
        return Hands(tracked, grip, grip)


def test_elbow_pressed_down_by_force_stops_both_arms_and_the_guard_says_why():
    chain = Lockstep(Still(), ROBOT, CELL, Options(collision=False))
    assert chain.run_until(lambda: chain.authority("right") is Authority.DRIVING, 3.0)
    chain.run(0.3)
    # the servos of the simulation yield above 3.35 Nm
    chain.cores.simulation.physics.push("right", (0.0, 0.0, 3.6, 0.0, 0.0, 0.0))
    assert chain.run_until(lambda: chain.authority("right") is Authority.FAULT, 2.0, 0.05)
    assert chain.authority("left") is Authority.FAULT
    assert any("effort of right_elbow_flex" in event for event in chain.log.events)


def test_picking_a_cube_strains_no_joint():
    outcome = tasks.pick(ROBOT, CELL, Options(cubes_seed=1))
    assert outcome.success
    assert not [event for event in outcome.log.events if "effort" in event]
