"""The pages' words for what the graph says by number."""

from pathlib import Path

import pytest

from teleop_common.enums import Authority, DeviceState, Provider, Reason, StatusReason

WORDS = (Path(__file__).resolve().parents[2] / "web/src/words.ts").read_text()
DEVICES = (Path(__file__).resolve().parents[2] / "web/src/devices.ts").read_text()


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_of_a_joint_has_words(reason):
    assert f"  {reason.name.lower()}: ['" in WORDS


@pytest.mark.parametrize("state", Authority)
def test_every_state_of_an_arm_has_words(state):
    assert f"    case '{state.name.lower()}':" in WORDS
    assert f"  {state.name}: '" in WORDS


@pytest.mark.parametrize("word", [*Provider, *DeviceState, *StatusReason], ids=lambda w: f"{type(w).__name__}.{w.name}")
def test_every_state_and_reason_of_a_device_has_words(word):
    table = {Provider: "PROVIDER", DeviceState: "DEVICE", StatusReason: "REASONS"}[type(word)]
    assert f"  {word.name.lower()}: " in DEVICES.split(f"const {table}:")[1].split("};")[0]
