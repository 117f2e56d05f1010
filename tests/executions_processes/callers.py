"""Somebody who calls several servers that come and go: an answer that was lost is None, and asked for elsewhere."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http.client import OK
from itertools import count
from typing import Any, TypeVar

import httpx2

from tests.executions_processes.programs import Program
from tests.server.processes import MODERN_META, PATIENCE, tool_call
from tests.server.requests import Answer

__all__ = ["Callers", "Envelope", "eventually"]

T = TypeVar("T")

Envelope = dict[str, Any]

_PAUSE = 0.05
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
}


class Callers:
    """Calls of operations, each to any of the servers that are there."""

    def __init__(self, servers: Sequence[Program], http: httpx2.AsyncClient, chance: random.Random) -> None:
        self._servers = servers
        self._http = http
        self._chance = chance
        self._ids = count(1)
        self.lost: Counter[str] = Counter()
        """How often a call of an operation was not answered, or not by the operation itself."""

    @classmethod
    @asynccontextmanager
    async def of(cls, servers: Sequence[Program], chance: random.Random) -> AsyncIterator["Callers"]:
        """Calls over connections that are kept."""
        async with httpx2.AsyncClient(timeout=PATIENCE, limits=httpx2.Limits(max_connections=None)) as http:
            yield cls(servers, http, chance)

    async def ask(self, operation: str, *, tool: str = "mcp_aql_read", **params: object) -> Envelope | None:
        """The envelope that answers a call; None if none comes, or the server's state was away."""
        url = await self._somewhere()
        message = tool_call(next(self._ids), operation, params, tool=tool)
        message["params"]["_meta"] = MODERN_META
        try:
            response = await self._http.post(url, json=message, headers={**_HEADERS, "mcp-name": tool})
            envelope = _read(response)
        except (httpx2.HTTPError, ValueError):  # cut off
            envelope = None
        if envelope is None or _is_away(envelope):
            self.lost[operation] += 1
            await asyncio.sleep(_PAUSE)
            return None
        return envelope

    async def surely(self, operation: str, *, tool: str = "mcp_aql_read", **params: object) -> Envelope:
        """The envelope that answers a call, asked for until one comes: for what may be asked twice."""
        async with asyncio.timeout(2 * PATIENCE):
            while True:
                envelope = await self.ask(operation, tool=tool, **params)
                if envelope is not None:
                    return envelope

    async def greet_all(self) -> None:
        """Have each of the servers answer once."""
        for server in self._servers:
            (await self._http.get(server.url.replace("/mcp", "/health"))).raise_for_status()

    async def _somewhere(self) -> str:
        there = await eventually(lambda: [one.url for one in self._servers if one.url])
        return self._chance.choice(there)


async def eventually(condition: Callable[[], T], seconds: float = 2 * PATIENCE) -> T:
    """What the condition gives once that is true."""
    async with asyncio.timeout(seconds):
        while True:
            if found := condition():
                return found
            await asyncio.sleep(_PAUSE)


def _read(response: httpx2.Response) -> Envelope | None:
    if response.status_code != OK:
        return None
    return Answer(OK, dict(response.headers), response.content).envelope


def _is_away(envelope: Envelope) -> bool:
    """Whether the server could not do its part, since its database is away."""
    return not envelope["success"] and envelope["error"]["code"].startswith("INTERNAL_")
