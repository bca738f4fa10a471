"""Only the node shells import rclpy."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "teleop_web"
CORES = [p for p in PACKAGE.glob("*.py") if not p.stem.endswith("node") and p.name not in ("testing.py", "params.py")]


@pytest.mark.parametrize("path", CORES, ids=lambda p: p.name)
def test_core_imports_neither_rclpy_nor_messages(path):
    for entry in ast.walk(ast.parse(path.read_text())):
        names = (
            [a.name for a in entry.names]
            if isinstance(entry, ast.Import)
            else [entry.module or ""]
            if isinstance(entry, ast.ImportFrom)
            else []
        )
        assert not [n for n in names if n.split(".")[0] == "rclpy" or n.split(".")[0].endswith("_msgs")]
