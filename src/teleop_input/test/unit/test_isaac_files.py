"""Isaac Teleop's files."""

import io
import re

import pytest

pytest.importorskip("flatbuffers")
pytest.importorskip("mcap")
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from teleop_common.errors import ConfigError
from teleop_input.isaac import files, load, wire
from teleop_input.isaac.files import CHANNELS, Timed
from teleop_input.isaac.frames import note_of, step_of
from teleop_input.isaac.testing import recordings

AT = 1_000_000_000


def moments(count=20, at=AT, step=10_000_000):
    out = []
    for i in range(count):
        stamps = wire.DeviceDataTimestamp(at + i * step, at + i * step - 5, i)
        hand = wire.ControllerSnapshot(wire.ControllerPose(wire.Pose((i, 0, 0), (0, 0, 0, 1)), True))
        controller = wire.ControllerSnapshotRecord(hand, stamps)
        head = wire.HeadPoseRecord(wire.HeadPose(wire.Pose((0, i, 0), (0, 0, 0, 1)), True, True), stamps)
        out.append({c: Timed(at + i * step, head if c == "head" else controller) for c in CHANNELS})
    return out


def written(tmp_path, steps, **options):
    path = tmp_path / "x.mcap"
    with open(path, "wb") as stream:
        files.write(stream, steps, **options)
    return path


def by_hand(path, channels, compression=CompressionType.NONE, **options):
    """Write (topic, schema name, records)."""
    with open(path, "wb") as stream:
        writer = Writer(stream, compression=compression, **options)
        writer.start("teleop", "")
        for topic, name, rows in channels:
            channel = writer.register_channel(topic, "flatbuffer", writer.register_schema(name, "flatbuffer", b""))
            for at, data in rows:
                writer.add_message(channel, at, data, at)
        writer.finish()
    return path


@settings(max_examples=50)
@given(recordings())
def test_any_recording_is_read_as_it_was_written(tmp_path_factory, steps):
    path = written(tmp_path_factory.mktemp("isaac"), steps, offset_ns=-7)
    got = files.read(path)
    assert repr(got.records) == repr({c: [step[c] for step in steps] for c in CHANNELS})
    assert (got.offset_ns, got.completed, got.problem, got.left_out) == (-7, 0, "", [])


@settings(max_examples=50)
@given(recordings())
def test_any_recording_comes_back_through_frames_with_every_field(tmp_path_factory, steps):
    loaded = load.load(written(tmp_path_factory.mktemp("isaac"), steps))
    back = [step_of(frame, note_of(step, frame)) for frame, step in zip(loaded.frames, loaded.steps)]
    again = files.read(written(tmp_path_factory.mktemp("isaac"), back))
    assert repr(again.records) == repr({c: [step[c] for step in steps] for c in CHANNELS})


def test_file_has_the_form_that_the_player_reads(tmp_path):
    data = written(tmp_path, moments()).read_bytes()
    reader = make_reader(io.BytesIO(data))
    summary = reader.get_summary()
    assert reader.get_header().profile == "teleop"
    assert {c.topic: c.message_encoding for c in summary.channels.values()} == dict.fromkeys(files.TOPICS.values(), "flatbuffer")
    assert {s.name for s in summary.schemas.values()} == {"core.ControllerSnapshotRecord", "core.HeadPoseRecord"}
    assert summary.chunk_indexes
    assert {c.compression for c in summary.chunk_indexes} == {""}
    assert all(m.log_time == m.publish_time for _, _, m in reader.iter_messages())


def test_file_without_its_end_is_read_as_far_as_it_goes(tmp_path):
    path = written(tmp_path, moments(3000))
    path.write_bytes(path.read_bytes()[:1_200_000])
    loaded = load.load(path)
    assert 1000 < len(loaded.frames) < 3000
    assert any("ends early" in line for line in loaded.report)


@settings(max_examples=60)
@given(st.data())
def test_file_cut_anywhere_gives_every_whole_record_and_counts_the_rest(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("isaac"), moments(6))
    content = path.read_bytes()
    ends = [i for i in range(len(content)) if content[i : i + 1] == b"\x05" and is_message(content, i)]
    cut = data.draw(st.integers(ends[0], len(content) - 1))
    path.write_bytes(content[:cut])
    whole = [i for i in ends if i + 9 + int.from_bytes(content[i + 1 : i + 9], "little") <= cut]
    assert files.is_recording(path)
    if not whole:
        with pytest.raises(ConfigError, match=r"nothing \("):
            files.read(path)
        return
    got = files.read(path)
    assert sum(map(len, got.records.values())) == len(whole)
    last = whole[-1] + 9 + int.from_bytes(content[whole[-1] + 1 : whole[-1] + 9], "little")
    if len(whole) < len(ends):
        assert got.problem == (f"{cut - last} bytes are of no whole record" if cut > last else "between two records")


def is_message(content, at):
    """Whether a message's head stands there: its length is that of our records, its channel one of three."""
    length, channel = int.from_bytes(content[at + 1 : at + 9], "little"), int.from_bytes(content[at + 9 : at + 11], "little")
    return 22 < length < 1000 and 1 <= channel <= 3


def test_file_cut_in_its_first_chunk_is_a_recording_of_its_profile(tmp_path):
    path = written(tmp_path, moments())
    path.write_bytes(path.read_bytes()[:60])
    assert files.is_recording(path)
    with pytest.raises(ConfigError, match="no whole record"):
        files.read(path)


