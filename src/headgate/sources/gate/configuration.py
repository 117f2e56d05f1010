"""``headgate.toml``: what it says, or every mistake in it with its place. Nothing is opened here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.safety.policy.reading import PolicyError, read_toml
from headgate.safety.policy.tables import Mistake, Place, Table, text
from headgate.sources.gate.planning import Choices, specs_of, specs_of_list
from headgate.sources.gate.recognizing import beside
from headgate.sources.gate.specs import GatePlan, SourceSpec
from headgate.sources.gate.tables import read_source

__all__ = ["KEYS", "Configuration", "ConfigurationError", "read_configuration"]

KEYS: Final = ("name", "source", "sources", "mcp_servers", "state", "policy")
_NAME: Final = "headgate"


class ConfigurationError(ValueError):
    """A configuration cannot be used; the message has a line for each mistake: the file, the place and what to do."""

    def __init__(self, where: str, mistakes: Iterable[str]) -> None:
        super().__init__("\n".join(f"{where}: {one}" for one in mistakes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a ``headgate.toml`` says."""

    name: str = _NAME
    source: str | None = None
    """The one source that it names outside any table, as a command would."""
    sources: tuple[SourceSpec, ...] = ()
    state: str | None = None
    policy: object = None
    """A table or a file; whatever else somebody has written there is refused with the rest of the settings."""
    files: tuple[Path, ...] = field(default=())
    """It, and every other file that it is read from."""

    def plan(self, choices: Choices) -> GatePlan:
        """All that it names, to be opened together."""
        alone = tuple(specs_of([self.source], choices)) if self.source else ()
        return GatePlan(name=self.name, sources=(*alone, *self.sources), files=self.files)


def read_configuration(path: Path, environment: Mapping[str, str] | None = None) -> Configuration:
    """What a file says. A ConfigurationError has everything that is wrong in it, its tables of sources included."""
    try:
        content = read_toml(path)
    except PolicyError as error:
        raise ConfigurationError(str(path), (one.removeprefix(f"{path}: ") for one in error.mistakes)) from None
    mistakes: list[str] = []
    found = _Reading(path, content, Place("", mistakes), environment).configuration()
    if mistakes:
        raise ConfigurationError(str(path), mistakes)
    return found


class _Reading:
    """One file that is read, and the files beside it that it names."""

    def __init__(
        self, path: Path, content: Mapping[str, object], place: Place, environment: Mapping[str, str] | None
    ) -> None:
        self._path = path
        self._place = place
        self._environment = environment
        self._table = Table(content or {"name": _NAME}, place, KEYS)
        self._files = [path]

    def configuration(self) -> Configuration:
        """All that it says; mistakes are noted."""
        table, folder = self._table, self._path.parent
        source, state = table.take("source", text, None), table.take("state", text, None)
        policy = table.value("policy")
        if isinstance(policy, str) and policy:
            policy = folder / policy
            self._files.append(policy)
        sources = (*self._listed(), *self._tables())
        self._refuse_twins(sources)
        if not any(key in table for key in ("source", "sources", "mcp_servers")):
            self._place.note(
                'it names no source: add source = "shop.db", or a table [sources.NAME] for each of several'
            )
        return Configuration(
            name=table.take("name", text, _NAME),
            source=beside(folder, source) if source else None,
            sources=sources,
            state=beside(folder, state) if state else None,
            policy=policy,
            files=tuple(dict.fromkeys(self._files)),
        )

    def _listed(self) -> tuple[SourceSpec, ...]:
        """The MCP servers of the list that it names."""
        named = self._table.take("mcp_servers", text, None)
        if named is None:
            return ()
        path = self._path.parent / Path(named).expanduser()
        self._files.append(path)
        return self._table.place.key("mcp_servers").read(lambda _: self._servers(path), named, ())

    def _servers(self, path: Path) -> tuple[SourceSpec, ...]:
        try:
            return tuple(specs_of_list(path, Choices(), self._environment))
        except AdapterError as error:
            raise Mistake(str(error)) from None

    def _tables(self) -> tuple[SourceSpec, ...]:
        given = self._table.value("sources")
        place = self._place.key("sources")
        if "sources" not in self._table:
            return ()
        if not isinstance(given, Mapping) or not given:
            place.note("this must be a table for each source: write [sources.NAME] above its keys")
            return ()
        found = []
        for name, content in given.items():
            read = read_source(
                str(name), content, place.below(f"source '{name}'"), self._path.parent, self._environment
            )
            self._files += read.files
            if read.spec is not None:
                found.append(read.spec)
        return tuple(found)

    def _refuse_twins(self, sources: Iterable[SourceSpec]) -> None:
        seen: set[str] = set()
        for spec in sources:
            if spec.name in seen:
                self._place.note(f"there are two sources named '{spec.name}': the list of MCP servers has one, too")
            seen.add(spec.name)
