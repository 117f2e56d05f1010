"""What introspection answers must look like, as data: the members of each object, and what is wrong with a value.

The rows follow introspection 3.2 to 3.6 and the normative schema of introspection answers. They say nothing of whether
what is told is true: that is for the checks that try it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from headgate.conformance.survey import CATEGORIES

__all__ = [
    "DETAILS",
    "ENTRY",
    "KINDS",
    "PARAMETER",
    "PROTOCOL",
    "REQUIRED",
    "TYPE_DETAILS",
    "TYPE_ENTRY",
    "Form",
    "Member",
    "Shape",
    "additions",
    "category_faults",
    "details_faults",
    "faults",
    "shown",
    "type_details_faults",
]

KINDS: Final = ("enum", "object", "scalar", "union")
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Form:
    """What a value has to be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object."""

    form: Form
    required: bool = False
    inside: "Shape | None" = None
    """What the object in it looks like."""
    each: "Shape | None" = None
    """What each object of the list in it looks like."""


Shape: TypeAlias = Mapping[str, Member]


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_of(*values: str) -> Form:
    return Form(f"one of {', '.join(values)}", lambda value: value in values)


def _texts_of(*values: str) -> Form:
    return Form(
        f"a list out of {', '.join(values)}",
        lambda value: isinstance(value, list) and all(one in values for one in value),
    )


TEXT: Final = Form("a text", lambda value: isinstance(value, str))
WORD: Final = Form("a text, not an empty one", lambda value: isinstance(value, str) and bool(value.strip()))
FLAG: Final = Form("true or false", lambda value: isinstance(value, bool))
NUMBER: Final = Form("a number", _number)
COUNT: Final = Form("a whole number from 0", lambda value: _number(value) and value >= 0 and float(value).is_integer())
POSITIVE: Final = Form("a whole number from 1", lambda value: COUNT.fits(value) and value >= 1)
OBJECT: Final = Form("an object", lambda value: isinstance(value, Mapping))
LIST: Final = Form("a list", lambda value: isinstance(value, list))
TEXTS: Final = Form(
    "a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)
)
ANY: Final = Form("anything", lambda _value: True)
SNAKE: Final = Form(
    "a name in snake_case",
    lambda value: (
        isinstance(value, str)
        and value[:1].isalpha()
        and value.isascii()
        and value.replace("_", "a").isalnum()
        and value == value.lower()
    ),
)

ENTRY: Final[Shape] = {
    "name": Member(WORD, required=True),
    "semantic_category": Member(TEXT, required=True),
    "endpoint": Member(WORD, required=True),
    "description": Member(WORD, required=True),
}
"""An operation in the list; whether its category is one of the five, ``category_faults`` says."""

PARAMETER: Final[Shape] = {
    "name": Member(WORD, required=True),
    "type": Member(WORD, required=True),
    "description": Member(TEXT),
    "default": Member(ANY),
    "enum": Member(LIST),
    "minimum": Member(NUMBER),
    "maximum": Member(NUMBER),
    "minLength": Member(COUNT),
    "maxLength": Member(COUNT),
    "pattern": Member(TEXT),
    "format": Member(TEXT),
    "items": Member(OBJECT),
    "sensitive": Member(FLAG),
}
"""A parameter, or a field of a type, without its ``required``."""

REQUIRED: Final[Shape] = {"required": Member(FLAG, required=True)}

TYPE_ENTRY: Final[Shape] = {
    "name": Member(WORD, required=True),
    "kind": Member(_one_of(*KINDS), required=True),
    "description": Member(TEXT),
}

_PERMISSIONS: Final[Shape] = {
    "readOnly": Member(FLAG, required=True),
    "destructive": Member(FLAG, required=True),
}
_EXAMPLE: Final[Shape] = {"description": Member(TEXT), "request": Member(OBJECT, required=True)}
_COMPUTED: Final[Shape] = {
    "name": Member(SNAKE, required=True),
    "type": Member(TEXT, required=True),
    "description": Member(TEXT),
    "filterable": Member(FLAG),
    "sortable": Member(FLAG),
}
_AGGREGATION: Final[Shape] = {
    "supported": Member(FLAG, required=True),
    "default_mode": Member(_one_of("summary_only", "include_items")),
    "functions": Member(_texts_of("count", "group_by", "sum", "avg", "min", "max")),
    "groupable_fields": Member(TEXTS),
    "numeric_fields": Member(TEXTS),
}
_RELATIONSHIPS: Final[Shape] = {
    "supported": Member(FLAG, required=True),
    "directions": Member(_texts_of("incoming", "outgoing", "both")),
    "relationship_types": Member(TEXTS),
    "max_depth": Member(POSITIVE),
}
_LIFECYCLE: Final[Shape] = {
    "states": Member(TEXTS, required=True),
    "supports_cancel": Member(FLAG),
    "supports_retry": Member(FLAG),
    "progress_reporting": Member(FLAG),
}

DETAILS: Final[Shape] = {
    **ENTRY,
    "mcpTool": Member(WORD, required=True),
    "permissions": Member(OBJECT, required=True, inside=_PERMISSIONS),
    "parameters": Member(LIST, required=True),
    "returns": Member(OBJECT, required=True, inside=TYPE_ENTRY),
    "examples": Member(LIST, each=_EXAMPLE),
    "computed_fields": Member(LIST, each=_COMPUTED),
    "aggregation_support": Member(OBJECT, inside=_AGGREGATION),
    "relationship_capabilities": Member(OBJECT, inside=_RELATIONSHIPS),
    "lifecycle": Member(OBJECT, inside=_LIFECYCLE),
}
"""All of an operation; its parameters have shapes of their own."""

TYPE_DETAILS: Final[Mapping[str, Shape]] = {
    "enum": {**TYPE_ENTRY, "values": Member(TEXTS, required=True)},
    "object": {**TYPE_ENTRY, "fields": Member(LIST, required=True, each={**PARAMETER, **REQUIRED})},
    "union": {**TYPE_ENTRY, "members": Member(TEXTS, required=True)},
    "scalar": TYPE_ENTRY,
}
"""All of a type, by its kind."""

_CAPABILITIES: Final = (
    *("batch", "field_selection", "aggregations", "computed_fields", "pagination"),
    *("relationship_queries", "warnings", "confirmation", "dangerous_operations"),
)
PROTOCOL: Final[Shape] = {
    "capabilities": Member(OBJECT, inside={name: Member(FLAG) for name in _CAPABILITIES}),
}
"""What ``_protocol`` says of capabilities; version, conformance and mode have checks of their own."""


def shown(value: object) -> str:
    """A value as it would stand in JSON, cut where it is long."""
    try:
        text = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def faults(value: object, shape: Shape, place: str = "") -> Iterator[str]:
    """What is wrong with a value, each in a few words; nothing if it is as it should be."""
    if not isinstance(value, Mapping):
        yield f"'{place.rstrip('.') or 'it'}' is {shown(value)}; expected an object"
        return
    for name, member in shape.items():
        if name in value:
            yield from _member_faults(value[name], member, f"{place}{name}")
        elif member.required:
            yield f"'{place}{name}' is missing; expected {member.form.words}"


def _member_faults(value: object, member: Member, place: str) -> Iterator[str]:
    if not member.form.fits(value):
        yield f"'{place}' is {shown(value)}; expected {member.form.words}"
        return
    if member.inside is not None:
        yield from faults(value, member.inside, f"{place}.")
    if member.each is not None and isinstance(value, list):
        for index, one in enumerate(value):
            yield from faults(one, member.each, f"{place}[{index}].")


def category_faults(value: object) -> Iterator[str]:
    """What is wrong with a category, if there is one at all."""
    if isinstance(value, str) and value not in CATEGORIES:
        yield f"'semantic_category' is {shown(value)}; expected one of {', '.join(CATEGORIES)}"


def details_faults(details: Mapping[str, Any], listed: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the details of an operation, without what its entry in the list has wrong already."""
    already = {name for name, member in ENTRY.items() if any(faults(listed, {name: member}))}
    yield from faults(details, {name: member for name, member in DETAILS.items() if name not in already})


def type_details_faults(details: Mapping[str, Any], listed: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the details of a type, without what its entry in the list has wrong already."""
    if any(faults(listed, TYPE_ENTRY)):
        return
    kind = details.get("kind")
    yield from faults(details, TYPE_DETAILS.get(kind, TYPE_ENTRY) if isinstance(kind, str) else TYPE_ENTRY)
    yield from (
        f"'{key}' is {shown(details[key])}; the list of types says {shown(listed[key])}"
        for key in ("name", "kind")
        if isinstance(details.get(key), str) and details[key] != listed[key]
    )


def additions(value: object, shape: Shape, place: str = "") -> Iterator[str]:
    """The members of an object that its shape does not know, those inside it too, by their places."""
    if not isinstance(value, Mapping):
        return
    for name, held in value.items():
        member = shape.get(name)
        if member is None:
            yield f"{place}{name}"
        elif member.inside is not None:
            yield from additions(held, member.inside, f"{place}{name}.")
        elif member.each is not None and isinstance(held, list):
            for index, one in enumerate(held):
                yield from additions(one, member.each, f"{place}{name}[{index}].")
