"""Configuration and records as plain values and back."""

import json
from pathlib import Path

import pytest

from teleop_common import cell, limits
from teleop_common.errors import ConfigError
from teleop_common.plain import from_plain, to_plain
from teleop_common.records import JointTargets

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    "value",
    [limits.load(ROOT / "config/limits/so101.yaml"), cell.load(ROOT / "config/cell.yaml"), JointTargets()],
    ids=lambda value: type(value).__name__,
)
def test_values_written_as_json_come_back_equal(value):
    text = json.dumps(to_plain(value))
    assert from_plain(type(value), json.loads(text), "it", "") == value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"robot": None}, "it.robot"),
        ({"robot": ...}, "it.robot': got None, allowed present"),
        ({"magic": 1}, "it.magic"),
        ({"joints": 3}, "it.joints"),
        ({"velocity_ceiling": "fast"}, "it.velocity_ceiling"),
        ({"velocity_ceiling": True}, "it.velocity_ceiling"),
    ],
)
def test_a_field_that_is_wrong_is_named_with_the_remedy(change, said):
    data = to_plain(limits.load(ROOT / "config/limits/so101.yaml")) | change
    data = {key: value for key, value in data.items() if value is not ...}
    with pytest.raises(ConfigError, match="record again") as caught:
        from_plain(limits.RobotLimits, data, "it", "record again")
    assert said in str(caught.value)


def test_a_whole_number_is_a_fine_float():
    data = to_plain(limits.load(ROOT / "config/limits/so101.yaml")) | {"velocity_ceiling": 5}
    assert from_plain(limits.RobotLimits, data, "it", "").velocity_ceiling == 5.0
