import argparse
import signal

import pytest

pytest.importorskip("rclpy")

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, ParameterType
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros2cli.bag_play import idle, offer, remappings
from ros2cli.bag_record import chooser
from ros2cli.cli import main
from ros2cli.interface_command import expanded
from ros2cli.launch_command import find_launch_file, parse_arguments
from ros2cli.param_command import described
from ros2cli.topic_echo import select
from ros2cli.topic_hz import Rate
from rosbag2_py import QoS, convert_rclpy_qos_to_rclcpp_qos
from std_msgs.msg import Header


def record_args(**given):
    base = {
        "topics_positional": [],
        "topics": [],
        "all": False,
        "regex": "",
    }
    return argparse.Namespace(**(base | given))


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({"topics_positional": ["a", "/b"]}, {"/a", "/b"}),
        ({"topics": ["/_hidden"]}, {"/_hidden"}),
        ({"all": True}, {"/a", "/b", "/ab"}),
        ({"regex": "/a.*"}, {"/a", "/ab"}),
    ],
)
def test_recorded_topics_are_those_chosen(given, chosen):
    wanted = chooser(record_args(**given))
    assert {name for name in ("/a", "/b", "/ab", "/_hidden") if wanted(name)} == chosen


def test_recording_nothing_is_refused():
    with pytest.raises(ValueError, match="Must specify topics"):
        chooser(record_args())


def test_launch_arguments_are_read_and_the_last_counts():
    assert parse_arguments(["a:=1", "b:=x:=y", "a:=", "c:=-1"]) == [("a", ""), ("b", "x:=y"), ("c", "-1")]
    with pytest.raises(RuntimeError, match="malformed launch argument 'a=1'"):
        parse_arguments(["a=1"])


def test_launch_file_is_found_by_path_or_refused_by_name(tmp_path):
    path = tmp_path / "x.launch.py"
    path.touch()
    assert find_launch_file(str(path), None) == (path, True)
    with pytest.raises(LookupError, match="nope"):
        find_launch_file("std_msgs", "nope.launch.py")


def test_remappings_are_read():
    assert remappings(["/a:=/b", "c:=d"]) == {"/a": "/b", "/c": "d"}
    with pytest.raises(ValueError, match="'/a=/b'"):
        remappings(["/a=/b"])


def test_rate_of_even_messages_is_exact():
    rate = Rate(window=3)
    assert rate.report() == ""
    for number in range(10):
        rate.hear(number * 0.25)
    assert rate.report() == "average rate: 4.000\n\tmin: 0.250s max: 0.250s std dev: 0.00000s window: 3"


def test_played_topic_offers_what_was_recorded_unless_publishers_differed():
    latched = convert_rclpy_qos_to_rclcpp_qos(QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    assert offer([latched, latched]).durability is DurabilityPolicy.TRANSIENT_LOCAL
    mixed = offer([latched, QoS(1).best_effort()])
    assert (mixed.durability, mixed.reliability) == (DurabilityPolicy.VOLATILE, ReliabilityPolicy.RELIABLE)
    assert offer([]).depth == 10


def test_field_is_selected_by_its_path():
    assert select(Header(frame_id="q"), "frame_id") == "q"
    assert select(Header(), "stamp.sec") == 0
    with pytest.raises(AttributeError, match="'nope' is no field of Time"):
        select(Header(), "stamp.nope")


def test_interface_shows_nested_fields_with_tabs():
    lines = expanded("geometry_msgs/msg/PoseStamped", comments=False)
    assert "std_msgs/Header header" in lines
    assert "\t\tint32 sec" in lines
    assert "\t\tfloat64 x" in lines


@pytest.mark.parametrize("argv", [["nope"], ["topic"], ["topic", "nope"], ["bag", "play"]])
def test_wrong_calls_exit_with_2_and_name_the_real_packages(argv, capsys):
    with pytest.raises(SystemExit) as raised:
        main(argv)
    assert raised.value.code == 2
    assert "ros-jazzy-ros2cli-common-extensions" in capsys.readouterr().err


def test_failures_are_one_line_and_status_1(capsys):
    assert main(["pkg", "prefix", "no_such_package"]) == 1
    assert main(["bag", "info", "/no/such/bag"]) == 1
    assert capsys.readouterr().err.count("\n") == 2


def test_interrupt_is_status_2(monkeypatch):
    def interrupted(_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("ros2cli.pkg_command._list", interrupted)
    assert main(["pkg", "list"]) == signal.SIGINT == 2


def test_remapping_that_matches_nothing_is_named_with_what_is_played():
    names = remappings(["/a:=/b", "typo:=/c"])
    (line,) = idle(names, ["/a", "/d"])
    assert "'/typo:=/c'" in line
    assert line.endswith("/a, /d")
    assert idle(names, ["/a", "/typo"]) == []


def test_parameter_is_described_with_its_range_and_constraints():
    text = described(
        ParameterDescriptor(
            name="gain",
            type=ParameterType.PARAMETER_DOUBLE,
            description="how hard",
            read_only=True,
            floating_point_range=[FloatingPointRange(from_value=0.5, to_value=2.0)],
        )
    )
    for part in ("Parameter name: gain", "double", "how hard", "Read only", "Min value: 0.5", "Max value: 2.0"):
        assert part in text
    assert "Constraints" not in described(ParameterDescriptor(name="free"))
