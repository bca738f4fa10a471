"""State that can be stored: a core restored from JSON goes on to the same bytes."""

import json

from guard_world import HOME, World

from teleop_safety.guard import Guard


def test_restored_core_goes_on_exactly_as_the_first():
    world = World().drive("right")
    world.run(0.05, lambda _w: {"right": (HOME[0] + 0.5, *HOME[1:])})
    stored = json.loads(json.dumps(world.guard.state(), allow_nan=False))
    other = World()
    other.guard.restore(stored)
    for each in (world, other):
        each.commands = {arm: [] for arm in each.arms}
    for name in ("now", "sequence", "connection", "goal", "measured", "hands", "step_count"):
        setattr(other, name, getattr(world, name) if not isinstance(getattr(world, name), dict) else dict(getattr(world, name)))
    for each in (world, other):
        each.run(0.5, lambda _w: {"right": (HOME[0] + 0.5, *HOME[1:])})
    assert world.commands == other.commands
    assert world.guard.state() == other.guard.state()


def test_fresh_state_is_json():
    guard: Guard = World().guard
    assert json.loads(json.dumps(guard.state(), allow_nan=False)) == json.loads(json.dumps(guard.state()))
