"""Watching and starting processes, with real ones."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teleop_diagnostics.processes import Children, Watcher
from teleop_diagnostics.verdict import Exit


def until(condition):
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise TimeoutError


def test_end_of_a_process_is_noticed_once_and_of_no_other():
    watcher = Watcher()
    first, second = (subprocess.Popen(["sleep", "60"]) for _ in range(2))
    try:
        for child in (first, second, first):
            watcher.watch(child.pid)
        assert watcher.ended() == []
        first.kill()
        assert until(watcher.ended) == [first.pid]
        assert watcher.ended() == []
        first.wait()
        with pytest.raises(ProcessLookupError):
            watcher.watch(first.pid)
    finally:
        watcher.close()
        for child in (first, second):
            child.kill()
            child.wait()


@pytest.mark.parametrize(
    ("code", "how"),
    [("", Exit(0, 0)), ("raise SystemExit(3)", Exit(3, 0)), ("import os; os.kill(os.getpid(), 9)", Exit(None, 9))],
)
def test_child_that_ends_says_how(tmp_path, code, how):
    children = Children()
    pid = children.start("it", [sys.executable, "-c", code], tmp_path)
    assert until(children.ended) == [(pid, how)]


def test_child_that_ignores_sigterm_is_killed_and_its_own_child_with_it(tmp_path):
    children = Children()
    code = (
        "import signal, subprocess; signal.signal(15, signal.SIG_IGN); c = subprocess.Popen(['sleep', '60']); "
        "open('pid', 'w').write(str(c.pid)); c.wait()"
    )
    children.start("it", [sys.executable, "-c", code], tmp_path)
    grandchild = int(until(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text()))
    children.stop(0.2)
    stat = Path(f"/proc/{grandchild}/stat")
    until(lambda: not stat.exists() or stat.read_text().split()[2] == "Z")


def test_program_that_is_not_there_is_named(tmp_path):
    for program in ("no-such-program", "./absent"):
        with pytest.raises(FileNotFoundError, match=program):
            Children().start("it", [program], tmp_path)


def test_child_starts_in_its_folder(tmp_path):
    (tmp_path / "run").write_text("#!/bin/sh\npwd > here\n")
    (tmp_path / "run").chmod(0o755)
    children = Children()
    children.start("it", ["./run"], tmp_path)
    until(children.ended)
    assert (tmp_path / "here").read_text().strip() == str(tmp_path.resolve())


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv of util-linux is not installed")
def test_child_ends_with_a_parent_that_was_killed():
    code = (
        "import time; from pathlib import Path; from teleop_diagnostics.processes import Children\n"
        "print(Children().start('it', ['sleep', '60'], Path('.')), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        stat = Path(f"/proc/{int(parent.stdout.readline())}/stat")
        until(lambda: "(sleep)" in stat.read_text())
        parent.kill()
    until(lambda: not stat.exists() or stat.read_text().split()[2] == "Z")