def test_file_that_the_disk_filled_with_zeros_is_read_up_to_them(tmp_path):
    path = written(tmp_path, moments(3000))
    content = path.read_bytes()
    path.write_bytes(content[:1_200_000] + bytes(200_000))
    got = files.read(path)
    assert min(map(len, got.records.values())) > 1500
    assert got.problem.endswith("bytes are of no whole record")


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_compressed_chunk_that_is_cut_or_garbled_is_dropped_and_the_ones_before_it_used(tmp_path, compression):
    rows = [(AT + i, wire.encode(wire.HeadPoseRecord(None, wire.DeviceDataTimestamp(i, i, i)))) for i in range(400)]
    path = by_hand(tmp_path / "x.mcap", [("head/head", "core.HeadPoseRecord", rows)], compression, chunk_size=8_000)
    content = path.read_bytes()
    second = list(re.finditer(compression.name.lower().encode(), content))[1].end() + 8  # where the second chunk's data begins
    path.write_bytes(content[: second + 200])
    cut = files.read(path)
    path.write_bytes(content[:second] + bytes(100) + content[second + 100 :])
    garbled = files.read(path)
    assert 0 < len(cut.records["head"]) == len(garbled.records["head"]) < 400
    assert cut.problem
    assert garbled.problem


def test_clock_that_names_no_time_is_left_out_and_told(tmp_path):
    path = tmp_path / "x.mcap"
    with open(path, "wb") as stream:
        writer = Writer(stream, compression=CompressionType.NONE)
        writer.start("teleop", "")
        for metadata in ({}, {"ros_minus_monotonic_ns": "soon"}):
            writer.add_metadata("xr_teleop_clock", metadata)
        channel = writer.register_channel("head/head", "flatbuffer", writer.register_schema("core.HeadPoseRecord", "", b""))
        writer.add_message(channel, AT, wire.encode(wire.HeadPoseRecord()), AT)
        writer.finish()
    loaded = load.load(path)
    assert loaded.frames[0].header.stamp == load.START_NS
    assert any("xr_teleop_clock" in line for line in loaded.report)


def test_compressed_file_is_read_too(tmp_path):
    rows = [(AT, wire.encode(wire.HeadPoseRecord()))]
    path = by_hand(tmp_path / "x.mcap", [("head/head", "core.HeadPoseRecord", rows)], CompressionType.ZSTD)
    assert files.read(path).records["head"] == [Timed(AT, wire.HeadPoseRecord())]


def test_other_channels_are_named_and_left_out(tmp_path):
    head = ("h/head", "core.HeadPoseRecord", [(AT, wire.encode(wire.HeadPoseRecord()))])
    path = by_hand(tmp_path / "x.mcap", [("hands/left_hand", "core.HandPoseRecord", [(AT, b"\0")]), head])
    got = files.read(path)
    assert (got.topics, got.left_out) == ({"head": "h/head"}, ["hands/left_hand"])
    report = load.load(path).report
    assert "left out: hands/left_hand" in report
    assert any(line.startswith("left: no channel") for line in report)


@pytest.mark.parametrize("content", [b"", b"not an mcap file"])
def test_file_that_is_no_recording_is_refused(tmp_path, content):
    path = tmp_path / "x.mcap"
    path.write_bytes(content)
    assert not files.is_recording(path)
    with pytest.raises(ConfigError, match=r"x\.mcap"):
        files.read(path)


def test_missing_file_is_refused(tmp_path):
    assert not files.is_recording(tmp_path / "x.mcap")
    with pytest.raises(ConfigError, match="No such file"):
        files.read(tmp_path / "x.mcap")


def test_two_channels_of_one_kind_are_refused(tmp_path):
    rows = [(AT, wire.encode(wire.HeadPoseRecord()))]
    path = by_hand(tmp_path / "x.mcap", [(f"{n}/head", "core.HeadPoseRecord", rows) for n in "ab"])
    with pytest.raises(ConfigError, match="a/head, b/head"):
        files.read(path)


def test_garbled_record_is_named(tmp_path):
    path = by_hand(tmp_path / "x.mcap", [("head/head", "core.HeadPoseRecord", [(AT, b"\xff\xff\xff\xff")])])
    assert files.is_recording(path)
    with pytest.raises(ConfigError, match="head/head, record 0"):
        files.read(path)


@pytest.mark.parametrize(
    "lacking",
    [wire.ControllerSnapshotRecord(wire.ControllerSnapshot(None, None, None)), wire.ControllerSnapshotRecord(None, None)],
)
def test_record_that_lacks_a_part_is_completed_and_counted(tmp_path, lacking):
    rows = [(AT, wire.encode(lacking))]
    got = files.read(by_hand(tmp_path / "x.mcap", [("c/left_controller", "core.ControllerSnapshotRecord", rows)]))
    ((_, record),) = got.records["left"]
    assert got.completed == 1
    assert record.data == (lacking.data and wire.ControllerSnapshot())
    assert record.timestamp.available == (0 if lacking.timestamp else AT)


@pytest.mark.parametrize(
    ("options", "carried", "stamp"),
    [
        ({}, None, load.START_NS),
        ({}, 7, AT + 7),
        ({"offset_ns": 9}, 7, AT + 9),
        ({"start_ns": 5}, 7, 5),
        ({"start_ns": 5}, None, 5),
    ],
)
def test_ros_time_is_that_of_the_argument_else_of_the_file_else_of_its_start(tmp_path, options, carried, stamp):
    loaded = load.load(written(tmp_path, moments(), offset_ns=carried), **options)
    assert loaded.frames[0].header.stamp == stamp
    assert loaded.frames[0].monotonic_ns == AT
    assert loaded.frames[-1].header.stamp - stamp == 19 * 10_000_000


@pytest.mark.parametrize("offset", [-AT - 1, 2**62])
def test_times_that_no_stamp_holds_are_refused(tmp_path, offset):
    with pytest.raises(ConfigError, match="--offset"):
        load.load(written(tmp_path, moments()), offset_ns=offset)
