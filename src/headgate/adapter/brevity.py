"""The short answers of ``introspect``: what was asked and nothing else, operations by the tool that takes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.adapter.collections.registry import Collections
from headgate.adapter.collections.words import collection_in_short
from headgate.adapter.compact import Shortened, hint_of, name_of, type_in_short
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspecting import PAGE, unknown
from headgate.adapter.operations import Operation
from headgate.adapter.overview import Overview
from headgate.adapter.pages import page_info, page_of
from headgate.adapter.parameters import Parameter
from headgate.adapter.types import TypeDef

__all__ = ["SHORT_QUERIES", "Brevity"]

SHORT_QUERIES: Final = ("operations", "search", "groups", "types", "collections")
"""The queries that have a short form."""


@dataclass(frozen=True, slots=True)
class Brevity:
    """Answers in short."""

    operations: Mapping[str, Operation]
    types: Mapping[str, TypeDef]
    collections: Collections
    exposure: Exposure
    overview: Overview
    as_called: Callable[[Operation], tuple[tuple[Parameter, ...], str]]
    """The parameters of an operation as it is served, and what is to be known before it is called."""

    def answer(self, query: str, names: Sequence[str] | None, first: int | None, after: str | None) -> object:
        """The items of these names, or a page of all."""
        match query:
            case "operations":
                return self._listed(first, after) if names is None else self._named(names)
            case "types":
                return self._types(names, first, after)
            case "collections":
                return self._collections(names)
            case _:
                return self._groups(names, first, after)

    def found(self, operations: Iterable[Operation]) -> dict[str, object]:
        """What a search found, the best first; of the tools, the one with the best of all."""
        return {"operations": self._by_tool(operations, hint_of), **self.overview.not_ready()}

    def _listed(self, first: int | None, after: str | None) -> dict[str, object]:
        names = list(self.operations)
        page = page_of(names, first or PAGE, after)
        lines = self._by_tool((self.operations[name] for name in page), name_of)
        return {"operations": lines, **page_info(page, names)}

    def _named(self, names: Sequence[str]) -> dict[str, object]:
        shortened = Shortened()
        there = [self.operations[name] for name in dict.fromkeys(names) if name in self.operations]
        lines = self._by_tool(there, lambda operation: shortened.operation(operation, *self.as_called(operation)))
        return {"operations": lines, **unknown(name for name in names if name not in self.operations)}

    def _by_tool(self, operations: Iterable[Operation], line: Callable[[Operation], str]) -> dict[str, list[str]]:
        lines: dict[str, list[str]] = {}
        for operation in operations:
            lines.setdefault(self.exposure.tool_of(operation), []).append(line(operation))
        return lines

    def _types(self, names: Sequence[str] | None, first: int | None, after: str | None) -> dict[str, object]:
        known = list(self.types)
        page = page_of(known, first or len(known), after) if names is None else names
        told = [type_in_short(self.types[name]) for name in page if name in self.types]
        return {"types": told, **unknown(name for name in page if name not in self.types)}

    def _collections(self, names: Sequence[str] | None) -> dict[str, object]:
        catalog = self.collections.catalog
        wanted = [one for one in catalog if names is None or one.name in names or one.singular in names]
        known = {name for one in wanted for name in (one.name, one.singular)}
        told = {one.name: collection_in_short(one) for one in wanted}
        return {"collections": told, **unknown(name for name in names or () if name not in known)}

    def _groups(self, names: Sequence[str] | None, first: int | None, after: str | None) -> dict[str, object]:
        if names is None:
            return self.overview.counts(first, after)
        operations, page = self.overview.members(names[0], first, after)
        told = {"operations": self._by_tool(operations, hint_of), **page}
        missing = [name for name in names if not self.overview.knows(name)]
        return {**told, **unknown(missing), **self.overview.not_ready()}
