"""A stand-in for the collision filter: bodies whose distances are linear in the joints, so that the oracle can check each commit.

The real filter has tests of its own; what is fuzzed here is what the guard does with a verdict.
"""

from __future__ import annotations

from teleop_safety.envelope import Clearance, Pose, Verdict
from teleop_safety.state import Joints

Known = dict[str, Joints | None]  # by arm, None for what is not known
MARGIN = 0.05  # of the distances below
TOLERANCE = 1e-6


def distance(left: Joints, right: Joints) -> float:
    """Return how far apart the two arms are: they approach as both turn inwards."""
    return 0.6 - (left[0] - right[0])


def height(arm: Joints) -> float:
    """Return how high an arm is: it sinks as shoulder and elbow go down."""
    return 1.2 - arm[1] - arm[2]


class Wall:
    """Cuts steps so that neither distance nor height falls below the margin, or below what it was.

    Args:
        arms: names, left then right.
        grip: number of arm joints.
    """

    enabled = True
    geometry = "none"

    def __init__(self, arms: tuple[str, ...], grip: int) -> None:
        """Keep the names."""
        self._arms, self._grip = arms, grip

    def judge(self, start: Pose, goal: Pose, measured: Pose) -> Verdict:
        """Return what may be kept, see ``Envelope``."""
        if any(arm not in start and arm not in measured for arm in self._arms):
            return Verdict(scale=0.0, why="a position is unknown")
        before = {arm: start.get(arm) or measured[arm] for arm in self._arms}
        after, floors = dict(before), {}
        for arm, position in goal.items():
            share = _share(height(before[arm]), height(position))
            if share < 1.0:
                floors[arm] = share
            after[arm] = tuple([b + share * (p - b) for b, p in zip(before[arm], position)])
        left, right = self._arms
        scale = _share(distance(before[left], before[right]), distance(after[left], after[right]))
        return Verdict(floors, scale, ("left_wall", "right_wall") if scale < 1.0 else ())

    def clearance(self, committed: Pose, measured: Pose) -> Clearance:
        """Return no distances."""
        return Clearance()


def broken(before: Known, after: Known, _measured: Known) -> str:
    """Return what a commit broke, empty for nothing."""
    for arm, was in before.items():
        now = after[arm]
        if was is not None and now is not None and height(now) < bound(height(was)):
            return "an arm sank below its floor"
    (left, right), (left_now, right_now) = before.values(), after.values()
    if left is None or right is None or left_now is None or right_now is None or before == after:
        return ""
    return "the arms came too near" if distance(left_now, right_now) < bound(distance(left, right)) else ""


def bound(before: float) -> float:
    """Return the least distance allowed after a step from ``before``."""
    return min(MARGIN, before) - TOLERANCE


def _share(before: float, after: float) -> float:
    least = min(MARGIN, before)
    return 1.0 if after >= least else max(0.0, (before - least) / (before - after))
