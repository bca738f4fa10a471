"""``./teleop arm``: exit status, JSON on standard output alone, questions that nobody answers."""

import io
import json
from pathlib import Path

import pytest

from teleop_hw_so101.tools import cli
from teleop_hw_so101.tools.desk import ToolError
from teleop_hw_so101.tools.talk import Terminal

LIMITS = ["--limits", str(Path(__file__).resolve().parents[4] / "config/limits/so101.yaml")]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def run(capsys, *arguments):
    status = cli.main([*arguments, "--json", *LIMITS])
    out, err = capsys.readouterr()
    return status, json.loads(out.splitlines()[-1]), err


def test_port_that_is_not_there_ends_with_1_and_says_so_in_json_and_words(capsys):
    status, result, words = run(capsys, "ping", "/dev/no-such-port")
    assert (status, result["ok"], result["command"]) == (1, False, "ping")
    assert "/dev/no-such-port" in result["error"]
    assert "/dev/no-such-port" in words


@pytest.mark.parametrize(
    "arguments",
    [
        ("monitor", "left", "--rate", "100"),
        ("id", "/dev/x", "--to", "254"),
        ("calibrate", "left", "--port", "/dev/x", "--limits", "/no"),
    ],
)
def test_value_that_cannot_be_ends_with_2(capsys, arguments):
    status = cli.main([*arguments, "--json", *(LIMITS if "--limits" not in arguments else ())])
    assert status == 2
    assert json.loads(capsys.readouterr().out)["error"]


def test_arm_without_a_port_asks_for_one(capsys, monkeypatch):
    monkeypatch.setattr(cli.arms, "serial_ports", tuple)
    status, result, _ = run(capsys, "check", "left")
    assert status == 1
    assert "--port" in result["error"]


def test_question_without_anybody_is_no_yes(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(ToolError, match="--yes"):
        Terminal(as_json=True, yes=False).ask("really?", ("y", "n"))
    assert Terminal(as_json=True, yes=True).ask("really?", ("y", "n")) == "y"


def test_answer_that_is_none_of_the_choices_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("perhaps\nN\n"))
    assert Terminal(as_json=True, yes=False).ask("really?", ("y", "n")) == "n"


def test_brackets_of_units_and_values_are_shown(capsys):
    Terminal(as_json=False, yes=False).table("a [b]", ("x [ms]", ""), [("[1]", "[bold]")])
    out = capsys.readouterr().out
    for text in ("a [b]", "x [ms]", "[1]", "[bold]"):
        assert text in out
