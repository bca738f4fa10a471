"""The house rules that a machine can hold: layers, sizes, declared dependencies."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
SOURCES = sorted(p for p in ROOT.glob("src/*/*/**/*.py") if "test" not in p.relative_to(ROOT).parts)
MESSAGES = re.compile(r".*_(msgs|interfaces|srvs)$")
# what stands between cores and ROS for every package
SHELL_LIBRARY = {"bag.py", "runner.py", "transport.py", "params.py", "qos.py", "paths.py", "testing.py"}


def imported(path):
    for entry in ast.walk(ast.parse(path.read_text())):
        if isinstance(entry, ast.Import):
            yield from (alias.name.split(".")[0] for alias in entry.names)
        elif isinstance(entry, ast.ImportFrom) and entry.module and not entry.level:
            yield entry.module.split(".")[0]


def is_shell(path):
    if path.parts[-2] == "teleop_common" and path.name in SHELL_LIBRARY:
        return True
    return path.stem.endswith("node") or path.name in ("testing.py", "graph.py", "conversions.py", "cli.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_only_shells_import_ros(path):
    ros = {name for name in imported(path) if name in ("rclpy", "tf2_ros", "rosbag2_py") or MESSAGES.match(name)}
    assert is_shell(path) or not ros, f"{path.name} imports {ros}; move it to a *_node.py shell"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_files_keep_their_size(path):
    lines = len(path.read_text().splitlines())
    allowed = 150 if path.name.endswith("node.py") else 400
    assert lines <= allowed, f"{path.name}: {lines} lines, allowed {allowed}; one concept, one file"


@pytest.mark.parametrize("path", [p for p in SOURCES if not is_shell(p)], ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_cores_read_no_clock(path):
    calls = {
        f"{node.func.value.id}.{node.func.attr}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    }
    clocks = {c for c in calls if c.startswith("time.") or c in ("datetime.now", "datetime.utcnow")}
    allowed = path.name in ("ticker.py", "certificate.py")
    assert allowed or not clocks, f"{path.name} calls {clocks}; take the time as an argument"


@pytest.mark.parametrize("package", sorted((ROOT / "src").glob("*/package.xml")), ids=lambda p: p.parent.name)
def test_package_declares_the_ros_packages_it_imports(package):
    declared = set(re.findall(r"<(?:exec_depend|depend|buildtool_depend)>([^<]+)<", package.read_text()))
    known = {p.parent.name for p in ROOT.glob("src/*/package.xml")} | {p.parent.name for p in ROOT.glob("underlay/*/package.xml")}
    used = set()
    for path in (package.parent / package.parent.name).rglob("*.py"):
        used |= {n for n in imported(path) if n in known or n == "rclpy" or MESSAGES.match(n)}
    missing = used - declared - {package.parent.name}
    assert not missing, f"{package.parent.name}/package.xml lacks <exec_depend> for {sorted(missing)}"


def test_every_dependency_has_its_purpose_written_down():
    text = (ROOT / "docs/dependencies.md").read_text().lower()
    for path in (ROOT / "requirements").glob("*.txt"):
        if path.name.startswith("lock"):
            continue
        for line in path.read_text().splitlines():
            name = re.split(r"[=<>\[ ]", line.strip())[0].lower()
            if name and not name.startswith(("#", "ros-jazzy")):
                assert name in text, f"{path.name}: '{name}' has no purpose in docs/dependencies.md"


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("lock*.txt")), ids=lambda p: p.name)
def test_lock_file_pins_versions_and_carries_no_address(lock):
    for line in lock.read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+!\-]+", line), line


@pytest.mark.parametrize("script", ["teleop", ".ci/run", *map(str, (ROOT / "tools").glob("*.sh"))])
def test_shell_script_parses(script):
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)


def test_every_launch_argument_has_a_description():
    graph = pytest.importorskip("teleop_bringup.graph")
    for name, (_, description, _choices) in graph.ARGUMENTS.items():
        assert len(description) > 10, f"launch argument '{name}' needs a description"
