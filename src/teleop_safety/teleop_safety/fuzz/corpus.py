"""Written runs: what others have reported to go wrong, and what the fuzzer found, kept as YAML and played again by a test.

A file holds ``title``, ``case`` (numbers of docs/cases.md), ``setup``, ``steps`` and ``expect``: by arm its state, whether it
may have moved from where it was after step ``from``, and texts that events must have had.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from teleop_common import yamlfile
from teleop_common.enums import Authority
from teleop_common.limits import RobotLimits
from teleop_safety.fuzz import run
from teleop_safety.fuzz.run import Found
from teleop_safety.fuzz.steps import STEPS, Written
from teleop_safety.fuzz.world import ARMS, Setup, World

FOLDER = Path(__file__).parent / "corpus"
_NEAR = 1e-12  # [rad]


@dataclass
class Case:
    """One written run.

    Attributes:
        name: of its file.
        title: what it is about.
        setup: how it begins.
        steps: what is done.
        states: arm → its state at the end.
        still: arms that stay where they were.
        moved: arms that must have moved.
        since: number of steps after which the two count.
        texts: parts of events' texts that must have come.
    """

    name: str
    title: str
    setup: Setup
    steps: list[Written]
    states: dict[str, str] = field(default_factory=dict)
    still: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    since: int = 0
    texts: list[str] = field(default_factory=list)


def load(path: Path) -> Case:
    """Read one file.

    Raises:
        ConfigError: what is wrong with it.
    """
    top = yamlfile.read(path)
    top.raw("case", None)
    setup, expect = top.table("setup", {}), top.table("expect", {})
    steps: list[Written] = []
    for item in top.raw("steps"):
        if not isinstance(item, list) or not 1 <= len(item) <= 2 or item[0] not in STEPS:
            raise top.error("steps", item, "[name, {argument: value}] with one of " + ", ".join(STEPS))
        steps.append([item[0], item[1] if len(item) == 2 else {}])
    case = Case(
        path.stem,
        top.text("title"),
        Setup(**{**setup.data, "start": tuple(setup.raw("start", ()))}),
        steps,
        {arm: expect.text(arm, choices=tuple(s.name for s in Authority)) for arm in ARMS if arm in expect.data},
        expect.raw("still", []),
        expect.raw("moved", []),
        int(expect.number("from", 0, len(steps), 0)),
        expect.raw("texts", []),
    )
    expect.done()
    top.done()
    return case


def cases() -> list[Case]:
    """Return every kept run."""
    return [load(path) for path in sorted(FOLDER.glob("*.yaml"))]


def replay(robot: RobotLimits, case: Case) -> list[str]:
    """Play a run; return what did not hold, the oracle's word first."""
    world = World(robot, case.setup)
    start: dict[str, Any] = {}
    for i, step in enumerate(case.steps):
        if i == case.since:
            start = dict(world.reference)
        text = run.attempt(world, step)
        if text:
            return [f"step {i + 1} {step}: {text}"]
    wrong = []
    for arm, wanted in case.states.items():
        if Authority(world.states[arm]).name != wanted:
            wrong.append(f"{arm} ended in {Authority(world.states[arm]).name}, not {wanted}")
    for arm in (*case.still, *case.moved):
        before, after = start.get(arm) or case.setup.start or _home(robot), world.reference[arm]
        moved = max(abs(a - b) for a, b in zip(after, before)) > _NEAR
        if moved is (arm in case.still):
            wrong.append(f"{arm} went from {before} to {after}")
    return wrong + [f"no event says '{text}'" for text in case.texts if not any(text in said for said in world.texts)]


def _home(robot: RobotLimits) -> tuple[float, ...]:
    return tuple([joint.home for joint in robot.all_joints])


def written(found: Found) -> str:
    """Return a violation as the text of a corpus file."""
    setup = {**found.setup._asdict(), "start": list(found.setup.start)}
    data = {"title": found.text, "case": [], "setup": setup, "steps": found.steps, "expect": {}}
    return str(yaml.safe_dump(data, sort_keys=False, width=130))
