"""From a schema's complaints to problems in a user's words (Spec 4.5.3, 4.6; Operations 5.4, 8)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from headgate.adapter.operations import INPUT, Operation
from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import dereference, expected_type, type_name
from headgate.adapter.text_formats import FORMAT_WORDS
from headgate.protocol.categories import Category
from headgate.protocol.errors import AqlError, harmless, quoted
from headgate.protocol.requests import json_type
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = [
    "Problem",
    "broken_constraint",
    "broken_rule",
    "complaints_within",
    "place",
    "problems_of",
    "refusal",
]

_MISSING: Final = "VALIDATION_MISSING_PARAM"
_TYPE: Final = "VALIDATION_INVALID_TYPE"
_UNKNOWN_PARAM: Final = "VALIDATION_UNKNOWN_PARAM"
_UNKNOWN_FIELD: Final = "VALIDATION_UNKNOWN_FIELD"
_ORDER: Final = (_MISSING, _TYPE, _UNKNOWN_PARAM, _UNKNOWN_FIELD)
"""The order in which the kinds of problems are looked for (Operations 5.4); constraints come last."""

_BOUNDS: Final = {
    "minimum": ("minimum", "be {} or more"),
    "maximum": ("maximum", "be {} or less"),
    "exclusiveMinimum": ("exclusive_minimum", "be greater than {}"),
    "exclusiveMaximum": ("exclusive_maximum", "be less than {}"),
    "multipleOf": ("multiple_of", "be a multiple of {}"),
    "minLength": ("min_length", "have {} or more characters"),
    "maxLength": ("max_length", "have {} or fewer characters"),
    "minItems": ("min_items", "have {} or more items"),
    "maxItems": ("max_items", "have {} or fewer items"),
    "minProperties": ("min_properties", "have {} or more fields"),
    "maxProperties": ("max_properties", "have {} or fewer fields"),
}
_SHOWN_VALUES: Final = 20
_MOST_PROBLEMS: Final = 100
_LONGEST_PLACE: Final = 200
_LONGEST_CHOICE: Final = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the parameters of a request."""

    code: str
    param_name: str
    message: str
    details: Mapping[str, object]

    @property
    def rank(self) -> int:
        """Where its kind stands in the order of validation."""
        return _ORDER.index(self.code) if self.code in _ORDER else len(_ORDER)

    def wire(self) -> dict[str, object]:
        """The problem as one of several in an answer."""
        return {"code": self.code, "param_name": self.param_name, "message": self.message}


def refusal(operation: Operation, problems: Iterable[Problem]) -> AqlError:
    """All problems of a request as one error: the first kind gives the code, and one repair is enough."""
    ordered = sorted(problems, key=lambda problem: problem.rank)
    first = ordered[0]
    details = {**first.details, "operation": operation.name}
    if len(ordered) > 1:
        details["problems"] = [problem.wire() for problem in ordered[:_MOST_PROBLEMS]]
    more = f" (and {len(ordered) - 1} more, see details)" if len(ordered) > 1 else ""
    return AqlError(first.code, first.message + more, details)


def place(path: Sequence[str | int]) -> str:
    """Where in the parameters: ``author.name``, ``tags[0]``."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return steps.removeprefix(".")[:_LONGEST_PLACE]


def _shown(path: Sequence[str | int]) -> str:
    """The place in quotes as a message can say it: up to the first key that is too odd to repeat."""
    for end in range(len(path), 0, -1):
        shown = quoted(place(path[:end]))
        if shown:
            return shown if end == len(path) else f"{shown[:-1]}.…'"
    return "(with an odd name)"


def problems_of(operation: Operation, errors: Sequence[Any]) -> list[Problem]:
    """The schema's complaints as problems."""
    reader = _Reader(operation, errors)
    found = (problem for error in errors for problem in reader.problems(error))
    return list({(problem.code, problem.param_name, problem.message): problem for problem in found}.values())


