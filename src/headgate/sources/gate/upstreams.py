"""How that is opened which an adapter file stands for: as if it had been named on the command line."""

import os
import re
from pathlib import Path
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.plugins.interfaces import Upstream
from headgate.sources.gate.opening import source_of
from headgate.sources.gate.recognizing import beside, kind_of_source, name_of_source
from headgate.sources.gate.specs import SourceKind, SourceSpec
from headgate.sources.mcp.configuration import mcp_servers_from
from headgate.sources.source import Source

__all__ = ["DEMO", "opened_upstream"]

DEMO: Final = "demo"
"""The source that needs no file."""

_SERVER: Final = "upstream"
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def opened_upstream(upstream: Upstream) -> Source:
    """The source behind a file. Only for files that somebody has vouched for: it may start programs."""
    return source_of(_server(upstream) if upstream.kind == "mcp" else _source(upstream))


def _source(upstream: Upstream) -> SourceSpec:
    source = _expanded(upstream.source)
    if source == DEMO:
        return SourceSpec(name=DEMO, kind=SourceKind.DEMO)
    where = _beside(upstream.folder, source)
    return SourceSpec(name=name_of_source(where), kind=kind_of_source(where), where=where)


def _expanded(source: str) -> str:
    """A source with the variables of the environment that it names, such as ``${DATABASE_URL}``."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise AdapterError(f"The adapter file names the environment variable '{found[1]}', which is not set.")
        return os.environ[found[1]]

    return _VARIABLE.sub(value, source)


def _beside(folder: Path, source: str) -> str:
    """A path that starts from the file's folder; a module in a package stays as it is."""
    placed = beside(folder, source)
    file = Path(placed.partition(".py:")[0] + ".py" if ".py:" in placed else placed)
    return placed if "://" in placed or file.exists() else source


def _server(upstream: Upstream) -> SourceSpec:
    servers = {"mcpServers": {_SERVER: dict(upstream.options)}}
    spec = next(iter(mcp_servers_from(servers, "the adapter file", upstream.folder, os.environ)), None)
    if spec is None:
        raise AdapterError("The adapter file names no usable MCP server.")
    return SourceSpec(name=_SERVER, kind=SourceKind.MCP, mcp=spec, problem=spec.problem)
