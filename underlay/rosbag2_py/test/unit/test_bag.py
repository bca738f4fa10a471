import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

import mcap.reader
import rosbag2_py
import yaml
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from rosbag2_py import (
    ConverterOptions,
    Info,
    QoS,
    SequentialReader,
    SequentialWriter,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
    convert_rclpy_qos_to_rclcpp_qos,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import String

LATCHED = QoSProfile(
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    reliability=ReliabilityPolicy.RELIABLE,
    liveliness=LivelinessPolicy.AUTOMATIC,
)


def options(path):
    return StorageOptions(uri=str(path), storage_id="mcap"), ConverterOptions("cdr", "cdr")


def write_bag(path, count=10):
    """Topics /a (String) and /b (JointState) in turn, 1 ms apart, from t = 1000 ms."""
    writer = SequentialWriter()
    writer.open(*options(path))
    writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String", "cdr", [convert_rclpy_qos_to_rclcpp_qos(LATCHED)]))
    writer.create_topic(TopicMetadata(0, "/b", "sensor_msgs/msg/JointState", "cdr"))
    for number in range(count):
        message = JointState(name=["j"], position=[float(number)]) if number % 2 else String(data=str(number))
        writer.write("/b" if number % 2 else "/a", serialize_message(message), (1000 + number) * 1_000_000)
    writer.close()
    return path


def opened(path):
    reader = SequentialReader()
    reader.open(*options(path))
    return reader


def rest(reader):
    found = []
    while reader.has_next():
        found.append(reader.read_next())
    return found


def test_what_was_written_is_read_in_order(tmp_path):
    read = rest(opened(write_bag(tmp_path / "bag")))
    assert [(topic, stamp) for topic, _, stamp in read] == [("/b" if n % 2 else "/a", (1000 + n) * 1_000_000) for n in range(10)]
    assert deserialize_message(read[3][1], JointState).position[0] == 3.0
    assert deserialize_message(read[4][1], String).data == "4"


def test_metadata_has_every_key_of_version_9(tmp_path):
    write_bag(tmp_path / "bag")
    info = yaml.safe_load((tmp_path / "bag/metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert info["version"] == 9
    assert info["storage_identifier"] == "mcap"
    assert info["message_count"] == 10
    assert info["relative_file_paths"] == ["bag_0.mcap"]
    assert info["starting_time"] == {"nanoseconds_since_epoch": 1_000_000_000}
    assert info["duration"] == {"nanoseconds": 9_000_000}
    assert info["files"][0] == {
        "path": "bag_0.mcap",
        "starting_time": {"nanoseconds_since_epoch": 1_000_000_000},
        "duration": {"nanoseconds": 9_000_000},
        "message_count": 10,
    }
    assert {"compression_format", "compression_mode", "custom_data", "ros_distro"} < set(info)
    topic = info["topics_with_message_count"][0]
    assert topic["message_count"] == 5
    assert topic["topic_metadata"]["type_description_hash"].startswith("RIHS01_df668c74")
    profile = topic["topic_metadata"]["offered_qos_profiles"][0]
    assert (profile["history"], profile["depth"], profile["durability"]) == ("keep_last", 1, "transient_local")
    assert profile["lifespan"] == {"sec": 9223372036, "nsec": 854775807}


def test_mcap_file_has_schema_hash_and_qos(tmp_path):
    write_bag(tmp_path / "bag")
    with (tmp_path / "bag/bag_0.mcap").open("rb") as stream:
        reader = mcap.reader.make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        assert reader.get_header().profile == "ros2"
        assert [record.name for record in reader.iter_metadata()] == ["rosbag2"]
    schemas = {schema.name: schema for schema in summary.schemas.values()}
    text = schemas["sensor_msgs/msg/JointState"].data.decode()
    assert schemas["sensor_msgs/msg/JointState"].encoding == "ros2msg"
    assert f"\n{'=' * 80}\nMSG: std_msgs/Header\n" in text
    assert f"\n{'=' * 80}\nMSG: builtin_interfaces/Time\n" in text
    channel = next(item for item in summary.channels.values() if item.topic == "/a")
    assert channel.metadata["topic_type_hash"].startswith("RIHS01_")
    assert yaml.safe_load(channel.metadata["offered_qos_profiles"])[0]["reliability"] == "reliable"


def test_other_readers_decode_the_bag(tmp_path):
    highlevel = pytest.importorskip("rosbags.highlevel")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    kind = "geometry_msgs/msg/Point"
    writer = SequentialWriter()
    writer.open(*options(tmp_path / "bag"))
    writer.create_topic(TopicMetadata(0, "/p", kind, "cdr", [QoS(3)]))
    for number in range(5):
        writer.write("/p", bytes(store.serialize_cdr(store.types[kind](x=float(number), y=0.0, z=0.0), kind)), number)
    writer.close()
    with highlevel.AnyReader([tmp_path / "bag"]) as reader:
        assert [item.digest for item in reader.connections] == [store.hash_rihs01(kind)]
        assert [reader.deserialize(raw, item.msgtype).x for item, _, raw in reader.messages()] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_bag_of_another_writer_is_read(tmp_path):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    with rosbag2.Writer(tmp_path / "bag", version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/a", "std_msgs/msg/String", typestore=store)
        writer.write(connection, 5, store.serialize_cdr(store.types["std_msgs/msg/String"]("x"), "std_msgs/msg/String"))
    assert deserialize_message(rest(opened(tmp_path / "bag"))[0][1], String).data == "x"


def test_metadata_is_the_same_from_the_file_alone(tmp_path):
    bag = write_bag(tmp_path / "bag")
    whole = Info().read_metadata(str(bag), "mcap")
    (bag / "metadata.yaml").unlink()
    for uri in (bag, bag / "bag_0.mcap"):
        alone = Info().read_metadata(str(uri), "")
        assert (alone.message_count, alone.duration, alone.starting_time) == (10, whole.duration, whole.starting_time)
        by_name = {item.topic_metadata.name: item for item in alone.topics_with_message_count}
        for item in whole.topics_with_message_count:
            found = by_name[item.topic_metadata.name]
            assert found.message_count == item.message_count
            assert found.topic_metadata.type == item.topic_metadata.type
            assert found.topic_metadata.offered_qos_profiles == item.topic_metadata.offered_qos_profiles
        assert len(rest(opened(uri))) == 10


def test_file_cut_off_gives_the_messages_before_the_cut(tmp_path):
    path = tmp_path / "bag"
    write_bag(path, 20_000)
    (path / "metadata.yaml").unlink()
    file = path / "bag_0.mcap"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    read = rest(opened(path))
    assert 5_000 < len(read) < 15_000
    assert [stamp for _, _, stamp in read] == [(1000 + number) * 1_000_000 for number in range(len(read))]
    assert Info().read_metadata(str(path)).message_count == len(read)


def test_killed_writer_loses_no_more_than_the_last_moment(tmp_path):
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import time
from rosbag2_py import *
writer = SequentialWriter()
writer.open(StorageOptions(uri={str(tmp_path / "bag")!r}, storage_id="mcap"))
writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String", "cdr"))
for number in range(20):
    writer.write("/a", bytes(16), number)
    time.sleep(0.03)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert len(rest(opened(tmp_path / "bag"))) >= 10


def test_seek_goes_on_at_the_first_message_not_before_it(tmp_path):
    reader = opened(write_bag(tmp_path / "bag"))
    reader.seek(1_004_500_000)
    assert reader.read_next()[2] == 1_005_000_000
    reader.seek(0)
    assert len(rest(reader)) == 10


@pytest.mark.parametrize(
    ("storage_filter", "topics"),
    [
        (StorageFilter(topics=["/b"]), {"/b"}),
        (StorageFilter(topics=["/nope"]), set()),
        (StorageFilter(), {"/a", "/b"}),
    ],
)
def test_filter_lets_only_its_topics_through(tmp_path, storage_filter, topics):
    reader = opened(write_bag(tmp_path / "bag"))
    reader.set_filter(storage_filter)
    assert {topic for topic, _, _ in rest(reader)} == topics


def test_empty_bag_opens(tmp_path):
    writer = SequentialWriter()
    writer.open(*options(tmp_path / "bag"))
    writer.close()
    assert not opened(tmp_path / "bag").has_next()


def test_qos_survives_the_bag(tmp_path):
    topic = opened(write_bag(tmp_path / "bag")).get_all_topics_and_types()[0]
    assert topic.offered_qos_profiles == [QoS(1).transient_local()]
    assert topic.offered_qos_profiles[0].to_rclpy().durability is DurabilityPolicy.TRANSIENT_LOCAL


def test_qos_of_older_bags_is_read_from_numbers():
    from rosbag2_py._qos import profiles_from

    text = "- history: 3\n  depth: 0\n  reliability: 2\n  durability: 2\n  deadline:\n    sec: 0\n    nsec: 0\n  liveliness: 1\n"
    profile = profiles_from(text)[0].to_rclpy()
    assert (profile.depth, profile.reliability) == (10, ReliabilityPolicy.BEST_EFFORT)


def test_misuse_is_refused_with_the_reason(tmp_path):
    write_bag(tmp_path / "bag")
    with pytest.raises(RuntimeError, match="already exists"):
        SequentialWriter().open(*options(tmp_path / "bag"))
    with pytest.raises(RuntimeError, match="nope"):
        opened(tmp_path / "nope")
    writer = SequentialWriter()
    writer.open(*options(tmp_path / "other"))
    with pytest.raises(RuntimeError, match="has not been created"):
        writer.write("/x", b"", 0)
    (tmp_path / "text.mcap").write_text("this is no bag, whatever its name says")
    with pytest.raises(RuntimeError, match="not an MCAP file"):
        opened(tmp_path / "text.mcap")


def test_outside_the_subset_names_the_real_package(tmp_path):
    with pytest.raises(NotImplementedError, match="ros-jazzy-rosbag2-storage-sqlite3"):
        SequentialReader().open(StorageOptions(uri=str(tmp_path), storage_id="sqlite3"))
    for outside in (
        lambda: rosbag2_py.Recorder(),
        lambda: StorageFilter(regex="/a"),
        lambda: StorageOptions(uri="bag", max_bagfile_size=1),
        lambda: ConverterOptions("json"),
    ):
        with pytest.raises(NotImplementedError, match="ros-jazzy-rosbag2-py"):
            outside()
