"""REST, cameras and the start of the gateway as a process."""

import socket
import time

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("aiohttp")

from client import Socket, request  # noqa: E402
from fake_graph import FakeGraph  # noqa: E402

from teleop_common.testing import process  # noqa: E402


@pytest.fixture
def graph(probe):
    return FakeGraph(probe)


def node(state, name):
    return next(n for n in state["nodes"] if n["name"] == name)


def test_every_request_needs_the_code(gateway):
    for path, body in (("/api/state", None), ("/api/cameras", None), ("/api/estop", {}), ("/api/session/start", {})):
        status, answer = request(gateway, path, body, code="no")
        assert status == 401
        assert answer["remedy"]
        break_lock = request(gateway, path, body, code="")
        assert break_lock[0] == 401


def test_state_shows_the_graph_and_names_the_node_that_died(gateway, probe, graph):
    probe.until(lambda: node(request(gateway, "/api/state", plain=True)[1], "guard")["state"] == "ok", what="guard heard")
    state = request(gateway, "/api/state")[1]
    assert state["session"]["state"] == "running"
    probe.until(lambda: request(gateway, "/api/state")[1]["arms"][0]["sink"] == "simulation", what="simulation heard")
    graph.silent.add("guard")
    dead = probe.until(
        lambda: (n := node(request(gateway, "/api/state")[1], "guard"))["state"] == "gone" and n, what="guard gone"
    )
    assert dead["age"] > 0.5
    assert dead["remedy"]


def test_estop_calls_the_guard_and_every_driver(gateway, probe, graph):
    probe.until(lambda: request(gateway, "/api/estop", {})[0] == 200, what="e-stop")
    assert {"/teleop/estop", "/left/estop", "/right/estop"} <= set(graph.calls)
    assert request(gateway, "/api/estop/reset", {})[0] == 200


def test_estop_with_the_right_code_stops_even_during_a_lock_out_and_its_answer_tells_no_guesser(gateway, probe, graph):
    probe.until(lambda: request(gateway, "/api/estop", {})[0] == 200, what="e-stop")
    for _ in range(5):
        assert request(gateway, "/api/estop", {}, code="000000")[0] == 401
    graph.calls.clear()
    wrong = request(gateway, "/api/estop", {}, code="000000")
    assert graph.calls == []
    right = request(gateway, "/api/estop", {})
    assert right[0] == wrong[0] == 401
    assert "too many wrong tries" in right[1]["message"]
    assert right[1].keys() == wrong[1].keys()
    probe.until(lambda: {"/teleop/estop", "/left/estop", "/right/estop"} <= set(graph.calls), what="e-stop carried out")


def test_home_is_asked_for_all_arms_or_for_those_named(gateway, probe, graph):
    probe.until(lambda: request(gateway, "/api/home", {})[0] == 200, what="home")
    assert request(gateway, "/api/home", {"arms": ["left"]})[0] == 200
    assert [call for call in graph.calls if call.startswith("home")] == ["home", "home left"]


def test_session_command_is_passed_on_and_a_missing_service_is_named(gateway, probe, graph):
    probe.until(lambda: request(gateway, "/api/session/start", {})[0] == 200, what="start")
    assert "session 1" in graph.calls
    status, answer = request(gateway, "/api/torque/left", {"on": True})
    assert status == 409
    assert "/left/torque" in answer["message"]


