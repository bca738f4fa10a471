"""The real Isaac Teleop and FlatBuffers' own compiler against what we write and read."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from teleop_common.records import Controller, Header, Pose, TeleopFrame, TrackedPose  # noqa: E402
from teleop_input import bag  # noqa: E402
from teleop_input.isaac import convert, files, wire  # noqa: E402
from teleop_input.isaac.bfbs import binary_schema  # noqa: E402

HERE, ROOT = Path(__file__).parent, Path(__file__).resolve().parents[4]
PYTHON = Path(os.environ.get("ISAAC_TELEOP") or ROOT / ".venv/isaac-teleop/bin/python")
SCHEMA = ROOT / "src/teleop_input/teleop_input/isaac/records.fbs"
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="Isaac Teleop is not installed (./teleop test node)")
COUNT = 600


def run(*command):
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, env=bare)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def frames():
    """Frames of a session in which devices come and go."""
    rng = random.Random(1)

    def tracked():
        pose = Pose(tuple(rng.uniform(-1, 1) for _ in range(3)), tuple(rng.uniform(-1, 1) for _ in range(4)))
        return TrackedPose(pose, rng.choice([0, 3, 15]))

    def hand():
        if rng.random() < 0.2:
            return Controller()
        analog, digital = [rng.uniform(0, 1) for _ in range(4)], [rng.random() < 0.5 for _ in range(4)]
        return Controller(True, tracked(), tracked(), *analog, *digital)

    for i in range(COUNT):
        at = 5_000_000_000 + i * 11_111_111
        head = TrackedPose() if rng.random() < 0.1 else tracked()
        yield TeleopFrame(Header(at + 7), "webxr", 5, i, at, at - 1, at - 2, i, head=head, left=hand(), right=hand())


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("isaac")
    bag.write(folder / "bag", frames())
    convert.to_recording(folder / "bag", folder / "x.mcap")
    return folder / "x.mcap"


def play(count, *paths):
    return json.loads(run(PYTHON, HERE / "clients/client_isaac.py", count, *paths).splitlines()[-1])


def test_isaac_teleop_replays_every_value_of_a_converted_bag(recording):
    (played,) = play(COUNT + 1, recording)
    written = files.read(recording).records
    assert played[COUNT] == [None] * 3  # its player ends in silence: nothing more than we wrote
    assert played[:COUNT] == json.loads(json.dumps([[written[c][i].record.data for c in files.CHANNELS] for i in range(COUNT)]))


def test_recording_of_isaac_teleop_comes_back_from_its_bag_with_every_field(tmp_path):
    run(PYTHON, HERE / "clients/client_isaac_recorder.py", tmp_path / "a.mcap", 100)
    report = convert.to_bag(tmp_path / "a.mcap", tmp_path / "bag", offset_ns=0)
    convert.to_recording(tmp_path / "bag", tmp_path / "b.mcap")
    first, second = files.read(tmp_path / "a.mcap"), files.read(tmp_path / "b.mcap")
    assert second.records == first.records
    theirs, ours = play(100, tmp_path / "a.mcap", tmp_path / "b.mcap")
    assert theirs == ours
    # and it was a recording worth the trial
    for channel in files.CHANNELS:
        records = [timed.record for timed in first.records[channel]]
        assert len(records) == 100
        assert {r.timestamp.device - r.timestamp.sample for r in records} == {12345}
    assert 0 < sum(timed.record.data is None for timed in first.records["left"]) < 100
    assert {timed.record.data.is_tracked for timed in first.records["head"] if timed.record.data} == {False, True}
    assert (first.completed, first.left_out, first.problem) == (0, [], "")
    assert not any("have none" in line for line in report)


@pytest.mark.parametrize("kind", [wire.CONTROLLER, wire.HEAD])
def test_flatc_reads_our_records_and_we_read_its(recording, tmp_path, kind):
    flatc, name = PYTHON.parent / "flatc", f"core.{kind}"
    channel = "head" if kind == wire.HEAD else "left"
    record = next(timed.record for timed in files.read(recording).records[channel] if timed.record.data)
    (tmp_path / "x.bin").write_bytes(wire.encode(record))
    options = ("-o", tmp_path, "--root-type", name)
    run(flatc, "--json", "--strict-json", "--defaults-json", "--raw-binary", *options, SCHEMA, "--", tmp_path / "x.bin")
    said = json.loads((tmp_path / "x.json").read_text())
    assert list(said["timestamp"].values()) == list(record.timestamp)
    if kind == wire.HEAD:
        assert list(said["data"]["pose"]["position"].values()) == pytest.approx(record.data.pose.position, abs=1e-6)
    (tmp_path / "x.bin").unlink()
    run(flatc, "--binary", *options, SCHEMA, tmp_path / "x.json")
    back = wire.decode(kind, (tmp_path / "x.bin").read_bytes())
    assert back.timestamp == record.timestamp
    assert flattened(back) == pytest.approx(flattened(record), abs=1e-6)  # flatc prints six digits


def test_flatc_reads_our_binary_schemas_as_those_of_the_schema_file(tmp_path):
    flatc = PYTHON.parent / "flatc"
    for kind in (wire.CONTROLLER, wire.HEAD):
        (tmp_path / f"{kind}.bfbs").write_bytes(binary_schema(wire.schema(), kind))
        # refuses a schema in which a field of the base differs in type, number or place
        run(flatc, "-o", tmp_path, "--root-type", f"core.{kind}", "--conform", tmp_path / f"{kind}.bfbs", SCHEMA)


def flattened(value):
    return [x for part in value for x in flattened(part)] if isinstance(value, tuple) else [value]
