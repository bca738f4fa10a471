"""A recorder that is killed, and what becomes of its session."""

import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

pytest.importorskip("rosbag2_py")

import recorder_bench as made  # noqa: E402
from recorder_bench import HERE, command, stamp  # noqa: E402
from test_video import jpeg  # noqa: E402
from writer import Writer  # noqa: E402

from teleop_common.enums import EpisodeCommand  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_common.records import JointCommand  # noqa: E402
from teleop_common.transport import codec  # noqa: E402
from teleop_recorder import extent, journal_node, layout, reading, repair  # noqa: E402
from teleop_recorder.export import grid  # noqa: E402
from teleop_recorder.video import Video  # noqa: E402

BAG = repair.Bag(journal_node.messages, journal_node.mend, lambda kind: codec(kind).decode)
# half a second of rows, and the tenth of one for which a row waits
TAIL = 50 + 10 + 1


def moments():
    if os.environ.get("TELEOP_NIGHTLY"):
        # named by number: the processes that share the tests must find the same names
        return [pytest.param(random.uniform(0.0, 2.0), id=f"{n}") for n in range(20)]
    return [0.05, 0.31, 0.77]


def killed(root, after):
    """Run a writer, kill it ``after`` [s] of its third take, and return how many commits it had been told of."""
    child = subprocess.Popen([sys.executable, str(HERE / "writer.py"), str(root)], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    time.sleep(after)
    child.send_signal(signal.SIGKILL)
    told = [int(line) for line in child.stdout.read().splitlines() if line.isdigit()]
    child.wait()
    return max(told, default=1)


@pytest.mark.parametrize("after", moments())
def test_killed_recorder_loses_half_a_second_at_most_and_damages_no_other_take(tmp_path, after):
    told = killed(tmp_path, after)
    session = layout.find(tmp_path / "killed")
    # as it is, without any repair
    with h5py.File(session.hdf5) as file:
        assert len(file["episodes/episode_00000/meta/commit"]) == 60
        assert len(file["episodes/episode_00001/meta/commit"]) == 60
        left = len(file["episodes/episode_00002/meta/commit"])
    assert left >= told - TAIL
    said = repair.repair(session, BAG)
    assert any("journal: index and metadata written" in line for line in said)
    assert any("episode_00002: was not ended" in line for line in said)
    with h5py.File(session.hdf5) as file:
        take = file["episodes/episode_00002"]
        assert len(take["meta/commit"]) >= left
        assert take.attrs["complete"]
        assert take.attrs["end_reason"] == "crash"
        lengths = {len(d) for d in repair._sets(take)}
        assert len(lengths) == 1
        expected = np.array([command(120 + n).position for n in range(len(take["meta/commit"]))]).reshape(-1, 6)
        assert take["control/left/committed"][:] == pytest.approx(expected)
    heard = list(BAG.messages(session.journal, ["/left/joint_command"]))
    # a chunk of the bag is 0.2 s old at most
    assert len(heard) >= 120 + told - 51
    assert repair.repair(session, BAG) == []


def record(root, rows=80):
    writer = Writer(root)
    writer.do(EpisodeCommand.START)
    for _ in range(rows):
        writer.step()
    return writer


@pytest.mark.parametrize("ends", ["command", "estop"])
def test_take_that_does_not_open_is_rebuilt_from_the_journal_as_it_was(tmp_path, ends):
    writer = record(tmp_path)
    if ends == "estop":
        for _ in range(30):
            writer.step(made.Authority.ESTOP)
    else:
        writer.do(EpisodeCommand.END)
    for _ in range(11):
        writer.step()  # what comes after the take is none of it
    session = writer.core.session
    with h5py.File(session.take(0)) as file:
        before = {
            name: file[name][:]
            for name in ("meta/commit", "control/right/requested", "state/left/positions", "teleop/left/trigger")
        }
        told = dict(file.attrs)
    writer.core._journal.flush()
    writer.core._lock.release()  # as the system does for a killed process
    session.take(0).write_bytes(b"not HDF5 at all")
    said = repair.repair(session, BAG)
    assert any("rebuilt from the journal" in line for line in said)
    with h5py.File(session.hdf5) as file:
        take = file["episodes/episode_00000"]
        for name, values in before.items():
            # the scene's text has its numbers to six digits
            assert take[name][:] == pytest.approx(values, abs=1e-6), name
        assert dict(take.attrs) == told | {"repaired": True}
        assert take.attrs["end_reason"] == ends
    with reading.episodes(session) as (episode,):
        assert len(grid.make(episode, 50, ())) >= 40


@pytest.mark.parametrize("preset", ["h264_fast", "mjpeg"])
def test_pictures_get_their_numbers_from_the_times_of_the_video(tmp_path, preset):
    stamps = stamp(0) + np.cumsum(np.random.default_rng(2).integers(20_000_000, 60_000_000, 40))
    left_out = {0, 1, 7, 20, 21}
    video = Video(tmp_path / "v.mp4", preset)
    for n in range(40):
        if n not in left_out:
            video.add(jpeg(n), int(stamps[n]))
    video.close()
    numbers = repair.picture_numbers(stamps, tmp_path / "v.mp4")
    kept = [n for n in range(40) if n not in left_out]
    assert numbers.tolist() == [kept.index(n) if n in kept else -1 for n in range(40)]
    assert set(repair.picture_numbers(stamps, tmp_path / "none.mp4")) == {-1}


def unfinished(root, rows=300):
    """Return a session as a kill leaves it, and how many commands its bag holds."""
    writer = record(root / "alive", rows)
    writer.core._journal.flush()
    writer.core.take.file.flush()
    # a bag that is given up would write its index
    session = layout.Session(shutil.copytree(writer.core.session.folder, root / "left"))
    return session, len(list(BAG.messages(session.journal, ["/left/joint_command"])))


def test_journal_damaged_in_its_middle_is_kept_and_the_byte_is_told(tmp_path):
    session, whole = unfinished(tmp_path)
    (file,) = session.journal.glob("*.mcap")
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.seek(size // 2)
        handle.write(bytes(512))
    before = file.read_bytes()
    said = repair.repair(session, BAG)
    place = int(next(re.search(r"damaged at byte (\d+)", line)[1] for line in said if "journal" in line))
    assert size // 3 < place <= size // 2 + 512
    assert (session.folder / "journal.broken" / file.name).read_bytes() == before
    saved = list(BAG.messages(session.journal, ["/left/joint_command"]))
    assert whole // 3 < len(saved) < whole
    assert [codec(JointCommand).decode(data).commit for _, data, _ in saved] == list(range(1, len(saved) + 1))


@pytest.mark.parametrize("tail", [b"\x06\x00\x10\x00", bytes(5000), b""])
def test_journal_with_only_a_torn_end_is_not_kept_twice(tmp_path, tail):
    session, whole = unfinished(tmp_path, 60)
    (file,) = session.journal.glob("*.mcap")
    with file.open("ab") as handle:
        handle.write(tail)
    repair.repair(session, BAG)
    assert len(list(BAG.messages(session.journal, ["/left/joint_command"]))) == whole
    assert not (session.folder / "journal.broken").exists()


def test_journal_whose_lengths_are_nonsense_ends_no_repair(tmp_path):
    session, _ = unfinished(tmp_path)
    (file,) = session.journal.glob("*.mcap")
    at = extent.measure(file).end
    with file.open("ab") as handle:
        handle.write(b"\x06" + b"\xff" * 8 + b"\x01" * 5000)
    assert f"damaged at byte {at}" in repair.repair(session, BAG)[0]
    assert (session.folder / "journal.broken").is_dir()


def test_journal_that_a_killed_repair_left_under_another_name_is_taken_up(tmp_path):
    session, whole = unfinished(tmp_path, 60)
    session.journal.rename(session.folder / "journal.broken")
    assert "journal: index" in repair.repair(session, BAG)[0]
    assert len(list(BAG.messages(session.journal, ["/left/joint_command"]))) == whole


def test_file_that_somebody_else_has_open_is_left_as_it_is(tmp_path):
    session, _ = unfinished(tmp_path, 60)
    for path in (session.take(0), session.hdf5):
        before = path.read_bytes()
        handle = os.open(path, os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="left as it is"):
            repair.repair(session, BAG)
        os.close(handle)
        assert path.read_bytes() == before
        assert not list(session.folder.rglob("*.broken"))
    assert any("was not ended" in line for line in repair.repair(session, BAG))


def test_session_that_is_being_recorded_is_left_alone(tmp_path):
    writer = record(tmp_path, 10)
    with pytest.raises(ConfigError, match="being written"):
        repair.repair(writer.core.session, BAG)
    writer.do(EpisodeCommand.CLOSE_SESSION)
    assert repair.repair(layout.find(tmp_path / "killed"), BAG) == []


def test_closed_session_is_one_file_and_a_bag_with_every_message(tmp_path):
    writer = record(tmp_path, 40)
    writer.do(EpisodeCommand.CLOSE_SESSION)
    session = layout.find(tmp_path / "killed")
    assert session.take_files() == {}
    copied = tmp_path / "elsewhere.hdf5"
    copied.write_bytes(session.hdf5.read_bytes())
    with h5py.File(copied) as file:
        assert file["episodes/episode_00000/meta/time/stamp_ns"][0] == stamp(0)
        assert (Path(session.folder) / file.attrs["stage_snapshot"]).is_file()
    assert len(list(BAG.messages(session.journal, ["/teleop/input/debug/frame"]))) == 40


@pytest.mark.parametrize("length", [5, 40, 120])
def test_message_that_breaks_off_is_kept_and_told_and_ends_nothing(tmp_path, length):
    writer = record(tmp_path, 10)
    whole = writer.sample("/left/joint_command", command(10), stamp(10))
    writer.core.hear([whole._replace(data=whole.data[:length])], 0.1, stamp(10))
    assert "1 samples do not decode" in writer.core.notice
    writer.step()
    assert writer.core.state(stamp(11)).recording


def test_scene_snapshot_opens_without_this_repository(tmp_path):
    import mujoco

    writer = record(tmp_path, 1)
    with h5py.File(writer.core.session.hdf5) as file:
        model = mujoco.MjModel.from_xml_path(str(writer.core.session.folder / file.attrs["stage_snapshot"]))
    assert model.nq == 47
    assert model.body("right_gripper_link").id > 0


# a mount of one's own, without being root
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.mark.parametrize("left", [0, 20_000, 600_000, 1_500_000] if os.environ.get("TELEOP_NIGHTLY") else [20_000, 600_000])
def test_disk_that_fills_up_ends_the_take_says_so_and_damages_no_other(tmp_path, left):
    if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody make a mount of one's own (unshare)")
    small, kept = tmp_path / "small", tmp_path / "kept"
    small.mkdir()
    kept.mkdir()
    command_line = [*NAMESPACE, sys.executable, str(HERE / "full_disk.py"), str(small), str(left), str(kept)]
    child = subprocess.run(command_line, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    assert "recording stopped" in child.stdout
    assert "Traceback" not in child.stderr
    session = layout.find(kept / "killed")
    repair.repair(session, BAG)
    with h5py.File(session.hdf5) as file:
        assert len(file["episodes/episode_00000/meta/commit"]) == 60
        assert len(file["episodes/episode_00001/meta/commit"]) >= 30
    with h5py.File(kept / "killed_2/episodes.hdf5") as file:
        assert len(file["episodes/episode_00000/meta/commit"]) == 30
