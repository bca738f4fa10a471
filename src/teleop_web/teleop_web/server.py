"""The HTTPS and WSS server: pages, control socket, camera socket, REST; an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import json
import ssl
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from socket import gaierror
from typing import Any

from aiohttp import WSMsgType, web

from teleop_common.errors import ConfigError
from teleop_web.cameras import CameraRoom
from teleop_web.clients import Doorstep
from teleop_web.graph import Graph
from teleop_web.hub import CLOSE_REFUSED, Hub, Peer
from teleop_web.protocol import MAX_BYTES, FrameError
from teleop_web.rest import Rest, problem

STATE_HZ = 10.0
HELLO_TIMEOUT = 5.0  # [s]
# above our own limit, so that a message a little too long is answered and not cut off; beyond this the socket closes
HARD_MAX_BYTES = 16 * MAX_BYTES
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def _same_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what another site's page sends: a browser names the page's origin in every socket and POST."""
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != request.host:
        return problem(
            403,
            f"origin: got '{origin[:80]}'",
            f"the page of this server ({request.host[:80]})",
            "open the page from this server",
        )
    response = await handler(request)
    if not response.prepared:
        response.headers.update(_SECURITY)
    return response


def _no_site(name: str, host: str, port: int, error: OSError) -> ConfigError:
    """Return the error of a site that cannot listen: the address is at fault, or the port."""
    if isinstance(error, gaierror) or error.errno == errno.EADDRNOTAVAIL:
        allowed = "an address of this machine, 127.0.0.1 for this machine alone, or 0.0.0.0 for all"
        return ConfigError("parameter", "bind", host, allowed, "'hostname -I' lists the addresses")
    allowed = f"a free port on {host} ({error.strerror or error}), or 0 for any"
    return ConfigError("parameter", name, port, allowed, "end the program that uses it or choose another")


