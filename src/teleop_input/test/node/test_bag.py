"""Operator input in bags."""

import pytest

pytest.importorskip("rclpy")

from rosbag2_py import ConverterOptions, SequentialWriter, StorageOptions, TopicMetadata  # noqa: E402

from teleop_common.errors import ConfigError  # noqa: E402
from teleop_common.records import Controller, Header, TeleopFrame  # noqa: E402
from teleop_input import bag  # noqa: E402


def some_frames(count=20, provider="webxr"):
    return [
        TeleopFrame(
            Header(1_000_000_000 + i * 11_000_000, "x"),
            provider,
            5 + i // 10,
            i,
            device_clock_ns=i,
            right=Controller(True, squeeze=0.5),
        )
        for i in range(count)
    ]


def write_other(path, *topics):
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=str(path), storage_id="mcap"), ConverterOptions("cdr", "cdr"))
    for name, kind in topics:
        writer.create_topic(TopicMetadata(id=0, name=name, type=kind, serialization_format="cdr"))
    writer.close()


def test_written_frames_are_read_back_equal(tmp_path):
    frames = some_frames()
    bag.write(tmp_path / "b", frames)
    got = bag.read(tmp_path / "b")
    assert got.topic == "/teleop/input/webxr/frame"
    assert [got.frame(i) for i in range(len(got.data))] == frames
    assert got.times == pytest.approx([i * 0.011 for i in range(20)])
    assert got.connections == (5,) * 10 + (6,) * 10


def test_mcap_file_alone_is_read(tmp_path):
    bag.write(tmp_path / "b", some_frames())
    (file,) = (tmp_path / "b").glob("*.mcap")
    assert len(bag.read(file).data) == 20


def test_topic_is_chosen_by_name(tmp_path):
    bag.write(tmp_path / "b", some_frames(), "/elsewhere/frame")
    assert len(bag.read(tmp_path / "b", "/elsewhere/frame").data) == 20
    with pytest.raises(ConfigError, match="/elsewhere/frame"):
        bag.read(tmp_path / "b")


def test_missing_bag_is_one_error(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        bag.read(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="bag"):
        bag.read("")


@pytest.mark.parametrize(
    "topics", [[("/chatter", "std_msgs/msg/String")], [("/teleop/input/webxr/frame", bag.TYPE)]], ids=["no topic", "no frame"]
)
def test_bag_without_frames_is_refused(tmp_path, topics):
    write_other(tmp_path / "b", *topics)
    with pytest.raises(ConfigError) as error:
        bag.read(tmp_path / "b")
    assert str(tmp_path / "b") in str(error.value)


@pytest.mark.parametrize("content", [b"", b"not an mcap file"])
def test_broken_file_is_refused(tmp_path, content):
    file = tmp_path / "x.mcap"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"x\.mcap"):
        bag.read(file)


def test_directory_without_a_bag_is_refused(tmp_path):
    with pytest.raises(ConfigError):
        bag.read(tmp_path)


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x00\x00", b"\x00\x01\x00\x00\x01\x00", b"\x00\x00\x00\x00" + bytes(900)])
def test_bag_with_a_frame_that_is_cut_off_is_one_error(tmp_path, data):
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=str(tmp_path / "b"), storage_id="mcap"), ConverterOptions("cdr", "cdr"))
    writer.create_topic(TopicMetadata(id=0, name="/teleop/input/webxr/frame", type=bag.TYPE, serialization_format="cdr"))
    writer.write("/teleop/input/webxr/frame", data, 1)
    writer.close()
    with pytest.raises(ConfigError, match="frame 0"):
        bag.read(tmp_path / "b")
