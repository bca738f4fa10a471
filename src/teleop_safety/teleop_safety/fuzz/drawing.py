"""Drawing the arguments of steps."""

from __future__ import annotations

import math
import random
from typing import Any

from teleop_safety.fuzz.world import ARMS

Arguments = dict[str, Any]

_BAD = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e6)


def side(r: random.Random) -> str:
    """Draw an arm, which is a hand, too."""
    return r.choice(ARMS)


def joints(r: random.Random, wild: bool = False) -> list[float]:
    """Draw joints [rad], most of them reachable; ``wild`` ones may be no numbers, or too few."""
    values = [r.uniform(-3.0, 3.0) for _ in range(6)]
    if wild and r.random() < 0.5:
        if r.random() < 0.2:
            return values[: r.randrange(6)]
        values[r.randrange(6)] = r.choice(_BAD)
    return values


def late(r: random.Random) -> float:
    """Draw how late a stamp is [s]; negative ones are ahead of time."""
    return r.choice((0.0, 0.0, r.uniform(-0.3, 0.3), r.choice((-3600.0, 3600.0, 0.19, 0.21))))


def grip(r: random.Random) -> Arguments:
    """Draw what a hand does."""
    return {
        "side": side(r),
        "squeeze": r.choice((0.0, 0.0, 0.39, 0.5, 0.61, 1.0, 1.0, 1.0, math.nan, 2.0, -1.0)),
        "tracked": r.random() < 0.8,
        "connected": r.random() < 0.95,
    }


def speed(r: random.Random) -> float:
    """Draw at which speed targets move [rad/s]."""
    return r.choice((math.inf, 0.1, 1.0, 1.9, 5.0))


def mostly_right(r: random.Random, right: Arguments, odd: Arguments) -> Arguments:
    """Return what is right but for one argument, now and then two or none: else nothing would ever come through."""
    wrong = r.sample(sorted(odd), r.choice((0, 1, 1, 1, 2)))
    return {**right, **{name: odd[name] for name in wrong}}
