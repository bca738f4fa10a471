"""The camera socket: each client chooses one view and gets its newest picture whenever it is ready for one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from teleop_web.clients import Pairing
from teleop_web.graph import Graph
from teleop_web.rest import presented_code, problem

# pictures sent and not yet confirmed: one on the way, one being decoded; a slow link lowers the rate, never adds delay
MAX_IN_FLIGHT = 2
MAX_VIEWERS = 32


@dataclass(eq=False)
class _Viewer:
    view: str
    fresh: asyncio.Event = field(default_factory=asyncio.Event)
    picture: bytes | None = None
    in_flight: int = 0


class CameraRoom:
    """All viewers. Pictures are handed over in the server's thread.

    Args:
        graph: subscribes to the cameras that somebody looks at.
        pairing: checks codes.
    """

    def __init__(self, graph: Graph, pairing: Pairing) -> None:
        """Start without viewers."""
        self._graph, self._pairing = graph, pairing
        self._viewers: set[_Viewer] = set()

    def refresh(self) -> None:
        """Tell the graph which cameras are looked at."""
        self._graph.watch_cameras({v.view for v in self._viewers if v.view})

    def picture(self, camera: str, jpeg: bytes) -> None:
        """Take a camera's newest picture."""
        for viewer in self._viewers:
            if viewer.view == camera:
                viewer.picture = jpeg
                viewer.fresh.set()

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """Serve one viewer: text ``view:NAME`` chooses, text ``ok`` confirms a picture, pictures are binary JPEG."""
        if reason := self._pairing.check(presented_code(request), request.remote or "", self._graph.clock().now):
            return problem(401, reason, "the pairing code in the query", "use the code printed by the gateway")
        if len(self._viewers) >= MAX_VIEWERS:
            return problem(503, f"viewers: got one more than {MAX_VIEWERS}", f"{MAX_VIEWERS}", "close a page")
        socket = web.WebSocketResponse(heartbeat=5.0, max_msg_size=1024, compress=False)
        await socket.prepare(request)
        viewer = _Viewer(request.query.get("view", ""))
        self._viewers = self._viewers | {viewer}
        writer = asyncio.create_task(self._write(socket, viewer))
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                if message.data == "ok":
                    viewer.in_flight = max(0, viewer.in_flight - 1)
                    viewer.fresh.set()
                elif message.data.startswith("view:"):
                    viewer.view, viewer.picture = message.data[5:], None
                    self.refresh()
        finally:
            writer.cancel()
            self._viewers = self._viewers - {viewer}
            self.refresh()
        return socket

    async def _write(self, socket: web.WebSocketResponse, viewer: _Viewer) -> None:
        try:
            while True:
                await viewer.fresh.wait()
                viewer.fresh.clear()
                if viewer.picture is None or viewer.in_flight >= MAX_IN_FLIGHT:
                    continue
                picture, viewer.picture = viewer.picture, None
                viewer.in_flight += 1
                await socket.send_bytes(picture)
        except (ConnectionError, RuntimeError):
            return  # the reader sees the same end
