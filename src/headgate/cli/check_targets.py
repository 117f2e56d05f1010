"""Ways to the server that ``headgate check`` looks at: one that runs, one that is started, or a source served here."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.check_choices import Looking
from headgate.cli.gates import OPENING_SECONDS, Offered, SourceChoices
from headgate.cli.guards import Guarding, configured, opened
from headgate.cli.targets import DatabaseChoices, opened_source
from headgate.server.settings import SettingError, Settings
from headgate.sources.gate.recognizing import kind_of_source
from headgate.sources.gate.specs import SourceKind

if TYPE_CHECKING:
    from headgate.client.wires import Place
    from headgate.conformance.probe import Opener
    from headgate.conformance.reports.reproducing import Way
    from headgate.store.interface import Store

__all__ = ["Reached", "Reaching", "opened_server", "own_demo"]

_OPENING: float = 30.0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reaching:
    """How a server is reached."""

    header: Annotated[
        tuple[str, ...],
        Parameter(
            help="'Name: value' for a server with a URL; ${VARIABLE} is filled in; may be repeated.",
            negative=(),
            show_default=False,
        ),
    ] = ()

    def choices(self) -> SourceChoices:
        """The same as what other commands take."""
        allowed = tuple(os.environ.get("HEADGATE_ALLOW", "").split())
        return SourceChoices(header=self.header, allow=allowed, start_timeout=OPENING_SECONDS)


@dataclass(frozen=True)
class Reached:
    """A server, how it is called on the command line, and what must not be shown of it."""

    opener: "Opener"
    way: "Way"
    secrets: frozenset[str] = frozenset()
    era: Any = "auto"


@asynccontextmanager
async def opened_server(
    target: str | None, reaching: Reaching, database: DatabaseChoices, guarding: Guarding, looking: Looking
) -> AsyncIterator[Reached]:
    """The server that a target names, ready to be connected to."""
    from headgate.conformance.openers import opener_of  # noqa: PLC0415  (most of a second of imports)

    headers = _headers(reaching)
    secrets = frozenset(value for value in _parts(headers) if len(value) > 3)
    way = _way(target, reaching, database, guarding, looking)
    place = _place(target, headers)
    if place is not None:
        if guarding.given:
            raise SettingError("--policy, --trust, --state and --safety-loop are for sources: a server has its own")
        database.refuse_elsewhere()
        other = _place(looking.other_mode, headers) if looking.other_mode else None
        if looking.other_mode and other is None:
            raise SettingError("--other-mode must be a URL, or stdio: and a command")
        seconds = min(_OPENING, looking.time_limit)
        yield Reached(opener_of(place, other=other, seconds=seconds), way, secrets, looking.era)
        return
    if looking.other_mode:
        raise SettingError("--other-mode is for servers: a source is served in both modes anyway")
    with redirect_stdout(sys.stderr):  # what a module prints is not the report
        async with _served_here(target, reaching, database, guarding) as opener:
            yield Reached(opener, way, secrets, looking.era)


def _headers(reaching: Reaching) -> dict[str, str]:
    """The headers of every request: those that are given, and the token of the environment."""
    headers = dict(reaching.choices().choices(DatabaseChoices().spec(), os.environ).headers)
    token = os.environ.get("HEADGATE_TOKEN")
    if token and not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = f"Bearer {token}"
    return headers


def _parts(headers: Mapping[str, str]) -> list[str]:
    """What is secret in headers: each value, and the last word of it, such as a token after its kind."""
    return [part for value in headers.values() for part in (value, value.rpartition(" ")[2])]


def _place(target: str | None, headers: Mapping[str, str]) -> "Place | None":
    from headgate.conformance.checking import place_of  # noqa: PLC0415

    if target is None or kind_of_source(target) is not SourceKind.MCP:
        return None
    return place_of(target, headers)


def _way(
    target: str | None, reaching: Reaching, database: DatabaseChoices, guarding: Guarding, looking: Looking
) -> "Way":
    """How the same server is named again."""
    from headgate.client.wires import Command  # noqa: PLC0415
    from headgate.conformance.reports.reproducing import Way, header_shown  # noqa: PLC0415

    words = [word for given in reaching.header for word in ("--header", header_shown(given))]
    if looking.era != "auto":
        words += ["--era", looking.era]
    values = {
        "--policy": guarding.policy,
        "--trust": guarding.trust,
        "--safety-loop": guarding.safety_loop,
        "--tables": database.tables,
        "--statement-timeout": database.statement_timeout,
    }
    words += [word for option, value in values.items() if value for word in (option, str(value))]
    words += ["--read-only"] if database.read_only else []
    place = _place(target, {})
    command = place.words if isinstance(place, Command) else ()
    return Way.of(None if command else target, command, options=tuple(words), rights=looking.repeated())


@asynccontextmanager
async def _served_here(
    target: str | None, reaching: Reaching, database: DatabaseChoices, guarding: Guarding
) -> AsyncIterator["Opener"]:
    """A source on headgate's own server in this process, with a state that ends with the run unless one is named."""
    chosen = reaching.choices()
    config = configured(target, choices=chosen.choices(database.spec(), os.environ, vouched=guarding.vouches))
    settings = replace(guarding, state=guarding.state or "memory:").settings(config)
    is_demo = config.plan is None and config.source is None
    async with (
        _demo_of_its_own(database) if is_demo else opened_source(config, database, chosen.start_timeout) as offer,
        opened(settings, offer.trusted) as (trusted, store),
        _Servers(offer, trusted, store) as servers,
    ):
        yield servers


