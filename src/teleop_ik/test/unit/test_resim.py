"""The recorded steps once more: equal to the bit, whatever the order of the recording, and honest about what is not there."""

import json
import math
import random
from dataclasses import asdict, fields
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from teleop_common import cell, limits  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_common.records import SessionState  # noqa: E402
from teleop_ik import recipe, testing  # noqa: E402
from teleop_ik.params import RetargeterParams  # noqa: E402
from teleop_ik.resim import cli, report  # noqa: E402
from teleop_ik.resim.compare import Comparison  # noqa: E402
from teleop_ik.resim.recording import Snapshot  # noqa: E402
from teleop_ik.resim.resimulate import TARGETS, Resimulation  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
ROBOT = limits.load(ROOT / "config/limits/so101.yaml")
CELL = cell.load(ROOT / "config/cell.yaml")
DEFAULTS = asdict(RetargeterParams())
SOLVERS = next(f.metadata["choices"] for f in fields(RetargeterParams) if f.name == "solver")


def drive(**parameters):
    return testing.Drive({**DEFAULTS, **parameters}, ROBOT, CELL, seed=4).play(3.5)


@pytest.fixture(scope="module")
def recording():
    """Three and a half seconds of everything; tests change copies."""
    return drive().recording


def run(recording, tolerance=0.0):
    return Resimulation(recording, lambda config: recipe.rebuild(config, DEFAULTS), tolerance).run()


def late(recording, seconds):
    """Return the recording as begun later; the newest configuration is latched, so it is there at once."""
    begin = recording.targets[0].header.stamp + round(1e9 * seconds)
    parts = {}
    for name in ("targets", "frames", "authority", "session"):
        parts[name] = [m for m in getattr(recording, name) if m.header.stamp >= begin]
    parts["joints"] = {arm: [s for s in states if s.header.stamp >= begin] for arm, states in recording.joints.items()}
    known = [s for s in recording.snapshots if s.received < begin][-1:]
    parts["snapshots"] = [Snapshot(begin, s.config) for s in known]
    parts["snapshots"] += [s for s in recording.snapshots if s.received >= begin]
    return recording._replace(**parts, whole_from=begin + 20_000_000)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_recorded_steps_come_out_equal_to_the_bit(solver):
    if solver == "qp":
        pytest.importorskip("pink")
    made = drive(solver=solver).recording
    found = run(made)
    assert (found.judged, found.differing, found.missing) == (len(made.targets), 0, {})
    assert found.judged > 190
    assert found.states == 3
    assert found.worst == 0.0
    assert (found.duplicates, found.refused) == (made.snapshots[-1].config["duplicates"], made.snapshots[-1].config["refused"])
    assert report.status(found) == report.EQUAL


def test_the_drive_meets_what_a_retargeter_knows(recording):
    """Else equality would say little."""
    arms = [arm for targets in recording.targets for arm in targets.arms]
    assert {arm.status for arm in arms} >= {0, 1, 2, 3}
    assert {reason for arm in arms for reason in arm.reason} >= {0, 4, 12, 14}
    assert len({t.connection for t in recording.targets}) == len({t.session_epoch for t in recording.targets}) == 2
    assert len(recording.frames) > len(recording.targets)


def test_two_runs_and_any_order_of_the_recording_give_the_same(recording):
    rng = random.Random(5)
    shuffled = {
        name: rng.sample(getattr(recording, name), len(getattr(recording, name)))
        for name in ("snapshots", "targets", "authority", "session")
    }
    # frames of one number keep their order: of two, the first was stepped
    frames = sorted(recording.frames, key=lambda f: -f.header.stamp)
    joints = {arm: rng.sample(states, len(states)) for arm, states in recording.joints.items()}
    found = run(recording._replace(**shuffled, frames=frames, joints=joints))
    assert found.equal
    assert found.digest == run(recording).digest == run(recording).digest


def test_a_changed_target_is_named_with_its_inputs(recording):
    targets = list(recording.targets)
    arm = targets[100].arms[1]
    nudged = (*arm.position[:2], math.nextafter(arm.position[2], 9.0), *arm.position[3:])
    targets[100] = targets[100]._replace(arms=(targets[100].arms[0], arm._replace(position=nudged)))
    found = run(recording._replace(targets=targets))
    assert found.differing == 1
    assert found.first.number == 100
    assert found.first.difference.where == "arms[right].position[2]"
    assert found.first.difference.recorded == nudged[2]
    assert found.first.given.frame.sequence == targets[100].frame_sequence
    text = report.words(found, 0.0, 1.0)
    assert f'"sequence": {targets[100].frame_sequence}' in text
    assert "DIFFERENT" in text
    assert report.status(found) == report.DIFFERENT
    assert run(recording._replace(targets=targets), tolerance=1e-9).equal


