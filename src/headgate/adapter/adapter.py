"""The adapter: the one registry of operations and types, and the decorators that fill it."""

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, overload

from headgate.adapter.background import Background, background_from
from headgate.adapter.collections.declaring import Declaration
from headgate.adapter.collections.memory import Holdings
from headgate.adapter.collections.registry import Collections
from headgate.adapter.functions import Options, operation_from_function
from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import Deprecated
from headgate.adapter.parts import Part
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.autonomy import Scorer, worst_of
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust, danger_from, trust_from
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.protocol.profiles import CRUDE, PROFILES, Profile
from headgate.query.backends import Backend
from headgate.query.collections import Collection, Computed, Relationship

__all__ = ["Adapter"]

F = TypeVar("F", bound=Callable[..., Any])


class _Decorator:
    """``@adapter.read`` alone, or with options: ``@adapter.read(name=…)``."""

    def __init__(self, adapter: "Adapter", category: Category) -> None:
        self._adapter = adapter
        self._category = category

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(
        self,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        examples: Iterable[Example | Mapping[str, object]] = (),
        endpoint: str | None = None,
        deprecated: Deprecated | str | None = None,
        locks: str | Iterable[str] | None = None,
        rationale: str = "",
        danger: Danger | DangerLevel | str | None = None,
        background: Background | bool = False,
    ) -> Callable[[F], F]: ...

    def __call__(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        made = _options(**options)

        def register(handler: F) -> F:
            self._adapter.add(operation_from_function(handler, self._category, made))
            return handler

        return register(function) if function is not None else register


def _options(
    *,
    examples: Iterable[Example | Mapping[str, object]] = (),
    deprecated: Deprecated | str | None = None,
    locks: str | Iterable[str] | None = None,
    danger: Danger | DangerLevel | str | None = None,
    background: Background | bool = False,
    **options: Any,
) -> Options:
    return Options(
        examples=tuple(given if isinstance(given, Example) else Example(given) for given in examples),
        deprecated=Deprecated(deprecated) if isinstance(deprecated, str) else deprecated,
        locks=(locks,) if isinstance(locks, str) else None if locks is None else tuple(locks),
        danger=danger_from(danger),
        background=background_from(background),
        **options,
    )


class Adapter:
    """A named set of operations, each of exactly one category (Spec 6.2).

    Every rule is checked as an operation is added, so an adapter that exists can be served. ``trust`` is what its
    origin says of it, such as an adapter file; who serves it may decide otherwise.
    """

    def __init__(
        self,
        name: str,
        description: str = "",
        *,
        version: str = "0.1.0",
        profile: Profile | str = CRUDE,
        trust: Trust | str | None = None,
    ) -> None:
        if not name.strip():
            raise AdapterError("An adapter needs a name.")
        self.name = name
        self.description = description
        self.version = version
        self.profile = _profile(profile)
        self.trust = trust_from(trust)
        self._operations: dict[str, Operation] = {}
        self._collections = Collections()
        self._relating: Operation | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._scorers: list[Scorer] = []
        self.parts: Callable[[], Sequence[Part]] = tuple
        """The sources that it is put together from, each as it fares now; none if it is one by itself."""
        self.create = _Decorator(self, Category.CREATE)
        self.read = _Decorator(self, Category.READ)
        self.update = _Decorator(self, Category.UPDATE)
        self.delete = _Decorator(self, Category.DELETE)
        self.execute = _Decorator(self, Category.EXECUTE)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The operations by name, in the order they were added."""
        return MappingProxyType(self._operations)

    def add(self, operation: Operation) -> None:
        """Take an operation in, or say why not."""
        name = operation.name
        if name in RESERVED_OPERATIONS:
            raise AdapterError(
                f"The operation name '{name}' is reserved for the protocol: choose another (Spec 8.5.4)."
            )
        if name in self._operations:
            raise AdapterError(f"There is already an operation '{name}' in adapter '{self.name}'.")
        if operation.endpoint and self.profile.family(operation.endpoint) is None:
            known = ", ".join(family.name for family in self.profile.families)
            raise AdapterError(
                f"Operation '{name}' names the endpoint family '{operation.endpoint}', which profile "
                f"'{self.profile.name}' does not have; it has {known}."
            )
        self._operations[name] = operation

    # collections

    def collection(
        self,
        model: type,
        *,
        key: str | Sequence[str],
        items: Holdings | None = None,
        backend: Backend | None = None,
        name: str | None = None,
        singular: str | None = None,
        description: str | None = None,
        computed: Iterable[Computed] = (),
        presets: Mapping[str, Sequence[str]] | None = None,
        read_only: Iterable[str] = (),
        append_only: Iterable[str] = (),
        relationships: Iterable[Relationship] = (),
        search: Sequence[str] | None = None,
        version: str | None = None,
        leave_out: Iterable[str] = (),
    ) -> Collection:
        """Serve items of a type: ``list_books``, ``get_book``, ``search_books`` and so on follow from it.

        ``items`` is a list or dictionary that is read and changed in place, or a function that gives a sequence and is
        only read; ``backend`` is anything else that holds items. Operations whose verbs are in ``leave_out`` are left
        out, and those that the adapter already has stay as they are.
        """
        said = Declaration(
            key=key,
            name=name,
            singular=singular,
            description=description,
            computed=computed,
            presets=presets,
            read_only=read_only,
            append_only=append_only,
            relationships=relationships,
            search=search,
            version=version,
        )
        made, writable = self._collections.declare(model, said, items, backend)
        self._add_operations(made, writable=writable, leave_out=leave_out)
        self._add_relating()
        return made

    def add_collections(
        self,
        collections: Iterable[Collection],
        backend: Backend,
        *,
        read_only: Container[str] = (),
        leave_out: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> None:
        """Serve collections that a source knows of, out of what holds their items.

        Those named in ``read_only`` can only be read; ``leave_out`` has the verbs that some of them do without.
        """
        known = tuple(collections)
        for one in known:
            self._collections.add(one, backend)
        for one in known:
            left = leave_out.get(one.name, ())
            self._add_operations(one, writable=one.name not in read_only, leave_out=left)
        self._add_relating()

    def _add_operations(self, collection: Collection, *, writable: bool, leave_out: Iterable[str]) -> None:
        for operation in self._collections.operations(collection, leave_out, writable=writable):
            if operation.name not in self._operations:
                self.add(operation)

    def _add_relating(self) -> None:
        """Take in the operation that follows relationships, or make it anew: it knows all collections."""
        operation = self._collections.relating()
        if operation is None or self._operations.get(operation.name) is not self._relating:
            return  # or an author's own has the name
        self._operations.pop(operation.name, None)
        self.add(operation)
        self._relating = operation

    def risk(self, scorer: Scorer) -> Scorer:
        """Have a function tell the risk of what agents are about to do. The graver of its word and the usual counts."""
        self._scorers.append(scorer)
        return scorer

    def scorer(self, usual: Scorer) -> Scorer:
        """How the risk of an action is told: as usual, or graver where one of the adapter's own functions says so."""
        return partial(worst_of, (usual, *self._scorers)) if self._scorers else usual

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Have something closed when the adapter is no longer served."""
        self._closers.append(closer)

    async def close(self) -> None:
        """Close what the adapter holds open, such as the connections to a database."""
        while self._closers:
            await self._closers.pop()()

    @property
    def collections(self) -> Collections:
        """The collections that the adapter serves."""
        return self._collections

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The functions of its own that tell risk."""
        return tuple(self._scorers)

    def put_together(self, collections: Collections, scorers: Iterable[Scorer]) -> None:
        """Take over what other adapters have beside operations."""
        self._collections = collections
        self._scorers.extend(scorers)


def _profile(profile: Profile | str) -> Profile:
    if isinstance(profile, Profile):
        return profile
    found = PROFILES.get(profile)
    if found is None:
        raise AdapterError(f"There is no profile '{profile}'; known are {', '.join(PROFILES)}.")
    return found
