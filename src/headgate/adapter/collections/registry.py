"""All collections of an adapter: what holds the items of each, and the operations that follow."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cached_property

from headgate.adapter.collections.declaring import Declaration, declared_collection
from headgate.adapter.collections.memory import Holder, Holdings, MemoryBackend
from headgate.adapter.collections.operations import VERBS, CollectionOperations
from headgate.adapter.collections.relationships import RelationshipQueries
from headgate.adapter.operations import Operation
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.query.answers import Shaper
from headgate.query.backends import Backend
from headgate.query.collections import Catalog, Collection
from headgate.query.cursors import Cursors
from headgate.query.keys import cursor_key
from headgate.query.paging import QueryOptions
from headgate.query.paths import Resolver
from headgate.query.reading import Reader

__all__ = ["Collections"]


class Collections:
    """The collections of one adapter."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.options = QueryOptions()
        self.transactions: list[Callable[[], AbstractAsyncContextManager[None]]] = []
        """How the sources of collections put all that follows into one transaction."""
        self._backends: dict[str, Backend] = {}
        self._memory = MemoryBackend()

    def add(self, collection: Collection, backend: Backend) -> None:
        """Take in a collection and what holds its items."""
        self.catalog.add(collection)
        self._backends[collection.name] = backend

    def declare(
        self, model: type, said: Declaration, items: Holdings | None, backend: Backend | None
    ) -> tuple[Collection, bool]:
        """Take in a collection that an author declares; whether items can be added to it."""
        collection, adapter = declared_collection(model, said)
        if backend is not None and items is None:
            self.add(collection, backend)
            return collection, True
        if items is None or backend is not None:
            raise AdapterError("A collection needs items or a backend: one of them.")
        holder = Holder(collection, adapter, items)
        self._memory.add(holder)
        self.add(collection, self._memory)
        return collection, holder.writable

    def operations(self, collection: Collection, leave_out: Iterable[str], *, writable: bool) -> Iterator[Operation]:
        """The operations of a collection, less some by their verbs."""
        left = frozenset(leave_out)
        for verb in left:
            if verb not in VERBS:
                hint = did_you_mean(nearest(verb, VERBS)) or "."
                raise AdapterError(
                    f"A collection has no operation '{verb}' to leave out{hint} It has {', '.join(VERBS)}."
                )
        made = CollectionOperations(collection, self._backends[collection.name], self.reader, self.shaper, writable)
        return made.operations(left)

    def relating(self) -> Operation | None:
        """The operation that follows relationships, once there are any to a collection that is there."""
        if not any(one.target in self.catalog for each in self.catalog for one in each.relationships.values()):
            return None
        return RelationshipQueries(self.catalog, self._backends, self.reader).operation()

    @cached_property
    def reader(self) -> Reader:
        """Reads the parameters of requests."""
        return Reader(Resolver(self.catalog), self._cursors, self.options)

    @cached_property
    def shaper(self) -> Shaper:
        """Shapes answers."""
        return Shaper(self._cursors)

    @cached_property
    def _cursors(self) -> Cursors:
        return Cursors(cursor_key())

    def can_join(self, sources: Sequence[str]) -> bool:
        """Whether there can be one transaction for what operations of these sources do."""
        return bool(self.transactions)

    @asynccontextmanager
    async def transaction(self, sources: Sequence[str] = ()) -> AsyncIterator[None]:
        """All that happens inside is kept together, or undone together if something is raised.

        The sources are those whose operations are called in it.
        """
        async with AsyncExitStack() as stack:
            for join in self.transactions:
                await stack.enter_async_context(join())
            yield
