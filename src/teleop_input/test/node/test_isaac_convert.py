"""Recordings of Isaac Teleop to bags and back, and into the replay."""

import json

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("flatbuffers")
from hypothesis import Phase, given, settings  # noqa: E402

from teleop_common import bag as bags  # noqa: E402
from teleop_common.errors import ConfigError  # noqa: E402
from teleop_common.records import Controller, Header, String, TeleopFrame, TrackedPose  # noqa: E402
from teleop_input import bag  # noqa: E402
from teleop_input.isaac import cli, convert, files, load, wire  # noqa: E402
from teleop_input.isaac.files import CHANNELS, Timed  # noqa: E402
from teleop_input.isaac.testing import recordings  # noqa: E402


def written(path, steps, **options):
    with open(path, "wb") as stream:
        files.write(stream, steps, **options)
    return path


def drops(count=30, lost=range(10, 14)):
    """A recording whose left side lost some records."""
    steps = []
    for i in range(count):
        at = 1_000_000_000 + i * 10_000_000
        stamps = wire.DeviceDataTimestamp(at, at, i)
        step = {c: Timed(at, wire.HeadPoseRecord(None, stamps)) for c in ("head",)}
        step |= {c: Timed(at, wire.ControllerSnapshotRecord(wire.ControllerSnapshot(), stamps)) for c in ("left", "right")}
        steps.append({c: step[c] for c in CHANNELS if c != "left" or i not in lost})
    return steps


