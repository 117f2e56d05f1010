"""The collections of several sources, shown together; each source still answers for its own."""

from collections.abc import AsyncIterator, Container, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from headgate.adapter.collections.registry import Collections
from headgate.query.collections import Collection

__all__ = ["JoinedCollections"]


class JoinedCollections(Collections):
    """The collections of several sources. Names that more than one has are told apart as their operations are."""

    def __init__(self, parts: Mapping[str, Collections], prefixes: Mapping[str, str]) -> None:
        super().__init__()
        self._parts = {name: part for name, part in parts.items() if len(part.catalog)}
        owners: dict[str, int] = {}
        for part in self._parts.values():
            for one in part.catalog:
                owners[one.name] = owners.get(one.name, 0) + 1
        for source, part in self._parts.items():
            self.transactions += part.transactions
            for one in part.catalog:
                prefix = prefixes.get(source, "") or (source if owners[one.name] > 1 else "")
                self.catalog.add(_renamed(one, prefix))

    def can_join(self, sources: Container[str]) -> bool:
        """Whether there can be one transaction: only inside one source, which can undo what was done."""
        touched = [part for name, part in self._parts.items() if name in sources]
        return len(touched) == 1 and touched[0].can_join(sources)

    @asynccontextmanager
    async def transaction(self, sources: Container[str] = ()) -> AsyncIterator[None]:
        """All that happens inside is kept together by the one source whose operations are called."""
        part = next(part for name, part in self._parts.items() if name in sources)
        async with part.transaction(sources):
            yield


def _renamed(collection: Collection, prefix: str) -> Collection:
    if not prefix:
        return collection
    return replace(collection, name=f"{prefix}_{collection.name}", singular=f"{prefix}_{collection.singular}")
