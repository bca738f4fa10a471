"""Services of the graph as the web server calls them, and the e-stop, which is always carried out to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from teleop_web.graph import Answer, Graph

TIMEOUT = 5.0  # [s] that a service may take


async def call(graph: Graph, name: str, timeout: float = TIMEOUT, **fields: Any) -> Answer:
    """Call a service; a missing or silent server is an answer too.

    Args:
        graph: the graph.
        name: of the service.
        timeout: how long its answer may take [s].
        fields: of the request.
    """
    try:
        return await asyncio.wait_for(asyncio.wrap_future(graph.call(name, **fields)), timeout)
    except ConnectionError:
        return Answer(
            False, f"service '{name}': got no server, allowed a running node that offers it; see the node list on the page"
        )
    except TimeoutError:
        return Answer(False, f"service '{name}': got no answer within {timeout:g} s; its node hangs or is restarting, try again")


async def call_all(graph: Graph, names: Iterable[str]) -> Answer:
    """Call several Trigger services at once; success when all of them succeed, every failure named."""
    listed = tuple(names)
    answers = await asyncio.gather(*(call(graph, name) for name in listed))
    failed = [f"{name}: {answer.message}" for name, answer in zip(listed, answers, strict=True) if not answer.success]
    said = dict.fromkeys(answer.message for answer in answers if answer.message not in ("", "done"))
    return Answer(not failed, "; ".join(failed or said))


class Stops:
    """E-stops that were asked for. Each runs to its end, whether or not the one who asked waits or is still there.

    Args:
        graph: the graph.
        arms: names of the arms.
    """

    def __init__(self, graph: Graph, arms: tuple[str, ...]) -> None:
        """Start with none."""
        self._graph = graph
        # the guard and every driver latch by themselves: whichever of them is alive stops its arm
        self._services = ("/teleop/estop", *(f"/{arm}/estop" for arm in arms))
        self._running: set[asyncio.Task[Answer]] = set()

    def press(self, who: str, told: Callable[[Answer], None] | None = None) -> asyncio.Task[Answer]:
        """Stop, from the event loop's thread; whoever awaits the task has to shield it.

        Args:
            who: for the log.
            told: called with the outcome.
        """
        task = asyncio.create_task(self._stop(who, told))
        self._running.add(task)  # the loop itself keeps no task alive
        task.add_done_callback(self._running.discard)
        return task

    async def _stop(self, who: str, told: Callable[[Answer], None] | None) -> Answer:
        answer = await call_all(self._graph, self._services)
        self._graph.event(f"e-stop from {who}: {'done' if answer.success else 'REFUSED'} {answer.message}".rstrip())
        if told is not None:
            told(answer)
        return answer