@pytest.mark.parametrize("what", ["frames", "authority", "session", "joints"])
def test_a_changed_input_is_a_difference(recording, what):
    def change(message):
        if what == "frames":
            pose = message.right.grip.pose
            moved = pose._replace(position=(pose.position[0] + 1e-6, *pose.position[1:]))
            return message._replace(right=message.right._replace(grip=message.right.grip._replace(pose=moved)))
        if what == "authority":
            return message._replace(arms=(message.arms[0], message.arms[1]._replace(engage=99)))
        if what == "session":
            return message._replace(scale=message.scale + 1e-6)
        return message._replace(position=(message.position[0] + 1e-6, *message.position[1:]))

    given = recording.joints["right"] if what == "joints" else getattr(recording, what)
    changed = [change(m) if k > len(given) // 2 else m for k, m in enumerate(given)]
    changed = {**recording.joints, "right": changed} if what == "joints" else changed
    found = run(recording._replace(**{what: changed}))
    assert found.differing > 0
    assert not found.missing


def test_a_state_that_does_not_follow_from_the_steps_is_a_difference(recording):
    snapshots = list(recording.snapshots)
    state = json.loads(json.dumps(snapshots[2].config["state"]))
    state["heading"] += 1e-12
    snapshots[2] = snapshots[2]._replace(config={**snapshots[2].config, "state": state})
    found = run(recording._replace(snapshots=snapshots))
    assert found.first.difference.where == "state.heading"
    assert found.first.target is None
    assert "state behind target" in report.words(found, 0.0, 1.0)


@pytest.mark.parametrize("seconds", [0.3, 0.99, 1.4, 2.2])
def test_a_recording_begun_in_mid_drive_is_judged_from_its_first_whole_state(recording, seconds):
    found = run(late(recording, seconds))
    assert found.equal
    assert 0 < found.early < 65
    assert found.judged == found.targets - found.early


@pytest.mark.parametrize("what", ["frames", "authority", "session", "left", "right"])
def test_a_missing_input_is_said_and_no_difference(recording, what):
    """What lies behind it, up to the next state, cannot be judged; the rest is."""
    used = recording.targets[90]
    if what == "frames":
        kept = {what: [f for f in recording.frames if f.sequence != used.frame_sequence]}
    elif what == "authority":
        kept = {what: [a for a in recording.authority if a.sequence != used.authority_sequence]}
    elif what == "session":
        kept = {what: [s for s in recording.session if s.epoch != used.session_epoch]}
    else:
        stamp = next(arm for arm in used.arms if arm.arm == what).feedback_stamp
        kept = {"joints": {**recording.joints, what: [s for s in recording.joints[what] if s.header.stamp != stamp]}}
    found = run(recording._replace(**kept))
    assert found.differing == 0
    assert sum(map(len, found.missing.values())) >= 1
    assert found.judged + found.unjudged == found.targets
    assert found.unjudged < 65 or what == "session"
    assert report.status(found) == report.INCOMPLETE


@pytest.mark.parametrize("lost", [90, 120, -3])
@pytest.mark.parametrize("with_frames", [False, True])
def test_missing_targets_are_counted_and_no_difference(recording, lost, with_frames):
    gone = recording.targets[lost]
    frames = [f for f in recording.frames if not with_frames or f.sequence != gone.frame_sequence]
    found = run(recording._replace(targets=[t for t in recording.targets if t != gone], frames=frames))
    assert found.differing == 0
    assert list(found.missing) == [TARGETS]
    assert len(found.missing[TARGETS]) == 1
    assert report.status(found) == report.INCOMPLETE
    if not with_frames:
        assert f"sequence {gone.frame_sequence}" in found.missing[TARGETS][0]


def test_a_burst_of_missing_targets_is_counted_in_full(recording):
    found = run(recording._replace(targets=recording.targets[:80] + recording.targets[95:]))
    assert found.differing == 0
    assert len(found.missing[TARGETS]) == 15
    assert "and 10 more" in report.words(found, 0.0, 1.0)


def test_targets_recorded_twice_count_once(recording):
    found = run(recording._replace(targets=[*recording.targets, *recording.targets[50:60]]))
    assert found.equal
    assert found.repeated == 10


@pytest.mark.parametrize("unheard", [0, 20])
def test_a_retargeter_that_starts_again_is_taken_up_from_its_own_first_whole_state(recording, unheard):
    """The clock of one machine goes on; the second process knows nothing of the first, and is heard a little late."""
    other = testing.Drive(DEFAULTS, ROBOT, CELL, seed=9)
    other.time += 4_000_000_000
    other._recipe["started_ns"] = other.time
    second = other.play(1.5).recording
    second = second._replace(targets=second.targets[unheard:])
    both = recording._replace(
        snapshots=[*recording.snapshots, *second.snapshots],
        joints={arm: [*recording.joints[arm], *second.joints[arm]] for arm in recording.joints},
        **{name: [*getattr(recording, name), *getattr(second, name)] for name in ("targets", "frames", "authority", "session")},
    )
    found = run(both)
    assert found.equal
    assert (found.early > 0) == (unheard > 0)
    assert found.judged + found.early == len(recording.targets) + len(second.targets)


# ---- what is refused
def test_another_model_is_refused_by_name(recording):
    snapshots = [s._replace(config={**s.config, "model_hash": "0123"}) for s in recording.snapshots]
    with pytest.raises(ConfigError, match="recorded model 'so101': got '0123'"):
        run(recording._replace(snapshots=snapshots))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format"),
        ({"parameters": {**DEFAULTS, "magic": 1}}, "magic"),
        ({"limits": {}}, "limits.robot"),
        ({"parameters": {**DEFAULTS, "solver": "magic"}}, "solver"),
        ({"parameters": []}, "parameters"),
        ({"folds": [{"magic": 1}]}, "folds"),
        ({"folds": 3}, "folds"),
        ({"model_hash": None}, "recorded model"),
        ({"started_ns": "x"}, "started_ns"),
        ({"steps": None}, "steps"),
    ],
)
def test_a_configuration_of_another_version_is_refused_by_name(recording, change, said):
    with pytest.raises(ConfigError, match=said):
        run(recording._replace(snapshots=[Snapshot(0, {**recording.snapshots[0].config, **change})]))


