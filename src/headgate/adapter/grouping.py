"""Operations by source and group, so that thousands of them can be looked through a page at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.names import resource_of, singular

__all__ = ["Group", "Groups"]

_TELLING: Final = 2
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Group:
    """Operations of one source that belong together."""

    name: str
    source: str
    operations: tuple[Operation, ...]

    @property
    def description(self) -> str:
        """One line: what some of them do."""
        said = "; ".join(operation.summary.strip().rstrip(".") for operation in self.operations[:_TELLING])
        more = " …" if len(self.operations) > _TELLING else ""
        line = " ".join(said.split())
        return f"{line[: _LONGEST - 1]}…" if len(line) > _LONGEST else f"{line}{more}"

    def wire(self) -> dict[str, object]:
        """As introspection shows it."""
        return {"name": self.name, "operations": len(self.operations), "description": self.description}


class Groups:
    """All groups. What its source does not put into any is grouped by the resource that its name speaks of."""

    def __init__(self, operations: Iterable[Operation], source: str) -> None:
        found: dict[tuple[str, str], list[Operation]] = {}
        for operation in operations:
            of = operation.source or source
            found.setdefault((of, _group(operation)), []).append(operation)
        by_source: dict[str, list[Group]] = {}
        for (of, group), members in sorted(found.items()):
            by_source.setdefault(of, []).append(Group(f"{of}.{group}", of, tuple(members)))
        self.by_source: Mapping[str, Sequence[Group]] = by_source
        self._named = {group.name: group for groups in by_source.values() for group in groups}

    @property
    def names(self) -> list[str]:
        """The names of all groups, source by source."""
        return list(self._named)

    def __getitem__(self, name: str) -> Group:
        return self._named[name]

    def count(self, source: str) -> int:
        """How many operations a source has."""
        return sum(len(group.operations) for group in self.by_source.get(source, ()))

    def find(self, name: str) -> Group | None:
        """One group, or all of a source in one."""
        if name in self.by_source:
            everything = (one for group in self.by_source[name] for one in group.operations)
            return Group(name, name, tuple(everything))
        return self._named.get(name)


def _group(operation: Operation) -> str:
    return operation.group or singular(resource_of(operation.local or operation.name))
