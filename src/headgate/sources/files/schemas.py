"""The JSON Schemas of a file: whether each is one, and whether what it refers to is there."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import jsonschema_rs

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.sources.files.mistakes import Steps, shown
from headgate.sources.files.references import IN_FILE, circular_names, references_in, referring
from headgate.sources.files.spots import Spot

__all__ = ["DATA_TYPES", "read_schema", "read_schemas"]

DATA_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
_ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("str", "text", "date", "datetime", "uuid"), "string"),
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("dict", "map", "hash"), "object"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("none", "nil"), "null"),
    "bool": "boolean",
}
_META: Final = jsonschema_rs.Draft202012Validator(
    {"$ref": "https://json-schema.org/draft/2020-12/schema"}, validate_formats=True
)
_MOST_PROBLEMS: Final = 20
_WORDS: Final[Mapping[str, str]] = {
    "enum": "a list of values",
    "required": "a list of names",
    "properties": "a mapping of names to schemas",
    "pattern": "a regular expression (ECMA 262)",
    "minimum": "a number",
    "maximum": "a number",
    "items": "a schema",
    "description": "a text",
    "format": "a text",
    "$ref": f"a reference such as '{IN_FILE}Book'",
}


def read_schemas(block: Spot, shared: Mapping[str, Schema] = MappingProxyType({})) -> dict[str, Schema]:
    """The named schemas of a block, as definitions; they may refer to the shared ones too."""
    found = block.fields(None)
    names = [*found, *shared]
    made = {name: read_schema(spot, names) for name, spot in found.items()}
    for name in (one for one in circular_names({**shared, **made}, REF) if one in found):
        fix = "Let it refer to itself only inside 'properties' or 'items'."
        found[name].wrong("a schema of its own", fix, found="one standing for itself", code="SCHEMA_UNRESOLVED_REF")
    return made


def read_schema(spot: Spot, names: Sequence[str]) -> Schema:
    """A schema with its references as definitions have them; ``names`` are those that may be referred to."""
    if not isinstance(spot.value, dict):
        spot.wrong("a JSON Schema", "Write '{type: string}', for instance.")
        return {}
    problems = list(_META.iter_errors(spot.value))[:_MOST_PROBLEMS]
    for problem in problems:
        _note(spot, tuple(problem.instance_path))
    for steps, reference in references_in(spot.value):
        name = _name_of(reference)
        if name is None or name not in names:
            _note_reference(_inside(spot, steps), reference, name, names)
    return {} if problems else referring(spot.value, lambda reference: f"{REF}{_name_of(reference)}")


def _name_of(reference: str) -> str | None:
    """The name behind a reference: files may also write it as JSON Schema does."""
    return next((reference.removeprefix(one) for one in (IN_FILE, REF) if reference.startswith(one)), None)


def _note_reference(spot: Spot, reference: str, name: str | None, names: Sequence[str]) -> None:
    hint = did_you_mean(f"{IN_FILE}{one}" for one in nearest(name or reference, names, 1)).removeprefix(". ")
    fix = hint or "Add a schema of this name below 'schemas'."
    spot.wrong(f"'{IN_FILE}' and a name below 'schemas'", fix, code="SCHEMA_UNRESOLVED_REF")


def _note(spot: Spot, steps: Steps) -> None:
    here = _inside(spot, steps)
    key = next((step for step in reversed(steps) if isinstance(step, str)), "")
    if key == "type":
        note_type(here)
        return
    here.wrong(_WORDS.get(key, f"a value of '{shown(key)[1:-1]}' as JSON Schema has it"), "Correct or remove it.")


def note_type(spot: Spot) -> None:
    """Note that something is no data type, with the one that was probably meant."""
    word = spot.value if isinstance(spot.value, str) else ""
    meant = [_ALIASES[word.lower()]] if word.lower() in _ALIASES else nearest(word, DATA_TYPES, 1)
    fix = did_you_mean(meant).removeprefix(". ") or "Choose one of them."
    spot.wrong(f"one of {', '.join(DATA_TYPES)}", fix)


def _inside(spot: Spot, steps: Steps) -> Spot:
    """The place inside a schema that a way leads to."""
    here = spot
    for step in steps:
        value: Any = here.value
        here = here.below(step, value[step])
    return here
