"""The drawing in the documentation holds what runs."""

from pathlib import Path

from teleop_bringup import drawing, testing

PAGE = Path(__file__).resolve().parents[4] / "docs/graph.md"


def test_every_running_connection_between_the_core_nodes_is_drawn(running):
    graph, _ = running
    core = {"session", "retargeter", "guard", "sim", "robot_state_publisher"}
    publishers, subscribers = testing.connections(graph.node)
    found = drawing.edges({n: publishers[n] for n in core}, {n: subscribers[n] for n in core})
    drawn = PAGE.read_text()
    for line in drawing.mermaid(found, graph.arms).splitlines()[2:-1]:
        assert line in drawn, f"not drawn: {line}; run tools/reference.py --graph"
