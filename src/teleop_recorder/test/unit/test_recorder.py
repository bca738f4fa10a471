"""Sessions and takes as their commands and the graph make them."""

import errno
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from recorder_bench import ARMS, authority, command, frame, guard, make_bench, sim, stamp

from teleop_common.enums import Authority, EpisodeCommand, Reason
from teleop_common.records import Header

START, END, TOGGLE, DISCARD = (EpisodeCommand[n] for n in ("START", "END", "TOGGLE", "DISCARD"))
OPEN, CLOSE = EpisodeCommand.OPEN_SESSION, EpisodeCommand.CLOSE_SESSION


def only_folder(root):
    (folder,) = [p for p in root.iterdir() if p.is_dir()]
    return folder


def episodes(root):
    with h5py.File(only_folder(root) / "episodes.hdf5") as file:
        return {name: dict(file[f"episodes/{name}"].attrs) for name in file["episodes"]}


def test_take_holds_every_commit_between_start_and_end(bench, tmp_path):
    bench.step(10)
    assert bench.do(START, "stack the cubes").success
    bench.step(50)
    assert bench.do(END).success
    bench.step(10)
    bench.do(CLOSE)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        take = file["episodes/episode_00000"]
        assert take["meta/commit"][:].tolist() == list(range(11, 61))
        assert take["meta/time/stamp_ns"][0] == stamp(10)
        assert take["meta/time/sim_time"][:] == pytest.approx(np.arange(10, 60) * 0.01)
        assert take["control/left/requested"][:] == pytest.approx(np.array([command(n).requested for n in range(10, 60)]))
        assert take["control/right/committed"].shape == (50, 6)
        assert take["teleop/left/grip_position"][:, 2] == pytest.approx(0.001 * np.arange(10, 60))
        assert take["teleop/head/orientation"][0] == pytest.approx([0.8, 0.6, 0.0, 0.0])
        assert take.attrs["task"] == "stack the cubes"
        assert take.attrs["complete"]
        assert file.attrs["stage_snapshot"] == "scene/scene.xml"
        counts = json.loads(take.attrs["counts"])
    assert counts["/left/joint_command"] == {"published": 50, "received": 50, "written": 50}
    assert all(c["published"] == c["received"] == c["written"] for c in counts.values())


def test_topics_that_overtake_each_other_by_40_ms_leave_the_rows_as_they_are(bench, tmp_path):
    # the frames come 40 ms after the commits that they caused
    bench.do(START)
    held = []
    hear = bench.recorder.hear

    def late(samples, now, at):
        held.extend((at + 40_000_000, s) for s in samples if s.topic == "/teleop/frame")
        due = [s for when, s in held if when <= at]
        held[:] = [(when, s) for when, s in held if when > at]
        hear([*due, *(s for s in samples if s.topic != "/teleop/frame")], now, at)

    bench.recorder.hear = late
    bench.step(60)
    bench.recorder.hear = hear
    bench.step(10)
    bench.do(END)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        heights = file["episodes/episode_00000/teleop/left/grip_position"][:40, 2]
    assert heights == pytest.approx(0.001 * np.arange(40))


def test_estop_ends_and_saves_the_take_at_that_frame(bench, tmp_path):
    bench.do(START)
    bench.step(20)
    bench.step(30, Authority.ESTOP, Reason.ESTOP)
    state = bench.recorder.state(0)
    assert not state.recording
    assert "e-stop" in state.notice
    bench.do(CLOSE)
    (attributes,) = episodes(tmp_path).values()
    assert attributes["end_reason"] == "estop"
    assert attributes["frames"] == 21


def test_start_under_estop_is_refused(bench):
    bench.estop()
    reply = bench.do(START)
    assert not reply.success
    assert "reset it" in reply.message
    bench.estop(False)
    assert bench.do(START).success


def test_latch_that_no_commit_tells_ends_the_take(bench, tmp_path):
    bench.do(START)
    bench.step(20)
    bench.estop()
    for _ in range(25):  # a guard that died
        bench.recorder.hear([], bench.number * 0.01, stamp(bench.number))
        bench.number += 1
    assert bench.recorder.take is None
    (attributes,) = episodes(tmp_path).values()
    assert (attributes["end_reason"], attributes["frames"]) == ("estop", 21)


@pytest.mark.parametrize("ahead", [0, 3])
def test_latch_that_comes_before_its_commit_costs_no_row_up_to_the_stop(bench, tmp_path, ahead):
    bench.do(START)
    bench.step(20)
    bench.estop()
    bench.step(ahead)
    bench.step(30, Authority.ESTOP, Reason.ESTOP)
    assert bench.recorder.take is None
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        take = file["episodes/episode_00000"]
        assert take["meta/commit"][:].tolist() == list(range(1, 23 + ahead))
        assert take["control/left/reason"][-1].tolist() == [int(Reason.ESTOP)] * 6
        assert take.attrs["end_reason"] == "estop"


