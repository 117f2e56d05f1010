"""What introspection tells of sources and groups: whose operations are whose, and how that is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from headgate.adapter.adapter import Adapter
from headgate.adapter.grouping import Groups
from headgate.adapter.operations import Operation
from headgate.adapter.pages import page_info, page_of

__all__ = ["PAGE", "Overview"]

PAGE: Final = 100
"""How many groups, or operations of one, are told unless more are asked for."""


@dataclass(frozen=True)
class Overview:
    """An adapter's operations by source and group."""

    adapter: Adapter
    trust_of: Callable[[str], str] | None = None
    """How far a source is trusted, if anything guards."""

    def groups(self, first: int | None, after: str | None) -> dict[str, object]:
        """All sources with their numbers, and the groups of each, a page of them."""
        page = page_of(self._groups.names, first or PAGE, after)
        shown: dict[str, list[object]] = {}
        for group in map(self._groups.__getitem__, page):
            shown.setdefault(group.source, []).append(group.wire())
        sources = [self._source(name, shown.get(name, [])) for name in self._groups.by_source]
        return {"sources": sources, **page_info(page, self._groups.names), **self.not_ready()}

    def not_ready(self) -> dict[str, object]:
        """The sources whose operations may be missing for now, so that nobody takes them for not there at all."""
        missing = [{"name": part.name, "state": part.state.value} for part in self.adapter.parts() if part.is_missing]
        return {"sources_not_ready": missing} if missing else {}

    def _source(self, name: str, groups: list[object]) -> dict[str, object]:
        """A source with the groups of a page; how many it has is said in any case."""
        parts = {part.name: part.description for part in self.adapter.parts()}
        about = parts.get(name) if parts else self.adapter.description
        return {
            "name": name,
            "operations": self._groups.count(name),
            **({"description": about} if about else {}),
            "group_count": len(self._groups.by_source[name]),
            "groups": groups,
        }

    def group(
        self, name: str, infos: Mapping[str, Mapping[str, object]], first: int | None, after: str | None
    ) -> dict[str, object]:
        """The operations of one group, or of a whole source; a page of them."""
        group = self._groups.find(name)
        if group is None:
            return {"group": None, "operations": [], **self.not_ready()}
        names = [operation.name for operation in group.operations]
        page = page_of(names, first or PAGE, after)
        return {
            "group": group.wire(),
            "operations": [infos[one] for one in page],
            **page_info(page, names),
            **self.not_ready(),
        }

    def counts(self, first: int | None, after: str | None) -> dict[str, object]:
        """A page of all groups, each with its number of operations and nothing else."""
        page = page_of(self._groups.names, first or PAGE, after)
        told = {name: len(self._groups[name].operations) for name in page}
        return {"groups": told, **page_info(page, self._groups.names), **self.not_ready()}

    def knows(self, name: str) -> bool:
        """Whether there is a group or source of that name."""
        return self._groups.find(name) is not None

    def members(
        self, name: str, first: int | None, after: str | None
    ) -> tuple[Sequence[Operation], Mapping[str, object]]:
        """A page of the operations of a group or source, and where it stands; none of one that is not there."""
        group = self._groups.find(name)
        operations = {operation.name: operation for operation in group.operations} if group else {}
        names = list(operations)
        page = page_of(names, first or PAGE, after)
        return [operations[one] for one in page], page_info(page, names)

    @cached_property
    def _groups(self) -> Groups:
        return Groups(self.adapter.operations.values(), self.adapter.name)

    def sources(self, first: int | None, after: str | None) -> dict[str, object]:
        """The sources with how each fares, and a page of which operation is whose; nothing if there is only one."""
        parts = self.adapter.parts()
        if not parts:
            return {}
        names = list(self.adapter.operations)
        page = page_of(names, first or PAGE, after)
        trust_of = self.trust_of
        return {
            "sources": [part.wire() | ({"trust": trust_of(part.name)} if trust_of else {}) for part in parts],
            "operation_sources": {name: self.adapter.operations[name].source for name in page},
            **page_info(page, names),
        }

    def whence(self, operation: Operation | None) -> dict[str, object] | None:
        """Where an operation comes from, and how it was told what it is."""
        if operation is None:
            return None
        told = {"group": operation.group, "name_in_source": operation.local}
        origin = operation.origin
        return {
            "name": operation.name,
            "source": operation.source or self.adapter.name,
            **{key: value for key, value in told.items() if value},
            **(origin.wire() if origin else {"category": {"value": operation.category.value}}),
        }
