"""The tables of cases and faults in the documentation: complete, and every test that they name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
CASES = (
    *(1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 15, 18, 19, 21, 25, 27, 28, 29, 30, 33, 34, 35, 36, 37, 40, 41, 43, 44, 46, 47, 48),
    *(49, 50, 51, 52, 54, 55, 57, 58, 59, 60, 62, 63, 65, 67, 69, 70),
)


def rows(name, heading=""):
    text = (ROOT / "docs" / name).read_text()
    part = text.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0] if heading else text
    cells = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[0] not in ("#", "what")]


def missing(cell):
    """What a cell names that does not exist."""
    wrong = []
    for name in re.findall(r"`([\w/.]+(?:\.py::\w+|\.yaml))`", cell):
        path, _, test = name.partition("::")
        file = ROOT / "src" / path
        if not file.is_file() or (test and not re.search(rf"^(async )?def {test}\(", file.read_text(), re.MULTILINE)):
            wrong.append(name)
    return wrong


def test_every_case_has_its_row():
    assert tuple(int(row[0]) for row in rows("cases.md")) == CASES


@pytest.mark.parametrize("row", rows("cases.md"), ids=lambda row: row[0])
def test_case_names_tests_that_exist(row):
    assert "`" in row[3]
    assert not missing(row[3])


def test_corpus_has_a_row_for_each_case_it_plays():
    import yaml

    listed = (ROOT / "docs/cases.md").read_text()
    for path in (ROOT / "src/teleop_safety/teleop_safety/fuzz/corpus").glob("c*.yaml"):
        numbers = set(yaml.safe_load(path.read_text())["case"]) & set(CASES)
        assert path.name in listed or not numbers, path.name


@pytest.mark.parametrize("row", rows("safety.md", "## When something fails"), ids=lambda row: row[0][:40])
def test_fault_names_tests_that_exist(row):
    assert "`" in row[-1]
    assert not missing(row[-1])


def test_every_fault_has_its_row():
    text = " ".join(row[0] for row in rows("safety.md", "## When something fails"))
    for fault in (
        "kill -9", "SIGSTOP", "link lost", "bursts", "recentred", "set by an hour", "/clock", "frozen, repeated or backward",
        "NaN", "driver of one arm", "two retargeters", "QoS", "both cores busy", "a day", "guard dead", "whole bag", "SIGINT",
    ):  # fmt: skip
        assert fault in text, fault
