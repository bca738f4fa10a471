"""Both hands drive their arms into each other, in lockstep: no contact, whatever slides, and pulling out works at once."""

from pathlib import Path

from teleop_bringup.lockstep import Hands, Lockstep
from teleop_bringup.lockstep_cores import Options
from teleop_common import cell, limits
from teleop_common.enums import Authority, PoseFlags
from teleop_common.records import Controller, Pose, TrackedPose

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
ARMS = ("left", "right")


class Pressed:
    """Two hands that come together by ``inwards`` [m] each."""

    def __init__(self):
        self.inwards, self.squeeze = 0.0, 0.0

    def hands(self, now, seen):
        def hand(x):
            pose = TrackedPose(Pose((x, 1.2, -0.4)), int(PoseFlags.ALL))
            return Controller(True, pose, pose, squeeze=self.squeeze)

        head = TrackedPose(Pose((0.0, 1.6, 0.0)), int(PoseFlags.ALL))
        return Hands(head, hand(-0.25 + self.inwards), hand(0.25 - self.inwards))


def touching(chain):
    """Return how many contacts of one arm with the other the simulation has."""
    physics = chain.cores.simulation.physics
    owner = [physics.model.body(i).name.split("_")[0] for i in range(physics.model.nbody)]
    pairs = ({owner[physics.model.geom_bodyid[geom]] for geom in contact.geom} for contact in physics.data.contact)
    return sum(set(ARMS) <= pair for pair in pairs)


def test_arms_driven_together_never_touch_and_can_be_pulled_out_at_once():
    operator = Pressed()
    chain = Lockstep(operator, ROBOT, CELL, Options())
    assert chain.run_until(lambda: chain.running, 3.0)
    chain.run(0.5)
    operator.squeeze = 1.0
    chain.run(1.6)
    data = chain.cores.simulation.physics.data

    def gap():
        left, right = (data.site(f"{arm}_{ROBOT.tip_link}").xpos[1] for arm in ARMS)
        return float(left - right)

    contacts, held = 0, 0
    for _ in range(200):
        operator.inwards += 0.25 / 200
        chain.run(0.01)
        contacts += touching(chain)
        held += chain.cores.guard.shared.holding
    assert all(chain.authority(arm) == Authority.DRIVING for arm in ARMS)
    assert held > 10
    for _ in range(50):  # until what slides has come to rest
        chain.run(0.01)
        contacts += touching(chain)
    inmost = gap()
    for k in range(100):
        operator.inwards -= 0.2 / 100
        chain.run(0.01)
        contacts += touching(chain)
        if k == 19:
            assert gap() > inmost + 1e-3, "a fifth of a second of pulling moved nothing"
    chain.run(0.3)
    assert contacts == 0
    assert gap() > inmost + 0.2
    assert not chain.cores.guard.shared.holding
