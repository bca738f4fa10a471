import pytest

pytest.importorskip("rosidl_parser")
pytest.importorskip("sensor_msgs")

import rosidl_runtime_py
import yaml
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, PoseWithCovariance
from rosidl_runtime_py import get_interface_path, message_to_ordereddict, message_to_yaml, set_message_fields
from rosidl_runtime_py.utilities import get_message, get_service, is_message, is_service
from sensor_msgs.msg import CompressedImage, JointState
from tf2_msgs.msg import TFMessage


def joint_state():
    msg = JointState()
    set_message_fields(msg, {"header": {"frame_id": "base"}, "name": ["a", "b"], "position": [1, 2.5]})
    return msg


def test_yaml_read_back_fills_an_equal_message():
    for msg in (joint_state(), PoseWithCovariance(), CompressedImage(format="jpeg", data=[1, 2, 255])):
        copy = type(msg)()
        set_message_fields(copy, yaml.safe_load(message_to_yaml(msg)))
        assert copy == msg


def test_yaml_keeps_the_order_of_the_fields():
    keys = [line.split(":")[0] for line in message_to_yaml(joint_state()).splitlines() if line[0].isalpha()]
    assert keys == ["header", "name", "position", "velocity", "effort"]


def test_flow_style_is_one_line():
    assert message_to_yaml(Time(sec=1, nanosec=2), flow_style=True) == "{sec: 1, nanosec: 2}\n"


def test_long_values_are_truncated_and_arrays_left_out():
    msg = JointState(name=["abcdef"], position=[0.0, 1.0, 2.0])
    assert message_to_ordereddict(msg, truncate_length=2)["position"] == [0.0, 1.0, "..."]
    assert message_to_ordereddict(msg, truncate_length=2)["name"] == ["ab..."]
    assert message_to_ordereddict(msg, no_arr=True)["position"] == "<sequence type: double, length: 3>"
    assert message_to_ordereddict(PoseWithCovariance(), no_arr=True)["covariance"] == "<array type: double[36], length: 36>"


def test_arrays_of_messages_are_filled():
    msg = TFMessage()
    set_message_fields(msg, {"transforms": [{"child_frame_id": "x"}, {"transform": {"translation": {"z": 2}}}]})
    assert [item.child_frame_id for item in msg.transforms] == ["x", ""]
    assert msg.transforms[1].transform.translation.z == 2.0


def test_byte_field_takes_a_number():
    msg = DiagnosticStatus()
    set_message_fields(msg, {"level": 2})
    assert msg.level == b"\x02"


def test_auto_header_and_now_are_set_at_each_publication():
    msg = PoseStamped()
    stamps = set_message_fields(msg, {"header": "auto"}, expand_header_auto=True)
    for stamp in stamps:
        stamp(Time(sec=7))
    assert msg.header.stamp.sec == 7


@pytest.mark.parametrize(
    ("values", "error"),
    [({"nope": 1}, AttributeError), ({"name": 3}, (TypeError, AssertionError)), ({"header": 3}, TypeError), (5, TypeError)],
)
def test_values_that_do_not_fit_are_refused(values, error):
    with pytest.raises(error):
        set_message_fields(JointState(), values)


def test_names_become_classes():
    assert get_message("sensor_msgs/msg/JointState") is get_message("sensor_msgs/JointState") is JointState
    assert is_message(get_message("tf2_msgs/msg/TFMessage"))
    assert is_service(get_service("std_srvs/srv/Trigger"))


@pytest.mark.parametrize(
    ("name", "error"), [("x", ValueError), ("std_msgs/msg/Nope", AttributeError), ("nope/msg/X", ModuleNotFoundError)]
)
def test_unknown_names_are_refused(name, error):
    with pytest.raises(error):
        get_message(name)


def test_definition_of_an_interface_is_found():
    assert get_interface_path("std_msgs/msg/String").endswith("std_msgs/msg/String.msg")
    with pytest.raises(LookupError):
        get_interface_path("std_msgs/msg/Nope")


def test_outside_the_subset_names_the_real_package():
    with pytest.raises(NotImplementedError, match="message_to_csv.*ros-jazzy-rosidl-runtime-py"):
        rosidl_runtime_py.message_to_csv(Time())
