"""docs/device_status.md names what there is."""

import re
from pathlib import Path

import pytest

from teleop_common.enums import Device, DeviceReason, DeviceState, Provider, StatusReason
from teleop_diagnostics.diagnostics import DEVICE_LEVELS, PROVIDER_LEVELS

PAGE = (Path(__file__).resolve().parents[4] / "docs/device_status.md").read_text()
ROWS = [[cell.strip() for cell in row.split("|")] for row in PAGE.splitlines() if re.match(r"\| (OK|WARN|ERROR|STALE) ", row)]
LEVELS = {row[1]: row[2:4] for row in ROWS}


@pytest.mark.parametrize(
    "word", [*Provider, *DeviceState, *StatusReason, *Device, *DeviceReason], ids=lambda w: f"{type(w).__name__}.{w.name}"
)
def test_every_state_and_reason_is_explained(word):
    assert re.search(rf"\b{word.name}\b", PAGE)


@pytest.mark.parametrize(("table", "column"), [(DEVICE_LEVELS, 0), (PROVIDER_LEVELS, 1)])
def test_levels_of_diagnostics_are_those_of_the_table(table, column):
    for state, level in table.items():
        assert state.name in LEVELS[("OK", "WARN", "ERROR", "STALE")[level]][column]
