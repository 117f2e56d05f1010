"""What a command opens: one source by itself, or several behind one gate that is followed as they change."""

import logging
import math
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Protocol

import anyio
from cyclopts import Parameter
from watchfiles import Change, awatch

from headgate.adapter.adapter import Adapter
from headgate.cli.options import option
from headgate.cli.starting import starting
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.danger import Trust
from headgate.safety.policy.rules import Policy
from headgate.safety.trusting import effective_trust
from headgate.server.settings import SettingError, Settings
from headgate.sources.curation import read_curation
from headgate.sources.gate.gate import Gate, opened_gate
from headgate.sources.gate.opening import source_of
from headgate.sources.gate.planning import Choices
from headgate.sources.gate.specs import DatabaseSpec, GatePlan
from headgate.sources.mcp.captures import Captures, captures_folder
from headgate.sources.mcp.variables import MissingVariable, Variables
from headgate.store.interface import Store, StoreError

__all__ = ["OPENING_SECONDS", "Offered", "SourceChoices", "Trusting", "offered", "offered_alone"]

_LOG: Final = logging.getLogger("headgate")
OPENING_SECONDS: Final = 120.0
"""How long a source may take to open: a package may have to be fetched first."""
_START_SECONDS: Final = 15.0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SourceChoices:
    """How sources are reached, and what of them is served."""

    review: Annotated[
        Path | None,
        option("A TOML file that picks, renames, classifies and describes operations.", "HEADGATE_REVIEW"),
    ] = None
    header: Annotated[
        tuple[str, ...],
        Parameter(help="'Name: value' for an MCP server; ${VARIABLE} is filled in; may be repeated.", negative=()),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        option("A private address, network or host that sources may reach; may be repeated.", "HEADGATE_ALLOW"),
    ] = ()
    start_timeout: Annotated[
        float,
        option(
            "Seconds to wait for sources before serving those that are ready; 15 unless said.", "HEADGATE_START_TIMEOUT"
        ),
    ] = _START_SECONDS

    def choices(
        self, database: DatabaseSpec, environment: Mapping[str, str], *, reload: bool = False, vouched: bool = False
    ) -> Choices:
        """The same as values; what is wrong with them is a mistake in how the command is used."""
        if not 0 <= self.start_timeout < math.inf:
            raise SettingError(f"--start-timeout must be a number of seconds, 0 or more, not {self.start_timeout:g}")
        try:
            curation = read_curation(self.review) if self.review and self.review != Path() else None
        except AdapterError as error:
            raise SettingError(str(error)) from None
        _check_allowed(self.allow)
        variables = Variables(environment, Path.cwd())
        headers = dict(_header(one, variables) for one in self.header)
        return Choices(
            database=database,
            curation=curation,
            files=(self.review,) if self.review and curation is not None else (),
            headers=headers,
            allow=self.allow,
            reload=reload,
            vouched=vouched,
        )


def _check_allowed(addresses: tuple[str, ...]) -> None:
    if not addresses:
        return
    from headgate.sources.http.bounds import Bounds  # noqa: PLC0415  (a tenth of a second of imports)

    try:
        Bounds(allow=addresses)
    except AdapterError as error:
        raise SettingError(f"--allow: {error}") from None


def _header(given: str, variables: Variables) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not name.strip():
        raise SettingError("--header must be a name and a value, such as 'X-Team: blue'")
    try:
        return name.strip(), variables.filled(value.strip())
    except MissingVariable as missing:
        raise SettingError(f"--header '{name.strip()}' needs the variable '{missing}', which is not set") from None


class Served(Protocol):
    """A server whose adapter and settings can be replaced while it runs."""

    settings: Settings
    store: Store

    async def replace(self, adapter: Adapter, settings: Settings | None = None) -> None:
        """Serve another version from the next call on."""
        ...


@dataclass
class Trusting:
    """Tells how far sources are trusted; what an operator asks for is written down once."""

    _known: dict[tuple[str, Trust | None, Trust | None], Trust] = field(default_factory=dict)

    async def applied(self, settings: Settings, store: Store, adapter: Adapter, gate: Gate) -> Settings:
        """The settings with the trust in each source, and with each source's own policy."""
        specs = {spec.name: spec for spec in gate.plan.sources}
        trusts = {
            part.name: await self._trust(
                store, part.name, settings.trust or specs[part.name].trust or settings.policy.trust, part.trust
            )
            for part in adapter.parts()
        }
        return replace(settings, trusts=trusts, policy=replace(settings.policy, parts=gate.policies()))

    async def _trust(self, store: Store, source: str, asked: Trust | None, origin: Trust | None) -> Trust:
        key = (source, asked, origin)
        if key not in self._known:
            self._known[key] = await effective_trust(store, source, asked, origin, time.time())
        return self._known[key]


