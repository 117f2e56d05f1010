"""Conditions over the parameters of a call. What cannot be compared is never taken for harmless."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from headgate.safety.policy.comparisons import OPERATORS, Incomparable, Test

__all__ = ["MISSING", "OPERATORS", "PRESENT", "Condition", "Default", "Steps", "values_under"]

Steps: TypeAlias = tuple[str, ...]
Default: TypeAlias = Callable[[Steps], object]
"""Tells what stands in for a value that is not given, or None."""

MISSING: Final = object()
"""Stands for a value that is not given and has no default, or is null, which says the same."""
_STRANGE: Final = object()
"""Stands for whatever is found where an object should be: nobody knows what the operation makes of it."""


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
        yield MISSING if value is None or value == [] else _STRANGE


PRESENT: Final = "present"
"""The operator that may be said of a value that is not given, too."""

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
        test = OPERATORS[self.operator](self.operand)
        found = [_result(test, one, in_doubt) for one in values]
        return any(found) if in_doubt else all(found)


def _result(test: Test, value: object, in_doubt: bool) -> bool:
    try:
        return test(value)
    except Incomparable:
        return in_doubt
