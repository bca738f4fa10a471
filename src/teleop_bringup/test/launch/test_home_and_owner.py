"""Arms that move without a hand, through the real graph: the way home by button and service, an external owner."""

import pytest

from teleop_common import limits, paths, qos, records
from teleop_common.enums import Authority
from teleop_interfaces.srv import ArmOwner, Home

ROBOT = limits.load(paths.config("limits/so101.yaml"))
HOME = tuple(j.home for j in ROBOT.all_joints)


def lead_away(graph, operator):
    """Drive both arms up and forward from home and let go; again where a starved machine ended it on the way."""
    for _ in range(3):
        graph.engage(operator, "left", "right")
        operator.move(1.0, left=(0.0, 0.05, -0.05), right=(0.0, 0.05, -0.05))
        graph.release(operator, "left", "right")
        if all(max(abs(p - h) for p, h in zip(graph.commands[arm][-1].position, HOME)) > 0.05 for arm in graph.arms):
            return
    raise AssertionError(f"the arms do not leave home: {graph.state()}")


def test_left_stick_held_brings_both_arms_home(running):
    graph, operator = running
    lead_away(graph, operator)
    operator.set("left", thumbstick_click=True)
    graph.until(lambda: graph.is_in("left", Authority.HOMING) or graph.is_in("right", Authority.HOMING), 3.0, "HOMING")
    operator.set("left", thumbstick_click=False)
    graph.until(lambda: all(graph.at_home(arm) for arm in graph.arms), 6.0, "both arms at home")


def test_service_brings_one_arm_home_and_skips_the_one_that_is_driven(running):
    graph, operator = running
    lead_away(graph, operator)
    graph.engage(operator, "left")
    answer = graph.node.call(Home, "/teleop/home", arms=[])
    assert answer.success
    assert "skipped left: driven by the operator" in answer.message
    graph.until(lambda: graph.at_home("right"), 6.0, "right arm at home")
    assert graph.is_in("left", Authority.DRIVING)
    graph.release(operator, "left")


def test_owner_leads_its_arm_a_squeeze_on_it_is_refused_and_its_silence_ends_it(running):
    graph, operator = running
    events = graph.node.listen(records.GuardEvent, "/teleop/guard/events", qos.EVENTS)
    publisher = graph.node.talk(records.JointTargets, "/teleop/joint_targets_external")
    graph.release(operator, "left", "right")
    names = ROBOT.arm_names("right")
    goal = (HOME[0] - 0.2, *HOME[1:])

    def send():
        target = records.JointTarget("right", "policy", graph.authority_of("right").engage, (), names, goal)
        publisher.publish(records.JointTargets(records.Header(graph.node.now_ns()), arms=(target,)))
        return graph.commands["right"][-1].position == pytest.approx(goal, abs=1e-3)

    answer = graph.node.call(ArmOwner, "/teleop/arm_owner", arm="right", owner="policy", acquire=True)
    assert answer.success, answer.message
    graph.until(lambda: graph.is_in("right", Authority.EXTERNAL), 2.0, "EXTERNAL")
    graph.until(send, 5.0, "arm at the owner's goal")
    operator.set("right", squeeze=1.0)
    graph.until(lambda: send() and any("policy" in e.text for e in events if e.kind == "refused"), 2.0, "refusal by name")
    assert graph.is_in("right", Authority.EXTERNAL)
    graph.until(lambda: graph.is_in("right", Authority.IDLE), 1.0, "IDLE after the owner's silence")
    operator.set("right", squeeze=0.0)
