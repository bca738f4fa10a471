import json
from pathlib import Path

import pytest

ament = pytest.importorskip("ament_index_python.packages")


def test_type_hash_is_that_of_the_real_package():
    """What `ros2 topic info -v /tf` prints on a Jazzy install: nodes of both kinds understand each other."""
    share = Path(ament.get_package_share_directory("tf2_msgs"))
    hashes = {
        item["type_name"]: item["hash_string"] for item in json.loads((share / "msg/TFMessage.json").read_text())["type_hashes"]
    }
    assert hashes["tf2_msgs/msg/TFMessage"] == "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"
