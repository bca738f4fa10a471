"""The server on a real socket, with a graph that only notes what is asked of it; no ROS."""

import asyncio
import json
import logging
import socket
import ssl
import struct
import threading
import time
from concurrent.futures import Future
from datetime import UTC, datetime

import aiohttp
import pytest

from teleop_web import certificate
from teleop_web.cameras import CameraRoom
from teleop_web.clients import Operators, Pairing
from teleop_web.graph import Answer, Clock
from teleop_web.hub import Hub, Limits
from teleop_web.rest import Rest
from teleop_web.server import Server
from teleop_web.services import Stops

CODE = "246810"
STOP = ["/teleop/estop", "/left/estop", "/right/estop"]
POST = f"POST /api/estop HTTP/1.1\r\nHost: x\r\nX-Pairing-Code: {CODE}\r\nContent-Length: 2\r\n\r\n{{}}".encode()


class Noted:
    """A graph whose services all say done; while ``silent``, only once the test says so to their ``futures``."""

    def __init__(self):
        self.calls, self.log, self.futures, self.silent = [], [], [], False

    def clock(self):
        now = time.monotonic_ns()
        return Clock(now * 1e-9, now, time.time_ns())

    def publish_frame(self, frame):
        """Nobody asks."""

    def snapshot(self):
        return {}

    def call(self, name, **_fields):
        self.calls.append(name)
        self.futures.append(Future())
        if not self.silent:
            self.futures[-1].set_result(Answer(True, "done"))
        return self.futures[-1]

    def cameras(self):
        return []

    def watch_cameras(self, names):
        """Nobody looks."""

    def event(self, text):
        self.log.append(text)


class Site:
    """A running server: ``plain`` and ``secure`` are its ports."""

    def __init__(self, folder):
        self.graph, pairing = Noted(), Pairing(CODE)
        stops = Stops(self.graph, ("left", "right"))
        self.hub = Hub(pairing, Operators(1), lambda frame: None, Limits(), self.graph.event, stops.press)
        rest = Rest(self.graph, self.hub, pairing, stops, ("left", "right"))
        self.server = Server(self.graph, self.hub, rest, CameraRoom(self.graph, pairing), folder)
        context = certificate.context(folder, datetime.now(UTC))
        sites = [("http_port", "127.0.0.1", 0, None), ("https_port", "127.0.0.1", 0, context)]
        self.plain, self.secure = self.server.start(sites, pytest.fail)

    def connect(self, secure):
        raw = socket.create_connection(("127.0.0.1", self.secure if secure else self.plain))
        if not secure:
            return raw
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(raw)

    def stalled(self):
        """Keep the server's loop from running until the event that is returned is set."""
        begun, go_on = threading.Event(), threading.Event()
        self.server.soon(lambda: (begun.set(), go_on.wait(10.0)))
        assert begun.wait(5.0)
        return go_on

    def until(self, condition):
        end = time.monotonic() + 5.0
        while not condition() and time.monotonic() < end:
            time.sleep(0.005)
        return condition()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("pages"))
    yield made
    made.server.stop()


@pytest.fixture
def site(running):
    running.graph.calls.clear()
    running.graph.log.clear()
    running.graph.futures.clear()
    running.graph.silent = False
    return running


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("end", ["closed", "aborted"])
def test_estop_whose_client_is_gone_before_it_is_read_is_carried_out_and_logged(site, secure, end):
    connection = site.connect(secure)
    time.sleep(0.05)  # until the server has accepted it
    go_on = site.stalled()
    connection.sendall(POST)
    if end == "aborted":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif secure:
        connection.settimeout(0.05)
        with pytest.raises((TimeoutError, ssl.SSLError, OSError)):
            connection.unwrap()  # says goodbye in TLS too
    connection.close()
    go_on.set()
    assert site.until(lambda: site.graph.log), "the stop was swallowed"
    assert site.graph.calls == STOP
    assert site.graph.log == ["e-stop from 127.0.0.1: done"]


def test_estop_whose_client_leaves_while_the_services_are_silent_still_ends_with_a_line_in_the_log(site):
    site.graph.silent = True
    with site.connect(False) as connection:
        connection.sendall(POST)
        assert site.until(lambda: site.graph.calls == STOP)
    for future in site.graph.futures:
        future.set_result(Answer(False, "no"))
    assert site.until(lambda: site.graph.log)
    assert "REFUSED /teleop/estop: no" in site.graph.log[0]


def test_estop_of_a_connection_that_was_never_accepted_before_it_closed_is_carried_out(site):
    go_on = site.stalled()
    with site.connect(False) as connection:
        connection.sendall(POST)
    go_on.set()
    assert site.until(lambda: site.graph.calls == STOP)


def test_other_commands_are_carried_out_too_when_their_client_does_not_wait(site):
    connection = site.connect(False)
    time.sleep(0.05)
    go_on = site.stalled()
    connection.sendall(POST.replace(b"/api/estop", b"/api/session/stop"))
    connection.close()
    go_on.set()
    assert site.until(lambda: site.graph.calls == ["/teleop/session/command"])


def test_estop_on_the_control_socket_is_carried_out_and_answered_and_needs_no_living_socket(site):
    async def talk(cut):
        async with aiohttp.ClientSession() as session:
            page = await session.ws_connect(f"http://127.0.0.1:{site.plain}/ws")
            await page.send_str(json.dumps({"type": "hello", "code": CODE, "name": "cockpit", "role": "viewer"}))
            await page.receive()
            if not cut:
                await page.send_str('{"type": "estop"}')
                while (message := await page.receive_json(timeout=5))["type"] != "estop":
                    pass  # states come in between
                return message
            go_on = site.stalled()
            await page.send_str('{"type": "estop"}')
            page._response.connection.transport.abort()  # noqa: SLF001 - a page that is killed
            return go_on.set()

    assert asyncio.run(talk(cut=False)) == {"type": "estop", "success": True, "message": ""}
    assert site.graph.calls == STOP
    site.graph.calls.clear()
    asyncio.run(talk(cut=True))
    assert site.until(lambda: site.graph.calls == STOP)
    assert site.until(lambda: sum("e-stop from 'cockpit'" in line for line in site.graph.log) == 2)


def test_nested_message_leaves_the_socket_open(site, caplog):
    async def talk():
        async with aiohttp.ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{site.plain}/ws") as page:
            await page.send_str(json.dumps({"type": "hello", "code": CODE, "name": "q"}))
            kinds = []
            for depth in range(950, 1000):
                await page.send_str('{"ts_ms":1,"left":{"buttons":{"a":%s}}}' % ("[" * depth + "]" * depth))
                await asyncio.sleep(0)
            await page.send_str('{"type": "ping", "t": 7}')
            while "pong" not in kinds:
                message = await page.receive_json(timeout=5)
                kinds.append(message["type"])
            return kinds

    with caplog.at_level(logging.ERROR):
        assert "pong" in asyncio.run(talk())
    assert not caplog.records