class _Reader:
    """Reads the errors of one request; each can look at the others, to tell a misspelt name from a foreign one."""

    def __init__(self, operation: Operation, errors: Sequence[Any]) -> None:
        self._operation = operation
        self._definitions = operation.definitions
        self._missing = [
            str(error.kind.value) for error in errors if error.kind.name == "required" and not error.instance_path
        ]

    def problems(self, error: Any) -> Iterator[Problem]:
        path, name, value = error.instance_path, error.kind.name, error.kind.value
        match name:
            case "required":
                yield self._missing_parameter([*path, value], self._demanded(error))
            case "type":
                yield self._wrong_type(path, self._schema(error), error.instance)
            case "additionalProperties" | "unevaluatedProperties":
                yield self._unknown(path, list(self._schema(error).get("properties", {})), value)
            case "enum" | "const":
                yield _not_one_of(path, value if name == "enum" else [value], error.instance)
            case "anyOf" | "oneOf":
                yield from self._union(error)
            case "not" if self._schema(error).get("readOnly"):
                yield self._read_only(path)
            case "propertyNames" if not path or (path == [INPUT] and value.instance in self._operation.identifiers):
                yield self._unknown(path, [], [value.instance])
            case "not" if set(value) == {"required"}:
                yield broken_rule(path, f"{_listed(value['required'])} cannot be given together")
            case _:
                yield broken_constraint(path, name, value)

    def _schema(self, error: Any) -> Schema:
        """The schema whose keyword complains."""
        schema: Any = self._operation.schema
        for step in error.schema_path[:-1]:
            schema = schema[step]
        return schema if isinstance(schema, dict) else {}

    def _demanded(self, error: Any) -> Schema:
        """What is said of a value that is missing; a rule about several parameters says it elsewhere."""
        name, said = error.kind.value, self._schema(error).get("properties", {})
        if name not in said and not error.instance_path:
            said = self._operation.schema["properties"]
        schema: object = said.get(name)
        return schema if isinstance(schema, dict) else {}

    def _missing_parameter(self, path: Sequence[str | int], schema: Schema) -> Problem:
        name = place(path)
        full = dereference(schema, self._definitions)
        description = str(full.get("description", ""))
        said = f" ({description})" if description and harmless(description) else ""
        expected = expected_type(schema, self._definitions)
        kind = expected if harmless(f"{expected} ") else f"'{expected}'"
        message = f"Missing required parameter {_shown(path)}. Expected: {kind}{said}"
        return Problem(_MISSING, name, message, {"param_name": name})

    def _wrong_type(self, path: Sequence[str | int], schema: Schema, value: object) -> Problem:
        return _type_problem(path, type_name(schema, self._definitions), value)

    def _unknown(self, path: Sequence[str | int], valid: Sequence[str], unknown: Sequence[str]) -> Problem:
        """Names that are not declared. A near one that is missing was surely meant, else any that is near."""
        shown = [name[:_LONGEST_PLACE] for name in unknown[:_SHOWN_VALUES]]
        near = [found for name in shown for found in nearest(name, self._missing, 1) or nearest(name, valid, 1)]
        hint = did_you_mean(dict.fromkeys(near))
        names = ", ".join(quoted(name, "(a name with odd characters)") for name in shown) + _more(unknown)
        operation = self._operation.name
        if not path:
            known = self._operation.schema["properties"]
            details = {"unknown_params": shown, "valid_params": [name for name in valid if name in known] or [*known]}
            if self._are_changes(shown):
                hint = f"; changes stand in '{INPUT}'"
            message = f"Unknown parameter(s) for operation '{operation}': {names}{hint}"
            return Problem(_UNKNOWN_PARAM, place([", ".join(shown)]), message, details)
        if path == [INPUT] and not set(shown).isdisjoint(self._operation.identifiers):
            hint = f"; identifiers stand beside '{INPUT}', not in it"
        fields = {"param_name": place(path), "unknown_fields": shown, "valid_fields": list(valid)}
        message = f"Unknown field(s) in {_shown(path)} for operation '{operation}': {names}{hint}"
        return Problem(_UNKNOWN_FIELD, place(path), message, fields)

    def _are_changes(self, names: Sequence[str]) -> bool:
        """Whether all are fields of the ``input`` of an UPDATE (Spec 4.5)."""
        given = self._operation.parameter(INPUT) if self._operation.category is Category.UPDATE else None
        fields = dereference(given.schema, self._operation.definitions).get("properties", {}) if given else {}
        return all(name in fields for name in names)

    def _read_only(self, path: Sequence[str | int]) -> Problem:
        message = f"Field {_shown(path[1:])} is read-only and cannot be updated"
        return Problem("VALIDATION_READ_ONLY_FIELD", place(path), message, {"field": place(path[1:])})

    def _union(self, error: Any) -> Iterator[Problem]:
        """What is wrong with the branch that was meant: the one whose type is right, if there is one."""
        path, fitting = error.instance_path, _fitting(error)
        tags = _tags(fitting)
        if not all(error.kind.value):
            yield broken_rule(path, self._fits_several(error))
        elif tags:
            yield _not_one_of(tags[0].instance_path, [tag.kind.value for tag in tags], tags[0].instance)
        elif len(fitting) > 1 and all(_is_missing(branch, path) for branch in fitting):
            yield _missing_one_of(path, [[inner.kind.value for inner in branch] for branch in fitting])
        elif fitting:
            for inner in min(fitting, key=len):
                yield from self.problems(inner)
        else:
            yield self._wrong_type(path, self._schema(error), error.instance)

    def _fits_several(self, error: Any) -> str:
        """Why a value that fits is refused all the same; in parameters that exclude each other their names say it."""
        branches = self._schema(error).get("oneOf", ())
        fitting = [branch for branch, wrong in zip(branches, error.kind.value, strict=False) if not wrong]
        if all(branch.get("required") and set(branch) <= {"required", "title", "description"} for branch in fitting):
            return f"only one of {_listed(name for branch in fitting for name in branch['required'])} can be given"
        return "it fits more than one of the possible types"


def _is_missing(branch: Sequence[Any], path: Sequence[str | int]) -> bool:
    """Whether all that is wrong with a branch of a union is that something is not given."""
    return all(error.kind.name == "required" and list(error.instance_path) == list(path) for error in branch)


