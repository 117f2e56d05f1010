"""Requests that are too large, or no text, in one place and right in every other (specification 4.7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from headgate.conformance.apart import asked_apart
from headgate.conformance.probe import Probe
from headgate.conformance.survey import INTROSPECT
from headgate.conformance.values import Exchange

__all__ = ["LIMITS", "Limit", "Oversized", "allowed_of", "misencoded", "oversized", "padding_of", "padding_place"]

Limit: TypeAlias = Literal["max_request_size", "max_string_length", "max_array_elements", "max_nesting_depth"]
Place: TypeAlias = Literal["top", "params"]

_MEGABYTE: Final = 1024 * 1024
_WIDEST: Final[Mapping[Limit, int]] = {
    "max_nesting_depth": 64,
    "max_array_elements": 100_000,
    "max_string_length": 10 * _MEGABYTE,
    "max_request_size": 10 * _MEGABYTE,
}
"""The widest that the specification lets a limit be; what a server does not tell is taken for this."""
LIMITS: Final[tuple[Limit, ...]] = tuple(_WIDEST)
_MOST_TRIED: Final[Mapping[Limit, int]] = {
    "max_nesting_depth": 100,
    "max_array_elements": 1_000_000,
    "max_string_length": 16 * _MEGABYTE,
    "max_request_size": 16 * _MEGABYTE,
}
_DEEPER: Final = 8
"""Levels beyond the limit: servers begin to count in different places."""
_PIECE: Final = 60_000
"""Characters of one text in a large request: the smallest limit of texts allows more."""
_MARKED, _UNMARKED = "_padding", "padding_of_a_probe"
_LONE_SURROGATE: Final = "a\ud800b"


@dataclass(frozen=True, slots=True)
class Oversized:
    """A request beyond a limit, and what became of it."""

    allowed: int
    exchange: Exchange
    is_right_otherwise: bool
    """Whether nothing but its size is wrong with it."""


def allowed_of(probe: Probe, limit: Limit) -> int:
    """What a server allows: what it says, or the widest that it might."""
    limits = probe.survey.protocol.get("limits")
    told = limits.get(limit) if isinstance(limits, Mapping) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else _WIDEST[limit]


def padding_of(limit: Limit, allowed: int) -> object:
    """A value that is beyond a limit."""
    if limit == "max_nesting_depth":
        value: object = "x"
        for _ in range(allowed + _DEEPER):
            value = [value]
        return value
    if limit == "max_array_elements":
        return [0] * (allowed + 1)
    if limit == "max_string_length":
        return "x" * (allowed + 1)
    piece = max(min(_PIECE, allowed // 2), 1)
    return ["x" * piece] * (allowed // piece + 2)


def _padded(probe: Probe, place: Place, name: str, value: object) -> dict[str, Any]:
    """A request that is answered by any server which passes over metadata, as 4.6.1 wants it."""
    known = next(iter(probe.survey.operations), INTROSPECT)
    params: dict[str, object] = {"query": "operations", "name": known}
    if place == "params":
        return {"operation": INTROSPECT, "params": {**params, name: value}}
    return {"operation": INTROSPECT, "params": params, name: value}


async def padding_place(probe: Probe) -> Place | None:
    """Where metadata may be put in a request so that it reaches the part of the server that looks at requests.

    It does where metadata is passed over and the same under a plain name is refused. Where neither is seen, it may have
    been dropped on the way, which proves nothing.
    """
    if "padding place" not in probe.memory:
        probe.memory["padding place"] = await _found_place(probe)
    place: Place | None = probe.memory["padding place"]
    return place


async def _found_place(probe: Probe) -> Place | None:
    places: tuple[Place, ...] = ("top", "params")
    tool = probe.survey.introspection_tool
    for place in places:
        marked = await probe.ask(tool, _padded(probe, place, _MARKED, "x"))
        unmarked = await probe.ask(tool, _padded(probe, place, _UNMARKED, "x"))
        if marked.succeeded and unmarked.failed:
            return place
    return None


@dataclass(frozen=True, slots=True)
class _Tried:
    """What became of all of them."""

    misencoded: Exchange
    oversized: Mapping[Limit, Oversized]


async def misencoded(probe: Probe) -> Exchange:
    """What becomes of a request with half of a surrogate pair in a text."""
    return (await _tried(probe)).misencoded


async def oversized(probe: Probe, limit: Limit) -> Oversized | None:
    """What becomes of a request beyond a limit; nothing where the limit is too large to be tried."""
    return (await _tried(probe)).oversized.get(limit)


async def _tried(probe: Probe) -> _Tried:
    """All of them are sent once in a run, over one connection if it lasts: to make one may take seconds."""
    if "payloads" not in probe.memory:
        place = await padding_place(probe)
        limits = [limit for limit in LIMITS if allowed_of(probe, limit) <= _MOST_TRIED[limit]]
        requests = [_named(_LONE_SURROGATE), *(_beyond(probe, limit, place) for limit in limits)]
        first, *others = await asked_apart(probe, requests)
        tried = {
            limit: Oversized(allowed_of(probe, limit), exchange, place is not None or limit == "max_string_length")
            for limit, exchange in zip(limits, others, strict=True)
        }
        probe.memory["payloads"] = _Tried(first, tried)
    found: _Tried = probe.memory["payloads"]
    return found


def _named(name: object) -> dict[str, Any]:
    return {"operation": INTROSPECT, "params": {"query": "operations", "name": name}}


def _beyond(probe: Probe, limit: Limit, place: Place | None) -> dict[str, Any]:
    value = padding_of(limit, allowed_of(probe, limit))
    if limit == "max_string_length" or place is None:
        return _named(value)
    return _padded(probe, place, _MARKED, value)
