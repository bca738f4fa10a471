from collections import Counter

import pytest

from teleop_hw_so101.rotation import Rotation

JITTER = (0.0, 0.003, -0.003, 0.001)


@pytest.mark.parametrize(("hz", "loop"), [(60.0, 100.0), (100.0, 100.0), (30.0, 100.0), (60.0, 250.0)])
def test_rates_are_those_asked_for_whatever_the_loops(hz, loop):
    rotation = Rotation(6, write_hz=hz, motion_hz=hz, slow_hz=30.0, tick=1.0 / loop)
    seconds = 20
    count = Counter()
    for k in range(round(seconds * loop)):
        now = k / loop + JITTER[k % 4] / loop * 100.0
        count["write"] += rotation.due("write", now)
        count["motion"] += rotation.due("motion", now)
        turn = rotation.turn(now)
        if turn is not None:
            count["slow"] += 1
            count[turn] += 1
    assert count["write"] / seconds == pytest.approx(hz, rel=0.03)
    assert count["motion"] / seconds == pytest.approx(hz, rel=0.03)
    assert count["slow"] / seconds == pytest.approx(30.0, rel=0.03)
    turns = {turn: n for turn, n in count.items() if not isinstance(turn, str)}
    assert len(turns) == 12, "each servo's health and torque switch"
    assert min(n for turn, n in turns.items() if turn.health) > max(n for turn, n in turns.items() if not turn.health)