def test_limits_come_from_the_recording_and_not_from_this_machine(recording):
    """Another leash in the recorded configuration gives other targets."""
    tight = {**recording.snapshots[0].config["limits"], "leash_simulation": 0.02}
    snapshots = [s._replace(config={**s.config, "limits": tight}) for s in recording.snapshots]
    assert run(recording._replace(snapshots=snapshots)).differing > 0


@pytest.mark.parametrize("text", ["nan", "-1", "inf", "much"])
def test_a_tolerance_that_is_none_is_refused(text, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["anywhere", "--tolerance", text])
    assert ended.value.code == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("how", ["folder", "file"])
def test_a_bag_that_was_cut_in_half_is_not_called_equal(how, tmp_path, capsys):
    played = drive()
    testing.write(tmp_path / "bag", played.rows)
    (file,) = (tmp_path / "bag").glob("*.mcap")
    place = str(tmp_path / "bag" if how == "folder" else file)
    assert cli.main([place]) == report.EQUAL
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    capsys.readouterr()
    assert cli.main([place]) == report.INCOMPLETE
    said = capsys.readouterr().out
    assert f"{file.name} has no end" in said
    counted = sum(topic == TARGETS for topic, _, _ in played.rows)
    assert (f"of {counted} messages on {TARGETS}" in said) == (how == "folder")


@pytest.mark.parametrize("what", ["snapshots", "targets"])
def test_a_recording_without_state_or_targets_is_refused(recording, what):
    with pytest.raises(ConfigError, match="record that topic"):
        run(recording._replace(**{what: []}))


# ---- comparison
def test_numbers_are_compared_to_the_bit_and_others_by_value():
    exact, loose = Comparison(), Comparison(1e-9)
    assert exact.first((0.0, math.nan, "a"), (0, math.nan, "a")) is None
    assert exact.first((0.0,), (-0.0,)) is not None
    assert loose.first((0.0, 1.0), (-0.0, 1.0 + 5e-10)) is None
    assert loose.worst == pytest.approx(5e-10)
    assert loose.first((1.0,), (math.nan,)) is not None
    assert loose.first((2**60,), (2**60 + 1,)) is not None
    assert "length" in loose.first((1.0,), ()).where
    assert loose.first(SessionState(yaw=1.0), SessionState(yaw=2.0)).where == "yaw"


def test_the_borders_of_the_recording_count_and_not_those_of_this_machine(recording):
    """Their distances are iterated, and may differ in a last digit; a recording of before them was made without."""
    (config, *_) = [s.config for s in recording.snapshots]
    nearer = [{**fold, "upper": [v - 0.1 for v in fold["upper"]]} for fold in config["folds"]]
    used = [recipe.rebuild({**config, "folds": given}, DEFAULTS)[0].config.folds for given in (config["folds"], nearer, [])]
    assert used[0] == recipe.rebuild(config, DEFAULTS)[0].config.folds != ()
    assert used[1][0].upper == tuple(v - 0.1 for v in used[0][0].upper)
    assert used[2] == ()
    before = {key: value for key, value in config.items() if key != "folds"}
    assert recipe.rebuild(before, DEFAULTS)[0].config.folds == ()
