from guard_world import HOME, World

from teleop_common.enums import Authority


def test_smoke():
    w = World().drive("right")
    assert w.state("left") is Authority.IDLE
    goal = list(HOME)
    goal[0] += 0.3
    w.run(1.0, lambda w: {"right": goal, "left": HOME})
    print(w.last().position, w.events)
    assert abs(w.last().position[0] - 0.3) < 1e-3
    assert all(c.position == HOME for c in w.commands["left"])
