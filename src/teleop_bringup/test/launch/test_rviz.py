"""Every topic that the RViz configuration shows exists in the running graph with the type its display reads."""

import pytest
import yaml

from teleop_common import paths

TYPES = {
    "rviz_default_plugins/RobotModel": "std_msgs/msg/String",
    "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
}
PATH_KEYS = ("Topic", "Description Topic")


def displays():
    tree = yaml.safe_load(paths.config("rviz/teleop.rviz").read_text())
    return tree["Visualization Manager"]["Displays"]


@pytest.mark.parametrize("display", displays(), ids=lambda d: d["Name"])
def test_display_reads_a_topic_of_its_type(running, display):
    graph, _ = running
    for key in PATH_KEYS:
        if key in display and display["Enabled"]:
            wanted = (display[key]["Value"], TYPES[display["Class"]])
            graph.until(
                lambda: wanted in [(n, t) for n, ts in graph.node.get_topic_names_and_types() for t in ts], 5.0, f"topic {wanted}"
            )


def test_fixed_frame_is_on_tf(running):
    graph, _ = running
    from tf2_msgs.msg import TFMessage

    from teleop_common import qos

    frames = set()
    graph.node.create_subscription(
        TFMessage, "/tf_static", lambda m: frames.update(t.header.frame_id for t in m.transforms), qos.LATCHED
    )
    graph.until(lambda: "world" in frames, 5.0, "frame world on /tf_static")
