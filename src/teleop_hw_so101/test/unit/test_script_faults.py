"""Each fault of the emulator's script while an arm is held: what the arm does, what is seen, and what comes back by itself."""

import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("mujoco")

from teleop_common import cell, limits
from teleop_hw_so101.emulator import faults
from teleop_hw_so101.health import HealthRules
from teleop_hw_so101.health_report import ArmHealth
from teleop_hw_so101.testing import emulated

ROOT = Path(__file__).resolve().parents[4]
bench = partial(emulated, limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml"))
ALL = (1, 2, 3, 4, 5, 6)


class Case(NamedTuple):
    """One fault and what becomes of it.

    Attributes:
        words: the fault.
        seen: what is told, in the driver's state, the device reports or the diagnostics.
        undo: what ends it.
        limp: servos without torque meanwhile; all others keep their goals.
        measured: joint states go on.
        back: all is well by itself once it ended; else torque must be asked off and on.
        refusal: why torque is then refused all the same, until somebody mends it.
    """

    words: str
    seen: str
    undo: str = ""
    limp: tuple[int, ...] = ()
    measured: bool = True
    back: bool = True
    refusal: str = ""


CASES = (
    Case("lose id=4", "wrist_flex gave no reading", "calm", measured=False),
    Case("corrupt id=4", "wrist_flex gave no reading", "calm", measured=False),
    Case("cut id=4", "wrist_flex gave no reading", "calm", measured=False),
    Case("late id=4", "requests without a good reply", "calm"),
    Case("double id=4 share=0.5", "requests without a good reply", "calm"),
    Case("garble", "shoulder_pan gave no reading", "calm", measured=False),
    Case("gone id=3", "elbow_flex gave no reading", "back id=3", limp=(3,), measured=False, back=False),
    Case("brownout", "all servos lost their torque", limp=ALL, back=False),
    Case("supply value=5", "supply fell to 5", "supply value=12"),
    Case("unplug", "plug it in again", "replug", measured=False),
    Case("stick id=3", "load", "free id=3"),
    Case("seam id=5", "wrist_roll is measured elsewhere all at once", limp=(5,), back=False, refusal="position of 'wrist_roll'"),
    Case("same_id id=5 value=4", "wrist_flex gave no reading .*wrist_roll", measured=False, back=False, refusal="no answer"),
    Case(
        "burn id=2 register=homing_offset value=100", "shoulder_lift is measured elsewhere all at once",
        limp=(2,), back=False, refusal="hold other values",
    ),
    Case("heat id=2 value=72", "shoulder_lift reports temperature", back=False, refusal="let it cool"),
    Case("overload id=6", "gripper reports overload", back=False),
    Case("push id=2 value=1 for=0.5", "load"),
)  # fmt: skip


def told(b, health):
    """All words that anybody is told now, and what is out of the ordinary in the load."""
    error = b.states[-1].error
    counts = b.arm.bus.counts if b.arm.bus else {}
    report = health.report(0, b.loop.time, counts, "host", 1)
    entries = health.diagnostics(b.loop.time, counts, 100.0, 100.0)
    return " ".join((error, *(d.error for d in report.devices), *(e.message for e in entries)))


@pytest.mark.parametrize("case", CASES, ids=[case.words.split()[0] for case in CASES])
def test_fault_of_the_script_does_no_more_than_is_documented(case):
    b = bench().armed()
    health = ArmHealth(b.core, HealthRules())
    b.run(0.3, b.drift())
    goals, held, loads = b.goals, b.core.driver.memory.goal, list(b.states[-1].load)
    # a stuck joint shows only when it is asked to move
    moved = b.drift(2, 1.0, obeyed=False) if case.words.startswith("stick") else lambda: b.command(held)

    def each():
        moved()
        health.observe(b.loop.time)
        loads[:] = map(max, loads, map(abs, b.states[-1].load))

    def arm(words):
        kind, *rest = words.split()
        b.tell(" ".join((kind, "left", *rest)))

    arm(case.words)
    words = []
    for _ in range(15):
        b.run(0.1, each)
        words.append(told(b, health))
    if max(loads) > 0.2:
        words.append("load")
    assert re.search(case.seen, " ".join(words)), words[-1]
    assert [n for n, on in enumerate(b.torques, 1) if not on] == list(case.limp)
    touched = {int(n) for n in re.findall(r"id=(\d)", case.words)} | set(case.limp)
    assert all(b.goals[n - 1] == goals[n - 1] for n in ALL if n not in touched), "the others hold"
    fresh = b.now_ns() - b.joints[-1].header.stamp < 0.2e9
    assert fresh == case.measured
    if case.undo:
        arm(case.undo)
    b.run(1.5, lambda: b.command(held))
    well = b.states[-1].error == "" and b.torques == [True] * 6 and b.command(b.core.driver.memory.goal)
    assert well == case.back, b.states[-1].error or b.core.last_refusal
    if not case.back:
        b.torque(False)
        answer = b.torque(True)
        b.run(0.3)
        assert re.search(case.refusal, answer) if case.refusal else answer == b.states[-1].error == "", answer


def test_every_fault_has_its_case_and_its_line_in_the_documentation():
    tried = {words.split()[0] for case in CASES for words in (case.words, case.undo) if words}
    assert tried == set(faults.KINDS)
    table = (ROOT / "docs/hardware.md").read_text().split("### Faults")[1].split("### Health")[0]
    missing = [kind for kind in faults.KINDS if f"`{kind}`" not in table]
    assert not missing, missing
