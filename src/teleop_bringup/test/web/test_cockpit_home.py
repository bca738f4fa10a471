"""The cockpit brings the arms home."""

from teleop_common import limits, paths
from teleop_common.enums import Authority

HOME = [joint.home for joint in limits.load(paths.config("limits/so101.yaml")).all_joints]


def away(graph, arm):
    """Return how far the command of ``arm`` is from home [rad]."""
    return max(abs(p - h) for p, h in zip(graph.commands[arm][-1].position, HOME))


def test_button_on_the_page_brings_an_arm_home_once_its_hand_lets_go(cockpit):
    graph, page, operator = cockpit
    for _ in range(3):
        graph.engage(operator, "right")
        operator.move(1.0, right=(0.0, 0.05, -0.05))
        if away(graph, "right") > 0.05:
            break
    page.click("text=arms home")
    graph.until(lambda: "skipped right: driven by the operator" in page.inner_text("#toast"), 5.0, "the page says why not")
    graph.release(operator, "right")
    assert away(graph, "right") > 0.05
    page.click("text=arms home")
    graph.until(lambda: away(graph, "right") < 2e-4 and graph.is_in("right", Authority.IDLE), 6.0, "right arm at home")
