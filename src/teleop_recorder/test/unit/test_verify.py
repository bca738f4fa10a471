"""The formats against each other: equal as recorded, and every change is found."""

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("rosbag2_py")

from test_repair import BAG, record  # noqa: E402

from teleop_common.enums import EpisodeCommand  # noqa: E402
from teleop_recorder import cli, layout, repair  # noqa: E402
from teleop_recorder.verify import verify  # noqa: E402


@pytest.fixture
def session(tmp_path):
    writer = record(tmp_path, 80)
    writer.do(EpisodeCommand.END)
    for _ in range(12):
        writer.step()
    writer.do(EpisodeCommand.CLOSE_SESSION)
    assert cli.main(["export", str(tmp_path / "killed"), "--to", str(tmp_path / "set"), "--fps", "50"]) == 0
    return layout.find(tmp_path / "killed")


def test_recorded_formats_do_not_differ(session, tmp_path):
    report = verify(session, BAG, tmp_path / "set")
    assert report.named == []
    assert report.compared["commands"] == 160
    assert report.compared["samples"] == 80
    assert report.compared["exported columns"] == 5
    assert report.compared["topics"] == 8
    assert report.compared["takes"] == 1


@pytest.mark.parametrize(
    ("path", "row", "words"),
    [
        ("control/left/committed", 7, "row 7, left committed"),
        ("control/right/requested", 0, "row 0, right requested"),
        ("teleop/right/trigger", 3, "row 3, right hand"),
    ],
)
def test_changed_number_in_hdf5_is_named(session, path, row, words):
    with h5py.File(session.hdf5, "a") as file:
        found = file[f"episodes/episode_00000/{path}"]
        found[row] = found[row] + 1e-6
    report = verify(session, BAG)
    assert report.differences == 1
    assert words in report.named[0]


def test_changed_number_in_the_data_set_is_named(session, tmp_path, capsys):
    file = tmp_path / "set/data/chunk-000/file-000.parquet"
    table = pq.read_table(file)
    values = table["action"].to_pylist()
    values[4][2] += 0.5
    kind = table.schema.field("action").type
    pq.write_table(table.set_column(table.column_names.index("action"), "action", pa.array(values, kind)), file)
    assert cli.main(["verify", str(session.folder), "--against", str(tmp_path / "set")]) == 1
    assert "action: 1 rows differ" in capsys.readouterr().out


def test_message_that_is_missing_in_the_journal_is_named(session):
    fewer = BAG._replace(messages=lambda path, topics: (m for n, m in enumerate(BAG.messages(path, topics)) if n != 40))
    assert any("the recorder wrote" in line or "no command" in line for line in verify(session, fewer).named)


def test_rows_that_are_missing_in_hdf5_are_named_and_counted(session, capsys):
    with h5py.File(session.hdf5, "a") as file:
        for found in repair._sets(file["episodes/episode_00000"]):
            values = np.delete(found[:], slice(20, 40), axis=0)
            found.resize(len(values), axis=0)
            found[:] = values
    assert cli.main(["verify", str(session.folder)]) == 1
    told = capsys.readouterr().out
    for arm in ("left", "right"):
        assert f"episode_00000, {arm}: 20 commits of the journal have no row: [21, 22, 23, 24, 25]" in told
    assert "2 differences" in told


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda file: file["episodes/episode_00000"].attrs.__setitem__("complete", False), "episode_00000: was not ended"),
        (
            lambda file: file["episodes"].__setitem__("episode_00001", h5py.ExternalLink("takes/episode_00001.hdf5", "/")),
            "episode_00001: is gone, or does not open",
        ),
    ],
)
def test_take_that_cannot_be_compared_is_named_and_no_success(session, capsys, harm, words):
    with h5py.File(session.hdf5, "a") as file:
        harm(file)
    assert cli.main(["verify", str(session.folder)]) == 1
    assert words in capsys.readouterr().out
