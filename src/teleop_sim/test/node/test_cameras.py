"""The ``sim_cameras`` process beside the ``sim`` process: pictures on demand, reports, and how it ends."""

import io

import pytest

pytest.importorskip("rclpy")

from PIL import Image  # noqa: E402
from sensor_msgs.msg import CameraInfo, CompressedImage  # noqa: E402

from teleop_common import qos, records  # noqa: E402
from teleop_common.enums import Device  # noqa: E402
from teleop_common.testing import probe, process  # noqa: E402


def test_pictures_come_on_demand_with_the_stamp_of_the_state(domain):
    with process("teleop_sim", "sim", domain), process("teleop_sim", "sim_cameras", domain), probe(domain) as node:
        states = node.listen(records.SimState, "/sim/state")
        reports = node.listen(records.ProviderReport, "/teleop/devices/camera/left_wrist")
        node.until(lambda: reports and reports[-1].devices[0].state == Device.CONNECTED, 20.0, "idle report")
        images, infos = [], []
        node.create_subscription(CompressedImage, "/teleop/cameras/left_wrist/image/compressed", images.append, qos.NEWEST)
        node.create_subscription(CameraInfo, "/teleop/cameras/left_wrist/camera_info", infos.append, qos.NEWEST)
        node.until(lambda: len(images) >= 3 and infos, 10.0, "three pictures")
        image = images[-1]
        assert Image.open(io.BytesIO(bytes(image.data))).size == (640, 480)
        assert (image.format, image.header.frame_id) == ("jpeg", "left_wrist_optical")
        assert (infos[-1].width, infos[-1].height) == (640, 480)
        assert infos[-1].k[0] == infos[-1].k[4] > 100.0
        stamp = image.header.stamp.sec * 1_000_000_000 + image.header.stamp.nanosec
        assert stamp in {state.header.stamp for state in states}
        assert reports[-1].provider_id == "camera/left_wrist"


def test_without_a_simulation_it_says_so_and_renders_nothing(domain):
    with process("teleop_sim", "sim_cameras", domain, {"always": ["overhead"]}), probe(domain) as node:
        reports = node.listen(records.ProviderReport, "/teleop/devices/camera/overhead")
        images = []
        node.create_subscription(CompressedImage, "/teleop/cameras/overhead/image/compressed", images.append, qos.NEWEST)
        node.until(lambda: reports, 20.0, "report")
        assert "start the node sim" in reports[-1].devices[0].error
        assert images == []


def test_unknown_view_in_the_file_stops_the_start_with_one_line(domain, tmp_path):
    path = tmp_path / "cameras.yaml"
    path.write_text("views: {basement: {width: 64, height: 48, hz: 5, quality: 80}}\n")
    with process("teleop_sim", "sim_cameras", domain, {"cameras_file": path}, expect=2) as child:
        output = child.stdout.read()
        child.wait(20.0)
    assert "basement" in output
    assert len([line for line in output.splitlines() if line.strip()]) == 1
