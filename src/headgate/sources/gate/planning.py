"""From what an operator writes to what is opened: sources by their own words, and lists of MCP servers."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.curation import Curation
from headgate.sources.gate.recognizing import (
    COMMAND,
    command_words,
    is_server_list,
    kind_of_source,
    name_of_source,
    problem_of_file,
    unique,
)
from headgate.sources.gate.specs import DatabaseSpec, SourceKind, SourceSpec
from headgate.sources.mcp.configuration import McpSpec, read_mcp_servers

__all__ = ["Choices", "distinct", "specs_of", "specs_of_list"]

_WEB: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What an operator says of all sources that are named by themselves."""

    database: DatabaseSpec = field(default_factory=DatabaseSpec)
    curation: Curation | None = None
    files: tuple[Path, ...] = ()
    """What of it is read from files."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow: tuple[str, ...] = ()
    reload: bool = False
    vouched: bool = False
    """Whether all are trusted by the operator's own word."""


def specs_of(sources: Iterable[str], choices: Choices) -> Iterator[SourceSpec]:
    """The sources that words name, in their order; a list of MCP servers stands for all that it lists."""
    for source in sources:
        if is_server_list(source):
            yield from specs_of_list(Path(source), choices)
        else:
            yield _spec(source, choices)


def specs_of_list(path: Path, choices: Choices, environment: Mapping[str, str] | None = None) -> Iterator[SourceSpec]:
    """The MCP servers that a file lists."""
    given = os.environ if environment is None else environment
    for server in read_mcp_servers(path, given):
        yield replace(_of_server(server), curation=choices.curation, allow=choices.allow)


def _of_server(server: McpSpec) -> SourceSpec:
    return SourceSpec(
        name=server.name,
        kind=SourceKind.MCP,
        mcp=server,
        timeout=server.timeout,
        disabled=server.disabled,
        problem=server.problem,
    )


def _spec(source: str, choices: Choices) -> SourceSpec:
    kind, name = kind_of_source(source), name_of_source(source)
    return SourceSpec(
        name=name,
        kind=kind,
        where=source,
        mcp=_server(name, source, choices) if kind is SourceKind.MCP else None,
        database=choices.database if kind is SourceKind.DATABASE else DatabaseSpec(),
        curation=choices.curation,
        allow=choices.allow,
        reload=choices.reload and kind is SourceKind.MODULE,
        vouched=choices.vouched and kind is SourceKind.ADAPTER_FILE,
        problem=problem_of_file(source) if kind is SourceKind.MODULE else "",
    )


def _server(name: str, source: str, choices: Choices) -> McpSpec:
    if source.startswith(_WEB):
        return McpSpec(name=name, url=source, headers=choices.headers, transport="http")
    words = command_words(source)
    if not words:
        raise AdapterError(f"'{COMMAND}' needs a command behind it, such as '{COMMAND} npx -y some-server'")
    return McpSpec(name=name, command=words[0], args=tuple(words[1:]))


def distinct(specs: Sequence[SourceSpec]) -> tuple[SourceSpec, ...]:
    """The same with a name each: where several would have one, all but the first are numbered."""
    found: dict[str, SourceSpec] = {}
    for spec in specs:
        name = unique(spec.name, found)
        found[name] = _told_apart(spec, name, specs)
    return tuple(found.values())


def _told_apart(spec: SourceSpec, name: str, specs: Sequence[SourceSpec]) -> SourceSpec:
    """A source under its name; a review that others have too is marked as theirs."""
    has_others = spec.curation is not None and sum(one.curation is spec.curation for one in specs) > 1
    review = replace(spec.curation, shared=True) if spec.curation is not None and has_others else spec.curation
    return spec if (name, review) == (spec.name, spec.curation) else replace(spec, name=name, curation=review)
