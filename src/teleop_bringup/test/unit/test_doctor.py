"""What the doctor says of a workspace: absent, up to date, or built from other sources."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def workspace(tmp_path):
    """A workspace with one package, not built yet."""
    for name in ("src/p", "underlay", "launch", "config", "src/teleop_web/web", ".venv/stamps"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    (tmp_path / "src/p/package.xml").write_text("<package/>")
    return tmp_path


def said(workspace):
    """Return what the doctor says of the workspace."""
    done = subprocess.run(["bash", str(workspace / "tools/doctor.sh")], capture_output=True, text=True, timeout=60)
    return next(line for line in done.stdout.splitlines() if " workspace " in line)


def test_workspace_that_is_absent_or_built_from_other_sources_is_not_called_built(workspace):
    assert "not built yet" in said(workspace)
    (workspace / "install").mkdir()
    (workspace / "install/local_setup.bash").touch()
    script = f'root={workspace}; . "$root/tools/setup.sh"; workspace_inputs | sha256sum | cut -c1-16'
    stamp = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    (workspace / ".venv/stamps/workspace").write_text(stamp)
    assert said(workspace).split() == ["ok", "workspace", "built"]
    (workspace / "src/p/package.xml").write_text("<package><name>p</name></package>")
    assert "built from other sources" in said(workspace)
