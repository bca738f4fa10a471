"""Whether a straight way in joint space keeps pairs apart everywhere, not only where it was looked at.

Two bounds hold on the whole way between two samples a and b of a pair's distance d, the joints going straight:

- no joint moves the two against each other faster than its ``sway``: d ≥ ½·(d(a) + d(b) − Σ sway_i·|Δq_i|) (see ``Reach``);
- along a fixed direction n, seen from the last joint that carries both, each corner's coordinate is a smooth function whose
  second derivative is at most c = Σ_ij bend_ij·|Δq_i|·|Δq_j|. So what separates the two along n at a (which is d(a), n being
  the direction of their nearest points) and at b bounds d from below: d ≥ min(d(a), s_n(b)) − c/8, as for any function the
  chord of which may sag by that much (linear interpolation's error). The first is of first order, the second of second.

Where neither shows it, the way is halved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from teleop_safety.capsules import Points
from teleop_safety.layer import Layer, Places
from teleop_safety.reach import Reach

SAG = 5e-4  # by which the distance between two samples may be below what each of them is held to [m]
_HALVINGS = 9


class Sample(NamedTuple):
    """What was measured at one configuration, by index of the pair.

    Attributes:
        q: joints [rad].
        distance: [m].
        direction: see ``Layer.direction``; only of those that were thought to need it.
        places: where the joints are.
    """

    q: Points
    distance: dict[int, float]
    direction: dict[int, Points]
    places: Places


def sample(layer: Layer, q: Points, chosen: list[int]) -> Sample:
    """Measure the ``chosen`` pairs at ``q``, where a way starts."""
    layer.place(q)
    distance, direction = {}, {}
    for index in chosen:
        distance[index] = layer.distance(index)
        direction[index] = layer.direction(index)
    return Sample(q, distance, direction, layer.places())


def start(
    layer: Layer, reach: Reach, q: Points, ends: Sample, chosen: list[int], margin: float, places: Places | None = None
) -> Sample:
    """Measure the ``chosen`` pairs at ``q``, where a way to ``ends`` starts, and directions where these will be asked for.

    Args:
        layer: what is measured.
        reach: see there.
        q: joints [rad].
        ends: where the way ends.
        chosen: indices of pairs.
        margin: what pairs are held to at most [m].
        places: where the joints are, when that is known.
    """
    layer.place(q)
    distance, direction = {}, {}
    step = np.abs(ends.q - q)
    for index in chosen:
        distance[index] = layer.distance(index)
        if 0.5 * (distance[index] + ends.distance[index] - reach.sway[layer.pairs[index].group] @ step) < margin:
            direction[index] = layer.direction(index)
    return Sample(q, distance, direction, places or layer.places())


def end(layer: Layer, q: Points, chosen: list[int], places: Places | None = None) -> Sample:
    """Measure the ``chosen`` pairs at ``q``, where ways end, so without directions; ``places``: the joints are there already."""
    if places is None:
        layer.place(q)
    distance = {index: layer.distance(index) for index in chosen}
    return Sample(q, distance, {}, places or layer.places())


def clear(
    layer: Layer, reach: Reach, a: Sample, b: Sample, chosen: list[int], bounds: Mapping[int, float], depth: int = _HALVINGS
) -> int:
    """Return -1 when each chosen pair keeps to its bound where looked at, and to ``SAG`` less all along; else one that fails.

    Args:
        layer: what is measured.
        reach: see there.
        a: start, with every chosen pair measured and above its bound less ``SAG``.
        b: end, likewise measured.
        chosen: indices of pairs.
        bounds: what each is held to.
        depth: how often the way may still be halved; a way that would need more is not clear.
    """
    if not chosen:
        return -1
    for index in chosen:
        if b.distance[index] < bounds[index]:
            return index
    step, left = np.abs(b.q - a.q), []
    for index in chosen:
        # few pairs come this far: one by one takes half the time of arrays
        group, bound = layer.pairs[index].group, bounds[index] - SAG
        if 0.5 * (a.distance[index] + b.distance[index] - reach.sway[group] @ step) >= bound:
            continue
        sag = step @ reach.bend[group].reshape(len(step), len(step)) @ step / 8.0
        if min(a.distance[index], _along(layer, index, a, b)) - sag < bound:
            left.append(index)
    if not left:
        return -1
    if depth <= 0:
        return left[0]
    middle = sample(layer, 0.5 * (a.q + b.q), left)
    for index in left:
        if middle.distance[index] < bounds[index]:
            return index
    first = clear(layer, reach, a, middle, left, bounds, depth - 1)
    return first if first >= 0 else clear(layer, reach, middle, b, left, bounds, depth - 1)


def _along(layer: Layer, index: int, a: Sample, b: Sample) -> float:
    """Return the separation at ``b`` along the direction found at ``a``, carried along by what moves both."""
    n, anchor = a.direction.get(index), layer.pairs[index].anchor
    if n is None:
        return -np.inf  # not asked for in time: the way is halved
    if anchor:
        n = b.places.turn(anchor) @ (n @ a.places.turn(anchor))
    return layer.separation(index, n, b.places)
