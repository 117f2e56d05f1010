"""Who waits for whom: the four concurrency categories and the limit on requests in work (Spec 9.3)."""

from collections.abc import Mapping
from typing import Final

import anyio
import orjson

from headgate.adapter.operations import Operation
from headgate.protocol.concurrency import Concurrency

__all__ = ["Turns"]

_EVERYTHING: Final = "*"


class Turns:
    """Locks by resource that exist only while somebody holds or awaits them."""

    def __init__(self, concurrency: Concurrency) -> None:
        self._concurrency = concurrency
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}

    def key(self, operation: Operation, params: Mapping[str, object]) -> str | None:
        """What a call must have for itself, or None if it may run beside all others."""
        match self._concurrency:
            case Concurrency.FULLY_CONCURRENT:
                return None
            case Concurrency.SERIALIZED:
                return _EVERYTHING
            case Concurrency.READ_CONCURRENT:
                return None if operation.category.read_only else _EVERYTHING
            case Concurrency.RESOURCE_LOCKED:
                return _resource(operation, params)

    async def take(self, key: str) -> None:
        """Wait until nobody else has this key."""
        lock, users = self._locks.get(key) or (anyio.Lock(), 0)
        self._locks[key] = lock, users + 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave(key)
            raise

    def release(self, key: str) -> None:
        """Let the next one have it."""
        lock, _ = self._locks[key]
        lock.release()
        self._leave(key)

    def _leave(self, key: str) -> None:
        lock, users = self._locks[key]
        if users == 1:
            del self._locks[key]
        else:
            self._locks[key] = lock, users - 1


def _resource(operation: Operation, params: Mapping[str, object]) -> str | None:
    names = operation.lock_parameters
    if not names:
        return None
    identity = [params.get(name) for name in names]
    return f"{operation.resource}:{orjson.dumps(identity, default=str).decode()}"
