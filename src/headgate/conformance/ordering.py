"""Whether values are in order, as any database may see it."""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, Final

from headgate.conformance.listing import Scalar

__all__ = ["is_sorted"]


def is_sorted(values: Sequence[Scalar], seen: Sequence[Scalar], *, descending: bool = False) -> bool:
    """Whether the first values of a collection are in order, under any of the orders that are usual for them.

    ``seen`` are values that the collection is known to have: the first numbers of all cannot lie behind them. Values
    of a kind that has no usual order are taken as they come.
    """
    held = [value for value in values if value is not None]
    known = [value for value in seen if value is not None]
    keys = [key for key in _KEYS if _all_have(key, [*held, *known])]
    if not keys:
        return True
    return any(_in_order(list(map(key, held)), descending) and _leads(key, held, known, descending) for key in keys)


Key = Callable[[Any], Any]


def _number(value: Scalar) -> Decimal:
    if isinstance(value, bool) or value is None:
        raise TypeError
    number = Decimal(str(value))
    if not number.is_finite():
        raise TypeError
    return number


def _truth(value: Scalar) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Scalar) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _plain_text(value: Scalar) -> str:
    return _text(value).casefold()


def _letters(value: Scalar) -> str:
    """What is left for collations that pass over spaces and signs."""
    return "".join(letter for letter in _plain_text(value) if letter.isalnum())


_KEYS: Final[tuple[Key, ...]] = (_number, _truth, _text, _plain_text, _letters)


def _all_have(key: Key, values: Sequence[Scalar]) -> bool:
    try:
        for value in values:
            key(value)
    except (TypeError, InvalidOperation):
        return False
    return True


def _in_order(keys: list[Any], descending: bool) -> bool:
    pairs = pairwise(keys)
    return all(after <= before if descending else before <= after for before, after in pairs)


def _leads(key: Key, held: Sequence[Scalar], known: Sequence[Scalar], descending: bool) -> bool:
    """Whether no known number would have to come first: an order within one page only is none of the collection."""
    if key is not _number or not held or not known:
        return True
    first = key(held[0])
    return bool(first >= max(map(key, known)) if descending else first <= min(map(key, known)))