@dataclass(frozen=True)
class Offered:
    """What is to be served: an adapter, and where later versions of it come from."""

    adapter: Adapter
    gate: Gate | None = None
    trusting: Trusting = field(default_factory=Trusting)

    async def trusted(self, settings: Settings, store: Store) -> Settings:
        """The settings with the trust that counts."""
        if self.gate is not None:
            return await self.trusting.applied(settings, store, self.adapter, self.gate)
        asked = settings.trust or settings.policy.trust
        trust = await effective_trust(store, self.adapter.name, asked, self.adapter.trust, time.time())
        return replace(settings, trust=trust)

    async def follow(self, server: Served, again: Callable[[], tuple[GatePlan, Policy]] | None = None) -> None:
        """Have the server replace what it serves, as sources and the files that name them change, for ever."""
        if self.gate is None:
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow_sources, self.gate, server)
            if again is not None and self.gate.plan.files:
                tasks.start_soon(self._follow_files, self.gate, server, again)

    async def _follow_sources(self, gate: Gate, server: Served) -> None:
        async for adapter in gate.versions():
            try:
                settings = await self.trusting.applied(server.settings, server.store, adapter, gate)
                await server.replace(adapter, settings)
            except (AdapterError, SettingError, StoreError) as error:
                _LOG.error("the version before stays: %s", error)
                continue
            _LOG.info("%s", _summary(gate, adapter))

    async def _follow_files(self, gate: Gate, server: Served, again: Callable[[], tuple[GatePlan, Policy]]) -> None:
        async for _ in _changes(lambda: gate.plan.files):
            try:
                plan, policy = again()
            except (AdapterError, SettingError) as error:
                for line in str(error).splitlines():
                    _LOG.error("not reloaded, what was served before stays: %s", line)
                continue
            server.settings = replace(server.settings, policy=policy)
            await gate.take(plan)


async def _changes(files: Callable[[], tuple[Path, ...]]) -> AsyncIterator[None]:
    """Each change of some files, also if an editor puts another in the place of one; which they are may change too."""

    def folders() -> set[Path]:
        return {folder for file in files() if (folder := file.resolve().parent).is_dir()}

    def is_meant(_change: Change, path: str) -> bool:
        return Path(path).resolve() in {file.resolve() for file in files()}

    while watched := folders():
        async for _ in awatch(*watched, watch_filter=is_meant, recursive=False):
            yield
            if folders() != watched:
                break


def _summary(gate: Gate, adapter: Adapter) -> str:
    parts = [part for part in gate.parts() if part.state != "disabled"]
    ready = sum(part.state == "ready" for part in parts)
    return f"{ready} of {len(parts)} sources ready, with {len(adapter.operations)} operations"


@asynccontextmanager
async def offered(
    plan: GatePlan, start_timeout: float, *, lazily: bool = True, plainly: bool = True
) -> AsyncIterator[Offered]:
    """The sources of a plan. Those that are not open in time are offered later; if none opens, an AdapterError.

    MCP servers that were seen before are started ``lazily``, by the first call that needs one. How far all are is told
    ``plainly`` where nobody watches, as for a server, which also goes on to try those that fail.
    """
    make = partial(source_of, captures=Captures(captures_folder()) if lazily else None)
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(opened_gate(plan, make, patience=OPENING_SECONDS, quiet=True))
        with (
            starting(gate, sys.stderr, plainly=plainly) as told,
            anyio.move_on_after(start_timeout),
        ):
            await told()
        gate.refuse_if_nothing_opens()  # which says all that there is to say
        gate.speak(goes_on=plainly)
        yield Offered(gate.adapter(), gate)


@asynccontextmanager
async def offered_alone(load: Callable[[], Adapter]) -> AsyncIterator[Offered]:
    """One source that is loaded by itself, in this very place."""
    adapter = load()
    try:
        yield Offered(adapter)
    finally:
        with anyio.CancelScope(shield=True):
            await adapter.close()