@settings(max_examples=8, phases=[Phase.generate])  # values are tried without bags in the pure tests
@given(recordings())
def test_any_recording_comes_back_from_its_bag_with_every_field(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("isaac")
    topics = {"left": "c/left_controller", "right": "c/right_controller", "head": "h/head"}
    convert.to_bag(written(folder / "a.mcap", steps, topics=topics), folder / "bag", offset_ns=1234)
    convert.to_recording(folder / "bag", folder / "b.mcap")
    first, second = files.read(folder / "a.mcap"), files.read(folder / "b.mcap")
    assert repr(second.records) == repr(first.records)
    assert (second.topics, second.offset_ns) == (topics, 1234)


def test_side_that_dropped_records_stays_paired_and_gets_empty_ones(tmp_path):
    report = convert.to_bag(written(tmp_path / "a.mcap", drops()), tmp_path / "bag")
    assert any("4 of 30 moments have none" in line for line in report)
    convert.to_recording(tmp_path / "bag", tmp_path / "b.mcap")
    left = files.read(tmp_path / "b.mcap").records["left"]
    assert [i for i, timed in enumerate(left) if timed.record.data is None] == [10, 11, 12, 13]
    assert [timed.record.timestamp.device for timed in left] == list(range(30))


def test_replay_opens_a_recording_as_the_bag_that_it_converts_to(tmp_path):
    source = written(tmp_path / "a.mcap", drops())
    convert.to_bag(source, tmp_path / "bag")
    direct, converted = bag.read(source), bag.read(tmp_path / "bag")
    assert (direct.topic, direct.data, direct.times) == (converted.topic, converted.data, converted.times)
    assert any("left: 26 records" in line for line in direct.report)
    assert direct.times[-1] == pytest.approx(0.29)


def test_frames_of_a_session_come_back_but_for_what_the_format_lacks(tmp_path):
    pose = TrackedPose(wire.Pose((0.5, 0.25, 1.0), (0.0, 0.0, 0.0, 1.0)), 15)
    frames = [
        TeleopFrame(
            *(Header(10**15 + i * 10**7, "webxr_local_floor"), "webxr", 5 + i // 10, 100 + i, 10**9 + i * 10**7),
            head=pose,
            left=Controller(True, pose, pose, 0.25, 0.5, -0.5, 1.0, True, False, True, False),
        )
        for i in range(20)
    ]
    bag.write(tmp_path / "bag", frames)
    assert "2 connections" in convert.to_recording(tmp_path / "bag", tmp_path / "b.mcap")[1]
    for i, (was, now) in enumerate(zip(frames, load.load(tmp_path / "b.mcap").frames)):
        assert (now.header.stamp, now.monotonic_ns, now.sequence) == (was.header.stamp, was.monotonic_ns, i)
        assert (now.head, now.left, now.right) == (was.head, was.left, was.right)


def test_command_converts_both_ways_by_what_the_source_is(tmp_path, capsys):
    source = written(tmp_path / "a.mcap", drops())
    assert cli.main(["isaac", str(source), str(tmp_path / "bag"), "--start", "2.5"]) == 0
    assert bag.read(tmp_path / "bag").frame(0).header.stamp == 2_500_000_000
    assert "30 frames" in capsys.readouterr().out
    assert cli.main(["isaac", str(tmp_path / "bag"), str(tmp_path / "b.mcap")]) == 0
    assert load.load(tmp_path / "b.mcap").frames[0].header.stamp == 2_500_000_000


def test_notes_are_those_of_the_isaac_frames_alone(tmp_path):
    loaded = load.load(written(tmp_path / "a.mcap", drops()))
    other = [frame._replace(provider="webxr", connection=9) for frame in loaded.frames]
    topics = {"left": "c/left_controller"}
    rows = [(convert.NOTES, String(json.dumps({"topics": topics})), 1)]
    rows += [(topic, f, f.header.stamp) for topic, f in zip(["/teleop/input/webxr/frame"] * 30, other)]
    rows += [(load.TOPIC, f, f.header.stamp) for f in loaded.frames]
    kinds = {load.TOPIC: TeleopFrame, "/teleop/input/webxr/frame": TeleopFrame, convert.NOTES: String}
    bags.write(tmp_path / "bag", kinds, rows)
    convert.to_recording(tmp_path / "bag", tmp_path / "web.mcap", "/teleop/input/webxr/frame")
    convert.to_recording(tmp_path / "bag", tmp_path / "isaac.mcap", load.TOPIC)
    assert files.read(tmp_path / "web.mcap").topics == files.TOPICS
    assert files.read(tmp_path / "isaac.mcap").topics == topics


@pytest.mark.parametrize("end", ["", ".mcap"])
def test_target_that_cannot_be_written_is_told_in_one_line(tmp_path, capsys, end):
    source = written(tmp_path / "a.mcap", drops())
    convert.to_bag(source, tmp_path / "bag")
    for place in ("/proc/foo", str(source / "x"), str(tmp_path / ("x" * 300))):
        assert cli.main(["isaac", str(tmp_path / "bag" if end else source), place + end]) == 1
        error = capsys.readouterr().err
        assert error.startswith("teleop: target")
        assert error.count("\n") == 1


def test_source_that_is_neither_is_told_as_such(tmp_path, capsys):
    (tmp_path / "a.mcap").write_bytes(b"")
    with pytest.raises(SystemExit):
        cli.main(["isaac", str(tmp_path / "a.mcap"), str(tmp_path / "bag")])
    assert "no recording of Isaac Teleop" in capsys.readouterr().err


def test_existing_target_is_never_overwritten(tmp_path, capsys):
    source = written(tmp_path / "a.mcap", drops())
    (tmp_path / "there.mcap").write_text("mine")
    assert cli.main(["isaac", str(source), str(tmp_path / "there.mcap")]) == 1
    convert.to_bag(source, tmp_path / "bag")
    with pytest.raises(ConfigError, match=r"there\.mcap"):
        convert.to_recording(tmp_path / "bag", tmp_path / "there.mcap")
    assert (tmp_path / "there.mcap").read_text() == "mine"
    assert capsys.readouterr().err.startswith("teleop: target")


def test_failed_conversion_leaves_nothing_behind(tmp_path):
    far = TrackedPose(wire.Pose((1e300, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), 15)
    bag.write(tmp_path / "bag", [TeleopFrame(Header(1), head=far)])
    with pytest.raises(ConfigError, match="32-bit"):
        convert.to_recording(tmp_path / "bag", tmp_path / "b.mcap")
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]


@pytest.mark.parametrize(
    "note", ["{", "[]", json.dumps({"sequence": 0, "records": {"head": 3}}), json.dumps({"topics": 3}), '{"topics": {}}']
)
def test_bag_with_broken_notes_is_refused(tmp_path, note):
    frame = TeleopFrame(Header(1), "isaac", 1)
    rows = [(convert.NOTES, String(note), 1), (load.TOPIC, frame, 1)]
    bags.write(tmp_path / "bag", {load.TOPIC: TeleopFrame, convert.NOTES: String}, rows)
    with pytest.raises(ConfigError):
        convert.to_recording(tmp_path / "bag", tmp_path / "b.mcap")
