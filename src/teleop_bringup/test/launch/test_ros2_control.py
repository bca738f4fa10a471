"""Two Pandas behind ros2_control: the launch file as documented, the controllers played on the wire."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from teleop_bringup import testing  # noqa: E402
from teleop_common import limits  # noqa: E402
from teleop_common.enums import Authority  # noqa: E402
from teleop_common.testing import free_domain  # noqa: E402
from teleop_description.assets import urdf_path  # noqa: E402
from teleop_description.testing import installed  # noqa: E402
from teleop_ik.kinematics import forward  # noqa: E402
from teleop_ik.setup_arms import read_chain  # noqa: E402
from teleop_ros2_control.testing import Controller  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
ARMS = ("left", "right")
CELL = """
mounts:
  left: {position: [0.0, 0.5, 0.0], yaw: 0.0}
  right: {position: [0.0, -0.5, 0.0], yaw: 0.0}
bench: {height: 0.0, centre: [0.4, 0.0], size: [1.2, 2.0]}
place_zone: {centre: [0.5, 0.0], radius: 0.06}
"""


@pytest.mark.skipif(not installed(), reason="example-robot-data is not installed")
def test_both_hands_move_both_arms_through_their_controllers(tmp_path):
    panda = limits.load(ROOT / "config/limits/panda.yaml")
    chain = read_chain(urdf_path(panda.urdf), panda)
    cell = tmp_path / "cell.yaml"
    cell.write_text(CELL)
    topics = {f"/{arm}_arm_controller/joint_trajectory": (JointTrajectory, ()) for arm in ARMS}
    start = {f"{arm}_{joint.name}": joint.home for arm in ARMS for joint in panda.all_joints}
    arguments = (f"limits_file:={panda.source}", f"cell_file:={cell}", "input:=external", "autostart:=false")
    with (
        free_domain() as domain,
        testing.graph(domain, *arguments, "web:=false", "log_level:=warn", file="ros2_control.launch.py") as graph,
    ):
        controller = Controller(graph.node, start, topics)
        operator = testing.Operator(graph.node)

        def tool(arm):
            return forward(chain, controller.joints([f"{arm}_{name}" for name in panda.names[:7]])).position

        try:
            graph.ready()
            graph.start_session()
            graph.engage(operator, *ARMS)
            before = {arm: tool(arm) for arm in ARMS}
            # OpenXR: x right, y up, -z forward; in world: x forward, y left, z up
            operator.move(2.0, left=(0.0, 0.05, -0.06), right=(0.04, 0.0, -0.05))
            moved = {"left": (0.06, 0.0, 0.05), "right": (0.05, -0.04, 0.0)}

            def there():
                away = [abs(a + m - b) for arm in ARMS for a, m, b in zip(before[arm], moved[arm], tool(arm))]
                return max(away) < 2e-3

            graph.until(there, 4.0, "both tools where the hands led them")
            assert not testing.envelope_violations(graph.commands["left"], panda.all_joints)
            assert not testing.envelope_violations(graph.commands["right"], panda.all_joints)
            graph.release(operator, *ARMS)
            assert graph.is_in("left", Authority.IDLE)
        finally:
            operator.close()
            controller.stop()