def test_take_ended_by_hand_right_after_the_latch_says_estop(bench, tmp_path):
    bench.do(START)
    bench.step(20)
    bench.estop()
    assert bench.do(END).success
    (attributes,) = episodes(tmp_path).values()
    assert (attributes["end_reason"], attributes["frames"]) == ("estop", 21)


def test_commits_heard_while_a_start_is_settled_are_in_the_take(bench, tmp_path):
    # the node takes the time, waits for what is on its way, hears it, and starts as of that time
    bench.step(10)
    assert bench.recorder.command(START, "", 0.1, stamp(8)).success
    bench.step(30)
    bench.do(END)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        assert file["episodes/episode_00000/meta/commit"][:].tolist() == list(range(9, 41))


def test_toggle_starts_then_ends_and_numbers_go_on(bench, tmp_path):
    for _ in range(3):
        assert bench.do(TOGGLE).success
        bench.step(5)
        assert bench.do(TOGGLE).success
    assert list(episodes(tmp_path)) == ["episode_00000", "episode_00001", "episode_00002"]


def test_discarded_take_is_put_aside_and_its_number_is_not_used_again(bench, tmp_path):
    bench.do(START)
    bench.step(5)
    assert bench.do(DISCARD).success
    bench.do(START)
    bench.step(5)
    bench.do(END)
    assert list(episodes(tmp_path)) == ["episode_00001"]
    assert (only_folder(tmp_path) / "discarded/episode_00000.hdf5").exists()
    assert bench.do(DISCARD).success
    assert episodes(tmp_path) == {}
    assert not bench.do(DISCARD).success


@pytest.mark.parametrize(("kind", "word"), [(END, "start one"), (CLOSE, "no session"), (DISCARD, "no session"), (77, "allowed")])
def test_command_that_cannot_be_met_says_why(bench, kind, word):
    reply = bench.do(kind)
    assert not reply.success
    assert word in reply.message


def test_session_that_exists_is_replaced_only_by_name(tmp_path):
    first = make_bench(tmp_path, session="monday")
    first.do(OPEN)
    first.do(START)
    first.step(5)
    first.do(CLOSE)
    before = (tmp_path / "monday/episodes.hdf5").read_bytes()
    again = make_bench(tmp_path, session="monday")
    assert "monday_2" in again.do(OPEN).message
    assert (tmp_path / "monday/episodes.hdf5").read_bytes() == before
    assert make_bench(tmp_path, session="monday", overwrite="monday").do(OPEN).success
    assert (tmp_path / "monday/episodes.hdf5").read_bytes() != before
    assert (tmp_path / "monday.replaced/episodes.hdf5").read_bytes() == before


def test_recorder_that_may_replace_a_session_does_so_once_and_never_with_its_own_takes(tmp_path):
    bench = make_bench(tmp_path, session="monday", overwrite="monday")
    for _ in range(3):
        bench.do(START)
        bench.step(20)
        bench.do(END)
        bench.do(CLOSE)
    for name in ("monday", "monday_2", "monday_3"):
        with h5py.File(tmp_path / name / "episodes.hdf5") as file:
            assert len(file["episodes/episode_00000/meta/commit"]) == 20
    assert not (tmp_path / "monday.replaced").exists()
    for _ in range(2):
        again = make_bench(tmp_path, session="monday", overwrite="monday")
        assert again.do(OPEN).success
        assert again.do(CLOSE).success
    assert (tmp_path / "monday.replaced_2").is_dir()


def test_session_that_is_being_recorded_or_that_a_kill_left_is_not_replaced(tmp_path):
    first = make_bench(tmp_path, session="monday")
    first.do(START)
    first.step(20)
    # as a second graph, or the recorder that is started again after a kill
    assert "monday_2" in make_bench(tmp_path, session="monday", overwrite="monday").do(OPEN).message
    Path.touch(tmp_path / "monday/journal/metadata.yaml")
    reply = make_bench(tmp_path, session="monday", overwrite="monday").do(OPEN)
    assert not reply.success
    assert "being written" in reply.message
    assert first.do(CLOSE).success


def test_lost_commits_and_messages_are_counted_shown_and_stored(bench, tmp_path):
    bench.do(START)
    bench.step(30, gap=(10, 11))
    assert bench.recorder.state(0).missed == 2 + 4
    bench.do(END)
    (attributes,) = episodes(tmp_path).values()
    counts = json.loads(attributes["counts"])["/left/joint_command"]
    assert counts == {"published": 30, "received": 28, "written": 28}
    grade = json.loads(attributes["grade"])
    assert (grade["lost_commits"], grade["verdict"]) == (2, "poor")


