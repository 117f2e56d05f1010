"""What a condition may say of a value. Each operator makes a test of its operand once, for however many values follow.

The values are a caller's, who may be an attacker: none of the tests takes longer than it takes to read the value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

from headgate.protocol.canonical import canonical
from headgate.safety.policy.expressions import found_in

__all__ = ["OPERATORS", "Incomparable", "Test"]

Test: TypeAlias = Callable[[object], bool]
"""Whether something is true of a value. Raises Incomparable where that cannot be told."""


class Incomparable(Exception):
    """The value is of a kind that the condition cannot judge."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Some values, by kind: true, "1" and 1 are three different things, while 1 and 1.0 are the same number."""

    flags: frozenset[bool]
    texts: frozenset[str]
    numbers: frozenset[Decimal]
    numbers_in_texts: frozenset[Decimal]

    def has(self, value: object) -> bool:
        """Whether a value is one of them. A number may be sent as text, so "1" is not told from 1 for sure."""
        match value:
            case None:
                return False
            case bool():
                return value in self.flags
            case str():
                return value in self.texts or _unless(self.numbers and _read(value) in self.numbers)
            case int() | float():
                number = _number(value)
                return number in self.numbers or _unless(number in self.numbers_in_texts)
            case _:
                raise Incomparable


def _unless(in_doubt: object) -> bool:
    if in_doubt:
        raise Incomparable
    return False


def _equal_to(operand: Any) -> Test:
    if not isinstance(operand, list | tuple | Mapping):
        return _one_of([operand])
    whole = canonical(operand)
    return lambda value: value is not None and _canonical(value) == whole


def _one_of(operands: Sequence[Any]) -> Test:
    return _known(tuple((type(one), one) for one in operands)).has


@lru_cache(maxsize=1000)
def _known(operands: tuple[tuple[type, Any], ...]) -> _Known:
    """The operands by kind. With their types, as 1 and true would be one to the cache."""
    texts = frozenset(one for kind, one in operands if kind is str)
    return _Known(
        frozenset(one for kind, one in operands if kind is bool),
        texts,
        frozenset(_number(one) for kind, one in operands if kind in (int, float)),
        frozenset(number for one in texts if (number := _read(one)) is not None),
    )


def _not(test: Test) -> Test:
    return lambda value: not test(value)


def _ordered(holds: Callable[[Any, Any], bool], bound: Any) -> Test:
    if isinstance(bound, str):
        return lambda value: holds(_text(value), bound)
    number = _number(bound)
    return lambda value: holds(_number(value), number)


def _matches(expression: str) -> Test:
    def test(value: object) -> bool:
        try:
            return found_in(expression, _text(value))
        except ValueError:  # half a character
            raise Incomparable from None

    return test


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Incomparable
    return value


def _number(value: object) -> Decimal:
    """A number, also one that had to be sent as text because it is large or exact."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Incomparable
    try:
        read = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    except InvalidOperation:
        raise Incomparable from None
    if read.is_nan():
        raise Incomparable
    return read


def _read(text: str) -> Decimal | None:
    try:
        return _number(text)
    except Incomparable:
        return None


def _canonical(value: object) -> bytes:
    try:
        return canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise Incomparable from None


OPERATORS: Final[Mapping[str, Callable[[Any], Test]]] = {
    "eq": _equal_to,
    "ne": lambda operand: _not(_equal_to(operand)),
    "in": _one_of,
    "not_in": lambda operands: _not(_one_of(operands)),
    "gt": lambda bound: _ordered(gt, bound),
    "gte": lambda bound: _ordered(ge, bound),
    "lt": lambda bound: _ordered(lt, bound),
    "lte": lambda bound: _ordered(le, bound),
    "matches": _matches,
}
"""What may be said of a value that is given, each with what makes the test."""
