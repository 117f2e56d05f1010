"""A server at work: over stdio or HTTP, with the console beside it if somebody wants to see."""

import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import anyio

from headgate.adapter.adapter import Adapter
from headgate.cli import garbage
from headgate.cli.entrances import Entrance, Serving
from headgate.cli.exits import OK, leave_behind
from headgate.cli.gates import Offered
from headgate.cli.guards import opened
from headgate.cli.options import option
from headgate.cli.output import log_to_stderr
from headgate.cli.persons import Persons
from headgate.cli.requests_log import RequestsLog
from headgate.console.metrics import Metrics
from headgate.safety.policy.rules import Policy
from headgate.server.addresses import Address, listen
from headgate.server.binding import McpServer
from headgate.server.costs import saving_of
from headgate.server.housekeeping import keep_house, keep_small
from headgate.server.http import PATH, Access, http_app, run_http
from headgate.server.memory import keep_together
from headgate.server.reload import watch
from headgate.server.settings import Settings
from headgate.server.stdio import private_pipes, run_stdio
from headgate.sources.gate.specs import GatePlan

__all__ = ["Http", "LogLevel", "Running", "Watched"]

_GRACE_SECONDS: Final = 10.0

Http: TypeAlias = Annotated[
    str | None, option("Listen on HOST:PORT, such as 127.0.0.1:8765, instead of stdio.", "HEADGATE_HTTP")
]
LogLevel: TypeAlias = Annotated[
    Literal["debug", "info", "warning", "error"], option("What to write to standard error.", "HEADGATE_LOG_LEVEL")
]
Watched: TypeAlias = tuple[Callable[[], Adapter], list[Path]]
"""How an adapter is loaded anew, and the folders whose changes ask for it."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """How one server is run."""

    log_level: str
    http: str | None
    serving: Serving
    entrance: Entrance
    persons: Persons

    async def run(
        self,
        offer: Callable[[], AbstractAsyncContextManager[Offered]],
        settings_of: Callable[..., Settings],
        *,
        watching: Callable[[], Watched] | None = None,
        again: Callable[[], tuple[GatePlan, Policy]] | None = None,
        is_demo: bool = False,
    ) -> int:
        """Serve until a signal or the end of input; requests in work are finished first."""
        log_to_stderr(self.log_level)
        keep_together()
        address = Address.parse(self.http) if self.http else None
        log = RequestsLog(sys.stderr) if address and self.log_level in ("debug", "info") else None
        metrics = Metrics() if self.persons.console else None
        settings = settings_of(**self.serving.chosen(), listeners=tuple(filter(None, (log, metrics))))
        access = self.entrance.access(over_http=address is not None)
        with nullcontext() if address else private_pipes() as pipes:
            async with (
                offer() as offered,
                self._served(settings, offered, metrics) as server,
                anyio.create_task_group() as tasks,
            ):
                garbage.resume()
                tasks.start_soon(keep_house, server)
                tasks.start_soon(keep_small)
                tasks.start_soon(offered.follow, server, again)
                if watching:
                    tasks.start_soon(watch, server, *watching())
                if address:
                    await _serve_http(server, address, access, is_demo=is_demo)
                elif pipes:
                    await run_stdio(server, pipes, _GRACE_SECONDS)
                tasks.cancel_scope.cancel()
            leave_behind(server.left_behind)
        return OK

    @asynccontextmanager
    async def _served(self, settings: Settings, offered: Offered, metrics: Metrics | None) -> AsyncIterator[McpServer]:
        """The server on its store, and persons within reach of it, for as long as it is needed."""
        async with opened(settings, offered.trusted) as (trusted, store):
            announcer = self.persons.announcer(store, trusted)
            with self.persons.console_opened() as console:
                reaching = replace(
                    trusted,
                    announce=announcer.announce if announcer else None,
                    console_url=console.place.url if console else None,
                )
                server = McpServer(offered.adapter, reaching, store)
                if metrics:
                    metrics.saving = saving_of(server)
                async with AsyncExitStack() as stack:
                    if announcer:
                        tasks = await stack.enter_async_context(anyio.create_task_group())
                        tasks.start_soon(announcer.run)
                        stack.callback(tasks.cancel_scope.cancel)
                    if console:
                        running = console.running(store, lambda: server.engine, metrics, state=settings.state)
                        await stack.enter_async_context(running)
                    await server.open()
                    try:
                        yield server
                    finally:
                        with anyio.CancelScope(shield=True):
                            await server.close(_GRACE_SECONDS)
            await server.tidy()


async def _serve_http(server: McpServer, address: Address, access: Access, *, is_demo: bool) -> None:
    access.hosts(address)  # refused before anything listens
    with listen(address) as sock:
        where = Address(address.host, sock.getsockname()[1])
        app = http_app(server, where, access)
        _announce(server, where, is_open=access.verifier is None, is_demo=is_demo)
        await run_http(server, app, sock, _GRACE_SECONDS)


def _announce(server: McpServer, where: Address, *, is_open: bool, is_demo: bool) -> None:
    log = logging.getLogger("headgate")
    log.info("%s", _banner(server, where))
    if is_open and not where.is_loopback:
        log.warning("anybody who can reach %s may call: add --tokens or --oauth-issuer", where.netloc)
    if is_demo:
        log.info("%s", _try_these(where))


def _banner(server: McpServer, where: Address) -> str:
    operations = len(server.engine.introspector.operations)
    tools = ", ".join(server.tool_names)
    return f"'{server.name}' with {operations} operations behind {tools}\n  http://{where.netloc}{PATH}"


def _try_these(where: Address) -> str:
    program = sys.argv[0] if Path(sys.argv[0]).name == "headgate" else "headgate"
    url = f"http://{where.netloc}{PATH}"
    filtered = """'filter:={"author.country":"Norway"}' 'fields:=["title","author.name","price"]'"""
    return "\n  ".join(
        [
            "try in another terminal:",
            f"{program} ops -s {url}",
            f"{program} call search_books query=lighthouse -s {url}",
            f"{program} call list_books {filtered} -s {url}",
            f"{program} call execute_stocktaking --wait -s {url}",
        ]
    )
