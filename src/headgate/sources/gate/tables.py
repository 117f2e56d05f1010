"""One table ``[sources.NAME]``: every key that it may have, and what each of them means."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.danger import Trust
from headgate.protocol.names import is_snake_case
from headgate.safety.policy.limits import WINDOWS, ApiLimit
from headgate.safety.policy.reading import PolicyError, policy_from, read_policy
from headgate.safety.policy.rules import Policy
from headgate.safety.policy.tables import (
    Mistake,
    Place,
    Table,
    flag,
    kind_of,
    named,
    number,
    one_of,
    text,
    texts,
    whole,
)
from headgate.sources.curation import Curation, read_curation
from headgate.sources.gate.recognizing import COMMAND, beside, command_words, kind_of_source
from headgate.sources.gate.specs import DatabaseSpec, SourceKind, SourceSpec
from headgate.sources.mcp.configuration import McpSpec, mcp_servers_from

__all__ = ["KEYS", "SourceTable", "read_source"]

_WAYS: Final = ("source", "command", "url", "openapi", "adapter")
"""The keys of which each table has one: what the source is."""

_OF_ONE_WAY: Final[Mapping[str, tuple[str, ...]]] = {
    "args": ("command",),
    "env": ("command",),
    "cwd": ("command",),
    "headers": ("url",),
    "type": ("url", "command"),
    "base_url": ("openapi",),
    "variables": ("openapi",),
    "credentials": ("openapi",),
    "read_only": ("source",),
    "tables": ("source",),
    "statement_timeout": ("source",),
}
"""Keys that only make sense beside some others."""

_COMMON: Final = ("prefix", "trust", "policy", "limits", "include", "exclude", "operations", "review", "allow")
KEYS: Final = (*_WAYS, *_OF_ONE_WAY, *_COMMON, "timeout", "start_timeout", "disabled")
_LONGEST: Final = 86_400
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOR_ALL: Final = ("confirmation", "escalation", "audit", "autonomy", "trust")
"""What a policy rules for all sources, so that one of them cannot."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """What a table says, None if it is wrong; and the files that it names."""

    spec: SourceSpec | None
    files: tuple[Path, ...] = ()


def read_source(
    name: str, content: object, place: Place, folder: Path, environment: Mapping[str, str] | None = None
) -> SourceTable:
    """What one table says of a source; mistakes are noted. Paths start from ``folder``."""
    before = len(place.mistakes)
    reading = _Reading(name, Table(content, place, KEYS), folder, os.environ if environment is None else environment)
    spec = reading.spec()
    return SourceTable(spec if len(place.mistakes) == before else None, tuple(reading.files))


class _Reading:
    """One table, and what was found in it so far."""

    def __init__(self, name: str, table: Table, folder: Path, environment: Mapping[str, str]) -> None:
        self._name = name
        self._table = table
        self._folder = folder
        self._environment = environment
        self.files: list[Path] = []

    def spec(self) -> SourceSpec | None:
        """The source, as far as the table is right."""
        made = self._what()
        table = self._table
        common = {
            "prefix": table.take("prefix", _prefix, None),
            "trust": table.take("trust", one_of(list(Trust)), None),
            "policy": self._policy(),
            "curation": self._curation(),
            "allow": table.take("allow", _allowed, ()),
            "timeout": table.take("timeout", number(0, _LONGEST, above=True), made.timeout if made else None),
            "start_timeout": table.take("start_timeout", number(0, _LONGEST, above=True), None),
            "disabled": table.take("disabled", flag, False),
        }
        return replace(made, **common) if made else None  # type: ignore[arg-type]

    def _what(self) -> SourceSpec | None:
        """What it is, by the one key that says so."""
        table = self._table
        ways = [way for way in _WAYS if way in table]
        if len(ways) != 1:
            has = f"it has {' and '.join(ways)}: keep one of them" if ways else f"say what it is with {_any(_WAYS)}"
            table.place.note(has)
            return None
        for key, allowed in _OF_ONE_WAY.items():
            if key in table and ways[0] not in allowed:
                table.place.key(key).note(f"this goes with {_any(allowed)}, and here is {ways[0]}")
        makers: Mapping[str, Callable[[], SourceSpec | None]] = {
            "source": self._of_words,
            "command": self._of_server,
            "url": self._of_server,
            "openapi": self._of_document,
            "adapter": self._of_file,
        }
        return makers[ways[0]]()

    def _of_words(self) -> SourceSpec | None:
        source = self._table.take("source", text, None)
        if source is None:
            return None
        where = beside(self._folder, source)
        kind = kind_of_source(where)
        entry = {"command": command_words(where)} if where.startswith(COMMAND) else {"url": where}
        mcp = self._server(entry) if kind is SourceKind.MCP else None
        return SourceSpec(name=self._name, kind=kind, where=where, mcp=mcp, database=self._database(kind))

    def _database(self, kind: SourceKind) -> DatabaseSpec:
        table = self._table
        if kind is not SourceKind.DATABASE:
            for key in ("read_only", "tables", "statement_timeout"):
                if key in table:
                    table.place.key(key).note("this is for databases, and the source is none")
        return DatabaseSpec(
            read_only=table.take("read_only", flag, False),
            tables=self._path("tables"),
            statement_timeout=table.take("statement_timeout", number(0, _LONGEST, above=True), None),
        )

    def _of_server(self) -> SourceSpec:
        keys = ("command", "args", "env", "cwd", "url", "headers", "type")
        server = self._server({key: self._table.value(key) for key in keys if key in self._table})
        return SourceSpec(name=self._name, kind=SourceKind.MCP, mcp=server, problem=server.problem)

    def _server(self, entry: Mapping[str, object]) -> McpSpec:
        """An MCP server as any host would write it; what only the environment lacks is no mistake of the file."""
        content = {"mcpServers": {self._name: entry}}
        [server] = mcp_servers_from(content, "headgate.toml", self._folder, self._environment)
        if server.problem and "environment variable" not in server.problem:
            self._table.place.note(server.problem.partition(": ")[2])
        return server

    def _of_document(self) -> SourceSpec | None:
        where = self._table.take("openapi", text, None)
        if where is None:
            return None
        return SourceSpec(
            name=self._name,
            kind=SourceKind.OPENAPI,
            where=beside(self._folder, where),
            base_url=self._table.take("base_url", text, None),
            variables=self._table.take("variables", _texts_by_name, {}),
            credentials=self._table.take("credentials", _credentials, {}),
        )

    def _of_file(self) -> SourceSpec | None:
        where = self._table.take("adapter", text, None)
        if where is None:
            return None
        return SourceSpec(name=self._name, kind=SourceKind.ADAPTER_FILE, where=beside(self._folder, where))

    def _path(self, key: str) -> Path | None:
        named = self._table.take(key, text, None)
        if named is None:
            return None
        path = self._folder / Path(named).expanduser()
        self.files.append(path)
        return path

    # how it is guarded

    def _policy(self) -> Policy | None:
        table = self._table
        place = table.place.key("policy")
        given = place.read(self._read_policy, table.value("policy"), None) if "policy" in table else None
        limits = table.take("limits", _limits, ())
        return replace(given or Policy(), api_limits=(*(given or Policy()).api_limits, *limits)) if limits else given

    def _read_policy(self, content: object) -> Policy:
        where = f"policy of source '{self._name}'"
        try:
            if isinstance(content, Mapping):
                found = policy_from(content, where)
            else:
                path = self._folder / Path(text(content)).expanduser()
                self.files.append(path)
                found = read_policy(path)
        except PolicyError as error:
            raise Mistake(*error.mistakes) from None
        alien = [key for key in _FOR_ALL if getattr(found, key) != getattr(Policy(), key)]
        if alien:
            raise Mistake(f"{_any(alien)} cannot be ruled for one source: write it in the policy of all")
        return found

    def _curation(self) -> Curation | None:
        """What its operator picks and renames: in the table itself, or in a file."""
        table = self._table
        own = {key: table.value(key) for key in ("include", "exclude", "operations") if key in table}
        path = self._path("review")
        if path is not None and own:
            table.place.note(f"{_any([*own])} belong into the file that 'review' names: write it there")
            return None
        try:
            return read_curation(path) if path else Curation.of(own, f"source '{self._name}'") if own else None
        except AdapterError as error:
            table.place.note(*str(error).splitlines())
            return None


def _any(words: tuple[str, ...] | list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _prefix(value: object) -> str:
    """What names begin with; an empty one says that they stay as they are, whatever the others are called."""
    if not isinstance(value, str):
        raise Mistake(f"this must be a text, not {kind_of(value)}")
    prefix = value.rstrip("_")
    if value and not is_snake_case(prefix):
        raise Mistake("this must be lower-case letters, digits and underscores, starting with a letter, as in 'github'")
    return prefix


def _texts_by_name(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise Mistake(f"this must be a table of names and texts, not {kind_of(value)}")
    return {str(name): text(one) for name, one in value.items()}


def _credentials(value: object) -> dict[str, dict[str, str]]:
    """By security scheme, the variables of the environment that hold its parts."""
    if not isinstance(value, Mapping):
        raise Mistake(f"this must be a table for each security scheme, not {kind_of(value)}")
    found = {str(scheme): _texts_by_name(parts) for scheme, parts in value.items()}
    for scheme, parts in found.items():
        for part, variable in parts.items():
            if not _VARIABLE.fullmatch(variable):
                raise Mistake(
                    f"the {part} of {named(scheme)} must be the name of a variable of the environment, such as "
                    "'API_TOKEN': the secret itself does not belong here"
                )
    return found


def _allowed(value: object) -> tuple[str, ...]:
    from headgate.sources.http.bounds import Bounds  # noqa: PLC0415  (a tenth of a second of imports)

    given = texts(value)
    try:
        return Bounds(allow=given).allow
    except AdapterError as error:
        raise Mistake(str(error)) from None


def _limits(value: object) -> tuple[ApiLimit, ...]:
    """How many requests a window may hold: ``{requests_per_minute = 60}``."""
    known = {f"requests_per_{window}": window for window in WINDOWS}
    if not isinstance(value, Mapping) or not value:
        raise Mistake(f"this must be a table with some of {', '.join(known)}, not {kind_of(value)}")
    mistakes: list[str] = []
    table = Table(value, Place("", mistakes), known)
    found = {window: table.take(key, whole(1), None) for key, window in known.items()}
    if mistakes:
        raise Mistake(*mistakes)
    return tuple(ApiLimit(limit=limit, window=window) for window, limit in found.items() if limit is not None)
