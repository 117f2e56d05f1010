"""What the parameters of a request must satisfy together, in a form that has room for those that headgate adds."""

from collections.abc import Container, Iterator, Mapping
from typing import Final, NamedTuple

import jsonschema_rs

from headgate.adapter.operations import DRY_RUN
from headgate.adapter.parameters import Schema
from headgate.sources.shapes.places import in_place, mentioned
from headgate.sources.shapes.requests import Part, Request, Standing

__all__ = ["ADDED", "TOGETHER", "Rules", "rules_of", "within_input"]

ADDED: Final = "·dry_run"
"""Stands for the parameter that headgate adds to every change, until the names are put in."""

_CONDITION: Final = ("if", "then", "else")
TOGETHER: Final = (
    *("anyOf", "oneOf", "not", *_CONDITION, "dependentRequired", "dependentSchemas"),
    *("minProperties", "patternProperties", "propertyNames"),
)
"""Keywords about all parameters together."""
_PLAIN: Final = frozenset(
    {"title", "description", "default", "examples", "properties", "required", "$ref", "allOf"}
    | {"readOnly", "writeOnly", "deprecated"}
)
"""Keywords of which nothing is left to say when each parameter is declared."""
_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_LOST: Final = "its rules about several parameters together are checked only there"


class Rules(NamedTuple):
    """The keywords, and what could not be kept."""

    schema: Schema
    notes: tuple[str, ...] = ()


def rules_of(request: Request, names: Mapping[str, str]) -> Rules:
    """The rules of a request, still with its own names; its parts get room for what is added."""
    further: Schema = {"additionalProperties": True} if request.is_open else {}
    unfit = [(part, key) for part in request.parts for key in _unfit(part, names, request.definitions)]
    if any(key == "patternProperties" for _, key in unfit):
        unfit += [(part, key) for part in request.parts for key in ("unevaluatedProperties",) if key in part.schema]
    if any(part.standing is not Standing.DEMANDED for part, _ in unfit):
        return Rules(further, (_LOST,))
    for part, key in unfit:
        del part.schema[key]
        if key == "patternProperties":
            part.schema.pop("additionalProperties", None)
    is_flat = _is_flat(request)
    for part in request.parts:
        if not _CLOSING.isdisjoint(part.schema):
            part.schema["properties"] = {**part.names, ADDED: {}}
    root = request.parts[0].schema
    return Rules({**further, **(_flat(request) if is_flat else {"allOf": [root]})}, (_LOST,) if unfit else ())


def _is_flat(request: Request) -> bool:
    """Whether all that is left to say, once each parameter is declared, stands in the first part itself."""
    root, *others = request.parts
    demanded = (part for part in others if part.standing is Standing.DEMANDED)
    closes = not isinstance(root.schema.get("additionalProperties", True), bool) or (
        root.schema.get("additionalProperties") is False
    )
    is_complete = not closes or set(request.mentioned) <= root.names.keys()
    return (
        is_complete
        and "unevaluatedProperties" not in root.schema
        and all(_PLAIN.issuperset(p.schema) for p in demanded)
    )


def _flat(request: Request) -> Schema:
    root, others = request.parts[0].schema, request.parts[1:]
    rules: Schema = {key: root[key] for key in TOGETHER if key in root}
    said = root.get("additionalProperties")
    if isinstance(said, dict):
        rules["additionalProperties"] = said
    elif said is not True and "patternProperties" in root and not any(part.is_open for part in others):
        rules["additionalProperties"] = False
    return rules


def _unfit(part: Part, names: Mapping[str, str], definitions: Mapping[str, Schema]) -> Iterator[str]:
    """The keywords of a part that other names, or one name more, would make into something else."""
    schema = part.schema
    patterns = [_checker({"pattern": pattern}, {}) for pattern in schema.get("patternProperties", ())]
    if any(not _is_alike(names, checker) or checker.is_valid(DRY_RUN) for checker in patterns):
        yield "patternProperties"
    if "propertyNames" in schema:
        checker = _checker(schema["propertyNames"], definitions)
        if not _is_alike(names, checker) or not checker.is_valid(DRY_RUN):
            yield "propertyNames"
    if "maxProperties" in schema:
        yield "maxProperties"
    if "minProperties" in schema and part.standing is not Standing.DEMANDED:
        yield "minProperties"


def _is_alike(names: Mapping[str, str], checker: jsonschema_rs.Draft202012Validator) -> bool:
    return all(own == name or checker.is_valid(own) == checker.is_valid(name) for own, name in names.items())


def _checker(schema: object, definitions: Mapping[str, Schema]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"allOf": [schema], "$defs": dict(definitions)})


def within_input(rules: Schema, inside: Container[str], definitions: Mapping[str, Schema]) -> Rules:
    """The rules that are only about the fields inside ``input``, where not all parameters of a request stand there."""
    kept = {key for key in TOGETHER if key in rules and key != "minProperties"}
    kept -= {key for key in kept if not _is_about(rules, key, inside, definitions)}
    if not kept.issuperset(key for key in _CONDITION if key in rules):
        kept -= set(_CONDITION)
    lost = rules.keys() - kept - {"additionalProperties"}
    return Rules({key: rules[key] for key in TOGETHER if key in kept}, (_LOST,) if lost else ())


def _is_about(rules: Schema, key: str, inside: Container[str], definitions: Mapping[str, Schema]) -> bool:
    said = in_place([{key: rules[key]}], definitions)
    return all(name in inside or name == DRY_RUN for schema in said for name in mentioned(schema))
