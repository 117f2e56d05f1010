"""News for open pages, as server-sent events: a page that hears that something has changed asks for itself anew."""

import hashlib
from collections.abc import AsyncIterator
from math import inf
from typing import Final

import anyio
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.responses import Response

from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.console.signing_in import is_signed_in
from headgate.executions.persons import Signs, signs
from headgate.safety.approvals import waiting
from headgate.safety.loop.persons import challenges

__all__ = ["doors"]

_SECONDS_BETWEEN_LOOKS: Final = 1.0
_LOOKS_BETWEEN_CHARTS: Final = 5
_LOOKS_WHILE_QUIET: Final = 3


def doors(console: Console) -> list[Door]:
    """The routes of news."""

    async def listen(visit: Visit) -> Response:
        return EventSourceResponse(_news(console, visit), ping=15)

    return [Door("GET", "/live", listen)]


async def _news(console: Console, visit: Visit) -> AsyncIterator[ServerSentEvent]:
    """An event whenever something has changed; requests count as a change, but not each of them at once.

    That executions have got on, and nothing else, is an event of its own, for pages that show it. The first event comes
    at once: something may have changed since the page was made, or while nobody was connected.
    """
    watch = _Watch(console)
    before, progress, looks, requests = "", "", 0, 0
    while not console.closing.is_set() and await is_signed_in(console.store, visit.operator, console.clock):
        state = await watch.state()
        looks += 1
        counted = sum(minute.requests for minute in console.metrics.minutes()) if console.metrics else 0
        is_due = looks % _LOOKS_BETWEEN_CHARTS == 0 and counted != requests
        if state != before or is_due:
            yield ServerSentEvent(data=state, event="changed")
            before, requests = state, counted
        elif watch.progress != progress:
            yield ServerSentEvent(data=watch.progress, event="moved")
        progress = watch.progress
        with anyio.move_on_after(_SECONDS_BETWEEN_LOOKS):
            await console.closing.wait()


class _Watch:
    """What tells two states of what pages show apart; nothing follows from it.

    Whatever changes is written in the audit, but for what time alone ends. So all that waits is read only when there is
    something new: who puts many large calls before a person does not keep the server busy with open pages. Executions
    go on without the audit: while any is unfinished they are looked at each time, while none is, less often.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._head = ""
        self._next_end = inf
        self._signs = Signs("", "", is_quiet=True)
        self._looks = 0

    async def state(self) -> str:
        """The state now, in a word."""
        now, head = self._console.clock(), str(await self._console.store.head())
        await self._look_at_executions(is_new=head != self._head)
        if head != self._head or now >= self._next_end:
            ends = [grant.expires_at for grant in await waiting(self._console.store, now)]
            ends += [challenge.expires_at for challenge in await challenges(self._console.store, now)]
            self._head, self._next_end = head, min((end for end in ends if end > now), default=inf)
        return hashlib.sha256(f"{self._head} {self._next_end} {self._signs.states}".encode()).hexdigest()[:16]

    @property
    def progress(self) -> str:
        """How far all executions are, in a word."""
        return self._signs.progress

    async def _look_at_executions(self, *, is_new: bool) -> None:
        is_due = self._looks % _LOOKS_WHILE_QUIET == 0
        self._looks += 1
        if is_new or is_due or not self._signs.is_quiet:
            self._signs = await signs(self._console.store)
