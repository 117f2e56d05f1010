"""Several requests as one, and what became of each: nothing is raised, everything is told."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from headgate.client.answers import read_envelope
from headgate.client.descriptions import objects
from headgate.client.errors import AqlFailure, failure_of
from headgate.client.line import Result
from headgate.client.requests import Request

__all__ = ["Batch", "BatchItem", "Wanted", "asked", "batch_of", "leading"]

Wanted: TypeAlias = str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]
"""One request of a batch: a name, a name with parameters, or ``{"operation": …, "params": …}``."""


@dataclass(frozen=True, slots=True)
class BatchItem:
    """What became of one request."""

    index: int
    request: Request
    result: Result | None = None
    error: AqlFailure | None = None

    @property
    def ok(self) -> bool:
        """Whether it worked."""
        return self.error is None

    @property
    def data(self) -> Any:
        """Its data; raises its error if it did not work."""
        if self.error is not None:
            raise self.error
        return self.result.data if self.result else None


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of several requests."""

    items: tuple[BatchItem, ...]
    """Those that were carried out, in their order."""
    halted_at: BatchItem | None = None
    """The one that must be confirmed before anything goes on; its error has the token."""
    pending: tuple[Request, ...] = ()
    """Those after it, which were not carried out."""
    envelope: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The last answer."""

    def __iter__(self) -> Iterator[BatchItem]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> BatchItem:
        return self.items[place]

    @property
    def succeeded(self) -> int:
        """How many worked."""
        return sum(item.ok for item in self.items)

    @property
    def failed(self) -> int:
        """How many did not."""
        return len(self.items) - self.succeeded


def asked(wanted: Wanted) -> tuple[str, Mapping[str, Any]]:
    """The name and the parameters of one request of a batch."""
    if isinstance(wanted, str):
        return wanted, {}
    if isinstance(wanted, Mapping):
        return str(wanted.get("operation", "")), wanted.get("params") or {}
    return wanted


def batch_of(envelope: Mapping[str, Any], requests: Sequence[Request], offset: int = 0) -> Batch:
    """What an answer says of each request. One that it says nothing of has failed, except after a halt."""
    halted = envelope.get("halted_at")
    stop = _index(halted, len(requests), 0) if isinstance(halted, Mapping) else None
    told = _told(envelope.get("results"), len(requests))
    done = range(len(requests) if stop is None else stop)
    items = tuple(_item(told.get(index), requests[index], offset + index) for index in done)
    if stop is None or not isinstance(halted, Mapping):
        return Batch(items, envelope=envelope)
    return Batch(items, _item(halted, requests[stop], offset + stop), tuple(requests[stop + 1 :]), envelope)


def _told(results: object, count: int) -> Mapping[int, Mapping[str, Any]]:
    return {_index(entry, count, place): entry for place, entry in enumerate(objects(results))}


def _index(entry: Mapping[str, Any], count: int, otherwise: int) -> int:
    index = entry.get("index")
    return index if isinstance(index, int) and 0 <= index < count else otherwise


def _item(entry: Mapping[str, Any] | None, request: Request, index: int) -> BatchItem:
    result = _result_in(entry or {})
    if not isinstance(result, Mapping):
        return BatchItem(index, request, error=AqlFailure("", "the server gives no result for it", request=request))
    reading = read_envelope(result)
    if not reading.succeeded:
        return BatchItem(index, request, error=failure_of(reading.error, request, result))
    return BatchItem(
        index, request, Result(reading.data, reading.warnings, reading.oddities, request, reading.envelope)
    )


def _result_in(entry: Mapping[str, Any]) -> object:
    """The result in an entry, or an entry that is one itself."""
    return entry.get("result", entry if {"success", "error"} & entry.keys() else None)


def leading(requests: Iterable[tuple[str, Request]]) -> list[Request]:
    """The requests from the first on that go to one tool."""
    found: list[tuple[str, Request]] = []
    for tool, request in requests:
        if found and found[0][0] != tool:
            break
        found.append((tool, request))
    return [request for _, request in found]
