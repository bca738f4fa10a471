import threading
import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, LookupException, StaticTransformBroadcaster, TransformBroadcaster, TransformListener


@pytest.fixture
def nodes(domain):
    contexts = [Context(), Context()]
    made = []
    for number, context in enumerate(contexts):
        rclpy.init(context=context, domain_id=domain)
        made.append(Node(f"tf_{number}", context=context))
    yield made
    for node, context in zip(made, contexts):
        node.destroy_node()
        rclpy.try_shutdown(context=context)


def transform(parent, child, x, stamp=None):
    made = TransformStamped()
    made.header.frame_id, made.child_frame_id = parent, child
    made.transform.translation.x = x
    made.transform.rotation.w = 1.0
    if stamp is not None:
        made.header.stamp = stamp
    return made


def test_listener_hears_moving_and_late_static_transforms(nodes):
    talker, listener_node = nodes
    static = StaticTransformBroadcaster(talker)
    static.sendTransform(transform("world", "mount", 1.0))
    static.sendTransform(transform("world", "bench", 5.0))
    moving = TransformBroadcaster(talker)
    buffer = Buffer()
    listener = TransformListener(buffer, listener_node, spin_thread=True)
    stop = threading.Event()

    def talk():
        while not stop.is_set():
            moving.sendTransform([transform("mount", "tool", 2.0, talker.get_clock().now().to_msg())])
            time.sleep(0.02)

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        found = buffer.lookup_transform("world", "tool", Time(), timeout=Duration(seconds=10.0))
        assert found.transform.translation.x == pytest.approx(3.0)
        assert (found.header.frame_id, found.child_frame_id) == ("world", "tool")
        assert found.header.stamp.sec > 0
        # both static transforms came, though the listener was late
        assert buffer.can_transform("world", "bench", Time(), timeout=Duration(seconds=5.0))
        with pytest.raises(LookupException):
            buffer.lookup_transform("world", "nope", Time())
        assert not buffer.can_transform("world", "nope", Time())
    finally:
        stop.set()
        thread.join()
        listener.unregister()


def test_outside_the_subset_names_the_real_package():
    with pytest.raises(NotImplementedError, match="ros-jazzy-tf2-ros-py"):
        Buffer().lookup_transform_full("a", Time(), "b", Time(), "c")
