"""Keeping an arm from folding against its own links, so that it slides along the border instead of being stopped by the guard.

The border (``teleop_description.folds``) bounds one joint by where its neighbour is. Solvers know boxes only, so they are given
the box at the place where the last solve ended, and are asked again while that place changes it. What is kept inside are the
commands: the guard judges these.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from teleop_description.folds import Fold
from teleop_ik.kinematics import Joints
from teleop_ik.solver import Bounds

SOLVES = 3  # of one target, at most
CLOSE = 1e-4  # [rad] over the border, for which no other solve is worth it
_NONE = (0.0, 0.0, 0.0, 0.0)


class Over(NamedTuple):
    """How far a start lies outside a fold's border, all [rad] and not negative: it may stay as far outside, or come in.

    Attributes:
        low: outer joint below its interval.
        high: above it.
        before: inner joint below its range.
        beyond: above it.
    """

    low: float = 0.0
    high: float = 0.0
    before: float = 0.0
    beyond: float = 0.0


def interval(fold: Fold, inner: float) -> tuple[float, float]:
    """Return the outer joint's interval [rad] where the inner joint is at ``inner``."""
    last = len(fold.lower) - 1
    place = (inner - fold.first) / fold.step
    if place <= 0.0 or last == 0:
        return fold.lower[0], fold.upper[0]
    if place >= last:
        return fold.lower[last], fold.upper[last]
    k = int(place)
    share = place - k
    low, high = fold.lower, fold.upper
    return low[k] + share * (low[k + 1] - low[k]), high[k] + share * (high[k + 1] - high[k])


def overs(folds: tuple[Fold, ...], joints: Joints) -> tuple[Over, ...]:
    """Return how far ``joints`` lie outside each border."""
    found = []
    for fold in folds:
        u, v = joints[fold.inner], joints[fold.inner + 1]
        low, high = interval(fold, u)
        before, beyond = fold.range[0] - u, u - fold.range[1]
        found.append(Over(max(0.0, low - v), max(0.0, v - high), max(0.0, before), max(0.0, beyond)))
    return tuple(found)


def settled(before: tuple[Over, ...], folds: tuple[Fold, ...], joints: Joints) -> tuple[Over, ...]:
    """Return what is left of ``before`` at ``joints``: it shrinks and never grows."""
    if all(over == _NONE for over in before):
        return before
    return tuple([Over(*map(min, one, other)) for one, other in zip(before, overs(folds, joints))])


def looks(folds: tuple[Fold, ...], bounds: Bounds, longest: float) -> tuple[float, ...]:
    """Return, per border, the room [rad] from which no step of up to ``longest`` [s] leads to where it could no longer stop."""
    found = []
    for fold in folds:
        ways = []
        for i in (fold.inner, fold.inner + 1):
            speed = bounds.velocity[i]
            stop = 0.5 * speed * speed / bounds.acceleration[i] if bounds.acceleration else 0.0
            ways.append(speed * longest + stop)
        slope = max([abs(b - a) for side in (fold.lower, fold.upper) for a, b in zip(side, side[1:])], default=0.0) / fold.step
        found.append(slope * ways[0] + ways[1])
    return tuple(found)


class Fence(NamedTuple):
    """The borders in force for one step.

    Attributes:
        folds: borders.
        overs: how far outside each the arm may be; empty: not at all.
        lead: of the commands on the solver's joints [rad].
    """

    folds: tuple[Fold, ...]
    overs: tuple[Over, ...]
    lead: Joints

    def room(self, joints: Joints) -> float:
        """Return how far solver joints lie inside all borders [rad], negative outside."""
        return min([self._of(fold, over, joints) for fold, over in self._pairs], default=math.inf)

    def near(self, joints: Joints, rooms: tuple[float, ...]) -> bool:
        """Return whether solver joints are within ``rooms`` of any border, see ``looks``."""
        return any(self._of(fold, over, joints) < room for (fold, over), room in zip(self._pairs, rooms))

    @property
    def _pairs(self) -> list[tuple[Fold, Over]]:
        return list(zip(self.folds, self.overs or (Over(),) * len(self.folds)))

    def _of(self, fold: Fold, over: Over, joints: Joints) -> float:
        i = fold.inner
        u, v = joints[i] + self.lead[i], joints[i + 1] + self.lead[i + 1]
        low, high = interval(fold, u)
        first, last = fold.range
        return min(v - low + over.low, high + over.high - v, u - first + over.before, last + over.beyond - u)

    def held(self, joints: Joints) -> tuple[int, ...]:
        """Return the outer joints of the borders that solver joints are at; one that it started outside of holds nothing back."""
        at = [fold for fold, over in self._pairs if over == _NONE and self._of(fold, over, joints) <= CLOSE]
        return tuple([fold.inner + 1 for fold in at])

    def tightened(self, bounds: Bounds, at: Joints) -> Bounds:
        """Return ``bounds`` of the solver's joints, less what the borders exclude where the inner joints are as in ``at``."""
        lower, upper = list(bounds.lower), list(bounds.upper)
        for fold, over in self._pairs:
            i = fold.inner
            j = i + 1
            low, high = interval(fold, at[i] + self.lead[i])
            sides = (
                (i, fold.range[0] - over.before, fold.range[1] + over.beyond),
                (j, low - over.low, high + over.high),
            )
            for k, least, most in sides:
                # never an empty interval: where a joint's own limits leave nothing, they count
                upper[k] = max(lower[k], min(upper[k], most - self.lead[k]))
                lower[k] = min(upper[k], max(lower[k], least - self.lead[k]))
        return bounds._replace(lower=tuple(lower), upper=tuple(upper))

    @property
    def slack(self) -> float:
        """How far over a border braking may lead [rad]."""
        return min([fold.slack for fold in self.folds])
