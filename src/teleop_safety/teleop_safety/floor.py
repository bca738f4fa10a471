"""The floor: no part of a moving link below the bench, by the exact hull, wherever a step leads; each arm by itself.

Joints go straight along a step, so that each corner's height is a smooth function of the share done, whose second derivative is
at most c = Σ_ij bend_ij·|Δq_i|·|Δq_j| (see ``Reach``). Between two looks it is thus at least the lower of the two heights − c/8,
the error of linear interpolation. Where that does not suffice the way is halved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from teleop_safety.capsules import Points
from teleop_safety.space import Body, Space

TOLERANCE = 1e-6  # [m]
DIP = 2e-4  # by which a link may be lower between two looks than at them [m]
_HALVINGS = 10  # of a share
_DEPTH = 8  # halvings of a way


class Floor:
    """Cuts each arm's own step so that its links stay above the bench, or as high as they were.

    Args:
        space: the model.
        arms: names, in the order of the space.
        grip: number of arm joints; those after it are the gripper's.
        clearance: of each link's hull above the bench [m].
    """

    def __init__(self, space: Space, arms: tuple[str, ...], grip: int, clearance: float) -> None:
        """Keep what is known of each arm's links."""
        self._model, self._data, self.clearance = space.model, space.model.createData(), clearance
        self._first, self._fall = space.floor, space.fall
        self._height = space.coarse.geometryObjects[len(space.bodies) - 1].geometry.d
        self._parts = {arm: slice(i * space.width, i * space.width + grip) for i, arm in enumerate(arms)}
        links = [(k, space.bodies[a]) for k, (a, _bench) in enumerate(space.pairs[space.floor :])]
        self._links: dict[str, list[tuple[int, Body]]] = {arm: [link for link in links if link[1].arm == arm] for arm in arms}

    def cut(self, moving: tuple[str, ...], before: Points, after: Points, distances: list[float]) -> dict[str, float]:
        """Return the share of each arm's own step that keeps to the rule, absent means all of it.

        Args:
            moving: the arms that move.
            before: all joints where the step starts [rad].
            after: and where it ends.
            distances: lower bounds of all pairs' distances there, those to the bench last [m].
        """
        shares = {}
        carried = (self._fall.sway @ np.abs(after - before)).tolist()
        for arm in moving:
            # what the bench is farther from than the step can carry it needs no look
            near = [link for link in self._links[arm] if distances[self._first + link[0]] < self.clearance + carried[link[0]]]
            if near:
                part, step = self._parts[arm], np.zeros(len(before))
                step[part] = after[part] - before[part]
                share = self._share(near, before, step)
                if share < 1.0:
                    shares[arm] = share
        return shares

    def _heights(self, links: list[tuple[int, Body]], q: Points) -> Points:
        """Return the lowest point of each of ``links`` above the bench, shape (links,) [m]."""
        pin.forwardKinematics(self._model, self._data, q)
        heights = np.empty(len(links))
        for i, (_k, body) in enumerate(links):
            place = self._data.oMi[body.joint]
            heights[i] = (body.hull @ place.rotation[2]).min() + place.translation[2] - self._height
        return heights

    def _share(self, links: list[tuple[int, Body]], before: Points, step: Points) -> float:
        start = self._heights(links, before)
        bounds = np.minimum(self.clearance, start) - TOLERANCE
        sags = self._fall.bend[[k for k, _body in links]] @ np.outer(np.abs(step), np.abs(step)).ravel() / 8.0

        def clear(a: float, b: float, low: Points, high: Points, depth: int) -> bool:
            """Tell whether nothing dips between the shares ``a`` and ``b``, where the heights are ``low`` and ``high``."""
            if np.all(np.minimum(low, high) - sags * (b - a) ** 2 >= bounds - DIP):
                return True
            middle = 0.5 * (a + b)
            between = self._heights(links, before + middle * step)
            if depth <= 0 or np.any(between < bounds):
                return False
            return clear(a, middle, low, between, depth - 1) and clear(middle, b, between, high, depth - 1)

        def good(share: float) -> bool:
            end = self._heights(links, before + share * step)
            return bool(np.all(end >= bounds)) and clear(0.0, share, start, end, _DEPTH)

        return 1.0 if good(1.0) else bisect(good)


def bisect(good: Callable[[float], bool]) -> float:
    """Return the largest share in [0, 1) found good by halving; 0, a hold, is always allowed."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if good(middle):
            low = middle
        else:
            high = middle
    return low
