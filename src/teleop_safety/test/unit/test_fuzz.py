"""The fuzzer: its corpus holds, its oracle sees every sabotage of the guard, and hypothesis plays the same steps."""

from pathlib import Path

import pytest
from guard_world import ROBOT
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from teleop_common.enums import Authority as A
from teleop_safety import authority, commit, committer, drivers, estop, hands, intake, motion
from teleop_safety.collision import CollisionFilter
from teleop_safety.envelope import Verdict
from teleop_safety.floor import Floor
from teleop_safety.fuzz import cli, corpus, run, steps, wall
from teleop_safety.fuzz.world import Setup, World

SHARE = 60_000  # calls within which a sabotaged guard must be found out


@pytest.mark.parametrize("case", corpus.cases(), ids=lambda case: case.name)
def test_kept_run_is_played_and_the_envelope_holds(case):
    assert corpus.replay(ROBOT, case) == []


@pytest.mark.parametrize("seed", [101, 102])
def test_drawn_steps_do_not_leave_the_envelope(seed):
    report = run.fuzz(ROBOT, 30_000, seed)
    assert [found.text for found in report.found] == []
    assert report.moves > 1000


def test_same_seed_does_the_same():
    first, again = (run.fuzz(ROBOT, 6000, 5) for _ in range(2))
    assert (first.steps, first.moves) == (again.steps, again.moves)


# --- sabotage: an oracle that finds nothing in a broken guard proves nothing


def _drop(event):
    def sabotage(patch):
        for key in [key for key in authority.TABLE if key[1] is event]:
            patch.delitem(authority.TABLE, key)

    return sabotage


def _scaled(field, by):
    def sabotage(patch):
        whole = committer.motion_limits

        def limits(robot):
            made = whole(robot)
            return motion.MotionLimits(**{**vars(made), field: tuple(v * by for v in getattr(made, field))})

        patch.setattr(committer, "motion_limits", limits)

    return sabotage


def _set(where, name, value):
    return lambda patch: patch.setattr(where, name, value)


def _each_joint_for_itself(patch):
    whole = motion.step

    def step(target, reference, *rest):
        made = whole(target, reference, *rest)
        if not made.short:
            return made
        halved = 0.5 * (reference[0] + made.position[0])
        return motion.Step((halved, *made.position[1:]), made.filtered, made.reason, made.cut, True)

    patch.setattr(motion, "step", step)


def _no_room(patch):
    whole = motion._scale
    patch.setattr(motion, "_scale", lambda *given: whole(*given[:-1], [10.0] * len(given[0])))


def _forgetful_hold(patch):
    whole = commit.hold

    def hold(state, now, stamp):
        velocity = state.velocity
        whole(state, now, stamp)
        state.velocity = velocity

    patch.setattr(commit, "hold", hold)


def _anyones_target(patch):
    whole = intake.check_target
    patch.setattr(intake, "check_target", lambda target, names, owner="": whole(target._replace(owner=owner), names, owner))


SABOTAGE = {
    "speed": (_scaled("velocity", 1.2), "E1"),
    "acceleration": (_scaled("acceleration", 1.5), "E2"),
    "limits": (_scaled("upper", 1.05), ("E2", "E3")),  # one that ends elsewhere is braked for too late, besides
    "room": (_no_room, "E2"),
    "leash": (_set(motion, "clamp", lambda t, r, m, limits, leash: _no_leash(t, r, limits)), "D6"),
    "direction": (_each_joint_for_itself, "E9"),
    "credit": (_set(commit, "credit", lambda *_: 0.025), "D1"),
    "velocity through a hold": (_forgetful_hold, "E2"),
    "open grip": (_drop(authority.Event.OPEN), "E5"),
    "lost tracking": (_drop(authority.Event.LOST), "E5"),
    "ages": (_set(hands.Hands, "supervise", lambda *_: None), "E5"),
    "e-stop": (_drop(authority.Event.ESTOP), "E7"),
    "reset": (_set(estop, "finished", lambda *_: True), "E7"),
    "seed": (_set(drivers, "seed", lambda state, reference: setattr(state, "reference", state.reference or reference)), "E6"),
    "engage": (_set(hands, "next_engage", lambda engage, *_: engage), "D4"),
    "floor and pairs": (_set(wall.Wall, "judge", lambda *_: wall.Verdict()), "D8"),
    "owner": (_anyones_target, ("D3", "D11")),
    "numbers": (
        _set(intake, "ordered", lambda _what, _names, values, _wanted: tuple(values)),
        ("D3", "D9", "E1", "E3", "E4", "E8"),
    ),
}


