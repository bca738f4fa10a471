"""The pages' words for what the graph says by number."""

from pathlib import Path

import pytest

from teleop_common.enums import Authority, Reason

WORDS = (Path(__file__).resolve().parents[2] / "web/src/words.ts").read_text()


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_of_a_joint_has_words(reason):
    assert f"  {reason.name.lower()}: ['" in WORDS


@pytest.mark.parametrize("state", Authority)
def test_every_state_of_an_arm_has_words(state):
    assert f"    case '{state.name.lower()}':" in WORDS
    assert f"  {state.name}: '" in WORDS
