"""Writes the reference pages of docs/ from their sources: messages, services, launch arguments, parameters, the graph.

``python tools/reference.py`` writes, ``--check`` fails when a page is out of date (a test runs it). The graph page needs
the running graph and is written by ``--graph``; the launch tests hold it against what runs.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Written by tools/reference.py: change its sources, then run it. -->\n"
NODES = {
    "debug_input": "teleop_input.debug_node",
    "openxr_input": "teleop_input.openxr_input_node",
    "replay_input": "teleop_input.replay_node",
    "web_gateway": "teleop_web.gateway_node",
    "session": "teleop_session.session_node",
    "retargeter": "teleop_ik.retargeter_node",
    "guard": "teleop_safety.guard_node",
    "so101_driver": "teleop_hw_so101.so101_driver_node",
    "emulated_scene": "teleop_hw_so101.emulator.scene_node",
    "ros2_control_driver": "teleop_ros2_control.ros2_control_driver_node",
    "sim": "teleop_sim.sim_node",
    "sim_cameras": "teleop_sim.cameras_node",
    "device_status": "teleop_diagnostics.device_status_node",
    "recorder": "teleop_recorder.recorder_node",
    "replayer of poses": "teleop_recorder.replay.poses_node",
    "replayer of actions": "teleop_recorder.replay.actions_node",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def interface_page() -> str:
    """Return docs/interfaces.md: every message and service, field by field."""
    out = [NOTE, "# Messages and services\n\nAngles in rad, lengths in m, times in s, quaternions x y z w.\n"]
    for folder, title in (("msg", "Messages"), ("srv", "Services")):
        out.append(f"\n## {title}\n")
        for path in sorted((ROOT / "src/teleop_interfaces" / folder).iterdir()):
            out.append(_interface(path))
    return "".join(out)


def _interface(path: Path) -> str:
    intro, rows, constants = [], [], []
    for line in path.read_text().splitlines():
        text, _, comment = line.partition("#")
        text, comment = text.strip(), comment.strip()
        if not text:
            if comment and not rows:
                intro.append(comment)
        elif text == "---":
            rows.append("| *answer* | | |\n")
        elif m := re.fullmatch(r"(\w+)\s+(\w+)\s*=\s*(\S+)", text):
            constants.append(f"{m[2]} {m[3]}")
        else:
            kind, name = text.split()
            rows.append(f"| `{name}` | `{kind}` | {_cell(comment)} |\n")
    head = f"\n### {path.stem}\n\n" + " ".join(intro) + "\n\n"
    if constants:
        head += "Constants: " + ", ".join(constants) + ".\n\n"
    return head + "| field | type | meaning |\n|---|---|---|\n" + "".join(rows)


def parameter_page() -> str:
    """Return docs/parameters.md: launch arguments and every node's parameters."""
    from teleop_bringup import graph

    out = [NOTE, "# Launch arguments and parameters\n\n## Launch arguments of `sim.launch.py`\n\n"]
    out.append("| argument | default | allowed | meaning |\n|---|---|---|---|\n")
    out.extend(_argument(*entry) for entry in graph.ARGUMENTS.items())
    out.append(
        "\n## Launch arguments of `ros2_control.launch.py`, besides\n\n"
        "| argument | default | allowed | meaning |\n|---|---|---|---|\n"
    )
    out.extend(_argument(*entry) for entry in graph.CONTROLLER_ARGUMENTS.items())
    out.append(
        "\n## Launch arguments of `hardware.launch.py`, besides\n\n"
        "| argument | default | allowed | meaning |\n|---|---|---|---|\n"
    )
    out.extend(_argument(*entry) for entry in graph.HARDWARE_ARGUMENTS.items())
    out.append("\nParameters are read-only at run time: a restarted node returns in hold within a second.\n")
    for node, module in NODES.items():
        config = _config_of(importlib.import_module(module))
        out.append(f"\n## `{node}`\n\n| parameter | default | allowed | meaning |\n|---|---|---|---|\n")
        out.extend(_parameter(field) for field in dataclasses.fields(config))
    return "".join(out)


