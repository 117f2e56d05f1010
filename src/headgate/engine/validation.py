"""From the parameters of a request to those that a handler is called with (Spec 4.2 to 4.6; Operations 5.4)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Convert
from headgate.engine.complaints import errors_of
from headgate.engine.problems import (
    Problem,
    broken_constraint,
    broken_rule,
    complaints_within,
    place,
    problems_of,
    refusal,
)
from headgate.protocol.inspection import MAX_SAFE_INTEGER, beyond_safe_range, check_payload, not_json
from headgate.protocol.limits import Limits
from headgate.protocol.names import camel_to_snake
from headgate.protocol.requests import parse_stringified, stringified_notice
from headgate.protocol.results import Notice

__all__ = ["Validated", "validate"]

_PYDANTIC_ERRORS: Final = frozenset(get_args(ErrorType))
_PYDANTIC_BOUNDS: Final = {
    "greater_than": ("gt", "exclusiveMinimum"),
    "greater_than_equal": ("ge", "minimum"),
    "less_than": ("lt", "exclusiveMaximum"),
    "less_than_equal": ("le", "maximum"),
    "multiple_of": ("multiple_of", "multipleOf"),
}
_DIGITS: Final = re.compile(r"-?[0-9]{16,1000}\Z")
_ROUNDS: Final = 5
"""How often texts are read again that stood inside texts."""
_MOST_NOTICES: Final = 20


class Validated(NamedTuple):
    """Typed and defaulted parameters, the same as they came, and what the caller should know."""

    values: dict[str, object]
    given: Mapping[str, object]
    warnings: tuple[Notice, ...]


def validate(operation: Operation, params: Mapping[str, object], limits: Limits, *, strict: bool) -> Validated:
    """The parameters that the handler gets, or one AqlError with everything that is wrong.

    A right request costs one check by the compiled schema. Only a wrong one is looked at twice: what hosts are known
    to send in another form is put right, and the rest is explained.
    """
    warnings: tuple[Notice, ...] = ()
    try:
        if not operation.validator.is_valid(params):
            params, warnings = _repaired(operation, params, limits, strict=strict)
    except ValueError:  # something that only a caller in the same process can pass
        raise not_json("params") from None
    return Validated(_converted(operation, params), params, warnings)


def _converted(operation: Operation, params: Mapping[str, object]) -> dict[str, object]:
    values = {**operation.defaults, **params}
    for name, convert in operation.converters:
        if name in params and params[name] is not None:
            values[name] = _convert(operation, name, convert, params[name])
    return values


def _convert(operation: Operation, name: str, convert: Convert, value: object) -> object:
    try:
        return convert(value)
    except ValidationError as error:
        raise refusal(operation, [_refused_by_type(name, error)]) from None
    except OverflowError:
        raise beyond_safe_range(name) from None
    except (ValueError, TypeError, ArithmeticError):
        raise refusal(operation, [broken_rule([name], "the value cannot be read")]) from None


def _refused_by_type(name: str, error: ValidationError) -> Problem:
    """The author's own rules, checked by pydantic. Only words that an author wrote for callers are passed on."""
    first = error.errors(include_url=False)[0]
    path = [name, *first["loc"]]
    if first["type"] in _PYDANTIC_BOUNDS:
        key, keyword = _PYDANTIC_BOUNDS[first["type"]]
        return broken_constraint(path, keyword, first["ctx"][key])
    is_authors = first["type"] not in _PYDANTIC_ERRORS
    return broken_rule(path, first["msg"] if is_authors else "the value breaks a rule of its type")


def _repaired(
    operation: Operation, params: Mapping[str, object], limits: Limits, *, strict: bool
) -> tuple[Mapping[str, object], tuple[Notice, ...]]:
    read: Mapping[str, object] = _renamed(operation, params)
    notices: tuple[Notice, ...] = ()
    errors = errors_of(operation, read)
    for _ in range(_ROUNDS):
        before = read
        read, told = _read_texts(read, errors, limits)
        if read is before:
            break
        notices += told
        errors = errors_of(operation, read)
    problems = problems_of(operation, errors)
    if not strict:
        read, problems, dropped = _without_unknown(operation, read, problems)
        notices += dropped
    if problems:
        raise refusal(operation, problems)
    return read, notices[:_MOST_NOTICES]


def _renamed(operation: Operation, params: Mapping[str, object]) -> dict[str, object]:
    """The parameters with camelCase spellings of declared names put right (Operations 4.1)."""
    declared = operation.schema["properties"]
    return {
        snake
        if name not in declared and (snake := camel_to_snake(name)) in declared and snake not in params
        else name: value
        for name, value in params.items()
    }


def _read_texts(
    params: Mapping[str, object], errors: Iterable[Any], limits: Limits
) -> tuple[Mapping[str, object], tuple[Notice, ...]]:
    """Texts read as the object, array or large integer that is declared, where they hold one."""
    repaired: Any = params
    notices = []
    for error in (inner for outer in errors for inner in complaints_within(outer)):
        value, path = error.instance, error.instance_path
        if not isinstance(value, str) or not path:
            continue
        read = _read_text(value, _expected_types(error), limits)
        if read is not None:
            repaired = _replaced(repaired, path, read)
            if not isinstance(read, int):
                notices.append(stringified_notice(place(path), "object" if isinstance(read, dict) else "array"))
    return repaired, tuple(notices)


def _expected_types(error: Any) -> frozenset[str]:
    """The types that would be right where a type is wrong, also inside a union."""
    name = error.kind.name
    if name == "type":
        return frozenset(error.kind.value)
    if name in ("anyOf", "oneOf"):
        return frozenset().union(*(_expected_types(inner) for branch in error.kind.value for inner in branch))
    return frozenset()


def _read_text(text: str, expected: frozenset[str], limits: Limits) -> object:
    if "integer" in expected and _DIGITS.match(text) and abs(int(text)) > MAX_SAFE_INTEGER:
        return int(text)
    parsed = parse_stringified(text) if expected & {"object", "array"} else None
    if (isinstance(parsed, dict) and "object" in expected) or (isinstance(parsed, list) and "array" in expected):
        check_payload(parsed, limits)
        return parsed
    return None


def _replaced(value: Any, path: Sequence[str | int], new: object) -> Any:
    """A copy of the value with something else in one place."""
    if not path:
        return new
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy


def _without_unknown(
    operation: Operation, params: Mapping[str, object], problems: Sequence[Problem]
) -> tuple[Mapping[str, object], list[Problem], tuple[Notice, ...]]:
    """In development, an unknown parameter is dropped with a warning instead of a refusal (Spec 4.6.2)."""
    unknown = [problem for problem in problems if problem.code == "VALIDATION_UNKNOWN_PARAM"]
    kept = {name: value for name, value in params.items() if name in operation.schema["properties"]}
    notices = tuple(
        Notice("VALIDATION_UNKNOWN_PARAM_WARNING", f"{problem.message} (ignored)", problem.details, "medium")
        for problem in unknown
    )
    return kept, [problem for problem in problems if problem not in unknown], notices
