"""A hostile agent with all of MCP never gets past what holds it up: 500 scenarios and more, over several transports."""

import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, Self

import anyio
import pytest
import uvicorn

from headgate.safety.approvals import approve
from headgate.server.addresses import Address, listen
from headgate.server.binding import McpServer
from headgate.server.http import PATH, Access, http_app
from headgate.server.settings import Settings
from headgate.store.opening import open_store
from tests.hostile.attacks import ATTACKS, HELD, Attempt, Held
from tests.hostile.workshop import POLICY, done, workshop
from tests.spec.wires import Aql, Connections, Era, Wire, connected

pytestmark = pytest.mark.anyio

ERAS: tuple[Era, ...] = ("modern", "legacy")
SETTINGS = Settings.of(policy=tomllib.loads(POLICY))
UNREPORTED = Settings.of(policy=tomllib.loads(POLICY.replace('unreported = "require"', 'start = "free"')))
"""Who is no agent may change things without a report, and agents begin without a person; even so a block holds."""
NAME = "saboteur"

IN_PROCESS = [(words, held, era) for words in ATTACKS for held in HELD for era in ERAS]
OVER_HTTP = [
    (words, held, ERAS[(number + place) % 2]) for number, words in enumerate(ATTACKS) for place, held in enumerate(HELD)
]

BY_DEFAULT = [(words, held, era) for words in ATTACKS for held in HELD if held.is_blocked for era in ERAS]


def _id(value: object) -> str:
    return value.name if isinstance(value, Held) else str(value)


def test_there_are_500_scenarios() -> None:
    assert len(IN_PROCESS) + len(OVER_HTTP) >= 500
    assert UNREPORTED.policy != SETTINGS.policy


@pytest.mark.parametrize(("words", "held", "era"), IN_PROCESS, ids=_id)
async def test_a_hostile_agent_in_process(words: str, held: Held, era: Era, connections: Connections) -> None:
    async with _Server(Wire("memory", era), connections) as server:
        await _attacked(words, held, server)


@pytest.mark.parametrize(("words", "held", "era"), OVER_HTTP, ids=_id)
async def test_a_hostile_agent_over_http(words: str, held: Held, era: Era, connections: Connections) -> None:
    async with _Server(Wire("http", era), connections) as server:
        await _attacked(words, held, server)


@pytest.mark.parametrize(("words", "held", "era"), BY_DEFAULT, ids=_id)
async def test_a_blocked_agent_where_reports_are_no_condition(
    words: str, held: Held, era: Era, connections: Connections
) -> None:
    async with _Server(Wire("memory", era), connections, UNREPORTED) as server:
        await _attacked(words, held, server)


async def _attacked(words: str, held: Held, server: "_Server") -> None:
    before = done()
    async with _held_up(held, server) as attempt:
        await ATTACKS[words](attempt)
        await _is_still_held(attempt)
    assert done() == before


@asynccontextmanager
async def _held_up(held: Held, server: "_Server") -> AsyncIterator[Attempt]:
    """An agent that a person has let begin, and that is held up now."""
    async with server.connect() as aql:
        asked = await aql.execute("execute_agent", element_name=NAME)
        if not asked["success"]:
            approval = asked["error"]["details"]["approval_id"]
            assert await approve(server.store, approval, "ana", time.time)
            asked = await aql.execute("execute_agent", element_name=NAME, confirmation_token=approval)
        assert asked["success"], asked
        attempt = Attempt(held, NAME, aql, server.connect, server.store, time.time, server.beside, server.restart)
        directive = (await attempt.report())["data"]["directive"]
        assert directive["continue"] is False
        assert directive.get("stopped", False) is held.is_blocked
        attempt.directives.clear()
        yield attempt


async def _is_still_held(attempt: Attempt) -> None:
    """Nothing that it was told gives it leave, and a person's decision is still needed."""
    assert not any(directive["continue"] for directive in attempt.directives), attempt.directives
    agent = await attempt.agent()
    assert agent.leave is None
    if attempt.held.is_blocked:
        assert agent.block is not None
    else:
        assert agent.execution is None or agent.pause is not None


class _Server:
    """A server on a state of its own, in process or over HTTP."""

    def __init__(self, wire: Wire, connections: Connections, settings: Settings = SETTINGS) -> None:
        self._settings = settings
        self.store = open_store("memory:")
        self._wire = wire
        self._connections = connections
        self._stack = AsyncExitStack()
        self._target: Any = None

    async def __aenter__(self) -> Self:
        self._target = await self._started()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        await self.store.close()

    async def _started(self) -> Any:
        server = McpServer(workshop, self._settings, self.store)
        if self._wire.transport == "memory":
            return server
        return await self._stack.enter_async_context(_over_http(server))

    def connect(self) -> AbstractAsyncContextManager[Aql]:
        return self._connections.open(connected(self._target, self._wire))

    def beside(self) -> AbstractAsyncContextManager[Aql]:
        other = McpServer(workshop, self._settings, self.store)
        return self._connections.open(connected(other, Wire("memory", self._wire.era)))

    async def restart(self) -> None:
        self._target = await self._started()


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def _over_http(server: McpServer) -> AsyncIterator[str]:
    with listen(Address("127.0.0.1", 0)) as sock:
        where = Address("127.0.0.1", sock.getsockname()[1])
        app = http_app(server, where, Access())
        web = _Uvicorn(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [sock])
            yield f"http://{where.netloc}{PATH}"
            web.should_exit = True
