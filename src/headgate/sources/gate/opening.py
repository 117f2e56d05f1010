"""From what is known of a source to the source itself. What each kind needs is only loaded where there is one of it."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.curation import Curation
from headgate.sources.gate.modules import ModuleSource
from headgate.sources.gate.picking import Picked
from headgate.sources.gate.specs import DatabaseSpec, SourceKind, SourceSpec
from headgate.sources.mcp.captures import Captures
from headgate.sources.source import Fixed, Source

if TYPE_CHECKING:
    from headgate.sources.http.bounds import Bounds

__all__ = ["STATEMENT_SECONDS", "database_adapter", "demo_adapter", "source_of"]

STATEMENT_SECONDS: Final = 30.0


def source_of(spec: SourceSpec, captures: Captures | None = None) -> Source:
    """The source that is meant. It is opened by whoever keeps it, and says then what is wrong with it.

    With ``captures``, an MCP server that was seen before is only started by the first call that needs it.
    """
    if spec.problem or spec.disabled:
        return _Unusable(spec.name, spec.problem)
    made = _of_server(spec, captures) if spec.kind is SourceKind.MCP else _MAKERS[spec.kind](spec)
    applies_itself = spec.kind in (SourceKind.MCP, SourceKind.OPENAPI)
    return made if spec.curation is None or applies_itself else Picked(made, spec.curation)


@dataclass(frozen=True, slots=True)
class _Unusable:
    """A source that cannot be opened as it is written."""

    name: str
    problem: str

    async def open(self) -> Adapter:
        raise AdapterError(self.problem)

    async def changes(self) -> AsyncIterator[Adapter]:
        await anyio.sleep_forever()
        yield Adapter(self.name)  # pragma: no cover  (which makes this an iterator)

    async def close(self) -> None:
        """There is nothing to close."""


def _of_database(spec: SourceSpec) -> Source:
    return Fixed(spec.name, lambda: database_adapter(spec.where, spec.database))


def _of_demo(spec: SourceSpec) -> Source:
    return Fixed(spec.name, lambda: demo_adapter(spec.database))


def _of_module(spec: SourceSpec) -> Source:
    return ModuleSource(spec.name, spec.where, spec.reload)


def _of_server(spec: SourceSpec, captures: Captures | None) -> Source:
    from headgate.sources.mcp.source import McpSource  # noqa: PLC0415  (most of a second of imports)

    if spec.mcp is None:
        raise AdapterError(f"Source '{spec.name}' says neither a command nor a URL")
    server = replace(spec.mcp, name=spec.name, timeout=spec.timeout or spec.mcp.timeout)
    return McpSource(server, bounds=_bounds(spec), curation=spec.curation, captures=captures)


def _of_document(spec: SourceSpec) -> Source:
    from headgate.sources.openapi.options import OpenApiOptions  # noqa: PLC0415
    from headgate.sources.openapi.source import OpenApiSource  # noqa: PLC0415  (a third of a second of imports)

    options = OpenApiOptions(
        base_url=spec.base_url, variables=spec.variables, credentials=spec.credentials, bounds=_bounds(spec)
    )
    return OpenApiSource(spec.name, spec.where, options, spec.curation or Curation())


def _of_file(spec: SourceSpec) -> Source:
    from headgate.sources.files.source import AdapterFileSource  # noqa: PLC0415
    from headgate.sources.gate.upstreams import opened_upstream  # noqa: PLC0415  (which needs this module)

    opener = opened_upstream if spec.is_vouched_for else None
    return AdapterFileSource(spec.name, Path(spec.where), bounds=_bounds(spec), opener=opener)


def _bounds(spec: SourceSpec) -> "Bounds":
    from headgate.sources.http.bounds import Bounds  # noqa: PLC0415  (a tenth of a second of imports)

    usual = Bounds(allow=spec.allow)
    return replace(usual, total_seconds=spec.timeout) if spec.timeout else usual


_MAKERS: Final[Mapping[SourceKind, Callable[[SourceSpec], Source]]] = {
    SourceKind.ADAPTER_FILE: _of_file,
    SourceKind.DATABASE: _of_database,
    SourceKind.DEMO: _of_demo,
    SourceKind.MODULE: _of_module,
    SourceKind.OPENAPI: _of_document,
}


def database_adapter(source: str, spec: DatabaseSpec, name: str | None = None) -> Adapter:
    """The adapter of a database."""
    from headgate.sources.sql.database import DatabaseOptions  # noqa: PLC0415  (a third of a second of imports)
    from headgate.sources.sql.settings import SqlSettings  # noqa: PLC0415
    from headgate.sources.sql.source import sql_adapter  # noqa: PLC0415

    timeout = STATEMENT_SECONDS if spec.statement_timeout is None else spec.statement_timeout
    options = DatabaseOptions(read_only=spec.read_only, statement_timeout=timeout)
    settings = SqlSettings.read(spec.tables) if spec.tables else SqlSettings()
    return sql_adapter(source, options, settings, name=name)


def demo_adapter(spec: DatabaseSpec) -> Adapter:
    """The adapter of the built-in demo."""
    from headgate.sources.bookshop import bookshop_file  # noqa: PLC0415  (only the demo needs it)
    from headgate.sources.bookshop.stocktaking import add_stocktaking  # noqa: PLC0415

    path = bookshop_file()
    adapter = database_adapter(str(path), spec, "bookshop")
    add_stocktaking(adapter, path)
    return adapter
