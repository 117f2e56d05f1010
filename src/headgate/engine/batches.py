"""Several operations in one request (Operations 7): in order, each for itself, halting only for a confirmation."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias

import orjson

from headgate.engine.gating import ROLLED_BACK
from headgate.engine.stages import Encoded
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.protocol.inspection import too_large
from headgate.protocol.limits import Limits
from headgate.protocol.requests import Batch, request_from
from headgate.protocol.results import LARGEST_BRIEF_ITEM, BatchItem, BatchSuccess, Failure, Pending

__all__ = ["names_in", "not_begun", "run_batch", "run_together"]

Perform: TypeAlias = Callable[[object], Awaitable[Encoded]]
"""Performs one raw request and always gives an envelope."""

_CONFIRMATION: Final = "CONFIRMATION_REQUIRED"
_LONGEST_NAME: Final = 64
"""No operation has a longer name; a longer one is only repeated in part."""


async def run_batch(batch: Batch, perform: Perform, limits: Limits, *, skip: bool = False) -> BatchSuccess:
    """Perform the operations in order. Together the results never exceed the response limit.

    An operation that must be confirmed first halts the batch, or with ``skip`` is passed over (Operations 7.5).
    """
    items: list[BatchItem] = []
    room = _room(batch, limits)
    for index, raw in enumerate(batch.items):
        encoded = await perform(raw)
        waits = encoded.code == _CONFIRMATION
        if waits and not skip:
            pending = _pending(index + 1, batch, limits, room - len(encoded.raw))
            return BatchSuccess(tuple(items), _item(index, raw, encoded), tuple(pending))
        if len(encoded.raw) > room:
            encoded = _brief(encoded, limits)
        else:
            room -= len(encoded.raw)
        items.append(_item(index, raw, encoded, waits=waits))
    return BatchSuccess(tuple(items))


def not_begun(batch: Batch, waiting: Mapping[int, Encoded], limits: Limits) -> BatchSuccess:
    """What is answered for a transaction that was not begun, because some of its operations must be confirmed first.

    Each of those gets its own token, so that the batch can be sent again with all of them.
    """
    room = _room(batch, limits)
    stopped = _Stopped(min(waiting), waiting[min(waiting)], begun=False)
    items = []
    for index, raw in enumerate(batch.items):
        encoded = waiting.get(index) or stopped.of(index, room, limits)
        items.append(_item(index, raw, encoded, waits=encoded.code == _CONFIRMATION))
    return BatchSuccess(tuple(items))


async def run_together(
    batch: Batch, perform: Perform, limits: Limits, transaction: AbstractAsyncContextManager[None]
) -> BatchSuccess:
    """Perform the operations in one transaction. If one fails, or must be confirmed first, nothing of it remains."""
    try:
        async with transaction:
            done = await run_batch(batch, _Strict(perform), limits)
    except _Stopped as stopped:
        room = _room(batch, limits)
        items = [_item(index, raw, stopped.of(index, room, limits)) for index, raw in enumerate(batch.items)]
        return BatchSuccess(tuple(items))
    return done


class _Stopped(Exception):
    """Ends a transaction that one of its operations failed in."""

    def __init__(self, index: int, encoded: Encoded, *, begun: bool = True) -> None:
        self._index = index
        self._encoded = encoded
        self._begun = begun

    def of(self, index: int, room: int, limits: Limits) -> Encoded:
        """What is answered for one of the operations, within the room that there is."""
        if index == self._index:
            return self._encoded if len(self._encoded.raw) <= room else _brief(self._encoded, limits)
        happened = "undone" if self._begun and index < self._index else "not begun"
        why = "must be confirmed first" if self._encoded.code == _CONFIRMATION else "failed"
        error = ErrorDetail(
            ROLLED_BACK,
            f"The operation was {happened}, since operation {self._index} of the same transaction {why}",
            {"failed_index": self._index},
        )
        return Encoded(orjson.dumps(Failure(error).wire()), error.code)


class _Strict:
    """Performs operations until one fails."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._index = 0

    async def __call__(self, raw: object) -> Encoded:
        encoded = await self._perform(raw)
        if encoded.code is not None:
            raise _Stopped(self._index, encoded)
        self._index += 1
        return encoded


def names_in(batch: Batch) -> Iterator[str]:
    """The operations that a batch names."""
    return filter(None, map(_name, batch.items))


def _item(index: int, raw: object, encoded: Encoded, *, waits: bool = False) -> BatchItem:
    return BatchItem(index, _name(raw), orjson.Fragment(encoded.raw), encoded.code is None, waits)


def _name(raw: object) -> str:
    name = raw.get("operation") if isinstance(raw, dict) else None
    return name[:_LONGEST_NAME] if isinstance(name, str) else ""


def _pending(start: int, batch: Batch, limits: Limits, room: int) -> Iterator[Pending]:
    """The operations that did not run, with their parameters as long as there is room for them."""
    for index, raw in enumerate(batch.items[start:], start):
        params = _params(raw, limits)
        room -= len(orjson.dumps(params))
        yield Pending(index, _name(raw), params if room >= 0 else {})


def _params(raw: object, limits: Limits) -> Mapping[str, object]:
    try:
        return request_from(raw, limits).params
    except AqlError:
        return {}


def _room(batch: Batch, limits: Limits) -> int:
    """How much the answers may take, with a few words for each that does not fit."""
    return limits.max_response_size - LARGEST_BRIEF_ITEM * (len(batch.items) + 1)


def _brief(encoded: Encoded, limits: Limits) -> Encoded:
    """What is said of an operation whose answer does not fit: that it ran, or by its code why it did not."""
    if encoded.code is not None:
        error = ErrorDetail(encoded.code, "The rest of this error did not fit: send fewer operations in a batch")
    else:
        hint = " for the whole batch: the operation ran, its answer did not fit; send fewer operations in a batch"
        error = too_large("max_response_size", limits.max_response_size, len(encoded.raw), hint).error
    return Encoded(orjson.dumps(Failure(error).wire()), error.code)
