"""The conditions of a rule in a policy file."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from headgate.safety.policy.conditions import PRESENT, Condition
from headgate.safety.policy.expressions import why_not
from headgate.safety.policy.tables import (
    Mistake,
    Place,
    Reader,
    Table,
    each,
    filled,
    flag,
    kind_of,
    named,
    text,
    unknown,
    whole,
)

__all__ = ["read_affected_rows", "read_when"]

Scalar: TypeAlias = str | int | float | bool
Operand: TypeAlias = Scalar | tuple[Scalar, ...]
Operands: TypeAlias = Mapping[str, Reader[Operand]]
"""The operators that may be used somewhere, each with the reader of what stands behind it."""

_ROWS: Final = "affected_rows"


def read_when(table: Table) -> Iterator[Condition]:
    """What must hold of the parameters of a call."""
    if "when" not in table:
        return
    place, content = table.place.key("when"), table.value("when")
    if not isinstance(content, Mapping) or not content:
        Table(content, place, ())  # notes what is wrong
        return
    for path, said in content.items():
        here = place.below(f"parameter {named(path)}")
        if all(path.split(".")):
            yield from _conditions(path, said, here, _OPERANDS)
        else:
            here.note("this must be a name, or several with a dot between two")


def read_affected_rows(table: Table) -> Iterator[Condition]:
    """What must hold of the number of rows that a dry run tells."""
    if _ROWS in table:
        yield from _conditions(_ROWS, table.value(_ROWS), table.place.key(_ROWS), _ROW_OPERANDS)


def _conditions(path: str, said: object, place: Place, operands: Operands) -> Iterator[Condition]:
    """A bare value must be equal; a table has an operator for each thing that must hold."""
    if isinstance(said, list):
        place.note("a list needs an operator: write { in = […] } for any of these, or { eq = […] } for the whole list")
    elif not isinstance(said, Mapping):
        yield from _condition(path, "eq", said, place, operands)
    elif not said:
        place.note("it is empty and so says nothing: fill it or leave it out")
    else:
        for operator, operand in said.items():
            yield from _condition(path, operator, operand, place.below(f"operator {named(operator)}"), operands)


def _condition(path: str, operator: str, operand: object, place: Place, operands: Operands) -> Iterator[Condition]:
    if operator not in operands:
        place.note(f"{unknown(operator, list(operands))}{_inside(path, operator) if PRESENT in operands else ''}")
        return
    try:
        yield Condition(path, operator, operands[operator](operand))
    except Mistake as mistake:
        place.note(*mistake.sentences)


def _inside(path: str, name: str) -> str:
    """How to write a path; TOML makes tables of one that is not in quotes."""
    return f" (for a parameter inside {named(path)}, write {named(f'{path}.{name}')} as one key in quotes)"


def _scalar(value: object) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        raise Mistake(f"this must be a finite number, not {value}")
    if not isinstance(value, str | int | float):
        raise Mistake(f"this must be a text, a number, true or false, not {kind_of(value)}")
    return value


def _value(value: object) -> Operand:
    return each(_scalar, value) if isinstance(value, list) else _scalar(value)


def _bound(value: object) -> Operand:
    if isinstance(value, bool):
        raise Mistake(f"this must be a number or a text, not {kind_of(value)}")
    return _scalar(value)


def _expression(value: object) -> Operand:
    expression = text(value)
    problem = why_not(expression)
    if problem:
        raise Mistake(f"{named(expression)}: {problem}")
    return expression


def _filled(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise Mistake(f"this must be a list, not {kind_of(value)}")
    return filled(value)


def _values(value: object) -> Operand:
    return each(_scalar, _filled(value))


def _counts(value: object) -> Operand:
    return each(_count, _filled(value))


_count: Final = whole(0)

_OPERANDS: Final[Operands] = {
    **dict.fromkeys(("eq", "ne"), _value),
    **dict.fromkeys(("in", "not_in"), _values),
    **dict.fromkeys(("gt", "gte", "lt", "lte"), _bound),
    "matches": _expression,
    PRESENT: flag,
}
_ROW_OPERANDS: Final[Operands] = {
    **dict.fromkeys(("eq", "ne", "gt", "gte", "lt", "lte"), _count),
    **dict.fromkeys(("in", "not_in"), _counts),
}