def test_disk_below_its_margin_is_refused_and_ends_a_take_cleanly(bench, tmp_path):
    bench.machine.left = 1 << 20
    assert "GiB" in bench.do(START).message
    bench.machine.left = 1 << 40
    bench.do(START)
    bench.step(50)
    bench.machine.left = 1 << 20
    bench.step(120)
    state = bench.recorder.state(0)
    assert not state.recording
    assert "GiB" in state.error
    assert bench.machine.journals[0].closed
    (attributes,) = episodes(tmp_path).values()
    assert attributes["end_reason"] == "disk full"


def test_disk_that_fails_ends_the_take_and_not_the_recorder(bench, tmp_path):
    bench.do(START)
    bench.step(30)
    bench.machine.journals[0].fails = OSError(errno.ENOSPC, "No space left on device")
    bench.step(5)
    state = bench.recorder.state(0)
    assert not state.recording
    assert "No space left" in state.error
    assert next(iter(episodes(tmp_path).values()))["complete"]
    assert bench.do(START).success


def test_everything_goes_into_the_journal_between_takes_too(bench):
    bench.do(OPEN)
    bench.step(30)
    (journal,) = bench.machine.journals
    assert len([r for r in journal.rows if r[0] == "/teleop/input/debug/frame"]) == 30


def test_journal_and_take_are_flushed_each_half_second(bench):
    bench.do(START)
    bench.step(201)
    assert bench.machine.journals[0].flushed == 4


def test_broken_sample_is_kept_counted_and_shown(bench):
    bench.do(START)
    bench.step(2)
    broken = bench.sample("/teleop/frame", None, 0)

    def refuse(_data):
        raise ValueError("breaks off")

    feeds = dict(bench.recorder._decoders.frames)
    bench.recorder._decoders = bench.recorder._decoders._replace(
        frames=feeds | {"/teleop/frame": (refuse, feeds["/teleop/frame"][1])}
    )
    bench.recorder.hear([broken], 0.1, stamp(3))
    assert "do not decode" in bench.recorder.state(0).notice
    assert bench.machine.journals[0].rows[-1][1] == broken.data


def test_simulation_that_plays_and_stops_starts_and_ends_takes(tmp_path):
    bench = make_bench(tmp_path, follow_simulation=True)
    bench.step(20)
    assert bench.recorder.take is not None
    for _ in range(80):
        n = bench.number
        bench.recorder.hear([], n * 0.01, stamp(n))
        bench.number += 1
    assert bench.recorder.take is None
    assert next(iter(episodes(tmp_path).values()))["end_reason"] == "simulation stopped"


def test_grade_names_what_was_wrong(bench):
    bench.do(START)
    bench.step(20)
    bench.step(20, reason=Reason.SPEED_LIMIT)
    bench.step(5, Authority.GRACE, Reason.UNTRACKED)
    bench.step(20)
    bench.step(3, reason=Reason.COLLISION)
    bench.step(10)
    message = bench.do(END).message
    for words in ("fair", "tracking lost 2 times", "the guard cut in 2 times", "limits bound"):
        assert words in message


def test_adding_a_row_costs_the_same_in_a_long_take(tmp_path):
    # the same number of HDF5 calls and bytes, whatever the length: blocks are flushed, never copied
    bench = make_bench(tmp_path)
    bench.do(START)
    sizes = []
    for _ in range(4):
        before = bench.recorder.take.file._file.id.get_filesize()
        bench.step(512)
        bench.recorder.take.file.flush()
        sizes.append(bench.recorder.take.file._file.id.get_filesize() - before)
    assert max(sizes[1:]) < 1.3 * min(sizes[1:])
    assert len(ARMS) == 2


def test_topic_that_was_emptied_long_before_the_others_leaves_no_row_without_it(bench, tmp_path):
    # the process stood still for 0.3 s after it had emptied the left arm's topic and before the right arm's
    bench.do(START)
    bench.step(20)
    left = [bench.sample("/left/joint_command", command(n), stamp(n) + 1) for n in range(20, 50)]
    right = [bench.sample("/right/joint_command", command(n, "right"), stamp(n) + 1) for n in range(20, 50)]
    bench.recorder.hear(right, 0.5, stamp(20))
    bench.recorder.hear(left, 0.5, stamp(50))
    bench.number = 50
    bench.step(10)
    bench.do(END)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        take = file["episodes/episode_00000"]
        assert take["meta/commit"][:].tolist() == list(range(1, 61))
        for arm in ARMS:
            assert not np.isnan(take[f"control/{arm}/committed"][:]).any()


