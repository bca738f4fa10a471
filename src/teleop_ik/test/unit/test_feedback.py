"""Closed against open loop: what a target does when the arm does not follow."""

import pytest

HAND = (0.0, 0.0, 1.0)


def blocked_drive(rig, frames=90, reach=0.15):
    """Let the hand go ``reach`` [m] to the left and back against an arm that stands; return the targets."""
    rig.step(HAND)
    rig.blocked = True
    shares = [min(i, frames - i) / (frames / 2) for i in range(1, frames + 1)]
    return [rig.step((0.0, reach * share, 1.0), commit=False).position[:5] for share in shares]


def farthest(targets, measured):
    return max(abs(q - m) for target in targets for q, m in zip(target, measured))


def test_closed_loop_stays_within_the_leash_of_a_blocked_arm(so101, solver):
    rig = so101.rig(solver=solver.name)
    assert farthest(blocked_drive(rig), rig.measured) <= so101.robot.leash_simulation + 1e-9


def test_open_loop_runs_on_when_the_arm_is_blocked_and_comes_back_with_the_hand(so101, solver):
    rig = so101.rig(solver=solver.name, feedback="open")
    targets = blocked_drive(rig)
    assert farthest(targets, rig.measured) > 1.5 * so101.robot.leash_simulation
    for _ in range(30):
        last = rig.step(HAND, commit=False).position[:5]
    assert last == pytest.approx(rig.measured[:5], abs=0.01)


@pytest.mark.parametrize("feedback", ["closed", "open"])
def test_engaging_moves_nothing_whatever_the_droop(so101, solver, feedback):
    rig = so101.rig(solver=solver.name, feedback=feedback, droop=(0.02, 0.035, -0.03, 0.01, 0.0, 0.0))
    held = rig.reference
    assert [rig.step(HAND).position for _ in range(5)] == [pytest.approx(held, abs=1e-9)] * 5


def test_open_loop_gives_the_same_targets_wherever_the_arm_is(so101, solver):
    def drive(**options):
        rig = so101.rig(solver=solver.name, feedback="open", **options)
        return [rig.step((0.002 * i, 0.001 * i, 1.0)).position[:5] for i in range(40)]

    assert drive() == drive(lag=0.06, delay=1)
