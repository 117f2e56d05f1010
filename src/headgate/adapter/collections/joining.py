"""The collections of several sources, shown together; each source still answers for its own."""

from collections.abc import AsyncIterator, Mapping, Sequence
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
                self._show(_renamed(one, prefix))

    def _show(self, collection: Collection) -> None:
        """Take a collection in, under another name if this one is taken by another source's."""
        name, number = collection.name, 2
        while name in self.catalog:
            name, number = f"{collection.name}_{number}", number + 1
        self.catalog.add(collection if name == collection.name else replace(collection, name=name))

    def can_join(self, sources: Sequence[str]) -> bool:
        """Whether there can be one transaction: only inside one source, which can undo what was done."""
        touched = list(sources)
        part = self._parts.get(touched[0]) if len(touched) == 1 else None
        return part is not None and part.can_join(sources)

    @asynccontextmanager
    async def transaction(self, sources: Sequence[str] = ()) -> AsyncIterator[None]:
        """All that happens inside is kept together by the one source whose operations are called."""
        [source] = sources
        async with self._parts[source].transaction(sources):
            yield


def _renamed(collection: Collection, prefix: str) -> Collection:
    if not prefix:
        return collection
    return replace(collection, name=f"{prefix}_{collection.name}", singular=f"{prefix}_{collection.singular}")