def test_command_whose_row_is_written_already_is_counted_and_makes_no_second_row(bench, tmp_path):
    bench.do(START)
    bench.step(40)
    bench.recorder.hear([bench.sample("/right/joint_command", command(5, "right"), stamp(40))], 0.4, stamp(40))
    bench.step(20)
    assert bench.recorder.state(0).missed == 1
    bench.do(END)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        assert file["episodes/episode_00000/meta/commit"][:].tolist() == list(range(1, 61))


def test_estop_that_was_reset_between_sessions_does_not_bar_the_next(bench):
    bench.do(OPEN)
    bench.estop()
    bench.do(CLOSE)
    assert bench.do(START).success


@pytest.mark.parametrize("back", [50, 1000])
def test_clock_that_is_set_back_during_a_take_loses_and_disorders_nothing(bench, tmp_path, back):
    # by half a second, and by more than anything waits; the steady clock of the commits goes on
    bench.do(START)
    bench.step(100)
    for n in range(100, 250):
        at = stamp(n - back) + 2_000_000
        samples = [bench.sample(f"/{arm}/joint_command", command(n, arm, header=Header(stamp(n - back))), at) for arm in ARMS]
        bench.recorder.hear(samples, n * 0.01, at)
    assert bench.recorder.state(0).missed == 0
    bench.recorder.command(END, "", 2.5, stamp(250 - back))
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        take = file["episodes/episode_00000"]
        assert take["meta/commit"][:].tolist() == list(range(1, 251))
        assert take["meta/time/episode_time"][:] == pytest.approx(np.arange(250) * 0.01)


def drive(bench, step, late):
    """Drive for 200 commits, told ``late`` polls after the rest; at the 100th the stamps' clock is set by ``step`` [ns]."""

    def shifted(n):
        return step if n >= 100 else 0

    def said(record, n):
        return record._replace(header=Header(record.header.stamp + shifted(n)))

    waiting = []
    bench.do(START)
    for n in range(200):
        at = stamp(n) + shifted(n) + 2_000_000
        beside = [("/teleop/frame", frame(n)), ("/sim/state", sim(n)), ("/teleop/authority", authority(n))]
        beside += [("/teleop/guard/state", guard(n))] if n % 10 == 5 else []
        samples = [bench.sample(topic, said(record, n), at) for topic, record in beside]
        waiting.append([bench.sample(f"/{arm}/joint_command", said(command(n, arm), n), at) for arm in ARMS])
        samples += waiting.pop(0) if len(waiting) > late else []
        bench.recorder.hear(samples, n * 0.01, at)
    rest = [sample for samples in waiting for sample in samples]
    bench.recorder.hear(rest, 2.0, stamp(200) + step)
    assert bench.recorder.command(END, "", 2.0, stamp(200) + step).success


@pytest.mark.parametrize("step", [-3_600_000_000_000, -500_000_000, 3_600_000_000_000])
@pytest.mark.parametrize("late", [0, 3])
def test_rows_have_what_belongs_to_them_also_around_a_step_of_the_clock(tmp_path, step, late):
    takes = []
    for name, by in (("steady", 0), ("set", step)):
        drive(make_bench(tmp_path, session=name), by, late)
        with h5py.File(tmp_path / name / "episodes.hdf5") as file:
            take = file["episodes/episode_00000"]
            paths = ["meta/commit", "meta/frame/sequence", "meta/time/physics_step", "authority/left/engage", "guard/scale"]
            takes.append({path: take[path][:] for path in paths} | {"guard": take["guard/stamp_ns"][:]})
    steady, stepped = takes
    for path in steady:
        expected = steady[path] + (step * (steady[path] >= stamp(100)) if path == "guard" else 0)
        assert stepped[path] == pytest.approx(expected, nan_ok=True), path
    assert len(steady["meta/commit"]) == 200


def test_guard_that_starts_anew_during_a_take_adds_rows_and_is_not_late(bench, tmp_path):
    bench.do(START)
    bench.step(60)
    for n in range(60, 100):
        at = stamp(n) + 2_000_000
        again = [bench.sample(f"/{arm}/joint_command", command(n, arm, commit=n - 59), at) for arm in ARMS]
        bench.recorder.hear(again, n * 0.01, at)
    bench.number = 100
    bench.do(END)
    with h5py.File(only_folder(tmp_path) / "episodes.hdf5") as file:
        assert file["episodes/episode_00000/meta/commit"][:].tolist() == [*range(1, 61), *range(1, 41)]
