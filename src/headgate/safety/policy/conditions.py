"""Conditions over the parameters of a call. What cannot be compared is never taken for harmless."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

from headgate.protocol.canonical import canonical
from headgate.safety.policy.expressions import found_in

__all__ = ["MISSING", "OPERATORS", "PRESENT", "Condition", "Default", "Steps", "values_under"]

Steps: TypeAlias = tuple[str, ...]
Default: TypeAlias = Callable[[Steps], object]
"""Tells what stands in for a value that is not given, or None."""

MISSING: Final = object()
"""Stands for a value that is not given and has no default, or is null, which says the same."""
_STRANGE: Final = object()
"""Stands for whatever is found where an object should be: nobody knows what the operation makes of it."""


class _Incomparable(Exception):
    """The value is of a kind that the condition cannot judge."""


def values_under(params: Mapping[str, object], path: str, default: Default) -> Iterator[object]:
    """The values under a dotted path: of each item where a list is on the way, and ``MISSING`` where there is none."""
    return _walk(params, (), tuple(path.split(".")), default)


def _walk(value: object, done: Steps, steps: Steps, default: Default) -> Iterator[object]:
    if not steps:
        yield MISSING if value is None else value
    elif isinstance(value, list) and value:
        for item in value:
            yield from _walk(item, done, steps, default)
    elif isinstance(value, Mapping):
        here = (*done, steps[0])
        yield from _walk(value[steps[0]] if steps[0] in value else default(here), here, steps[1:], default)
    else:
        yield MISSING if value is None or value is MISSING or value == [] else _STRANGE


def _same(left: object, right: object) -> bool:
    """Whether two values are one: 1 and 1.0 are the same number; true, "1" and 1 are three different things.

    Yet a number may be sent as text, so "1" and 1 cannot be told apart for sure.
    """
    if _is_number(left) and _is_number(right):
        return _number(left) == _number(right)
    if isinstance(left, list | Mapping) and not isinstance(right, list | tuple | Mapping):
        raise _Incomparable
    if _is_number(left) != _is_number(right) and _read(left) == _read(right) is not None:
        raise _Incomparable
    return _canonical(left) == _canonical(right)


def _canonical(value: object) -> bytes:
    try:
        return canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise _Incomparable from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read(value: object) -> Decimal | None:
    try:
        return _number(value)
    except _Incomparable:
        return None


def _number(value: object) -> Decimal:
    """A number, also one that had to be sent as text because it is large or exact."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Incomparable
    try:
        read = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    except InvalidOperation:
        raise _Incomparable from None
    if read.is_nan():
        raise _Incomparable
    return read


def _ordered(value: object, bound: object, holds: Callable[[Any, Any], bool]) -> bool:
    if isinstance(bound, str):
        if not isinstance(value, str):
            raise _Incomparable
        return holds(value, bound)
    return holds(_number(value), _number(bound))


def _matches(value: object, expression: str) -> bool:
    if not isinstance(value, str):
        raise _Incomparable
    try:
        return found_in(expression, value)
    except ValueError:
        raise _Incomparable from None


def _is_among(value: object, others: Any) -> bool:
    """Whether a value is one of some; that it may be one of them is in doubt only if it is none for sure."""
    doubts = 0
    for other in others:
        try:
            if _same(value, other):
                return True
        except _Incomparable:
            doubts += 1
    if doubts:
        raise _Incomparable
    return False


OPERATORS: Final[Mapping[str, Callable[[object, Any], bool]]] = {
    "eq": _same,
    "ne": lambda value, other: not _same(value, other),
    "in": _is_among,
    "not_in": lambda value, others: not _is_among(value, others),
    "gt": lambda value, bound: _ordered(value, bound, lambda left, right: left > right),
    "gte": lambda value, bound: _ordered(value, bound, lambda left, right: left >= right),
    "lt": lambda value, bound: _ordered(value, bound, lambda left, right: left < right),
    "lte": lambda value, bound: _ordered(value, bound, lambda left, right: left <= right),
    "matches": _matches,
}
"""What a condition may say of a value that is given. ``present`` is the one that may be said of one that is not."""

PRESENT: Final = "present"
_NEGATIVE: Final = ("ne", "not_in")
_EXACT: Final = ("eq", "ne")


def _no_default(_steps: Steps) -> object:
    return None


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold of one parameter."""

    path: str
    operator: str
    operand: Any

    def holds(self, params: Mapping[str, object], *, in_doubt: bool, default: Default = _no_default) -> bool:
        """Whether it holds of a call.

        A value of a kind that cannot be compared leaves it in doubt, and so do several of which it holds only of some.
        """
        found = [self._holds_of(value, in_doubt) for value in values_under(params, self.path, default)]
        return any(found) if in_doubt else all(found)

    def _holds_of(self, value: object, in_doubt: bool) -> bool:
        if value is _STRANGE:
            return in_doubt
        if self.operator == PRESENT:
            return (value is not MISSING) is self.operand
        return self.operator in _NEGATIVE if value is MISSING else self.judge(value, in_doubt=in_doubt)

    def judge(self, value: object, *, in_doubt: bool) -> bool:
        """Whether it holds of a value. A list stands for all that is in it, unless it is compared with a list."""
        is_whole = self.operator in _EXACT and isinstance(self.operand, list | tuple)
        values = value if isinstance(value, list) and not is_whole else [value]
        if not values:
            return self.operator in _NEGATIVE
        found = [self._is_true_of(one, in_doubt) for one in values]
        return any(found) if in_doubt else all(found)

    def _is_true_of(self, value: object, in_doubt: bool) -> bool:
        try:
            return OPERATORS[self.operator](value, self.operand)
        except _Incomparable:
            return in_doubt
