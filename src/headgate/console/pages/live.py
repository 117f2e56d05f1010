"""News for open pages, as server-sent events: a page that hears that something has changed asks for itself anew."""

import hashlib
from collections.abc import AsyncIterator
from typing import Final

import anyio
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.responses import Response

from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.console.signing_in import is_signed_in
from headgate.safety.approvals import waiting
from headgate.safety.loop.agents import AGENT
from headgate.safety.loop.persons import challenges

__all__ = ["doors"]

_SECONDS_BETWEEN_LOOKS: Final = 1.0
_LOOKS_BETWEEN_CHARTS: Final = 5


def doors(console: Console) -> list[Door]:
    """The routes of news."""

    async def listen(visit: Visit) -> Response:
        return EventSourceResponse(_news(console, visit), ping=15)

    return [Door("GET", "/live", listen)]


async def _news(console: Console, visit: Visit) -> AsyncIterator[ServerSentEvent]:
    """An event whenever something has changed; requests count as a change, but not each of them at once.

    The first comes at once: something may have changed since the page was made, or while nobody was connected.
    """
    before, looks, requests = "", 0, 0
    while not console.closing.is_set() and await is_signed_in(console.store, visit.operator, console.clock):
        state = await _state(console)
        looks += 1
        counted = sum(minute.requests for minute in console.metrics.minutes()) if console.metrics else 0
        is_due = looks % _LOOKS_BETWEEN_CHARTS == 0 and counted != requests
        if state != before or is_due:
            yield ServerSentEvent(data=state, event="changed")
            before, requests = state, counted
        with anyio.move_on_after(_SECONDS_BETWEEN_LOOKS):
            await console.closing.wait()


async def _state(console: Console) -> str:
    """What tells two states of what pages show apart; nothing follows from it."""
    now = console.clock()
    head = await console.store.head()
    parts = [
        str(head),
        *(grant.id for grant in await waiting(console.store, now)),
        *(challenge.id for challenge in await challenges(console.store, now)),
        *(f"{record.key} {record.version}" for record in await console.store.list(AGENT)),
    ]
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