def _argument(name: str, entry: tuple[Any, str, list[str] | None]) -> str:
    default, description, choices = entry
    shown = f"`{default}`" if isinstance(default, str) and default else ("" if isinstance(default, str) else "installed file")
    return f"| `{name}` | {shown} | {', '.join(choices or [])} | {_cell(description)} |\n"


def _config_of(module: Any) -> type:
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and dataclasses.is_dataclass(value)
        and all("description" in f.metadata for f in dataclasses.fields(value))
    ]
    for value in found:
        # a base class of parameters that several nodes have is imported beside the node's own
        if not any(issubclass(other, value) for other in found if other is not value):
            return value
    raise LookupError(
        f"module '{module.__name__}': no parameter dataclass found, allowed one whose fields come from params.param"
    )


def _parameter(field: dataclasses.Field[Any]) -> str:
    from teleop_common.params import allowed_text

    default = ", ".join(map(str, field.default)) if isinstance(field.default, tuple) else str(field.default)
    return f"| `{field.name}` | `{default}` | {_cell(allowed_text(field.metadata))} | {_cell(field.metadata['description'])} |\n"


def authority_page() -> str:
    """Return docs/authority.md: the guard's table of states and events."""
    from teleop_common.enums import Authority
    from teleop_safety.authority import TABLE, Event, next_engage

    out = [NOTE, "# Authority: who may move an arm\n\nThe table that the guard runs, drawn; one such state for each arm.\n\n"]
    out.append("```mermaid\nstateDiagram-v2\n    [*] --> IDLE\n")
    ways: dict[tuple[str, str], list[str]] = {}
    for (state, event), move in TABLE.items():
        # what stops everything would hide the rest: it is in the table below
        if move.state is not state and event not in (Event.GAP, Event.HALT, Event.BUTTONS_LOST, Event.ESTOP, Event.FAULT):
            ways.setdefault((state.name, move.state.name), []).append(event.value)
    out += [f"    {a} --> {b}: {' / '.join(events)}\n" for (a, b), events in ways.items()]
    out.append('    state "any state" as ANY\n    ANY --> ESTOP: e-stop\n    ANY --> FAULT: fault\n```\n\n')
    out.append(
        "Rows are events, columns states, cells the next state; empty: nothing happens; * the grip must open before it "
        "engages again; + `engage` grows by one, so that anchors and targets of before are void.\n\n"
    )
    out.append("| | " + " | ".join(state.name for state in Authority) + " |\n|---|" + "---|" * len(Authority) + "\n")
    for event in Event:
        cells = []
        for state in Authority:
            move = TABLE.get((state, event))
            grows = move is not None and next_engage(0, state, event, move.state) != 0
            cells.append("" if move is None else move.state.name + "*" * move.must_open + "+" * grows)
        out.append(f"| **{event.value}** | " + " | ".join(cells) + " |\n")
    return "".join(out)


def graph_page() -> str:
    """Return docs/graph.md from the graph as it runs with a scripted operator."""
    from teleop_bringup import drawing, testing
    from teleop_common.testing import free_domain

    with (
        free_domain() as domain,
        testing.graph(domain, "input:=debug", "https_port:=0", "http_port:=0", "bind:=127.0.0.1") as graph,
    ):
        graph.ready()
        connections = drawing.edges(*testing.connections(graph.node))
        return NOTE + "# The graph, as it runs\n\n" + drawing.mermaid(connections, graph.arms)


PAGES = {"interfaces.md": interface_page, "parameters.md": parameter_page, "authority.md": authority_page}


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a page is out of date")
    parser.add_argument("--graph", action="store_true", help="also run the graph and draw it")
    given = parser.parse_args()
    check = given.check
    if given.graph:
        (ROOT / "docs/graph.md").write_text(graph_page())
    stale = []
    for name, page in PAGES.items():
        path, text = ROOT / "docs" / name, page()
        if check and (not path.exists() or path.read_text() != text):
            stale.append(name)
        elif not check:
            path.write_text(text)
    if stale:
        print(f"docs: {', '.join(stale)} out of date; run: ./teleop exec python tools/reference.py", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