def test_take_is_started_with_its_task_and_ended(gateway, probe, graph):
    probe.until(lambda: request(gateway, "/api/record/start", {"task": "stack"})[0] == 200, what="record start")
    assert request(gateway, "/api/record/end", {})[0] == 200
    assert [call for call in graph.calls if call.startswith("record")] == ["record 2 stack", "record 3"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/session/fly", {}, 404),
        ("/api/record/rewind", {}, 404),
        ("/api/record/start", {"task": 3}, 400),
        ("/api/record/start", {"task": "x" * 501}, 400),
        ("/api/torque/middle", {"on": True}, 404),
        ("/api/torque/left", {"on": "yes"}, 400),
        ("/api/home", {"arms": ["middle"]}, 400),
        ("/api/home", {"arms": "left"}, 400),
        ("/api/home", {"arms": [{}]}, 400),
        ("/api/sim/cubes", {"seed": -1}, 400),
        ("/api/stance", {"stance": 3}, 400),
        ("/api/stance", {"scale": 10**400}, 400),
        ("/api/stance", {"view": "\ud800"}, 400),
        ("/api/session/connect", {"provider": "\ud800"}, 400),
        ("/api/session/connect", b"[1]", 400),
        ("/api/session/connect", b"{", 400),
        ("/api/session/connect", b"x" * 70_000, 413),
    ],
)
def test_wrong_request_is_refused(gateway, path, body, status):
    got, answer = request(gateway, path, body)
    assert got == status
    assert status == 413 or answer["allowed"]


@pytest.fixture
def viewer(gateway, probe, graph):
    probe.until(lambda: "overshoulder" in request(gateway, "/api/cameras")[1]["cameras"], what="camera found")
    made = Socket(gateway.https.replace("https", "wss") + f"/ws/camera?code={gateway.code}")
    yield made
    made.close()


def test_camera_is_received_only_while_somebody_looks(probe, graph, viewer):
    assert graph.camera.get_subscription_count() == 0
    viewer.send("view:overshoulder")
    for _ in range(3):
        assert viewer.receive() == graph.jpeg
        viewer.send("ok")
    viewer.send("view:")
    probe.until(lambda: graph.camera.get_subscription_count() == 0, what="camera left alone")


def test_viewer_that_confirms_nothing_gets_no_more_than_two_pictures(viewer):
    viewer.send("view:overshoulder")
    assert viewer.receive()
    assert viewer.receive()
    with pytest.raises(TimeoutError):
        viewer.receive(0.5)


def test_camera_socket_needs_the_code(gateway):
    with pytest.raises(Exception, match="401"):
        Socket(gateway.https.replace("https", "wss") + "/ws/camera?view=x")


def refused(domain, output, tmp_path, pages, **params):
    settings = {"bind": "127.0.0.1", "https_port": 0, "http_port": 0, "certificate_dir": str(tmp_path), "web_root": str(pages)}
    with process("teleop_web", "web_gateway", domain, settings | params, expect=2) as child:
        child.wait(15)
        output.append(child.stdout.read())
    return output[-1].strip().splitlines()


def test_port_in_use_stops_the_start_with_one_line(domain, tmp_path, pages):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        lines = refused(domain, [], tmp_path, pages, https_port=port)
    assert len(lines) == 1
    assert "https_port" in lines[0]
    assert str(port) in lines[0]


def test_unreadable_certificate_stops_the_start_with_one_line(domain, tmp_path, pages):
    (tmp_path / "web_cert.pem").write_text("nonsense")
    lines = refused(domain, [], tmp_path, pages)
    assert len(lines) == 1
    assert "web_cert.pem" in lines[0]


@pytest.mark.parametrize(
    ("name", "value"), [("web_root", "/nowhere"), ("pairing_code", "12"), ("https_port", 99999), ("bind", "192.0.2.1")]
)
def test_wrong_parameter_stops_the_start_with_one_line(domain, tmp_path, pages, name, value):
    lines = refused(domain, [], tmp_path, pages, **{name: value})
    assert len(lines) == 1
    assert f"'{name}'" in lines[0]


def test_gateway_ends_quickly_with_clients_connected(domain, probe, tmp_path, pages):
    from client import Operator

    from teleop_web import testing

    with testing.gateway(probe, domain, tmp_path, web_root=str(pages)) as address:
        operator = Operator(address)
        operator.until("welcome")
        start = time.monotonic()
    assert time.monotonic() - start < 5.0
    operator.close()
