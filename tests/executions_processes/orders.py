"""What callers want done: work of every kind, some of which is cancelled, and some begun anew when it has failed."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Order", "order_of"]

_PROCESSES = 0.01
"""How many have a process of their own: starting one takes longer than all other work together."""
_CANCELLED = 0.05
_RETRIED = 0.5
_LARGE = 4000
"""Parts of a result that is kept in several pieces."""

Params = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Order:
    """One execution that is to be started, and what its caller does then."""

    operation: str
    params: Params
    cancels_after: float | None = None
    """After so many seconds its caller wants it to end."""
    retries: bool = False
    """Whether its caller begins it anew if it has failed."""

    @classmethod
    def held(cls, gate: str, *, fails: bool) -> "Order":
        """Work that goes on until a gate is open, and that may fail then."""
        return cls(operation="execute_until", params={"gate": gate, "fails": fails})


def order_of(number: int, chance: random.Random) -> Order:
    """The order of a number, by chance."""
    operation, params = _kind(chance)
    common = {"number": number, "milliseconds": chance.randint(10, 300)}
    cancels = chance.random() < _CANCELLED
    return Order(
        operation=operation,
        params={**common, **params},
        cancels_after=chance.uniform(0, 0.4) if cancels else None,
        retries=chance.random() < _RETRIED,
    )


def _kind(chance: random.Random) -> tuple[str, Params]:
    if chance.random() < _PROCESSES:
        return "execute_in_process", {}
    operation = chance.choice(list(_KINDS))
    return operation, _KINDS[operation](chance)


def _sized(chance: random.Random) -> Params:
    sizes = [1] * 7 + [30] * 2 + [_LARGE]
    return {"size": chance.choice(sizes), "form": chance.choice(["list", "text"])}


_KINDS: Mapping[str, Callable[[random.Random], Params]] = {
    "execute_once": _sized,
    "execute_again": _sized,
    "execute_flaky": lambda chance: {"failures": chance.choice([0, 1, 2, 3])},
    "execute_ordered": lambda chance: {"customer": chance.choice("abcde")},
    "execute_narrow": lambda chance: {},
    "execute_in_thread": lambda chance: {},
}
