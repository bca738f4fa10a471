"""Every launch of these tests writes its logs into a directory of its own and leaves the environment as it was."""

import os

import pytest


@pytest.fixture(autouse=True)
def _own_logs_and_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
