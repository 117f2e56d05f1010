"""Conditions over the parameters of a call. What cannot be compared is never taken for harmless."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from headgate.protocol.canonical import canonical

__all__ = ["OPERATORS", "Condition", "value_at"]

MISSING: Final = object()


class _Incomparable(Exception):
    """The value is of a kind that the condition cannot judge."""


def value_at(params: Mapping[str, object], path: str) -> object:
    """The value at a dotted path, or ``MISSING``."""
    value: object = params
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return MISSING
        value = value[step]
    return value


def _same(left: object, right: object) -> bool:
    """Whether two values are one: 1 and 1.0 are the same number; true, "1" and 1 are three different things."""
    if _is_number(left) and _is_number(right):
        return Decimal(str(left)) == Decimal(str(right))
    return canonical(left) == canonical(right)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> Decimal:
    """A number, also one that had to be sent as text because it is large or exact."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Incomparable
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise _Incomparable from None


def _ordered(value: object, bound: object, holds: Callable[[Any, Any], bool]) -> bool:
    if isinstance(bound, str):
        if not isinstance(value, str):
            raise _Incomparable
        return holds(value, bound)
    left = _number(value)
    if left.is_nan():
        raise _Incomparable
    return holds(left, _number(bound))


def _matches(value: object, pattern: Any) -> bool:
    if not isinstance(value, str):
        raise _Incomparable
    return re.search(pattern, value) is not None


OPERATORS: Final[Mapping[str, Callable[[object, Any], bool]]] = {
    "eq": _same,
    "ne": lambda value, other: not _same(value, other),
    "in": lambda value, others: any(_same(value, other) for other in others),
    "not_in": lambda value, others: not any(_same(value, other) for other in others),
    "gt": lambda value, bound: _ordered(value, bound, lambda left, right: left > right),
    "gte": lambda value, bound: _ordered(value, bound, lambda left, right: left >= right),
    "lt": lambda value, bound: _ordered(value, bound, lambda left, right: left < right),
    "lte": lambda value, bound: _ordered(value, bound, lambda left, right: left <= right),
    "matches": _matches,
}
"""What a condition may say of a value that is given. ``present`` is the one that may be said of one that is not."""

PRESENT: Final = "present"


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold of one parameter."""

    path: str
    operator: str
    operand: Any

    def holds(self, params: Mapping[str, object], *, in_doubt: bool) -> bool:
        """Whether it holds of a call. A value of a kind that cannot be compared leaves it in doubt."""
        value = value_at(params, self.path)
        if self.operator == PRESENT:
            return (value is not MISSING and value is not None) is self.operand
        if value is MISSING:
            return self.operator in ("ne", "not_in")
        return self.judge(value, in_doubt=in_doubt)

    def judge(self, value: object, *, in_doubt: bool) -> bool:
        """Whether it holds of a value."""
        values = value if isinstance(value, list) and self.operator not in ("eq", "ne") else [value]
        try:
            return any(OPERATORS[self.operator](one, self.operand) for one in values)
        except _Incomparable:
            return in_doubt
