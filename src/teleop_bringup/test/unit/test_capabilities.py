"""What works here: told by a machine that the test makes up, and on this one without importing anything native."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from teleop_bringup.capabilities import openxr_runtime
from teleop_bringup.capabilities.catalogue import CATALOGUE, survey
from teleop_bringup.capabilities.machine import Machine

MANIFEST = '{"runtime": {"library_path": "libopenxr_monado.so"}}'
WIVRN = '{"runtime": {"library_path": "libopenxr_wivrn.so"}}'
CLOUDXR = '{"runtime": {"library_path": "libopenxr_cloudxr.so"}}'


class Fake(Machine):
    """A machine that has what it is given."""

    def __init__(self, modules=(), files=None, libraries=(), environment=None, architecture="x86_64"):
        super().__init__(environment or {}, architecture)
        object.__setattr__(self, "has", (set(modules), files or {}, set(libraries)))

    def has_module(self, name):
        return name in self.has[0]

    def has_library(self, name):
        return name in self.has[2]

    def has_program(self, name):
        return False

    def exists(self, path):
        return path in self.has[1]

    def text(self, path):
        return self.has[1].get(path)

    def files(self, folder, pattern):
        return [path for path in self.has[1] if path.startswith(folder)]


def of(machine):
    return {(c.kind, c.name): c for c in survey(machine)}


def test_bare_machine_offers_what_needs_nothing_and_says_what_to_do_for_the_rest():
    found = of(Fake())
    assert {name for name, c in found.items() if c.ready} == {("input", "debug"), ("input", "external")}
    assert found["solver", "qp"].missing == ("numpy", "pinocchio", "coal", "pink", "qpsolvers", "daqp")
    assert "requirements/qp.txt" in found["solver", "qp"].remedy
    assert all(c.remedy for c in found.values() if not c.ready)


def test_installed_is_told_from_ready():
    cameras = of(Fake(modules=("mujoco", "PIL")))["renderer", "cameras"]
    assert (cameras.works, cameras.ready) == (True, False)
    assert "libegl1" in cameras.remedy
    vendor = {"/usr/share/glvnd/egl_vendor.d/50_mesa.json": "{}"}
    for libraries, ready in ((("EGL", "OpenGL"), True), (("EGL", "GL"), True), (("EGL",), False)):
        found = of(Fake(modules=("mujoco", "PIL"), libraries=libraries, files=vendor))["renderer", "cameras"]
        assert found.ready == ready


@pytest.mark.parametrize(
    ("environment", "files", "words"),
    [
        ({}, {}, "no OpenXR runtime is set up"),
        ({"XR_RUNTIME_JSON": "/a.json"}, {}, "/a.json cannot be read"),
        ({"XR_RUNTIME_JSON": "/a.json"}, {"/a.json": "[]"}, "no manifest"),
        ({"XR_RUNTIME_JSON": "/a.json"}, {"/a.json": '{"runtime": {"library_path": "./lib/x.so"}}'}, "x.so"),
        ({"XR_RUNTIME_JSON": "/a.json"}, {"/a.json": '{"runtime": {"library_path": "./lib/x.so"}}', "/lib/x.so": ""}, ""),
        ({}, {"/etc/xdg/openxr/1/active_runtime.json": MANIFEST}, "monado-service"),
        ({"HOME": "/h"}, {"/h/.config/openxr/1/active_runtime.json": MANIFEST}, "monado-service"),
        (
            {"XDG_RUNTIME_DIR": "/run/u"},
            {"/etc/xdg/openxr/1/active_runtime.json": MANIFEST, "/run/u/monado_comp_ipc": ""},
            "",
        ),
        ({"XR_RUNTIME_JSON": "/a.json", "XDG_RUNTIME_DIR": "/run/u"}, {"/a.json": WIVRN}, "wivrn-server"),
        ({"XR_RUNTIME_JSON": "/a.json", "XDG_RUNTIME_DIR": "/run/u"}, {"/a.json": WIVRN, "/run/u/wivrn/comp_ipc": ""}, ""),
        ({"XR_RUNTIME_JSON": "/a.json", "XDG_RUNTIME_DIR": "/run/u"}, {"/a.json": CLOUDXR}, "CloudXR"),
        ({"XR_RUNTIME_JSON": "/a.json", "NV_CXR_RUNTIME_DIR": "/c"}, {"/a.json": CLOUDXR, "/c/ipc_cloudxr": ""}, ""),
        ({"XR_RUNTIME_JSON": "/w/monado/a.json"}, {"/w/monado/a.json": '{"runtime": {"library_path": "libother.so"}}'}, ""),
    ],
)
def test_runtime_that_would_not_answer_is_told_with_what_to_do(environment, files, words):
    said = openxr_runtime.unready(Fake(files=files, environment=environment))
    assert (words in said) if words else said == ""


@pytest.mark.parametrize(("machine", "abi"), [("x86_64", "x86_64"), ("aarch64", "aarch64"), ("armv7l", "armv7a-vfp")])
def test_manifest_of_this_architecture_goes_before_the_one_for_all(machine, abi):
    files = {f"/etc/xdg/openxr/1/active_runtime{end}.json": MANIFEST for end in (f".{abi}", ".other", "")}
    found = openxr_runtime.manifest_path(Fake(files=files, architecture=machine))
    assert found == f"/etc/xdg/openxr/1/active_runtime.{abi}.json"
    assert openxr_runtime.manifest_path(Fake(files=files, architecture="riscv64")) == "/etc/xdg/openxr/1/active_runtime.json"


def test_catalogue_names_every_solver_and_every_input_of_the_launch():
    solver = pytest.importorskip("teleop_ik.solver")
    assert {e.name for e in CATALOGUE if e.kind == "solver"} == set(solver.SOLVERS)
    graph = pytest.importorskip("teleop_bringup.graph")
    assert {e.name for e in CATALOGUE if e.kind == "input"} == set(graph.ARGUMENTS["input"][2])


def test_command_prints_json_and_imports_nothing_native():
    native = "{'numpy', 'mujoco', 'pinocchio', 'coal', 'xr', 'rclpy', 'av', 'h5py', 'pyarrow', 'PIL', 'cryptography'}"
    code = (
        "import sys; from teleop_bringup.capabilities.cli import main; main(['--json'])\n"
        f"loaded = {native} & set(sys.modules)\nassert not loaded, loaded"
    )
    package = str(Path(sys.modules["teleop_bringup.capabilities.catalogue"].__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {package!r})\n{code}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["capabilities"]
    assert [c["name"] for c in found] == [e.name for e in CATALOGUE]
    assert set(found[0]) == {"kind", "name", "use", "works", "ready", "missing", "remedy"}
