"""The graph as a Mermaid drawing: nodes from the launch file, topics from who really publishes and reads them."""

from __future__ import annotations

from collections.abc import Iterable

Edges = set[tuple[str, str, str]]
# every node's plumbing, which would hide the graph
HIDDEN = ("/rosout", "/parameter_events", "/clock", "/teleop/config/", "/teleop/devices/", "/teleop/web/")


def edges(publishers: dict[str, Iterable[str]], subscribers: dict[str, Iterable[str]]) -> Edges:
    """Return (publisher, topic, subscriber) for every connection, plumbing left out.

    Args:
        publishers: node → topics it publishes.
        subscribers: node → topics it reads.
    """
    return {
        (source, topic, target)
        for source, topics in publishers.items()
        for topic in topics
        if not topic.startswith(HIDDEN)
        for target, read in subscribers.items()
        if topic in read and target != source
    }


def mermaid(connections: Edges, arms: Iterable[str]) -> str:
    """Return the drawing; the topics of single arms are drawn once, as ``/<arm>/...``."""
    merged: dict[tuple[str, str], set[str]] = {}
    for source, topic, target in connections:
        for arm in arms:
            topic = topic.replace(f"/{arm}/", "/<arm>/") if topic.startswith(f"/{arm}/") else topic
        merged.setdefault((source, target), set()).add(topic)
    lines = ["```mermaid", "flowchart LR"]
    for (source, target), topics in sorted(merged.items()):
        text = "<br>".join(sorted(topics)).replace("<arm>", "arm")
        lines.append(f'  {source} -- "{text}" --> {target}')
    return "\n".join([*lines, "```", ""])
