"""Whether the conditions of a rule can ever hold of the operations that it matches."""

from collections.abc import Iterator, Sequence
from typing import Final

from headgate.adapter.operations import DRY_RUN, Operation
from headgate.adapter.parameters import Schema
from headgate.adapter.text_formats import DECIMAL
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.decisions import Effect
from headgate.safety.policy.conditions import PRESENT, Condition
from headgate.safety.policy.rules import Rule
from headgate.safety.policy.shapes import choices, declared_types, default_under, forms_under, known_paths
from headgate.safety.policy.tables import kind_of, named

__all__ = ["clashes", "oddities", "rows_are_unknown"]

_EQUAL: Final = ("eq", "ne", "in", "not_in")
_ORDER: Final = ("gt", "gte", "lt", "lte")
_SHOWN: Final = 10
_SPELLINGS: Final = {
    "date-time": "with another offset from UTC",
    "time": "with another offset from UTC",
    "uuid": "in capital letters",
    "duration": "in other units",
    "uri": "with other escapes",
}
"""The formats of a text in which the same thing may be written in several ways, and how."""


def clashes(condition: Condition, operations: Sequence[Operation]) -> Iterator[str]:
    """Why a condition can hold of no call of these operations."""
    steps = condition.path.split(".")
    forms = [found for operation in operations if (found := forms_under(operation, steps))]
    if forms:
        wrong = [list(_clashes(condition, some)) for some in forms]
        yield from wrong[0] if all(wrong) else ()
    elif operations:
        known = list(dict.fromkeys(path for operation in operations for path in known_paths(operation)))
        yield f"none of the matched operations has such a parameter{_meant(condition.path, known)}"


def _meant(path: str, known: Sequence[str]) -> str:
    """The path that was meant: the same name inside of something, one that is written nearly so, or its beginning."""
    inside = [one for one in known if one.endswith(f".{path}")]
    outside = [one for one in known if path.startswith(f"{one}.")]
    meant = inside[:1] or nearest(path, known, 1) or outside[-1:]
    return did_you_mean(meant) or f"; known are {', '.join(known[:_SHOWN]) or 'none'}"


def _clashes(condition: Condition, forms: Sequence[Schema]) -> Iterator[str]:
    """What is wrong with an operand, given the forms that the value may have."""
    if condition.operator == PRESENT or not all(map(declared_types, forms)):
        return
    operand = condition.operand
    if condition.operator in ("eq", "ne") and isinstance(operand, list | tuple):
        if not any("array" in declared_types(form) for form in forms):
            yield f"the parameter is {_said(forms)}, and so never a list: write {{ in = […] }} to mean any of these"
        return
    single = [form for form in forms if not declared_types(form) <= {"array", "null"}]
    for one in operand if isinstance(operand, list | tuple) else (operand,):
        yield from _clash(condition.operator, one, single)


def _clash(operator: str, operand: object, forms: Sequence[Schema]) -> Iterator[str]:
    fitting = [form for form in forms if _may_be(operator, operand, form)]
    if not fitting:
        yield f"the parameter is {_said(forms)}, and so never {kind_of(operand)}"
    elif isinstance(operand, str) and any(form.get("format") == DECIMAL for form in fitting):
        yield f"the parameter is a decimal number: write {named(operand)} without quotes, so it is compared as a number"
    elif operator in _EQUAL:
        known = [choices(form) for form in fitting]
        values = [value for some in known for value in some or ()]
        if None not in known and not any(_is(operand, value) for value in values):
            words = [str(value) for value in values if value is not None]
            near = did_you_mean(nearest(str(operand), words, 1))
            yield f"{named(operand)} is none of the parameter's values, which are {', '.join(words[:_SHOWN])}{near}"


def _may_be(operator: str, operand: object, form: Schema) -> bool:
    """Whether a value of this form can be compared with an operand: a text, a number, true or false."""
    types = declared_types(form)
    match operand:
        case bool():
            return "boolean" in types
        case str():
            return "string" in types
        case _:
            is_between = operator in _EQUAL and isinstance(operand, float) and not operand.is_integer()
            numbers = {"number"} if is_between else {"number", "integer"}
            return bool(types & numbers) or form.get("format") == DECIMAL


def _is(operand: object, value: object) -> bool:
    return operand == value and isinstance(operand, bool) is isinstance(value, bool)


def _said(forms: Sequence[Schema]) -> str:
    types = dict.fromkeys(one for form in forms for one in sorted(declared_types(form)) if one != "null")
    return f"of type {' or '.join(types)}" if types else "never anything but null"


def oddities(condition: Condition, operations: Sequence[Operation]) -> Iterator[str]:
    """What an operator should know of a condition, though it is no mistake."""
    steps = condition.path.split(".")
    having = [operation for operation in operations if forms_under(operation, steps)]
    if condition.operator == PRESENT:
        if having and all(_is_always_given(operation, steps) for operation in having):
            always = "always" if condition.operand else "never"
            yield f"the parameter is always given or has a default, so this {always} holds"
        return
    operands = condition.operand if isinstance(condition.operand, list | tuple) else (condition.operand,)
    if condition.operator in (*_EQUAL, *_ORDER) and any(isinstance(one, str) for one in operands):
        forms = [form for operation in having for form in forms_under(operation, steps)]
        ways = dict.fromkeys(_SPELLINGS[one] for form in forms if (one := form.get("format")) in _SPELLINGS)
        if ways:
            yield f"it is compared as text, and the same may be written {' or '.join(ways)}"


def _is_always_given(operation: Operation, steps: Sequence[str]) -> bool:
    parameter = operation.parameter(steps[0])
    is_required = len(steps) == 1 and parameter is not None and parameter.required
    nullable = any("null" in declared_types(form) for form in forms_under(operation, steps))
    return (is_required and not nullable) or (len(steps) == 1 and default_under(operation, tuple(steps)) is not None)


def rows_are_unknown(rule: Rule, operations: Sequence[Operation]) -> Iterator[str]:
    """Which operations do not tell how many rows they would affect, and what comes of it."""
    silent = [one.name for one in operations if one.parameter(DRY_RUN) is None or one.tries_nothing]
    if rule.affected_rows and silent:
        shown = ", ".join(silent[:_SHOWN]) + (" …" if len(silent) > _SHOWN else "")
        follows = "never allows" if rule.effect is Effect.ALLOW else "always applies to"
        yield f"these cannot be tried without effect, so the rule {follows} them, however few the rows: {shown}"
