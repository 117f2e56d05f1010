"""Who waits for whom: the four concurrency categories and the limit on requests in work (Spec 9.3)."""

from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeAlias

import anyio

from headgate.adapter.operations import Operation
from headgate.protocol.concurrency import Concurrency

__all__ = ["Turns"]

Key: TypeAlias = Callable[[Operation, Mapping[str, object]], Hashable | None]
"""What a call must have for itself, or None if it may run beside all others."""

_EVERYTHING: Final = "*"


class Turns:
    """Locks by resource that exist only while somebody holds or awaits them."""

    def __init__(self, concurrency: Concurrency) -> None:
        self.key: Key = _KEYS[concurrency]
        self._locks: dict[Hashable, tuple[anyio.Lock, int]] = {}

    async def take(self, key: Hashable) -> None:
        """Wait until nobody else has this key."""
        lock, users = self._locks.get(key) or (anyio.Lock(), 0)
        self._locks[key] = lock, users + 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave(key)
            raise

    def release(self, key: Hashable) -> None:
        """Let the next one have it."""
        lock, _ = self._locks[key]
        lock.release()
        self._leave(key)

    def _leave(self, key: Hashable) -> None:
        lock, users = self._locks[key]
        if users == 1:
            del self._locks[key]
        else:
            self._locks[key] = lock, users - 1


def _resource(operation: Operation, params: Mapping[str, object]) -> Hashable | None:
    names = operation.lock_parameters
    if names is None:
        return None
    return operation.source, operation.resource, *(_identity(params.get(name)) for name in names)


def _identity(value: object) -> Hashable:
    """The value itself, so that equal ones are one resource however they were written; or else what it looks like."""
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


_KEYS: Final[Mapping[Concurrency, Key]] = {
    Concurrency.FULLY_CONCURRENT: lambda _operation, _params: None,
    Concurrency.SERIALIZED: lambda _operation, _params: _EVERYTHING,
    Concurrency.READ_CONCURRENT: lambda operation, _: None if operation.category.read_only else _EVERYTHING,
    Concurrency.RESOURCE_LOCKED: _resource,
}