def _missing_one_of(path: Sequence[str | int], ways: Sequence[Sequence[str]]) -> Problem:
    """Nothing is given of what one of several ways needs."""
    shown = " or ".join(_listed(names) for names in ways[:_SHOWN_VALUES])
    inside = f" in {_shown(path)}" if path else ""
    details = {"param_name": place([*path, ways[0][0]]), "one_of": [list(names) for names in ways]}
    return Problem(_MISSING, place([*path, ways[0][0]]), f"Missing{inside}: one of these is needed: {shown}", details)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(quoted(name, "(a name with odd characters)") for name in names))


def complaints_within(error: Any) -> Iterator[Any]:
    """A complaint and, if it is about a union, those of the branch that was surely meant."""
    yield error
    if error.kind.name in ("anyOf", "oneOf"):
        for inner in min(_fitting(error), key=len, default=()):
            yield from complaints_within(inner)


def _fitting(union: Any) -> list[Sequence[Any]]:
    """The branches of a union whose type is right, each with what is wrong all the same."""
    return [branch for branch in union.kind.value if not _is_type_error(branch, union.instance_path)]


def _is_type_error(branch: Sequence[Any], path: Sequence[str | int]) -> bool:
    return any(error.kind.name == "type" and list(error.instance_path) == list(path) for error in branch)


def _tags(branches: Sequence[Sequence[Any]]) -> list[Any]:
    """The constants of one field by which the branches are told apart, where it fits none of them."""
    found = [error for branch in branches for error in branch if error.kind.name == "const"]
    alike = [error for error in found if error.instance_path == found[0].instance_path]
    return alike if len(alike) == len(branches) > 1 else []


def _more(items: Sequence[object]) -> str:
    return f" and {len(items) - _SHOWN_VALUES} more" if len(items) > _SHOWN_VALUES else ""


def _type_problem(path: Sequence[str | int], expected: str, value: object) -> Problem:
    name, actual = place(path), json_type(value)
    details = {"param_name": name, "expected_type": expected, "actual_type": actual}
    return Problem(_TYPE, name, f"Parameter {_shown(path)} expected '{expected}', got '{actual}'", details)


def _not_one_of(path: Sequence[str | int], allowed: Sequence[object], value: object) -> Problem:
    name, shown = place(path), ", ".join(_choice(choice) for choice in allowed[:_SHOWN_VALUES])
    texts = [choice for choice in allowed if isinstance(choice, str) and _can_be_said(choice)]
    near = nearest(value, texts, 1) if isinstance(value, str) else ()
    message = f"Parameter {_shown(path)} must be one of: {shown}{_more(allowed)}{did_you_mean(near)}"
    return Problem("VALIDATION_INVALID_ENUM", name, message, {"param_name": name, "allowed_values": list(allowed)})


def _choice(value: object) -> str:
    """An allowed value as JSON, with a text in the quotes of messages."""
    if isinstance(value, str):
        return f"'{value}'" if _can_be_said(value) else "(see details)"
    return orjson.dumps(value).decode()


def _can_be_said(text: str) -> bool:
    return len(text) <= _LONGEST_CHOICE and text.isprintable() and harmless(text)


def _subject(path: Sequence[str | int]) -> str:
    return f"Parameter {_shown(path)}" if path else "The parameters together"


def broken_constraint(path: Sequence[str | int], keyword: str, value: object) -> Problem:
    """The problem of a value that is of the right type but breaks what a keyword of the schema demands."""
    name = place(path)
    if keyword in _BOUNDS:
        key, words = _BOUNDS[keyword]
        message = f"{_subject(path)} must {words.format(value)}"
        return Problem("VALIDATION_OUT_OF_RANGE", name, message, {"param_name": name, key: value})
    if keyword == "pattern":
        shown = f"the pattern '{value}'" if harmless(str(value)) else "its pattern, see details"
        message = f"Parameter {_shown(path)} must match {shown}"
        return Problem("VALIDATION_PATTERN_MISMATCH", name, message, {"param_name": name, "pattern": value})
    if keyword == "format":
        message = f"Parameter {_shown(path)} must be {FORMAT_WORDS.get(str(value), f'of the form {value!r}')}"
        return Problem("VALIDATION_INVALID_VALUE", name, message, {"param_name": name, "expected_form": value})
    return broken_rule(path, _OTHER_RULES.get(keyword, "the value breaks a rule of its type"))


def broken_rule(path: Sequence[str | int], rule: str) -> Problem:
    """The problem of a value that breaks a rule which no other code names."""
    message = f"{_subject(path)} {'is' if path else 'are'} not valid: {rule}"
    return Problem("VALIDATION_INVALID_VALUE", place(path), message, {"param_name": place(path)})


_OTHER_RULES: Final = {
    "uniqueItems": "no item may stand twice",
    "propertyNames": "a key has the wrong form",
    "contains": "an item of the demanded kind is missing",
    "oneOf": "it fits more than one of the possible types",
    "not": "this value is excluded",
}