@asynccontextmanager
async def _demo_of_its_own(database: DatabaseChoices) -> AsyncIterator[Offered]:
    async with own_demo(database) as adapter:
        yield Offered(adapter)


@asynccontextmanager
async def own_demo(database: DatabaseChoices) -> AsyncIterator[Adapter]:
    """A bookshop that nobody else has: whatever is done to it, the user's own stays as it is."""
    from headgate.sources.bookshop import build_bookshop  # noqa: PLC0415
    from headgate.sources.bookshop.stocktaking import add_stocktaking  # noqa: PLC0415
    from headgate.sources.gate.opening import database_adapter  # noqa: PLC0415

    with TemporaryDirectory(prefix="headgate-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "bookshop.db"
        await anyio.to_thread.run_sync(build_bookshop, path)
        adapter = database_adapter(str(path), database.spec(), "bookshop")
        add_stocktaking(adapter, path)
        try:
            yield adapter
        finally:
            with anyio.CancelScope(shield=True):
                await adapter.close()


class _Servers(AsyncExitStack):
    """The servers of one source: one in each mode that is asked for, over the same store."""

    def __init__(self, offer: Offered, settings: Settings, store: "Store") -> None:
        super().__init__()
        self._offer, self._settings, self._store = offer, settings, store
        self._made: dict[str | None, Any] = {}

    def __call__(self, *, mode: str | None = None, era: Any = "auto") -> AbstractAsyncContextManager[Any]:
        return self._wire(mode, era)

    @asynccontextmanager
    async def _wire(self, mode: str | None, era: Any) -> AsyncIterator[Any]:
        from headgate.client.wires import InProcess, open_wire  # noqa: PLC0415

        if mode not in self._made:
            self._made[mode] = await self._server(mode)
        async with open_wire(InProcess(self._made[mode]), era=era) as wire:
            yield wire

    async def _server(self, mode: str | None) -> Any:
        from headgate.protocol.profiles import Mode  # noqa: PLC0415
        from headgate.server.binding import McpServer  # noqa: PLC0415

        settings = replace(self._settings, mode=Mode(mode)) if mode else self._settings
        server = McpServer(self._offer.adapter, settings, self._store)
        await server.open()
        self.push_async_callback(_closed, server)
        return server


async def _closed(server: Any) -> None:
    with anyio.CancelScope(shield=True):
        await server.close()