class Server:
    """Serves one graph on HTTPS and, for the desktop page, on plain HTTP of this host alone.

    Args:
        graph: the graph.
        hub: the control socket's logic; used only in the server's thread once it runs.
        rest: REST handlers.
        cameras: the camera socket.
        web_root: directory of the built pages.
    """

    def __init__(self, graph: Graph, hub: Hub, rest: Rest, cameras: CameraRoom, web_root: Path) -> None:
        """Prepare; nothing listens yet."""
        self._graph, self.hub, self._rest, self.cameras, self._root = graph, hub, rest, cameras, web_root
        self.loop = asyncio.new_event_loop()
        self._doorstep = Doorstep()
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self.failure: BaseException | None = None

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[_same_origin], client_max_size=MAX_BYTES)
        page = self._page
        app.add_routes([web.get("/", page("index.html")), web.get("/vr", page("vr.html")), web.get("/ws", self._socket)])
        app.add_routes([web.get("/ws/camera", self.cameras.socket), *self._rest.routes()])
        if (self._root / "assets").is_dir():
            app.add_routes([web.static("/assets", self._root / "assets")])
        return app

    def _page(self, name: str) -> Handler:
        async def serve(_request: web.Request) -> web.StreamResponse:
            return web.FileResponse(self._root / name)

        return serve

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        address = request.remote or ""
        if reason := self._doorstep.enter(address):
            self.hub.counts["crowded_out"] += 1
            return problem(503, reason, "a hello at once", "say hello, or wait a few seconds")
        try:
            # frames are small and must not wait: no compression
            socket = web.WebSocketResponse(heartbeat=5.0, max_msg_size=HARD_MAX_BYTES, compress=False)
            peer, wake = await self._greet(socket, request, address)
        finally:
            self._doorstep.leave(address)
        if peer is None:
            return socket
        writer = asyncio.create_task(self._write(socket, peer, wake))
        try:
            await self._read(socket, peer)
        finally:
            writer.cancel()
            self.hub.bye(peer, self._graph.clock().now)
        return socket

    async def _greet(
        self, socket: web.WebSocketResponse, request: web.Request, address: str
    ) -> tuple[Peer | None, asyncio.Event]:
        """Hear the hello; None when there was no good one, and the socket is closed."""
        wake = asyncio.Event()
        try:
            # of the whole wait: the socket's own time-out begins anew with every ping
            async with asyncio.timeout(HELLO_TIMEOUT):
                await socket.prepare(request)
                first = await socket.receive()
            if first.type is not WSMsgType.TEXT:
                raise FrameError("no_hello", "first message: got no text, allowed a hello")
            return self.hub.hello(first.data, request.query.get("code", ""), address, self._graph.clock().now, wake.set), wake
        except TimeoutError:
            self.hub.counts["no_hello"] += 1
            await socket.close(code=CLOSE_REFUSED, message=b"no hello")
        except FrameError as error:
            self.hub.counts[error.kind] += 1
            await socket.send_str(json.dumps({"type": "refused", "kind": error.kind, "reason": error.reason}))
            await socket.close(code=CLOSE_REFUSED, message=error.kind.encode())
        return None, wake

    async def _read(self, socket: web.WebSocketResponse, peer: Peer) -> None:
        hub, clock = self.hub, self._graph.clock
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                hub.on_text(peer, message.data, clock())
            elif message.type is WSMsgType.BINARY:
                reason = f"message: got {len(message.data)} bytes of binary, allowed text; send JSON"
                hub.refuse(peer, FrameError("binary", reason), clock().now)
            elif message.type is WSMsgType.ERROR:
                hub.counts["broken_socket"] += 1

    async def _write(self, socket: web.WebSocketResponse, peer: Peer, wake: asyncio.Event) -> None:
        try:
            while True:
                await wake.wait()
                wake.clear()
                while peer.outbox:
                    await socket.send_str(peer.outbox.popleft())
                if peer.close:
                    await socket.close(code=peer.close, message=b"replaced")
                    return
                state, peer.state = peer.state, None
                if state is not None:
                    await socket.send_str(state)
        except (ConnectionError, RuntimeError):
            return  # the reader sees the same end and says goodbye

    async def _states(self) -> None:
        while True:
            await asyncio.sleep(1.0 / STATE_HZ)
            self.cameras.refresh()
            if self.hub.peers:
                clock = self._graph.clock()
                state = self._graph.snapshot() | {"cameras": self._graph.cameras()}
                self.hub.broadcast_state(state, clock.now, clock.stamp_ns // 1_000_000)

    async def _main(
        self, sites: list[tuple[str, str, int, ssl.SSLContext | None]], ports: list[int], ready: threading.Event
    ) -> None:
        # a request that has come is carried out, whether or not its client waits for the answer (no handler_cancellation)
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        try:
            for name, host, port, secure in sites:
                site = web.TCPSite(runner, host, port, ssl_context=secure)
                try:
                    await site.start()
                except OSError as error:
                    raise _no_site(name, host, port, error) from error
                ports.append(runner.addresses[-1][1])
            states = asyncio.create_task(self._states())
            ready.set()
            stop = asyncio.create_task(self._stop.wait())
            await asyncio.wait({states, stop}, return_when=asyncio.FIRST_COMPLETED)
            if states.done():
                states.result()
            states.cancel()
        finally:
            await runner.cleanup()

    def start(
        self, sites: list[tuple[str, str, int, ssl.SSLContext | None]], on_failure: Callable[[BaseException], None]
    ) -> list[int]:
        """Listen on every site (parameter name, address, port, TLS) and return the ports.

        Raises:
            ConfigError: a port cannot be had.
        """
        ports: list[int] = []
        ready = threading.Event()

        def serve() -> None:
            try:
                self.loop.run_until_complete(self._main(sites, ports, ready))
            except BaseException as error:  # noqa: BLE001 - handed to the main thread, which ends the process
                self.failure = error
                if ready.is_set():
                    on_failure(error)
            ready.set()

        self._thread = threading.Thread(target=serve, name="web", daemon=True)
        self._thread.start()
        ready.wait(10.0)
        if self.failure is not None:
            raise self.failure
        return ports

    def soon(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Run ``callback`` in the server's thread, from any thread."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(callback, *arguments)

    def stop(self) -> None:
        """Stop listening and close every socket."""
        if self._thread is not None and self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(3.0)
