"""The REST surface: session commands, e-stop, torque, simulation. Same pairing code as the sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from teleop_common.enums import Command, EpisodeCommand
from teleop_web.clients import Pairing
from teleop_web.graph import Answer, Graph
from teleop_web.hub import Hub
from teleop_web.protocol import short
from teleop_web.services import TIMEOUT, Stops, call

RECORD_TIMEOUT = 30.0  # [s]; the end of a take waits for its videos
MAX_TASK = 500  # characters
CONNECT_TIMEOUT = 8.0  # [s]; CONNECT itself waits 2 s for the graph
CODE_ALLOWED = "the pairing code in the header X-Pairing-Code"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def problem(status: int, what: str, allowed: str, remedy: str) -> web.Response:
    """Return an error as JSON: what is wrong, what is allowed, what to do."""
    return web.json_response(
        {"success": False, "what": what, "allowed": allowed, "remedy": remedy, "message": f"{what}; {remedy}"}, status=status
    )


def presented_code(request: web.Request) -> str:
    """Return the pairing code that a request carries: header, bearer token or query."""
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return request.headers.get("X-Pairing-Code") or bearer or request.query.get("code", "")


def _unpaired(reason: str) -> tuple[str, str, str]:
    """Split the reason of a refused code into what is wrong, what is allowed and what to do."""
    what, _, remedy = reason.partition("; ")
    return what, CODE_ALLOWED, remedy


def _answered(answer: Answer) -> web.Response:
    return web.json_response({"success": answer.success, "message": answer.message}, status=200 if answer.success else 409)


class Rest:
    """Handlers of ``/api``."""

    def __init__(self, graph: Graph, hub: Hub, pairing: Pairing, stops: Stops, arms: tuple[str, ...]) -> None:
        """Remember what the handlers need."""
        self._graph, self._hub, self._pairing, self._stops, self._arms = graph, hub, pairing, stops, arms

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        post, get, guarded = web.post, web.get, self._guarded
        return [
            get("/api/state", guarded(self._state)),
            get("/api/cameras", guarded(self._cameras)),
            post("/api/session/{command}", guarded(self._session)),
            post("/api/stance", guarded(self._stance)),
            post("/api/estop", self._estop),
            post("/api/estop/reset", guarded(self._estop_reset)),
            post("/api/home", guarded(self._home)),
            post("/api/record/{command}", guarded(self._record)),
            post("/api/torque/{arm}", guarded(self._torque)),
            post("/api/sim/reset", guarded(self._sim_reset)),
            post("/api/sim/cubes", guarded(self._sim_cubes)),
        ]

    def _guarded(self, handler: Handler) -> Handler:
        """Let only requests with the pairing code through."""

        async def checked(request: web.Request) -> web.StreamResponse:
            now = self._graph.clock().now
            if reason := self._pairing.check(presented_code(request), request.remote or "", now):
                return problem(401, *_unpaired(reason))
            return await handler(request)

        return checked

    async def _body(self, request: web.Request) -> dict[str, Any]:
        text = await request.text()
        try:
            value = json.loads(text) if text.strip() else {}
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text that a service takes
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise web.HTTPBadRequest(
                text=json.dumps(
                    {
                        "success": False,
                        "what": "body: got text that is not a JSON object",
                        "allowed": "a JSON object",
                        "remedy": "mend it",
                    }
                ),
                content_type="application/json",
            )
        return value

    async def _call(self, name: str, timeout: float = TIMEOUT, **fields: Any) -> Answer:
        return await call(self._graph, name, timeout, **fields)

    async def _answer(self, answer: Answer) -> web.Response:
        self._graph.event(f"request answered: {'done' if answer.success else 'REFUSED'} {answer.message}".rstrip())
        return _answered(answer)

    async def _state(self, _request: web.Request) -> web.Response:
        now = self._graph.clock().now
        return web.json_response({"type": "state", **self._graph.snapshot(), **self._hub.report(now)})

    async def _cameras(self, _request: web.Request) -> web.Response:
        return web.json_response({"cameras": self._graph.cameras()})

    async def _session(self, request: web.Request) -> web.Response:
        name = request.match_info["command"]
        allowed = [c.name.lower() for c in Command]
        if name not in allowed:
            return problem(404, f"session command '{name[:40]}': unknown", ", ".join(allowed), "use one of them")
        body = await self._body(request)
        provider = body.get("provider", "")
        if not isinstance(provider, str):
            return problem(400, f"provider: got {short(provider)}", "a string", "name the provider or leave it out")
        return await self._answer(
            await self._call("/teleop/session/command", CONNECT_TIMEOUT, command=int(Command[name.upper()]), provider=provider)
        )

    async def _stance(self, request: web.Request) -> web.Response:
        body = await self._body(request)
        stance, view, scale = body.get("stance", ""), body.get("view", ""), body.get("scale", 0.0)
        if (
            not isinstance(stance, str)
            or not isinstance(view, str)
            or isinstance(scale, bool)
            or not isinstance(scale, float | int)
            or not 0.0 <= scale < 1e9
        ):
            return problem(
                400, "stance: got a wrong type", "stance and view as strings, scale as a number from 0", "mend the body"
            )
        return await self._answer(await self._call("/teleop/session/set_stance", stance=stance, view=view, scale=float(scale)))

    async def _estop(self, request: web.Request) -> web.Response:
        code, address = presented_code(request), request.remote or ""
        reason = self._pairing.check(code, address, self._graph.clock().now)
        if not reason:
            # nothing may be awaited before: a client that is gone already takes its handler with it, and not the stop
            answer = await asyncio.shield(self._stops.press(address))
            return _answered(answer)
        if self._pairing.matches(code):
            # locked out, and yet a stop. The answer is the one that a wrong code gets, at once: else it would tell a
            # guesser which code is right.
            self._stops.press(f"{address}, locked out for wrong codes")
        what, allowed, remedy = _unpaired(reason)
        return problem(401, what, allowed, f"{remedy}; with the right code a stop is carried out even during a lock-out")

    async def _estop_reset(self, _request: web.Request) -> web.Response:
        return await self._answer(await self._call("/teleop/estop/reset"))

    async def _home(self, request: web.Request) -> web.Response:
        arms = (await self._body(request)).get("arms", [])
        if not isinstance(arms, list) or not all(arm in self._arms for arm in arms):
            allowed = f"a list of {', '.join(self._arms)}; empty: all"
            return problem(400, f"arms: got {short(arms)}", allowed, "name arms or leave it out")
        return await self._answer(await self._call("/teleop/home", arms=arms))

    async def _record(self, request: web.Request) -> web.Response:
        name = request.match_info["command"]
        allowed = [c.name.lower() for c in EpisodeCommand]
        if name not in allowed:
            return problem(404, f"record command '{name[:40]}': unknown", ", ".join(allowed), "use one of them")
        task = (await self._body(request)).get("task", "")
        if not isinstance(task, str) or len(task) > MAX_TASK:
            return problem(400, f"task: got {short(task)}", f"text of up to {MAX_TASK} characters", "shorten the task")
        kind = int(EpisodeCommand[name.upper()])
        return await self._answer(await self._call("/teleop/recorder/command", RECORD_TIMEOUT, command=kind, task=task))

    async def _torque(self, request: web.Request) -> web.Response:
        arm, body = request.match_info["arm"], await self._body(request)
        if arm not in self._arms:
            return problem(404, f"arm '{arm[:40]}': unknown", ", ".join(self._arms), "use one of them")
        if not isinstance(body.get("on"), bool):
            return problem(400, f"torque 'on': got {short(body.get('on'))}", "true or false", 'send {"on": true}')
        return await self._answer(await self._call(f"/{arm}/torque", data=body["on"]))

    async def _sim_reset(self, _request: web.Request) -> web.Response:
        return await self._answer(await self._call("/sim/reset"))

    async def _sim_cubes(self, request: web.Request) -> web.Response:
        seed = (await self._body(request)).get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
            return problem(400, f"seed: got {short(seed)}", "an integer from 0 to 2^32 - 1", "send another seed")
        return await self._answer(await self._call("/sim/cubes", seed=seed))