def _no_leash(target, reference, limits):
    low, high = motion.allowed(limits, reference)
    return tuple(min(max(t, a), b) for t, a, b in zip(target, low, high)), [0] * len(target), [0.0] * len(target)


@pytest.mark.parametrize("name", SABOTAGE)
def test_sabotaged_guard_is_found_out_by_the_sentence_it_breaks(name, monkeypatch):
    sabotage, sentence = SABOTAGE[name]
    sabotage(monkeypatch)
    report = run.fuzz(ROBOT, SHARE, 1)
    assert report.found, f"nothing found in {report.steps} steps"
    assert report.found[0].text.startswith(sentence), report.found[0].text
    assert len(report.found[0].steps) <= 12


# --- the collision filter itself, on the links' hulls


def test_drawn_steps_with_real_geometry_bring_nothing_nearer_than_the_margin_or_than_it_was():
    report = run.fuzz(ROBOT, 3000, 103, real=1.0)
    assert [found.text for found in report.found] == []
    assert report.moves > 200


@pytest.mark.parametrize(
    ("where", "name", "nothing"), [(CollisionFilter, "judge", Verdict()), (Floor, "cut", {})], ids=["pairs", "floor"]
)
def test_filter_that_cuts_nothing_is_found_out_by_the_distances(where, name, nothing, monkeypatch):
    monkeypatch.setattr(where, name, lambda *_: nothing)
    report = run.fuzz(ROBOT, SHARE, 1, real=1.0)
    assert report.found
    assert report.found[0].text.startswith("D8"), report.found[0].text


# --- the same steps and the same oracle, drawn and cut down by hypothesis


class Machine(RuleBasedStateMachine):
    """Any step in any order; the oracle raises when the envelope is left."""

    @initialize(random=st.randoms(use_true_random=False))
    def begin(self, random):
        self.world = World(ROBOT, run.draw_setup(random)._replace(quick=True))


def _rule(name):
    @rule(random=st.randoms(use_true_random=False))
    def step(self, random):
        steps.apply(self.world, [name, steps.STEPS[name].draw(random)])

    return step


for _name in steps.STEPS:
    setattr(Machine, f"do_{_name}", _rule(_name))

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


# --- the command


def test_command_plays_the_corpus_and_says_what_it_did(capsys):
    assert cli.main(["guard", "--steps", "3000", "--limits", str(Path(ROBOT.source))]) == 0
    said = capsys.readouterr().out
    assert "kept runs held" in said
    assert "0 violations" in said


def test_command_refuses_a_number_of_steps_that_is_none(capsys):
    assert cli.main(["guard", "--steps", "0"]) == 2
    assert "--steps" in capsys.readouterr().err


def test_violation_is_written_so_that_it_can_be_kept_and_played(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(estop, "finished", lambda *_: True)
    assert cli.main(["guard", "--steps", "60000", "--limits", ROBOT.source, "--keep", str(tmp_path)]) == 1
    assert "E7" in capsys.readouterr().out
    (kept,) = tmp_path.glob("*.yaml")
    assert corpus.replay(ROBOT, corpus.load(kept))[0].partition("E7: ")[1]
    monkeypatch.undo()
    assert corpus.replay(ROBOT, corpus.load(kept)) == []


def test_step_that_does_not_exist_is_refused_with_the_steps_that_do(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("{title: x, steps: [[dance]]}")
    with pytest.raises(Exception, match="flow, engage"):
        corpus.load(path)


def test_world_can_drive_both_arms_at_all():
    world, text = run.play(ROBOT, Setup(quick=True), [["drive", {"targets": {}, "speed": 1.0, "periods": 1}]])
    assert text == ""
    steps.apply(world, ["drive", {"targets": {a: [0.2] * 6 for a in ("left", "right")}, "speed": 1.0, "periods": 90}])
    assert set(world.states.values()) == {A.DRIVING}
    assert world.drivers["left"].goal[0] == pytest.approx(0.2, abs=1e-3)
