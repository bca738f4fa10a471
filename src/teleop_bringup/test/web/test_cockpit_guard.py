"""Both hands drive their arms together: the guard keeps them apart, the page says so, and pulling out works at once."""

import time

import mujoco

from teleop_common import cell, limits, paths, qos, records
from teleop_common.transport import subscribe
from teleop_description import scene

INWARDS = {"left": (0.22, 0.0, 0.0), "right": (-0.22, 0.0, 0.0)}  # [m], OpenXR axes
OUTWARDS = {side: tuple(-0.6 * x for x in way) for side, way in INWARDS.items()}
ARMS = ("left", "right")


def contacts(states):
    """Return how many contacts of one arm with the other MuJoCo finds in the simulated states."""
    model = scene.build(ARMS, cell.load(paths.config("cell.yaml")), limits.load(paths.config("limits/so101.yaml")))
    data, owner = mujoco.MjData(model), [model.body(i).name.split("_")[0] for i in range(model.nbody)]
    found = 0
    for state in states:
        data.qpos[:] = state.qpos
        mujoco.mj_forward(model, data)
        pairs = ({owner[model.geom_bodyid[geom]] for geom in contact.geom} for contact in data.contact)
        found += sum(set(ARMS) <= pair for pair in pairs)
    return found


def test_hands_driven_together_hold_the_arms_apart_and_pulling_out_works_at_once(cockpit):
    graph, page, operator = cockpit
    graph.bring_home()
    states = []
    heard = subscribe(graph.node, records.SimState, "/sim/state", states.append, qos.NEWEST)
    for attempt in range(3):  # again where a starved machine left a gap in the frames, at which the guard rightly stops
        graph.engage(operator, *ARMS)
        operator.move(2.0, **INWARDS)
        try:
            graph.until(lambda: "COLLISION HOLD" in page.inner_text("#alerts"), 2.0, "the page says that the guard holds")
            break
        except TimeoutError:
            if attempt == 2:
                raise
            graph.release(operator, *ARMS)
            operator.move(0.1, **{side: tuple(-x for x in way) for side, way in INWARDS.items()})
            graph.bring_home()
    inmost = {arm: graph.tool(arm)[1] for arm in ARMS}
    operator.move(1.0, **OUTWARDS)
    # on the way, not after it: nothing has to be waited for
    moved = {"left": graph.tool("left")[1] - inmost["left"], "right": inmost["right"] - graph.tool("right")[1]}
    time.sleep(0.3)
    graph.until(lambda: "COLLISION HOLD" not in page.inner_text("#alerts"), 3.0, "the page says that the guard lets go")
    graph.release(operator, *ARMS)
    graph.node.destroy_subscription(heard)
    assert min(moved.values()) > 0.05, moved
    assert len(states) > 100
    assert contacts(states) == 0
    graph.bring_home()
