"""Episodes as a LeRobot data set."""

import io
import json
import struct
import subprocess
import sys

import av
import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from recorder_bench import JOINTS, PERIOD, command, make_bench, stamp

from teleop_common.enums import EpisodeCommand
from teleop_common.errors import ConfigError
from teleop_recorder import cli, layout, reading
from teleop_recorder.samples import Sample

CAMERA = "/teleop/cameras/overhead/image/compressed"
EVERY = 5  # commits a picture: 20 Hz


def image(number, taken):
    """Return a serialised picture whose brightness tells its number."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (20 + 8 * (number % 25),) * 3).save(file, "JPEG", quality=95)
    seconds, fraction = divmod(taken, 1_000_000_000)
    head = struct.pack("<iI", seconds, fraction) + struct.pack("<I", 4) + b"cam\0" + struct.pack("<I", 5) + b"jpeg\0\0\0\0"
    return b"\0\1\0\0" + head + struct.pack("<I", len(file.getvalue())) + file.getvalue()


def take(bench, rows, task="stack the cubes"):
    """Record one take with a picture each ``EVERY`` commits."""
    assert bench.do(EpisodeCommand.START, task).success
    for n in range(rows):
        if n % EVERY == 0:
            at = stamp(bench.number)
            number = bench.sent[CAMERA] = bench.sent.get(CAMERA, 0) + 1
            bench.recorder.hear(
                [Sample(CAMERA, image(n // EVERY, at), at + 1_000_000, number)], bench.number * 0.01, at + 1_000_000
            )
        bench.step()
    assert bench.do(EpisodeCommand.END).success
    bench.step(5)


@pytest.fixture
def session(tmp_path):
    bench = make_bench(tmp_path / "sessions", cameras=("overhead",), video="h264_fast", session="s")
    take(bench, 101)
    take(bench, 61, "put them back")
    bench.do(EpisodeCommand.CLOSE_SESSION)
    return layout.find(tmp_path / "sessions/s")


def run(*arguments):
    return cli.main(["export", *map(str, arguments)])


def info(folder):
    return json.loads((folder / "meta/info.json").read_text())


def test_exported_rows_are_the_commits_at_the_grid_in_degrees_and_percent(session, tmp_path):
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20) == 0
    table = pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet")
    # one in five commits of 100 Hz, the first at 0
    rows = [command(5 * k) for k in range(21)]
    for name, values in (("action", [r.position for r in rows]), ("observation.state", [r.measured for r in rows])):
        told = np.stack(table[name].to_numpy())
        expected = np.degrees(np.array(values))
        expected[:, -1] = 100.0 * (np.array(values)[:, -1] + 1.0) / 4.0
        assert told[:, :JOINTS] == pytest.approx(expected, abs=1e-3)
    assert table["timestamp"].to_numpy() == pytest.approx(np.arange(21) / 20)
    assert table["measured_time"].to_numpy() == pytest.approx(np.arange(21) / 20)
    known = info(tmp_path / "set")
    assert (known["total_episodes"], known["total_frames"], known["fps"]) == (2, 34, 20)
    assert known["features"]["action"]["names"][0] == "left_j0.pos"
    assert len(known["features"]["action"]["names"]) == 2 * JOINTS
    assert known["robot_type"] == "bi_so_follower"


def test_pictures_are_those_that_were_there_at_each_grid_time(session, tmp_path):
    run(session.folder, "--to", tmp_path / "set", "--fps", 20)
    with av.open(str(tmp_path / "set/videos/observation.images.top/chunk-000/file-000.mp4")) as movie:
        frames = list(movie.decode(video=0))
    assert [round(float(f.pts * f.time_base) * 20) for f in frames] == list(range(21))
    brightness = [f.to_ndarray(format="rgb24").mean() for f in frames]
    assert brightness == pytest.approx([20 + 8 * k for k in range(21)], abs=4)


def test_second_export_adds_what_is_new_and_leaves_the_rest(session, tmp_path):
    target = tmp_path / "set"
    assert run(session.folder, "--to", target, "--fps", 20, "--episode", 1) == 0
    before = (target / "data/chunk-000/file-000.parquet").read_bytes()
    assert run(session.folder, "--to", target, "--fps", 20) == 0
    assert info(target)["total_episodes"] == 2
    assert (target / "data/chunk-000/file-000.parquet").read_bytes() == before
    episodes = pq.read_table(target / "meta/episodes/chunk-000/file-000.parquet").to_pydict()
    assert episodes["dataset_from_index"] == [0, 13]
    assert episodes["dataset_to_index"] == [13, 34]
    assert pq.read_table(target / "meta/tasks.parquet").to_pydict()["task"] == ["put them back", "stack the cubes"]
    assert run(session.folder, "--to", target, "--fps", 20) == 0
    assert info(target)["total_episodes"] == 2


@pytest.mark.parametrize("at", ["_data", "_commit"])
def test_export_that_was_killed_in_its_first_episode_is_taken_up(session, tmp_path, at):
    """The process ends, without a word, before the first table, and before the tables that name it."""
    target = tmp_path / "set"
    kill = (
        f"import os; from teleop_recorder import cli; from teleop_recorder.export import lerobot; "
        f"owner = lerobot if hasattr(lerobot, {at!r}) else lerobot.DataSet; setattr(owner, {at!r}, lambda *_: os._exit(9)); "
        f"cli.main(['export', {str(session.folder)!r}, '--to', {str(target)!r}, '--fps', '20'])"
    )
    assert subprocess.run([sys.executable, "-c", kill], check=False).returncode == 9
    assert list((target / "videos").rglob("*.mp4"))
    assert run(session.folder, "--to", target, "--fps", 20) == 0
    assert info(target)["total_episodes"] == 2


def test_rate_that_was_not_measured_is_refused_unless_asked(session, tmp_path, capsys):
    # pictures come at 20 Hz: 22 is declared within 90 %, 30 is not
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 30) == 2
    assert "--any-rate" in capsys.readouterr().err
    assert not (tmp_path / "set/meta/info.json").exists()
    assert run(session.folder, "--to", tmp_path / "within", "--fps", 22) == 0
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 30, "--any-rate") == 0


def test_default_rate_is_that_of_the_slowest_stream(session, tmp_path):
    assert run(session.folder, "--to", tmp_path / "set") == 0
    assert info(tmp_path / "set")["fps"] == 20


def test_statistics_are_those_of_all_rows(session, tmp_path):
    run(session.folder, "--to", tmp_path / "set", "--fps", 20)
    stats = json.loads((tmp_path / "set/meta/stats.json").read_text())
    files = sorted((tmp_path / "set/data").rglob("*.parquet"))
    values = np.concatenate([np.stack(pq.read_table(f)["action"].to_numpy()) for f in files])
    for name, expected in (("mean", values.mean(0)), ("std", values.std(0)), ("min", values.min(0)), ("max", values.max(0))):
        assert stats["action"][name] == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert stats["action"]["count"] == [34]
    assert np.shape(stats["observation.images.top"]["mean"]) == (3, 1, 1)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (
            lambda file: file["episodes/episode_00001"].attrs.__setitem__("complete", False),
            "episode_00001: left out, was not ended",
        ),
        (
            lambda file: file["episodes"].__setitem__("episode_00002", h5py.ExternalLink("takes/episode_00002.hdf5", "/")),
            "episode_00002: left out, is gone, or does not open",
        ),
    ],
)
def test_take_that_was_not_ended_is_named_with_what_to_do_and_the_rest_is_exported(session, tmp_path, capsys, harm, words):
    with h5py.File(session.hdf5, "a") as file:
        harm(file)
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--without-videos") == 1
    said = capsys.readouterr()
    assert words in said.err
    assert f"./teleop episodes repair {session.folder}" in said.err
    assert ", 1 left out" in said.out
    # of what was not asked for nothing is said
    to = tmp_path / "one"
    assert run(session.folder, "--to", to, "--fps", 20, "--episode", 0, "--without-videos") == 0
    assert not capsys.readouterr().err


def test_folder_with_something_else_is_left_alone(session, tmp_path, capsys):
    (tmp_path / "set").mkdir()
    (tmp_path / "set/thesis.txt").write_text("mine")
    assert run(session.folder, "--to", tmp_path / "set") == 2
    assert "empty folder" in capsys.readouterr().err


def test_units_read_back_what_they_tell(session):
    from teleop_recorder.export import grid

    with reading.episodes(session) as found:
        unit = grid.units(found[0])
    joints = np.random.default_rng(0).uniform(-2, 2, (50, 2 * JOINTS))
    assert unit.read(unit.tell(joints)) == pytest.approx(joints)


def test_uneven_pictures_keep_their_measured_times(tmp_path):
    from teleop_recorder.export import grid

    bench = make_bench(tmp_path, cameras=("overhead",), video="h264_fast", session="s")
    take(bench, 101)
    bench.do(EpisodeCommand.CLOSE_SESSION)
    session = layout.find(tmp_path / "s")
    with h5py.File(session.hdf5, "a") as file:
        stamps = file["episodes/episode_00000/cameras/overhead/stamp_ns"]
        stamps[3] = stamps[3] + 2 * PERIOD  # 20 ms late
    with reading.episodes(session) as found:
        made = grid.make(found[0], 20, ("overhead",))
    assert made.pictures["overhead"][:6].tolist() == [0, 1, 2, 2, 4, 5]
    assert made.picture_times["overhead"][:5] == pytest.approx([0.0, 0.05, 0.1, 0.1, 0.2])


def changed(session, name, change):
    """Change a data set of the first episode."""
    with h5py.File(session.hdf5, "a") as file:
        found = file[f"episodes/episode_00000/{name}"]
        found[:] = change(found[:])


@pytest.mark.parametrize(
    ("there", "words"),
    [(range(11), "rate of 'overhead': got 10"), (range(10, 21), "rate of 'overhead'"), ([*range(9), *range(19, 21)], "rate of")],
)
def test_camera_that_died_or_began_late_has_not_the_rate_it_had_while_it_lived(session, tmp_path, capsys, there, words):
    changed(session, "cameras/overhead/video_frame", lambda v: np.where(np.isin(v, list(there)), v, -1))
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--episode", 0) == 2
    assert words in capsys.readouterr().err
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--episode", 0, "--without-videos") == 0


@pytest.mark.parametrize(("left_out", "words"), [(range(57, 70), "0.65 s old"), (range(4), "0.20 s ahead")])
def test_camera_that_stood_still_within_the_rate_is_refused(tmp_path, left_out, words):
    from teleop_recorder.export import grid

    bench = make_bench(tmp_path, cameras=("overhead",), session="s")
    take(bench, 1001)
    bench.do(EpisodeCommand.CLOSE_SESSION)
    session = layout.find(tmp_path / "s")
    for lacking in ((), left_out):
        numbers = [-1 if n in lacking else n for n in range(201)]
        changed(session, "cameras/overhead/video_frame", lambda _, to=numbers: to)
        with reading.episodes(session) as found:
            made = grid.make(found[0], 20, ("overhead",))
            if not lacking:
                grid.check(found[0], made, 20)
                continue
            with pytest.raises(ConfigError, match=words):
                grid.check(found[0], made, 20)


def test_pictures_out_of_order_are_left_out_and_counted(session, tmp_path, capsys):
    changed(session, "cameras/overhead/stamp_ns", lambda v: v[[0, 1, 2, 4, 3, *range(5, 21)]])
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--episode", 0) == 0
    assert "1 pictures of overhead out of order left out" in capsys.readouterr().out
    with av.open(str(tmp_path / "set/videos/observation.images.top/chunk-000/file-000.mp4")) as film:
        shown = [round((f.to_ndarray(format="rgb24").mean() - 20) / 8) for f in film.decode(video=0)]
    # the fourth picture says that it was taken at 0.2 s, the fifth before it
    assert shown[:7] == [0, 1, 2, 2, 3, 5, 6]
    times = np.stack(pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet")["measured_time.top"].to_numpy())
    assert times[:6] == pytest.approx([0.0, 0.05, 0.1, 0.1, 0.2, 0.25])


def test_picture_numbers_that_go_back_are_refused_not_shown_as_others(session):
    from teleop_recorder.export import movie

    with pytest.raises(ConfigError, match="go back"):
        list(movie.pictures(session.video(0, "overhead"), np.array([0, 1, 3, 2, 4])))


def set_back(stamps):
    """The second half again at the time of the first."""
    return stamps - np.where(np.arange(len(stamps)) > len(stamps) // 2, 30 * PERIOD, 0)


def test_take_whose_wall_clock_was_set_back_is_exported_by_the_steady_one(session, tmp_path, capsys):
    changed(session, "meta/time/stamp_ns", set_back)
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--episode", 0) == 2
    assert "clock that was set back" in capsys.readouterr().err
    assert run(session.folder, "--to", tmp_path / "set", "--fps", 20, "--episode", 0, "--without-videos") == 0
    table = pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet")
    told = np.stack(table["action"].to_numpy())[:, :5]
    assert told == pytest.approx(np.degrees([command(5 * k).position[:5] for k in range(21)]), abs=1e-3)
    changed(session, "meta/time/monotonic_ns", set_back)
    assert run(session.folder, "--to", tmp_path / "none", "--fps", 20, "--episode", 0, "--without-videos") == 2
    assert "nobody knows its times" in capsys.readouterr().err


def test_pictures_of_after_a_clock_was_set_back_are_in_the_take(tmp_path):
    bench = make_bench(tmp_path, cameras=("overhead",), session="s")
    bench.do(EpisodeCommand.START, "stack")
    stamps = [stamp(n) - (3_600_000_000_000 if n >= 3 else 0) for n in range(6)]
    for number, at in enumerate([stamp(-1), *stamps], 1):  # the first is of before the take
        bench.recorder.hear([Sample(CAMERA, image(number, at), at, number)], 0.0, at)
    bench.step(20)
    bench.do(EpisodeCommand.END)
    with h5py.File(tmp_path / "s/episodes.hdf5") as file:
        assert file["episodes/episode_00000/cameras/overhead/stamp_ns"][:].tolist() == stamps


def test_pictures_are_found_by_the_wall_clock_that_was_set_on_during_the_take(session):
    from teleop_recorder.export import grid

    step = 3_000_000_000
    changed(session, "meta/time/stamp_ns", lambda v: v + np.where(np.arange(101) > 48, step, 0))
    changed(session, "cameras/overhead/stamp_ns", lambda v: v + np.where(np.arange(21) > 9, step, 0))
    with reading.episodes(session) as found:
        made = grid.make(found[0], 20, ("overhead",))
    assert made.pictures["overhead"].tolist() == list(range(21))
    assert made.picture_times["overhead"] == pytest.approx(np.arange(21) / 20, abs=1e-6)


def test_unknown_episode_is_refused_by_number(session):
    with pytest.raises(ConfigError, match="0, 1"), reading.episodes(session, (7,)):
        pass


def test_act_files_hold_what_was_measured_and_committed_in_radians(session, tmp_path):
    assert run(session.folder, "--to", tmp_path / "act", "--fps", 20, "--format", "act") == 0
    with h5py.File(tmp_path / "act/episode_0.hdf5") as file:
        assert file["action"][:, :JOINTS] == pytest.approx(np.array([command(5 * k).position for k in range(21)]), abs=1e-5)
        assert file["observations/qpos"][:, :JOINTS] == pytest.approx(
            np.array([command(5 * k).measured for k in range(21)]), abs=1e-5
        )
        assert file["observations/qvel"].shape == (21, 2 * JOINTS)
        images = file["observations/images/top"]
        assert (images.shape, images.chunks) == ((21, 48, 64, 3), (1, 48, 64, 3))
        assert images[10].mean() == pytest.approx(100, abs=4)


def test_act_export_that_is_run_again_writes_only_what_is_new(session, tmp_path, capsys):
    def files():
        return sorted(path.name for path in (tmp_path / "act").iterdir())

    act = (session.folder, "--to", tmp_path / "act", "--fps", 20, "--format", "act", "--without-videos")
    assert run(*act, "--episode", 1) == 0
    assert files() == ["episode_0.hdf5"]
    assert run(*act) == 0
    assert files() == ["episode_0.hdf5", "episode_1.hdf5"]
    assert run(*act) == 0
    assert files() == ["episode_0.hdf5", "episode_1.hdf5"]
    assert capsys.readouterr().out.count("is in the folder already") == 3


def test_robomimic_file_has_its_demos(session, tmp_path, capsys):
    assert run(session.folder, "--to", tmp_path / "rm", "--fps", 20, "--format", "robomimic") == 0
    with h5py.File(tmp_path / "rm/dataset.hdf5") as file:
        data = file["data"]
        assert data.attrs["total"] == 34
        assert json.loads(data.attrs["env_args"])["env_name"] == "xr_teleop"
        demo = data["demo_0"]
        assert demo.attrs["num_samples"] == 21
        assert np.abs(demo["actions"][:]).max() <= 1.0
        assert demo["dones"][:].tolist() == [0] * 20 + [1]
        assert demo["next_obs/joint_pos"][:-1] == pytest.approx(demo["obs/joint_pos"][1:])
        assert demo["obs/top_image"].shape == (21, 48, 64, 3)
    assert run(session.folder, "--to", tmp_path / "rm", "--fps", 20, "--format", "robomimic") == 2
    assert "is there" in capsys.readouterr().err


def test_doctor_finds_nothing_that_fails(session, tmp_path):
    pytest.importorskip("lerobot_doctor")
    run(session.folder, "--to", tmp_path / "set", "--fps", 20)
    found = subprocess.run([sys.executable, "-m", "lerobot_doctor.cli", str(tmp_path / "set")], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "[PASS] Metadata" in found.stdout
    assert "[PASS] Video Integrity" in found.stdout
    assert "[FAIL]" not in found.stdout, found.stdout
